/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proto/job-env.h"
#include "base/cleanup.h"
#include <errno.h>
#include <string.h>

/* As daemon/jobs/launch-spec.c and shim/on-end.c set them. NOTIFY_SOCKET every job gets anew. */
static const char *const own[] = {
        "SCHEDGOV_JOB_ID",      "SCHEDGOV_JOB_NAME",  "SCHEDGOV_ATTEMPT",
        "SCHEDGOV_ALLOCATION",  "SCHEDGOV_THREADS",   "SCHEDGOV_THREADS_MAX",
        "SCHEDGOV_ARRAY_INDEX", "SCHEDGOV_EXIT_CODE", "SCHEDGOV_EXIT_SIGNAL",
        "SCHEDGOV_PRELOAD",
};

const char *const sg_job_env_threads[SG_JOB_ENV_THREADS] = {
        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"};

/*
 * GNU's and LLVM's runtimes both take the first; MKL's is the third. To sleep at once would cost
 * what has the node for itself up to two thirds of its speed, as its threads meet every few
 * microseconds; a plan gives it as many CPUs as threads, and then those that spin take nothing from
 * anybody. But what doesn't follow may have more threads than CPUs: with ten times
 * the count XGBoost takes twice the CPU time under `fair`. So GNU's looks for some tens of
 * microseconds (by default 4 ms), LLVM's for the least that it can be told, one millisecond (200).
 * OpenBLAS' own threads spin for 2 to the power of so many cycles (4 to 30), 26 if nobody
 * says otherwise: that is tens of milliseconds. 16 is some 20 µs, about what it takes to sleep and
 * be woken.
 */
const struct sg_job_env_wait sg_job_env_waits[SG_JOB_ENV_WAITS] = {
        {"OMP_WAIT_POLICY", "passive", {"GOMP_SPINCOUNT", "KMP_BLOCKTIME"}},
        {"GOMP_SPINCOUNT", "3000", {"OMP_WAIT_POLICY", "KMP_BLOCKTIME"}},
        {"KMP_BLOCKTIME", "1", {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}},
        {"OPENBLAS_THREAD_TIMEOUT", "16", {NULL, NULL}},
};

/* Whose output goes to no terminal writes it in pieces of 8 KiB otherwise, and its log and its
 * progress are minutes behind. */
#define UNBUFFERED "PYTHONUNBUFFERED"

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

        for (; env && *env && !value; env++)
                value = value_of(*env, name);
        return value;
}

bool sg_job_env_is_decided(char *const *env, const char *assignment)
{
        const char *const *strings = (const char *const *)env;

        for (size_t i = 0; i < SG_JOB_ENV_WAITS; i++) {
                const struct sg_job_env_wait *w = &sg_job_env_waits[i];

                if (!value_of(assignment, w->name))
                        continue;
                for (size_t k = 0; k < SG_ELEMENTSOF(w->also) && w->also[k]; k++)
                        if (find(strings, w->also[k]))
                                return true;
        }
        return false;
}

static bool is_value(const char *assignment, const char *name, const char *value)
{
        const char *have = value_of(assignment, name);

        return have && strcmp(have, value) == 0;
}

/* Whether a variable is one of the governor's. A number of threads other than the governor's is
 * somebody's wish; where the governor has given none, no such variable is its own. */
static bool is_of_job(const char *assignment, const char *given)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(own); i++)
                if (value_of(assignment, own[i]))
                        return true;
        if (is_value(assignment, UNBUFFERED, "1"))
                return true;
        for (size_t i = 0; given && i < SG_JOB_ENV_THREADS; i++)
                if (is_value(assignment, sg_job_env_threads[i], given))
                        return true;
        for (size_t i = 0; given && i < SG_JOB_ENV_WAITS; i++)
                if (is_value(assignment, sg_job_env_waits[i].name, sg_job_env_waits[i].value))
                        return true;
        return false;
}

#define PRELOAD "LD_PRELOAD"

/* "LD_PRELOAD=" with what is there beside the governor's library. *ret NULL: nothing is. -ENOENT:
 * ours isn't there. */
static int preload_without(const char *value, const char *ours, char **ret)
{
        static const char separators[] = ": ";
        _cleanup_free_ char *rest = malloc(sizeof(PRELOAD "=") + strlen(value));
        char *end;
        bool found = false;

        if (!rest)
                return -ENOMEM;
        end = stpcpy(rest, PRELOAD "=");
        for (const char *p = value + strspn(value, separators); *p; p += strspn(p, separators)) {
                size_t n = strcspn(p, separators);

                if (n == strlen(ours) && strncmp(p, ours, n) == 0) {
                        found = true;
                } else {
                        if (end[-1] != '=')
                                *end++ = ':';
                        end = mempcpy(end, p, n);
                }
                p += n;
        }
        *end = '\0';
        if (!found)
                return -ENOENT;
        *ret = end[-1] != '=' ? TAKE_PTR(rest) : NULL;
        return 0;
}

int sg_job_env_drop(const char **env, char **ret_preload)
{
        const char *given = find(env, "SCHEDGOV_THREADS_MAX");
        const char *loaded = find(env, PRELOAD), *ours = find(env, "SCHEDGOV_PRELOAD");
        bool in_job = find(env, "SCHEDGOV_JOB_ID");
        char *kept = NULL;
        int r = -ENOENT, left = 0;

        if (in_job && loaded && ours)
                r = preload_without(loaded, ours, &kept);
        if (r == -ENOMEM)
                return r;
        for (const char **p = env; *p; p++) {
                if (in_job && is_of_job(*p, given))
                        continue;
                if (r == 0 && value_of(*p, PRELOAD) == loaded) {
                        if (kept)
                                env[left++] = kept;
                        continue;
                }
                env[left++] = *p;
        }
        env[left] = NULL;
        *ret_preload = kept;
        return left;
}
