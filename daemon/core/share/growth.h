/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The decisions that `growth` (policy-growth.c) is made of, each a function of numbers alone.
 */

#include "base/cleanup.h"
#include "core/share/share.h"

enum sg_growth_turn {
        SG_TURN_OWN_SLACK, /* narrow, and couldn't make up for time that it lost now */
        SG_TURN_HELPS,     /* it helps to keep the promise that is at stake */
        SG_TURN_REST,
};

/* One job that takes its turn. */
struct sg_growth_job {
        size_t origin; /* in the snapshot */
        uint64_t key;
        double arrival;
        double remaining; /* seconds alone on the node */
        double width;
        double index; /* INFINITY: to be probed; of several, the one that has used least first */
        double used;
        double due;                         /* D; INFINITY = no promise */
        double importance;                  /* of its class, for plans */
        double exponent;                    /* 1 = scales linearly, or isn't known yet */
        const struct sg_estimate *estimate; /* borrowed */
        bool stays;                         /* it had CPUs of its own after the last step */
        double seconds;                     /* alone to the milestone that the index is of */
        double passes;                      /* … until it has the next milestone behind it */
        /* filled in */
        double start; /* work that is due at this time or later has to wait for some of this job's
                       */
        double slack; /* time left over for the promises up to its own, if all work for these */
        double own_slack; /* … for its own, if it runs from now on */
        double share;
        uint32_t cpus; /* whole ones, of its own; 0 = none */
        uint32_t weight;
        enum sg_growth_turn turn;
        enum sg_share_list list;
        enum sg_share_reason reason;
        uint64_t other;
};

/* All of them. */
struct sg_growth_line {
        double now, tick;
        double capacity; /* the part of the node that these jobs have among them */
        struct sg_growth_job *jobs;
        size_t n;
        struct sg_growth_job **order; /* who goes first, second … */
        struct sg_growth_job **by_due, **by_start;
        size_t at_stake; /* in by_due, the first whose slack is used up; n = none */
        struct sg_growth_job *chosen;
};

int sg_growth_line_init(struct sg_growth_line *l, size_t room); /* capacity 1, no jobs; -ENOMEM */
void sg_growth_line_deinit(struct sg_growth_line *l);

/* The best over milestones of value gained by then ÷ seconds to get there; those without seconds
 * (NaN) count for nothing. seconds: ascending; *ret_seconds: of the best, untouched if there is
 * none. */
double sg_growth_index(const double *seconds, const double *values, size_t n, double *ret_seconds);
/* Fills index, seconds, passes. */
void sg_growth_value(struct sg_growth_job *j, const struct sg_estimate *e,
                     enum sg_objective objective);

/* D: VF, and no_harm of the time until then more. */
double sg_growth_due(double arrival, double virtual_finish, double no_harm);

/* The guard: fills by_due, by_start and at_stake, and of the jobs start and slacks. */
void sg_growth_guard(struct sg_growth_line *l);
/* … and then order, chosen, and of the jobs turn, reason and other. */
void sg_growth_order(struct sg_growth_line *l);
/* The shortest prefix that fills the capacity, and the weights: the largest for those that fit
 * whole, 1000 for the last, 1 for the rest. Fills share, weight, list; returns how many run. */
size_t sg_growth_run_set(struct sg_growth_line *l, double capacity);
/* Instead of both, for jobs of which some scale badly: a plan for all to the end (plan-search.h).
 * Fills order, share, list, reason, and weight with 1: they are to be as the shares. cpus: of the
 * node, of which each gets whole ones; 0 = shares of any size. -ENOMEM */
struct sg_growth_tried { /* who has so many CPUs whatever is planned; job NULL: nobody */
        struct sg_growth_job *job;
        uint32_t cpus;
};
int sg_growth_plan(struct sg_growth_line *l, enum sg_objective objective, double capacity,
                   double cpus, const struct sg_growth_tried *tried);
/* When that choice can first change though nothing was heard; INFINITY = never. */
double sg_growth_next(const struct sg_growth_line *l);
