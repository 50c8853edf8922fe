/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * One way through to the end, as the search for a plan (plan-search.h) tries many: jobs get their
 * parts of the node by a rule, go on until one of them ends, and get them anew. The rule is either
 * of shares (plan-shares.c), or of whole CPUs (plan-whole.c).
 */

#include "core/share/plan-search.h"
#include <stdbool.h>

/* The arrays are by job, but `order`, `alive` and `powers`. */
struct sg_walk {
        const struct sg_search_job *jobs;
        const uint32_t *order; /* the plan's */
        size_t n;
        const double *values; /* of milestones */
        double now, capacity;
        uint32_t *alive; /* those that have a part and haven't ended: in the plan's order, or as
                            they began */
        size_t n_alive;
        double *left, *share, *rate, *finish;
        uint8_t *milestone; /* the next */
        double t, tardiness, value;
        double owed; /* by how much value grows per second, at least until the next end */
        /* with shares */
        double *powers;
        bool *capped; /* has its width */
        double scale; /* of the shares of the others */
        /* with whole CPUs */
        double cpus;   /* of the node; 0 = with shares */
        double *worth; /* of a job's going on by one CPU */
        double *gain;  /* … by one more than it has; -1: it can't use it */
        uint32_t *own;
        uint32_t free; /* CPUs */
        size_t next;   /* in the order: the first that has had none */
};

/* `powers` or `worth` is the caller's choice of rule. best NULL: to the end in any case; else
 * false: it was given up, as it can't become better than that. */
bool sg_walk_through(struct sg_walk *w, const uint32_t *order, const struct sg_search_plan *best);
/* Only what is given at the beginning. */
void sg_walk_begin(struct sg_walk *w, const uint32_t *order);

/* heSRPT's shares, of jobs that scale by this exponent. */
void sg_walk_prefer_shares(struct sg_walk *w, double exponent);
void sg_walk_share(struct sg_walk *w);

/* One after the other gets a CPU, whoever gains most by it: what it goes on by, × its worth by its
 * place in the order. eagerness 0: all are worth the same; large: the order is all that counts. */
void sg_walk_prefer_whole(struct sg_walk *w, const uint32_t *order, double eagerness);
void sg_walk_give(struct sg_walk *w);
