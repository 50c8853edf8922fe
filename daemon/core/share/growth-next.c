/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When the choice of `growth` can first change by itself: a promise comes to be at stake, or a
 * job that runs becomes worth more than another that runs, or passes a milestone. For a job that
 * gets nothing only its slack changes.
 */

#include "core/share/growth.h"
#include <math.h>

/* Seconds until slack that is lost at `rate` is a tick. */
static double until_tick(double slack, double tick, double rate)
{
        return slack > tick && rate > 1e-9 ? (slack - tick) / rate : INFINITY;
}

/* Seconds until a narrow job has done all of what a promise that is due then needs of it. */
static double until_done(const struct sg_growth_job *j, double due)
{
        return due < j->due ? (due - j->start) * j->width / j->share : INFINITY;
}

static double next_promise(const struct sg_growth_line *l)
{
        double next = INFINITY, shares = 0;

        for (size_t i = 0, k = 0; i < l->n; i++) {
                const struct sg_growth_job *j = l->by_due[i];

                /* A narrow job works for this promise from its start on; a wide one, whose start is
                 * when it is due, only if that is by then. */
                for (; k < l->n && l->by_start[k]->start <= j->due; k++) {
                        if (!(l->by_start[k]->share > 0))
                                continue;
                        shares += l->by_start[k]->share;
                        next = fmin(next, until_done(l->by_start[k], j->due));
                }
                next = fmin(next, until_tick(j->slack, l->tick, 1 - shares / l->capacity));
        }
        return next;
}

static double next_own(const struct sg_growth_line *l)
{
        double next = INFINITY;

        for (size_t i = 0; i < l->n; i++) {
                const struct sg_growth_job *j = &l->jobs[i];

                if (j->start < j->due)
                        next = fmin(next,
                                    until_tick(j->own_slack, l->tick, 1 - j->share / j->width));
        }
        return next;
}

/* Seconds until b, which is behind a, becomes worth more than a. */
static double overtakes(const struct sg_growth_job *a, const struct sg_growth_job *b)
{
        double factor = a->index * a->seconds, other = b->index * b->seconds;
        double gap = factor * b->seconds - other * a->seconds;
        double rate = factor * b->share - other * a->share;

        if (a->turn != b->turn || a->turn == SG_TURN_OWN_SLACK || isinf(a->index))
                return INFINITY;
        return gap >= 0 && rate > 0 ? gap / rate : INFINITY;
}

/* Whether all have what they can use: then no order makes a difference. */
static bool have_all_they_can_use(const struct sg_growth_line *l)
{
        for (size_t i = 0; i < l->n; i++)
                if (l->jobs[i].share < l->jobs[i].width - 1e-9)
                        return false;
        return true;
}

double sg_growth_next(const struct sg_growth_line *l)
{
        double next = fmin(next_promise(l), next_own(l));

        if (have_all_they_can_use(l))
                return INFINITY;
        for (size_t i = 0; i < l->n && l->order[i]->share > 0; i++) {
                const struct sg_growth_job *j = l->order[i];

                if (j->list == SG_LIST_PROBE)
                        next = fmin(next, l->tick);
                else
                        next = fmin(next, j->passes / j->share);
                if (i > 0)
                        next = fmin(next, overtakes(l->order[i - 1], j));
        }
        return l->now + fmax(next, l->tick);
}
