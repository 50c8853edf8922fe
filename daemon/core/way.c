/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Points keep a distance of a 64th of the way so far: twenty of them reach back about a third of
 * it, however often the job reports, and what comes now and then (validation, checkpoints) has its
 * share. The newest is always there.
 */

#include "core/way.h"
#include "core/median.h"
#include <math.h>
#include <string.h>

#define POINTS_PER_WAY 64
#define BEHIND 0.01    /* of the whole: may be another process's line … */
#define BEHIND_TIMES 3 /* … unless it is said so often */

void sg_way_init(struct sg_way *w, bool begun, double time)
{
        *w = (struct sg_way){0};
        if (begun)
                w->points[w->n++] = (struct sg_way_point){.time = time};
}

static void begin_at(struct sg_way *w, const struct sg_way_point *p)
{
        w->points[0] = *p;
        w->base_cpu = p->cpu;
        w->n = 1;
        w->behind = 0;
}

static bool is_crowded(const struct sg_way *w, const struct sg_way_point *p)
{
        const struct sg_way_point *last = &w->points[w->n - 1];

        return w->n >= 3 && p->cpu - last[-1].cpu < (p->cpu - w->base_cpu) / POINTS_PER_WAY;
}

enum sg_way_step sg_way_add(struct sg_way *w, const struct sg_way_point *p)
{
        const struct sg_way_point *last = sg_way_last(w);

        if (!last) {
                begin_at(w, p);
                return SG_WAY_BACK;
        }
        if (p->x < last->x) {
                if (last->x - p->x <= BEHIND && ++w->behind < BEHIND_TIMES)
                        return SG_WAY_SAME;
                begin_at(w, p);
                return SG_WAY_BACK;
        }
        if (!(p->x > last->x) || p->cpu < last->cpu)
                return SG_WAY_SAME;
        w->behind = 0;
        if (is_crowded(w, p)) {
                w->n--;
        } else if (w->n == SG_WAY_POINTS) {
                memmove(&w->points[0], &w->points[1], (w->n - 1) * sizeof(*p));
                w->n--;
        }
        w->points[w->n++] = *p;
        return SG_WAY_AHEAD;
}

/* Between two reports, of one measure. */
static double amount(const struct sg_way_point *from, const struct sg_way_point *to,
                     enum sg_way_measure measure, double cpus, double exponent)
{
        double seconds = to->time - from->time, share;

        if (measure == SG_WAY_CPU)
                return to->cpu - from->cpu;
        if (measure == SG_WAY_TIME)
                return seconds;
        share = (to->cpu - from->cpu) / (seconds * cpus);
        return seconds > 0 ? seconds * pow(fmin(share, 1), exponent) * cpus : 0;
}

double sg_way_cost(const struct sg_way *w, enum sg_way_measure measure, double cpus,
                   double exponent)
{
        double slopes[SG_WAY_POINTS * (SG_WAY_POINTS - 1) / 2], done[SG_WAY_POINTS] = {0};
        uint32_t n = 0, first = w->n > 0 && measure != SG_WAY_CPU && isnan(w->points[0].time);

        for (uint32_t i = first + 1; i < w->n; i++)
                done[i] = done[i - 1] +
                          amount(&w->points[i - 1], &w->points[i], measure, cpus, exponent);
        for (uint32_t i = first; i < w->n; i++)
                for (uint32_t k = i + 1; k < w->n; k++)
                        slopes[n++] = (done[k] - done[i]) / (w->points[k].x - w->points[i].x);
        return sg_median(slopes, n);
}
