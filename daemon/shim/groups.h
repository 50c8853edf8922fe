/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "proto/spec.h"

/* Moves a process (0 = the caller) into the group `name` ("keeper" or "job") of each hierarchy. */
int sg_groups_join(const struct sg_spec *s, const char *name, pid_t pid);
