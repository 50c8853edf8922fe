/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What came out of many simulated instances under one policy, next to what free competition (fair)
 * would have made of the same.
 */

#include "core/sim/sim.h"

/* Ratios are to fair's, and but for p95 and what has "most" in it means over instances; NaN = says
 * nothing here. */
struct sg_sim_summary {
        double mean_completion; /* seconds, from arrival, over all jobs */
        double mean_makespan;   /* seconds, from the first arrival until all are done */
        double ratio, p95_ratio, makespan_ratio;
        double quality_ratio[SG_SIM_N_QUALITIES]; /* of the time until so much was learnt */
        double worst_ratio, worst_ratio_most;     /* of the job that it was worst for */
        double honest_worst_ratio;                /* … of those that don't lie */
        double improved;                          /* part of the jobs that it was better for */
        double slowdown_most;                     /* completion × width ÷ work */
        double deadlines_met;                     /* part of those that there were */
        double liars_ratio;                       /* of the jobs that lied */
        double broken_most;                       /* seconds behind what was promised */
        double switches;                          /* per instance */
        uint64_t steps;
};

struct sg_sim_stats { /* zero-initialise */
        size_t n_instances, n_jobs, allocated;
        double *completions, *fair; /* of all jobs, kept for the 95th hundredth */
        double sums[6 + SG_SIM_N_QUALITIES];
        size_t n_improved, n_deadlines, n_met, n_liars;
        double lied, worst_most, slowdown_most, broken_most;
        uint64_t switches, steps;
};

void sg_sim_stats_deinit(struct sg_sim_stats *s);
/* One more instance: its jobs, what became of them, and what fair makes of them. settings: for what
 * was promised. -ENOMEM */
int sg_sim_stats_add(struct sg_sim_stats *s, const struct sg_trace_job *jobs, size_t n,
                     const struct sg_share_settings *settings, const struct sg_sim_result *result,
                     const struct sg_sim_result *fair);
void sg_sim_stats_summarize(struct sg_sim_stats *s, struct sg_sim_summary *ret);
