/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the governor puts into the environment of one job doesn't hold for those that it submits. */

#include <stddef.h>

/* Takes that out of a NULL-terminated environment, if it is that of a job: the governor's own
 * variables, and the numbers of threads that it has set. Returns how many are left. */
size_t sg_job_env_drop(const char **env);
