/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The decisions that `growth` (share-growth.c) is made of, each a function of numbers alone.
 */

#include "core/share.h"

/* One job that takes its turn. */
struct sg_growth_job {
        uint64_t key;
        double arrival;
        double remaining; /* seconds alone on the node */
        double width;
        double index;  /* INFINITY: is to be probed */
        double used;   /* orders the probes */
        double due;    /* D; INFINITY = no promise */
        size_t origin; /* in the snapshot */
        /* filled in */
        double slack;     /* of the promises up to its own, if all before are kept first */
        double own_slack; /* what is left to it if it runs alone */
        double share;
        uint32_t weight;
        enum sg_share_list list;
        enum sg_share_reason reason;
        uint64_t other;
};

/* The best over milestones of value gained by then ÷ seconds to get there; NaN ones count for
 * nothing. seconds: ascending. */
double sg_growth_index(const double *seconds, const double *values, size_t n);
/* Of a job under an objective; its class's weight isn't in it. */
double sg_growth_job_index(const struct sg_estimate *e, enum sg_objective objective);

/* D: VF, and no_harm of the time until then more. */
double sg_growth_due(double arrival, double virtual_finish, double no_harm);

/* `capacity`: the part of the node that the jobs have among them. Fills slack; in order of D
 * `by_due` points to them afterwards. Returns the place in by_due of the first whose slack is used
 * up; n = none. */
size_t sg_growth_slack(struct sg_growth_job *jobs, size_t n, double now, double tick,
                       double capacity, struct sg_growth_job **by_due);
/* The whole guard: in order[], who goes first, second …; order[] is room for n. */
void sg_growth_order(struct sg_growth_job *jobs, size_t n, double now, double tick, double capacity,
                     struct sg_growth_job **order);
/* The shortest prefix that fills the node, and the weights: 10000 for those that fit whole, 1000
 * for the last, 1 for the rest. Fills share, weight, list; returns how many are in it. */
size_t sg_growth_run_set(struct sg_growth_job **order, size_t n, double capacity);
