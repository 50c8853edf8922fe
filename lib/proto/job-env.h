/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the governor puts into the environment of one job, and that it doesn't hold for those that
 * the job submits. */

#include <stdbool.h>
#include <stddef.h>

/* How many threads OpenMP's and BLAS' runtimes have, unless somebody says otherwise. */
#define SG_JOB_ENV_THREADS 3
extern const char *const sg_job_env_threads[SG_JOB_ENV_THREADS];

/* How threads wait for each other: spinning, they take the CPU from those that they wait for as
 * soon as the job hasn't as many CPUs as threads. */
#define SG_JOB_ENV_WAITS 4
struct sg_job_env_wait {
        const char *name, *value;
        const char *also[2]; /* others that say the same: who sets one of them has decided it */
};
extern const struct sg_job_env_wait sg_job_env_waits[SG_JOB_ENV_WAITS];

/* Whether `assignment`, which is only for who has none, must stay out: a variable that says the
 * same is set. */
bool sg_job_env_is_decided(char *const *env, const char *assignment);

/* Takes what is the governor's out of a NULL-terminated environment, if it is that of a job: its
 * own variables, how many threads there are, how they wait, and what it has preloaded. Returns how
 * many are left; -ENOMEM, and nothing has changed. *ret_preload: what one of them points to, or
 * NULL; for free() when the environment isn't needed any more. */
int sg_job_env_drop(const char **env, char **ret_preload);
