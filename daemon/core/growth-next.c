/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When the choice of `growth` can first change by itself: a promise comes to be at stake, a job
 * that runs beside others gets to be worth more than they, or has a milestone behind it. What gets
 * nothing changes only by its slack.
 */

#include "core/growth.h"
#include <math.h>

/* Seconds until slack that is lost at `rate` is a tick. */
static double until_tick(double slack, double tick, double rate)
{
        return slack > tick && rate > 1e-9 ? (slack - tick) / rate : INFINITY;
}

/* Only promises due before the one of the job that was chosen could have another chosen. */
static double next_promise(struct sg_growth_job **by_due, size_t n,
                           const struct sg_growth_node *node)
{
        double next = INFINITY, shares = 0;

        for (size_t i = 0; i < n && by_due[i]->turn != SG_TURN_CHOSEN; i++) {
                shares += by_due[i]->share;
                next = fmin(next,
                            until_tick(by_due[i]->slack, node->tick, 1 - shares / node->capacity));
        }
        return next;
}

static double next_own(const struct sg_growth_job *jobs, size_t n,
                       const struct sg_growth_node *node)
{
        double next = INFINITY;

        for (size_t i = 0; i < n; i++) {
                const struct sg_growth_job *j = &jobs[i];

                if (j->width < node->capacity)
                        next = fmin(next,
                                    until_tick(j->own_slack, node->tick, 1 - j->share / j->width));
        }
        return next;
}

/* Seconds until b, which is behind a, is worth more. */
static double overtakes(const struct sg_growth_job *a, const struct sg_growth_job *b)
{
        double factor = a->index * a->seconds, other = b->index * b->seconds;
        double gap = factor * b->seconds - other * a->seconds;
        double rate = factor * b->share - other * a->share;

        if (a->turn == SG_TURN_OWN_SLACK || a->reason == SG_REASON_SLACK || isinf(a->index))
                return INFINITY;
        return gap >= 0 && rate > 0 ? gap / rate : INFINITY;
}

double sg_growth_next(struct sg_growth_job *jobs, size_t n, const struct sg_growth_node *node,
                      struct sg_growth_job *const *order, struct sg_growth_job **by_due)
{
        double next = INFINITY;

        (void)sg_growth_slack(jobs, n, node, by_due);
        next = fmin(next_promise(by_due, n, node), next_own(jobs, n, node));
        for (size_t i = 0; i < n && order[i]->share > 0; i++) {
                const struct sg_growth_job *j = order[i];

                if (j->list == SG_LIST_PROBE)
                        next = fmin(next, node->tick);
                else
                        next = fmin(next, j->passes / j->share);
                if (i > 0)
                        next = fmin(next, overtakes(order[i - 1], j));
        }
        return node->now + fmax(next, node->tick);
}
