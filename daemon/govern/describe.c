/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A job as the governor is told of it. */
#include "base/process.h"
#include "base/time-util.h"
#include "core/job/command.h"
#include "govern/internal.h"
#include "monitor/monitor.h"
#include <math.h>

static bool on_terminal(const struct sg_live *l)
{
        pid_t pid = l->attempt.shim == 0 && l->runner ? l->runner->pid : l->attempt.shim;
        struct sg_process_stat p;

        return l->job.foreground && pid > 0 && sg_process_stat(pid, &p) == 0 && p.terminal;
}

static double cpus_max(const struct sg_live *l, struct sg_thread_range threads)
{
        const struct sg_limits *limits = &l->job.limits;
        double most = INFINITY;

        if (limits->cpu_quota_pm != SG_UNLIMITED)
                most = (double)limits->cpu_quota_pm / 1e4;
        if (limits->pin && sg_thread_range_is_elastic(threads)) /* its set follows its share */
                most = fmin(most, (double)threads.most);
        else if (limits->pin)
                most = fmin(most, fmin((double)limits->cpus, (double)l->manager->node.n_cpus));
        return most;
}

static double deadline(const struct sg_live *l, double now)
{
        uint64_t realtime = sg_now_realtime_usec();

        if (l->job.deadline_usec == 0)
                return INFINITY;
        return now + ((double)l->job.deadline_usec - (double)realtime) / SG_USEC_PER_SEC;
}

/* The CPUs that a job can use, as far as anybody has said. */
static uint64_t cpus_said(const struct sg_job *j, struct sg_thread_range threads)
{
        return j->limits.cpus == 0 && j->follows > 0 && j->follows < threads.most ? j->follows
                                                                                  : threads.most;
}

struct sg_governor_job sg_loop_describe(const struct sg_live *l)
{
        const struct sg_limits *limits = &l->job.limits;
        const struct sg_thread_range threads = sg_live_threads(l);
        bool elastic = sg_thread_range_is_elastic(threads);
        const struct sg_measured *d = l->measured;
        double now = sg_loop_now();

        return (struct sg_governor_job){
                .key = l->job.key.n,
                .attempt = l->job.key.attempt,
                .class = l->class->name,
                .uid = (uint32_t)l->job.uid,
                .now = now,
                .arrival = d ? now - (double)sg_monitor_running_usec(d) / SG_USEC_PER_SEC : now,
                .cpus = (double)cpus_said(&l->job, threads),
                .cpus_max = cpus_max(l, threads),
                .weight = (double)limits->cpu_weight,
                .deadline = deadline(l, now),
                .goal = d ? d->goal : SG_GOAL_MIN,
                .aside = l->job.adopted != SG_ADOPTED_NOT || on_terminal(l),
                .restarted = l->job.key.attempt > 1,
                .elastic = elastic && limits->cpus > 0,
                .follows = elastic && l->job.follows > 0,
                .program = l->job.command ? sg_command_program(l->job.command) : 0,
                .steps = l->job.steps,
        };
}
