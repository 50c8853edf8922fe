/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * How much a job has to do, from how far it says it is and what it has used by then. What x costs
 * is the median of the slopes between any two of the last reports (Theil and Sen), so that neither
 * a start that took long nor a report in a hurry counts for much.
 */

#include <stdbool.h>
#include <stdint.h>

#define SG_WORK_POINTS 20

/* What is counted on the way: CPU-seconds; seconds that it ran or waited for its turn; or
 * CPU-seconds alone that it made of its shares (scaling.h). */
enum sg_work_measure { SG_WORK_CPU, SG_WORK_TIME, SG_WORK_SPEED, _SG_WORK_MEASURE_MAX };

struct sg_work_point {
        double x;
        double at[_SG_WORK_MEASURE_MAX]; /* NaN: not known */
};

struct sg_work {
        struct sg_work_point points[SG_WORK_POINTS]; /* oldest first */
        double base_cpu;                             /* of the first point of this baseline */
        uint32_t n, behind;
};

enum sg_work_step {
        SG_WORK_SAME,  /* tells nothing new */
        SG_WORK_AHEAD, /* has moved */
        SG_WORK_BACK,  /* began again from somewhere else */
};

/* begun: at x = 0, with nothing used. */
void sg_work_init(struct sg_work *w, bool begun);
enum sg_work_step sg_work_add(struct sg_work *w, const struct sg_work_point *p);
/* A measure counts otherwise from the newest point on. */
void sg_work_forget(struct sg_work *w, enum sg_work_measure measure);
/* What x = 0 … 1 takes. NaN: not known yet. */
double sg_work_cost(const struct sg_work *w, enum sg_work_measure measure);
static inline const struct sg_work_point *sg_work_last(const struct sg_work *w)
{
        return w->n > 0 ? &w->points[w->n - 1] : 0;
}
