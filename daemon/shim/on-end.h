/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "proto/attempt.h"
#include "proto/spec.h"
#include "shim/attempt-dir.h"
#include "shim/joblog.h"

/* Runs the job's --on-end command as its user in its group, for at most a minute. The job's result
 * doesn't depend on how that went; the log says if it could not be run. job: where its groups are,
 * which the stored spec doesn't say if systemd has made them. */
void sg_on_end(const struct sg_attempt_dir *dir, const struct sg_spec *job, struct sg_joblog *log,
               int signals, const struct sg_exit *e);
