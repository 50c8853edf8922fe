/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A job's part of the node when all that run want as much as they can get: its weight among its
 * class's, times its class's among the classes, and no more than its quota. The sums over all jobs
 * are kept for one iteration of the event loop.
 */
#include "loop.h"
#include "monitor-internal.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sg_share_sum {
        const struct sg_class *class;
        uint64_t weights;
};

static bool takes_part(const struct sg_live *l)
{
        return l->job.state == SG_JOB_RUNNING;
}

static struct sg_share_sum *sum_of(struct sg_monitor *mon, const struct sg_class *class)
{
        struct sg_share_sum *grown;

        for (size_t i = 0; i < mon->n_sums; i++)
                if (mon->sums[i].class == class)
                        return &mon->sums[i];
        if (mon->n_sums == mon->sums_room) {
                size_t room = mon->sums_room ? 2 * mon->sums_room : 8;

                grown = realloc(mon->sums, room * sizeof(*grown));
                if (!grown)
                        return NULL;
                mon->sums = grown;
                mon->sums_room = room;
        }
        mon->sums[mon->n_sums] = (struct sg_share_sum){.class = class};
        return &mon->sums[mon->n_sums++];
}

static int add_up(struct sg_monitor *mon)
{
        const struct sg_measured *d;

        mon->n_sums = 0;
        mon->class_weights = 0;
        sg_list_foreach (d, &mon->running, link) {
                struct sg_share_sum *sum = takes_part(d->live) ? sum_of(mon, d->live->class) : NULL;

                if (!takes_part(d->live))
                        continue;
                if (!sum)
                        return -ENOMEM;
                if (sum->weights == 0)
                        mon->class_weights += sum->class->weight;
                sum->weights += d->live->job.limits.cpu_weight;
        }
        return 0;
}

static int refresh(struct sg_monitor *mon)
{
        uint64_t iteration;
        int r = sd_event_get_iteration(mon->manager->event, &iteration);

        if (r < 0 || (mon->n_sums > 0 && mon->sums_iteration == iteration))
                return r;
        mon->sums_iteration = iteration;
        return add_up(mon);
}

static double quota_of_node(const struct sg_live *l)
{
        uint64_t cpus = l->manager->node.n_cpus;

        if (l->job.limits.cpu_quota_pm == SG_UNLIMITED || cpus == 0)
                return 1;
        return (double)l->job.limits.cpu_quota_pm / 1e4 / (double)cpus;
}

/* As it was decided; without a decision, as it follows from the weights. */
static double decided(const struct sg_decision *d, char *why, size_t size)
{
        if (size > 0 && d->out.why.other)
                (void)snprintf(why, size, "%s (job %" PRIu64 ")",
                               sg_governor_reason(d->out.why.reason), d->out.why.other);
        else if (size > 0)
                (void)snprintf(why, size, "%s", sg_governor_reason(d->out.why.reason));
        return d->out.share;
}

double sg_monitor_share(const struct sg_live *l, char *why, size_t size)
{
        struct sg_monitor *mon = l->manager->monitor;
        const struct sg_share_sum *sum;
        double share, quota = quota_of_node(l);

        if (size > 0)
                (void)snprintf(why, size, "it is suspended");
        if (!takes_part(l))
                return 0;
        if (sg_loop_decision(l))
                return decided(sg_loop_decision(l), why, size);
        if (refresh(mon) < 0)
                return 0;
        sum = sum_of(mon, l->class);
        if (!sum || sum->weights == 0)
                return 0;
        share = (double)l->job.limits.cpu_weight / (double)sum->weights * (double)l->class->weight /
                (double)mon->class_weights;
        if (size > 0)
                (void)snprintf(why, size,
                               "weight %" PRIu64 " of %" PRIu64 " in class %s, which has %" PRIu64
                               " of %" PRIu64 "%s",
                               l->job.limits.cpu_weight, sum->weights, l->class->name,
                               l->class->weight, mon->class_weights,
                               quota < share ? "; its quota is less" : "");
        return quota < share ? quota : share;
}
