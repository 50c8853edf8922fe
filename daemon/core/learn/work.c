/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Points keep a distance of a 64th of the way so far: twenty of them reach back about a third of
 * it, however often the job reports, and what comes now and then (validation, checkpoints) has its
 * share. The newest is always there.
 */

#include "core/learn/work.h"
#include "core/job/median.h"
#include <math.h>
#include <string.h>

#define POINTS_PER_WAY 64
#define BEHIND 0.01    /* of the whole: may be another process's line … */
#define BEHIND_TIMES 3 /* … unless it is said so often */

void sg_work_init(struct sg_work *w, bool begun)
{
        *w = (struct sg_work){0};
        if (begun)
                w->points[w->n++] = (struct sg_work_point){.at = {[SG_WORK_TIME] = (double)NAN}};
}

static void begin_at(struct sg_work *w, const struct sg_work_point *p)
{
        w->points[0] = *p;
        w->base_cpu = p->at[SG_WORK_CPU];
        w->n = 1;
        w->behind = 0;
}

static bool is_crowded(const struct sg_work *w, const struct sg_work_point *p)
{
        const struct sg_work_point *last = &w->points[w->n - 1];

        return w->n >= 3 && p->at[SG_WORK_CPU] - last[-1].at[SG_WORK_CPU] <
                                    (p->at[SG_WORK_CPU] - w->base_cpu) / POINTS_PER_WAY;
}

enum sg_work_step sg_work_add(struct sg_work *w, const struct sg_work_point *p)
{
        const struct sg_work_point *last = sg_work_last(w);

        if (!last) {
                begin_at(w, p);
                return SG_WORK_BACK;
        }
        if (p->x < last->x) {
                if (last->x - p->x <= BEHIND && ++w->behind < BEHIND_TIMES)
                        return SG_WORK_SAME;
                begin_at(w, p);
                return SG_WORK_BACK;
        }
        if (!(p->x > last->x) || p->at[SG_WORK_CPU] < last->at[SG_WORK_CPU])
                return SG_WORK_SAME;
        w->behind = 0;
        if (is_crowded(w, p)) {
                w->n--;
        } else if (w->n == SG_WORK_POINTS) {
                memmove(&w->points[0], &w->points[1], (w->n - 1) * sizeof(*p));
                w->n--;
        }
        w->points[w->n++] = *p;
        return SG_WORK_AHEAD;
}

void sg_work_forget(struct sg_work *w, enum sg_work_measure measure)
{
        for (uint32_t i = 0; i + 1 < w->n; i++)
                w->points[i].at[measure] = (double)NAN;
}

double sg_work_cost(const struct sg_work *w, enum sg_work_measure measure)
{
        double slopes[SG_WORK_POINTS * (SG_WORK_POINTS - 1) / 2];
        uint32_t n = 0, first = 0;

        while (first < w->n && isnan(w->points[first].at[measure]))
                first++;
        for (uint32_t i = first; i < w->n; i++)
                for (uint32_t k = i + 1; k < w->n; k++)
                        slopes[n++] = (w->points[k].at[measure] - w->points[i].at[measure]) /
                                      (w->points[k].x - w->points[i].x);
        return sg_median(slopes, n);
}
