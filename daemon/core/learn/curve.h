/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Where a job will be on its way to its last evaluation: fits of E(x) = a + b·φ(x) to what it has
 * said, for 16 shapes φ that fall from 1, each weighed by how well it fits. A smaller E is the
 * better.
 *
 * E is kept as means over at most 41 bins of x: as long as there are fewer reports, of one each,
 * then of ever longer stretches. So the first few tell as much as they can, and a job that says
 * much is as fast to fit as one that says little. After a break (the learning rate was changed,
 * another phase began) only what comes after it counts, until three bins of that are there nothing
 * is known.
 */

#include "core/job/estimate.h"

#define SG_CURVE_BINS 41

struct sg_curve_bin {
        float from;    /* least x */
        float x, eval; /* means; eval: less first */
        uint32_t n;
};

struct sg_curve {
        struct sg_curve_bin bins[SG_CURVE_BINS]; /* by x */
        double first; /* the first E: floats are enough for what is relative to it */
        uint32_t n;
        float width;   /* of a bin */
        float begin;   /* `from` of the bin at the last break; 0 = there was none */
        float checked; /* … of the newest when breaks were last looked for */
        float tail;    /* … of the one at which 99 % were thought to be done; 0 = weren't */
        float tail_eval;
        bool fresh; /* at */
        double at[SG_MILESTONE_DONE];
};

void sg_curve_init(struct sg_curve *c);
void sg_curve_add(struct sg_curve *c, double x, double eval);
/* x of each milestone while too little is known to say more. */
extern const double sg_curve_unknown[SG_MILESTONE_DONE];
/* x of each milestone; NaN: can't be said. Fits if there was anything new since the last time. */
const double *sg_curve_milestones(struct sg_curve *c);
