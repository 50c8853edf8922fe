/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "proto/attempt.h"
#include "proto/spec.h"

/*
 * Turns the calling process, which still is the daemon's user, into the job: only returns if it
 * couldn't, with -errno and the stage at which it failed. `output` is the pipe to the managed log
 * or −1.
 */
int sg_become_job(const struct sg_spec *s, int output, enum sg_stage *ret_stage);
