/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/govern/diff.h"
#include <math.h>

#define CAP_STEP .02
/* What waits for its turn has its floor only, a hundredth of the largest weight or less, and
 * whenever somebody's turn begins or ends all of these differ. */
#define SLIGHT .01
#define SLIGHT_INTERVALS 10

static bool differs(double have, double want, double step)
{
        return fabs(have - want) > step * fmax(have, want);
}

static bool cap_differs(uint64_t have, uint64_t want)
{
        if (have == UINT64_MAX || want == UINT64_MAX)
                return have != want;
        return differs((double)have, (double)want, CAP_STEP);
}

/* Far apart: by more than half of the larger. */
static bool leaps(const struct sg_applied *have, const struct sg_applied *want)
{
        return have->weight == 0 || differs(have->weight, want->weight, .5) ||
               (have->cap_pm == UINT64_MAX) != (want->cap_pm == UINT64_MAX);
}

/* How long after the last change a mere adjustment is written; 0 = at once. */
static double patience(const struct sg_applied *have, const struct sg_planned *p, unsigned write)
{
        if (p->moved || have->weight == 0)
                return 0;
        if (write == SG_WRITE_WEIGHT &&
            fmax(have->weight, p->want.weight) <= SLIGHT * (double)p->most)
                return SLIGHT_INTERVALS * p->interval;
        return leaps(have, &p->want) ? 0 : p->interval;
}

unsigned sg_diff_writes(const struct sg_applied *have, double changed, const struct sg_planned *p,
                        double *ret_due)
{
        const struct sg_applied *want = &p->want;
        unsigned write = 0;
        double due;

        *ret_due = INFINITY;
        if (have->weight == 0 || differs(have->weight, want->weight, SG_DIFF_WEIGHT_STEP) ||
            (p->moved && have->weight != want->weight))
                write |= SG_WRITE_WEIGHT;
        if (cap_differs(have->cap_pm, want->cap_pm))
                write |= SG_WRITE_CAP;
        if (have->threads != want->threads)
                write |= SG_WRITE_THREADS;
        due = changed + patience(have, p, write);
        if (write && p->now < due) {
                *ret_due = due;
                return 0;
        }
        return write;
}
