/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Where a job will be on its way to its last evaluation: fits of E(x) = a + b·φ(x) to what it has
 * said, for 16 shapes φ that fall from 1, each weighed by how well it fits. A smaller E is the
 * better.
 *
 * E is kept as means over 41 bins of x, so that a job that says much is as fast to fit as one that
 * says little. After a break (the learning rate was changed, another phase began) only what comes
 * after it counts, until three bins of that are there nothing is known.
 */

#include "core/estimate.h"

#define SG_CURVE_BINS 41

struct sg_curve_bin {
        float x, eval; /* means; eval: less first */
        uint32_t n;
};

struct sg_curve {
        struct sg_curve_bin bins[SG_CURVE_BINS];
        double first;       /* the first E: floats are enough for what is relative to it */
        uint32_t begin;     /* the bin that the last break was at, or 0 */
        uint32_t tail;      /* … that 99 % were thought to be done at, 0 = weren't */
        uint32_t n_checked; /* bins in use when breaks were last looked for */
        bool fresh;         /* at */
        double at[SG_MILESTONE_DONE];
};

void sg_curve_init(struct sg_curve *c);
void sg_curve_add(struct sg_curve *c, double x, double eval);
/* x of each milestone; NaN: can't be said. Fits if there was anything new since the last time. */
const double *sg_curve_milestones(struct sg_curve *c);
