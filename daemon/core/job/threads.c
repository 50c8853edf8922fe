/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/job/threads.h"
#include "core/job/job.h"
#include <errno.h>
#include <string.h>

#define ONE_CPU_PM 10000U

static const char *const names[_SG_THREADS_MAX] = {
        [SG_THREADS_FOLLOW] = "follow", [SG_THREADS_START] = "start", [SG_THREADS_LEAVE] = "leave"};

const char *sg_threads_to_string(uint64_t threads)
{
        return threads < _SG_THREADS_MAX ? names[threads] : "unknown";
}

int sg_threads_from_string(const char *s)
{
        for (int i = 0; i < _SG_THREADS_MAX; i++)
                if (strcmp(s, names[i]) == 0)
                        return i;
        return -EINVAL;
}

/* Half a CPU keeps one thread busy, one and a half keep two. */
static uint64_t cpus_of_quota(uint64_t quota_pm)
{
        return quota_pm / ONE_CPU_PM + (quota_pm % ONE_CPU_PM > 0);
}

struct sg_thread_range sg_limits_threads(const struct sg_limits *l, uint64_t usable)
{
        uint64_t most = cpus_of_quota(l->cpu_quota_pm);

        if (l->cpus > 0 || l->threads == SG_THREADS_LEAVE)
                return (struct sg_thread_range){l->cpus, l->cpus_max};
        if (most > usable)
                most = usable;
        return (struct sg_thread_range){1, most > 0 ? most : 1};
}

struct sg_thread_range sg_job_threads(const struct sg_job *j, uint64_t usable)
{
        const struct sg_limits *l = &j->limits;

        if (l->cpus > 0 || j->adopted)
                return (struct sg_thread_range){l->cpus, l->cpus_max};
        if (l->threads == SG_THREADS_START && j->state != SG_JOB_STARTING)
                return (struct sg_thread_range){j->threads_given, j->threads_given};
        if (l->threads == SG_THREADS_FOLLOW && j->follows == 0)
                return (struct sg_thread_range){0, 0};
        return sg_limits_threads(l, usable);
}
