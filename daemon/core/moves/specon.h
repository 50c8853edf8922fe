/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * SpeCon as published: jobs that have nearly converged move to where they compete least. Algorithm
 * 3 puts each job into a category by its growth and notices that it should move, Algorithm 4 says
 * where to, Algorithm 5 evens out the nodes once all jobs have been moved or have converged. A job
 * is moved at most once by each of the two.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_SPECON_ALPHA .01
#define SG_SPECON_INTERVAL 30.0 /* s */

enum sg_specon_category {
        SG_SPECON_PROGRESSING,
        SG_SPECON_WATCHING,
        SG_SPECON_CONVERGED,
        SG_SPECON_N_CATEGORIES,
};

/* Algorithm 3. One that is marked isn't categorised any more. */
struct sg_specon_job {
        enum sg_specon_category category;
        double first, last; /* evaluations: its unit of growth; of the last tick */
        double growth;      /* G of the last tick */
        double since;       /* when it was marked, else when it converged; NaN = neither */
        bool marked, rebalanced;
};

void sg_specon_init(struct sg_specon_job *j, double eval);
/* A tick. n_growing: jobs on its node that progress or are watched, as they were before the tick.
 * Whether it asks to be moved. An evaluation that isn't finite is no tick of this job. */
bool sg_specon_tick(struct sg_specon_job *j, double now, double eval, double alpha,
                    size_t n_growing);

/* Algorithm 4. The job counts on its node; one in flight, as converged at its target. */
struct sg_specon_node {
        size_t n[SG_SPECON_N_CATEGORIES];
        double use; /* breaks ties: parts of the node in use */
};
struct sg_specon_weights {
        double weight[SG_SPECON_N_CATEGORIES];
};
extern const struct sg_specon_weights sg_specon_weights; /* 2, 1.5, 1 */

double sg_specon_score(const struct sg_specon_node *node, const struct sg_specon_weights *w);
/* Fills candidates, an array of n: the nodes of least score; how many. */
size_t sg_specon_candidates(const struct sg_specon_node *nodes, size_t n,
                            const struct sg_specon_weights *w, bool *candidates);
/* Where the job goes; `host` = it stays. It is marked then in either case (sg_specon_mark). */
size_t sg_specon_target(const struct sg_specon_node *nodes, size_t n, size_t host,
                        const struct sg_specon_weights *w);
void sg_specon_mark(struct sg_specon_job *j, double now);

/* Algorithm 5, when all jobs are marked or have converged. */
struct sg_specon_placed {
        size_t host;
        double since;
        bool rebalanced; /* set for those that are moved */
};
struct sg_specon_host { /* filled in */
        size_t n_jobs;  /* after the moves */
        bool target;
};
struct sg_specon_move {
        size_t job, from, to;
};

/* bf: jobs ÷ nodes, rounded; down leaves nodes idle when there are fewer jobs than nodes. */
size_t sg_specon_balance(size_t n_jobs, size_t n_hosts, bool up);
/* moves: room for n_hosts. How many. */
size_t sg_specon_rebalance(struct sg_specon_placed *jobs, size_t n_jobs,
                           struct sg_specon_host *hosts, size_t n_hosts, bool up,
                           struct sg_specon_move *moves);
