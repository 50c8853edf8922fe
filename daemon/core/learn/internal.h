/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What the learner's files share. Most jobs never say anything: memory for what is learnt from
 * reports is allocated with the first report, and for what is learnt from evaluations with the
 * first evaluation.
 */

#include "core/learn/curve.h"
#include "core/learn/demand.h"
#include "core/learn/efficiency.h"
#include "core/learn/fraction.h"
#include "core/learn/learner.h"
#include "core/learn/scaling.h"
#include "core/learn/trust.h"
#include "core/learn/work.h"

struct sg_claims {
        struct sg_work work;
        struct sg_trust trust;
        struct sg_scaling scaling;
        bool by_steps; /* scaling is of speeds in steps, as their total isn't known */
        double half;   /* its size by its own word when it was half done, CPU-seconds; 0 = not known
                        */
        /* Kept until the next report. */
        double cost[_SG_WORK_MEASURE_MAX];
        bool fresh[_SG_WORK_MEASURE_MAX];
};

struct sg_evals {
        struct sg_efficiency efficiency;
        struct sg_curve curve;
};

struct sg_learner {
        struct sg_learner_job job;
        struct sg_demand demand;
        double cpu; /* as last heard of */
        double own; /* CPUs that it has for itself, 0 = none */
        bool owned; /* it has had some: its use then doesn't show how much it could use */
        uint64_t n_reports;
        struct sg_fraction *counters; /* NULL: none, as are the next */
        struct sg_claims *claims;
        struct sg_evals *evals;
};

/* Unless it has them; -ENOMEM */
int sg_learner_make_counters(struct sg_learner *l);
int sg_learner_make_claims(struct sg_learner *l);
int sg_learner_make_evals(struct sg_learner *l);
/* CPU-seconds, or what the measure counts, for all of x; NaN. Of a learner with claims. */
double sg_learner_cost(const struct sg_learner *l, enum sg_work_measure measure);
