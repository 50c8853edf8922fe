/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a job uses of the CPU says whether it takes a slot of the queue. */
#include "base/time-util.h"
#include "monitor/internal.h"

void sg_monitor_tell_queue(struct sg_measured *d, uint64_t now_usec, uint64_t cpu_usec)
{
        struct sg_live *l = d->live;
        struct sg_idle_view use = {.idle = true, .from_usec = SG_UNLIMITED};

        if (l->job.state == SG_JOB_SUSPENDED)
                d->idle = (struct sg_idle){0}; /* its minute begins when it goes on */
        else
                sg_idle_look(&d->idle, now_usec, cpu_usec, &use);
        if (sg_queue_set_use(l->manager->jobs->queue, &l->queued.entry, &use))
                sg_manager_schedule(l->manager);
}

void sg_monitor_look_idle(struct sg_live *l)
{
        uint64_t cpu_usec;

        if (l->measured && sg_monitor_read_cpu(l, 0, &cpu_usec))
                sg_monitor_tell_queue(l->measured, sg_now_monotonic_usec(), cpu_usec);
}
