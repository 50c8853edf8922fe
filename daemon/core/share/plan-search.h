/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * A plan for jobs that scale badly: one after the other is worse than all at once for them, and
 * what is best lies in between. Each candidate is an order (by index, by what remains, by what is
 * due) and an exponent for heSRPT's shares along it; each is computed to its end, with jobs that
 * get on by width·(share/width)^exponent. Where parts are whole CPUs, a candidate is an order and
 * how much it counts, against what the node gets done in all; jobs go on as their speed-ups say.
 * Chosen is what misses its promises least, then what the objective likes best.
 */

#include "core/share/share.h"

enum sg_search_order { SG_SEARCH_INDEX, SG_SEARCH_REMAINING, SG_SEARCH_DUE, SG_SEARCH_N_ORDERS };

/* Ties are decided by the place in the array: give them by arrival, then key. */
struct sg_search_job {
        double remaining;                 /* seconds alone on the node, > 0 */
        double to[SG_N_MILESTONES];       /* as in the estimate; NaN = passed, or not known */
        double width, exponent;           /* 0 < both ≤ 1 */
        double weight;                    /* in the objective */
        double index;                     /* the higher, the sooner */
        double due;                       /* INFINITY = no promise */
        const struct sg_speedup *speedup; /* with whole CPUs; borrowed */
        /* filled in */
        double share;
        uint32_t cpus;           /* with whole CPUs */
        uint32_t rank;           /* 1 = first in the plan's order */
        enum sg_share_list list; /* RUN: as fast as it can be; LAST: a part; WAIT: hardly any */
        double finish;           /* if the plan is kept to */
};

struct sg_search_plan {
        enum sg_search_order order;
        double exponent;  /* of heSRPT; with whole CPUs how much the order counts */
        double tardiness; /* Σ seconds after what is due, of all jobs, beyond 1 s each */
        double value; /* of the objective: Σ weighted seconds until milestones, less is better */
};

struct sg_search_node {
        double now;
        double capacity; /* the part of it that the jobs have among them, > 0 */
        double cpus;     /* 0 = shares may be of any size */
};

/* Exact up to some dozens of jobs, and with whole CPUs; beyond, several ends are taken together.
 * -ENOMEM */
int sg_plan_search(struct sg_search_job *jobs, size_t n, const struct sg_search_node *node,
                   enum sg_objective objective, struct sg_search_plan *ret);
