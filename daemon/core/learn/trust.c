/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/learn/trust.h"
#include <math.h>

#define OVERDUE 2.0
/* Allowance for what comes after the last step, such as saving and a last evaluation: seconds of
 * all CPUs that the job uses, or a part of what it has used, as this grows with the job. */
#define OVERDUE_MIN 10.0
#define OVERDUE_PART .05
#define SPREAD 3.0
#define SPREAD_FROM 0.1 /* x: before that, a start that took long counts for too much */
#define JUMP 5.0
#define JUMP_MIN 0.05  /* of the whole: a smaller jump gains nothing */
#define JUMP_POINTS 4U /* points that it takes to know a pace */

void sg_trust_init(struct sg_trust *t)
{
        *t = (struct sg_trust){.limit = (double)INFINITY};
}

void sg_trust_move(struct sg_trust *t, const struct sg_work *w, const struct sg_work_point *p,
                   double cost)
{
        const struct sg_work_point *last = sg_work_last(w);
        double usual, used;

        if (w->n < JUMP_POINTS || !(cost > 0) || !(p->x - last->x > JUMP_MIN))
                return;
        /* Lines that were held in a buffer come at once, but no more of them than usual. */
        usual = (last->at[SG_WORK_CPU] - w->points[0].at[SG_WORK_CPU]) / (w->n - 1);
        used = fmax(p->at[SG_WORK_CPU] - last->at[SG_WORK_CPU], usual);
        if (p->x - last->x > JUMP * used / cost)
                t->doubt = SG_DOUBT_JUMP;
}

void sg_trust_claim(struct sg_trust *t, double x, double cpu, double left, double cpus)
{
        double size = cpu + left, after = fmax(OVERDUE_MIN * fmax(cpus, 1), OVERDUE_PART * cpu);

        if (isnan(left))
                return;
        t->limit = fmin(t->limit, cpu + fmax(OVERDUE * left, after));
        if (!(x > SPREAD_FROM))
                return;
        t->least = t->least > 0 ? fmin(t->least, size) : size;
        t->most = fmax(t->most, size);
        if (t->most > SPREAD * t->least)
                t->doubt = SG_DOUBT_SPREAD;
}

enum sg_doubt sg_trust_doubt(const struct sg_trust *t, double cpu)
{
        if (t->doubt != SG_DOUBT_NONE)
                return t->doubt;
        return cpu > t->limit ? SG_DOUBT_OVERDUE : SG_DOUBT_NONE;
}
