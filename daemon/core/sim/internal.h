/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the simulator's files share. */

#include "base/rng.h"
#include "core/govern/diff.h"
#include "core/sim/sim.h"

struct sg_sim_run {
        const struct sg_trace_job *spec;
        struct sg_sim_job *out;
        size_t index;
        struct sg_rng rng;                     /* of what it says */
        double claim;                          /* by how much it is off, in logarithms */
        double milestones[SG_SIM_N_QUALITIES]; /* in work */
        double done, used, share, rate, since; /* since: of the last look at its use */
        double used_then;
        enum sg_share_list list;   /* as decided last */
        struct sg_applied applied; /* in force */
        struct sg_changed changed;
        double early;
        uint32_t said; /* reports */
        bool lies;
        bool large; /* has more than half of what it can use */
};

/* The largest part of the node that it can use. */
double sg_sim_width(const struct sg_trace_job *spec, const struct sg_sim_options *o);
/* Fills shares as o->reference wants; runs by arrival. -ENOMEM */
int sg_sim_share(const struct sg_sim_run *runs, size_t n, const struct sg_sim_options *o,
                 double now, double *shares);
/* What it says at its next report. */
struct sg_learner_report sg_sim_report(struct sg_sim_run *run, const struct sg_sim_options *o,
                                       double now);
void sg_sim_run_init(struct sg_sim_run *run, const struct sg_trace_job *spec, size_t index,
                     const struct sg_sim_options *o);
/* The work at which the next thing happens to it: a report, or the end. */
double sg_sim_next(const struct sg_sim_run *run);
