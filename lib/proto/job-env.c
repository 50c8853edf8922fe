/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proto/job-env.h"
#include "base/cleanup.h"
#include <stdbool.h>
#include <string.h>

/* As daemon/jobs/launch-spec.c and shim/on-end.c set them. NOTIFY_SOCKET every job gets anew. */
static const char *const own[] = {
        "SCHEDGOV_JOB_ID",      "SCHEDGOV_JOB_NAME",  "SCHEDGOV_ATTEMPT",
        "SCHEDGOV_ALLOCATION",  "SCHEDGOV_THREADS",   "SCHEDGOV_THREADS_MAX",
        "SCHEDGOV_ARRAY_INDEX", "SCHEDGOV_EXIT_CODE", "SCHEDGOV_EXIT_SIGNAL",
};
static const char *const threads[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"};

static const char *value_of(const char *assignment, const char *name)
{
        size_t length = strlen(name);

        return strncmp(assignment, name, length) == 0 && assignment[length] == '='
                       ? assignment + length + 1
                       : NULL;
}

static const char *find(const char *const *env, const char *name)
{
        const char *value = NULL;

        for (; *env && !value; env++)
                value = value_of(*env, name);
        return value;
}

/* Another number of threads than the governor's is somebody's wish. */
static bool is_of_job(const char *assignment, const char *given)
{
        const char *value;

        for (size_t i = 0; i < SG_ELEMENTSOF(own); i++)
                if (value_of(assignment, own[i]))
                        return true;
        for (size_t i = 0; given && i < SG_ELEMENTSOF(threads); i++) {
                value = value_of(assignment, threads[i]);
                if (value && strcmp(value, given) == 0)
                        return true;
        }
        return false;
}

size_t sg_job_env_drop(const char **env)
{
        const char *given = find(env, "SCHEDGOV_THREADS");
        bool in_job = find(env, "SCHEDGOV_JOB_ID");
        size_t left = 0;

        for (const char **p = env; *p; p++)
                if (!in_job || !is_of_job(*p, given))
                        env[left++] = *p;
        env[left] = NULL;
        return left;
}
