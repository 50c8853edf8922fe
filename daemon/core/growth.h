/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The decisions that `growth` (share-growth.c) is made of, each a function of numbers alone.
 */

#include "core/share.h"

enum sg_growth_turn {
        SG_TURN_OWN_SLACK, /* narrow, and can't make up for what it would lose now */
        SG_TURN_CHOSEN,    /* the best of those that may be first */
        SG_TURN_REST,
};

/* One job that takes its turn. */
struct sg_growth_job {
        size_t origin; /* in the snapshot */
        uint64_t key;
        double arrival;
        double remaining; /* seconds alone on the node */
        double width;
        double index; /* INFINITY: is to be probed, those that have used least first */
        double used;
        double due;     /* D; INFINITY = no promise */
        double seconds; /* alone to the milestone that the index is of */
        double passes;  /* … until it has the next milestone behind it */
        /* filled in */
        double slack;     /* of the promises up to its own, if all before are kept first */
        double own_slack; /* if it runs alone */
        double share;
        uint32_t weight;
        enum sg_growth_turn turn;
        enum sg_share_list list;
        enum sg_share_reason reason;
        uint64_t other;
};

struct sg_growth_node {
        double now, tick;
        double capacity; /* the part of the node that these jobs have among them */
};

/* The best over milestones of value gained by then ÷ seconds to get there; those without seconds
 * (NaN) count for nothing. seconds: ascending. */
double sg_growth_index(const double *seconds, const double *values, size_t n);
/* Fills index, seconds, passes. */
void sg_growth_value(struct sg_growth_job *j, const struct sg_estimate *e,
                     enum sg_objective objective);

/* D: VF, and no_harm of the time until then more. */
double sg_growth_due(double arrival, double virtual_finish, double no_harm);

/* Fills slack, and by_due[] with the jobs in order of D. Returns the place there of the first whose
 * slack is used up; n = none. */
size_t sg_growth_slack(struct sg_growth_job *jobs, size_t n, const struct sg_growth_node *node,
                       struct sg_growth_job **by_due);
/* The whole guard: order[] says who goes first, second … */
void sg_growth_order(struct sg_growth_job *jobs, size_t n, const struct sg_growth_node *node,
                     struct sg_growth_job **order);
/* The shortest prefix that fills the capacity, and the weights: 10000 for those that fit whole,
 * 1000 for the last, 1 for the rest. Fills share, weight, list; returns how many run. */
size_t sg_growth_run_set(struct sg_growth_job **order, size_t n, double capacity);
/* When that choice can first change though nothing was heard; INFINITY = never. by_due: room for n.
 */
double sg_growth_next(struct sg_growth_job *jobs, size_t n, const struct sg_growth_node *node,
                      struct sg_growth_job *const *order, struct sg_growth_job **by_due);
