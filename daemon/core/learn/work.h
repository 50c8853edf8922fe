/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * How much a job has to do, from how far it says it is and what it has used by then. What x costs
 * is the median of the slopes between any two of the last reports (Theil and Sen), so that neither
 * a start that took long nor a report in a hurry counts for much.
 */

#include <stdbool.h>
#include <stdint.h>

#define SG_WAY_POINTS 20

/* What is counted on the way: CPU-seconds; seconds that it ran or waited for its turn; or
 * CPU-seconds alone that it made of its shares (scaling.h). */
enum sg_way_measure { SG_WAY_CPU, SG_WAY_TIME, SG_WAY_SPEED, SG_N_WAY_MEASURES };

struct sg_way_point {
        double x;
        double at[SG_N_WAY_MEASURES]; /* NaN: not known */
};

struct sg_way {
        struct sg_way_point points[SG_WAY_POINTS]; /* oldest first */
        double base_cpu;                           /* of the first point of this baseline */
        uint32_t n, behind;
};

enum sg_way_step {
        SG_WAY_SAME,  /* tells nothing new */
        SG_WAY_AHEAD, /* has moved */
        SG_WAY_BACK,  /* began again from somewhere else */
};

/* begun: at x = 0, with nothing used. */
void sg_way_init(struct sg_way *w, bool begun);
enum sg_way_step sg_way_add(struct sg_way *w, const struct sg_way_point *p);
/* A measure counts otherwise from the newest point on. */
void sg_way_forget(struct sg_way *w, enum sg_way_measure measure);
/* What x = 0 … 1 takes. NaN: not known yet. */
double sg_way_cost(const struct sg_way *w, enum sg_way_measure measure);
static inline const struct sg_way_point *sg_way_last(const struct sg_way *w)
{
        return w->n > 0 ? &w->points[w->n - 1] : 0;
}
