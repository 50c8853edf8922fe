/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/govern/diff.h"
#include <math.h>

#define CAP_STEP .02
/* A job that waits for its turn has only its floor, a hundredth of the largest weight or less. The
 * weights of all such jobs differ whenever somebody's turn begins or ends. */
#define SLIGHT .01
#define SLIGHT_INTERVALS 10
/* Time between two changes of an allocation: a program that divides its work anew, or moves to
 * other CPUs, has to earn back first what that costs. */
#define ALLOCATION_SEC .25

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

/* Whether two weights are far apart: by more than half of the larger one. */
static bool leaps(const struct sg_applied *have, const struct sg_applied *want)
{
        return have->weight == 0 || differs(have->weight, want->weight, .5) ||
               (have->cap_pm == UINT64_MAX) != (want->cap_pm == UINT64_MAX);
}

/* How long after the last change a mere adjustment is written; 0 = at once. */
static double patience(const struct sg_applied *have, const struct sg_planned *p, unsigned write)
{
        if (p->moved || have->weight == 0 || write & SG_WRITE_CPUS)
                return 0;
        if (write == SG_WRITE_WEIGHT &&
            fmax(have->weight, p->want.weight) <= SLIGHT * (double)p->most)
                return SLIGHT_INTERVALS * p->interval;
        return leaps(have, &p->want) ? 0 : p->interval;
}

static double due_of(const struct sg_applied *have, const struct sg_changed *changed,
                     const struct sg_planned *p, unsigned write)
{
        double at = changed->any + patience(have, p, write);

        return write & SG_WRITE_ALLOCATION ? fmax(at, changed->allocation + ALLOCATION_SEC) : at;
}

static unsigned differing(const struct sg_applied *have, const struct sg_planned *p)
{
        const struct sg_applied *want = &p->want;
        unsigned write = 0;

        if (have->weight == 0 || differs(have->weight, want->weight, SG_DIFF_WEIGHT_STEP) ||
            (p->moved && have->weight != want->weight))
                write |= SG_WRITE_WEIGHT;
        if (cap_differs(have->cap_pm, want->cap_pm))
                write |= SG_WRITE_CAP;
        if (have->threads != want->threads)
                write |= SG_WRITE_THREADS;
        if (have->cpus != want->cpus || p->misplaced)
                write |= SG_WRITE_CPUS;
        return write;
}

unsigned sg_diff_writes(const struct sg_applied *have, const struct sg_changed *changed,
                        const struct sg_planned *p, double *ret_due)
{
        unsigned all = differing(have, p), first = all & ~(unsigned)SG_WRITE_ALLOCATION;
        double all_due = due_of(have, changed, p, all);
        double first_due = first ? due_of(have, changed, p, first) : INFINITY;

        *ret_due = INFINITY;
        if (all == 0 || p->now >= all_due)
                return all;
        if (p->now >= first_due) {
                *ret_due = all_due;
                return first;
        }
        *ret_due = fmin(first_due, all_due);
        return 0;
}

struct sg_applied sg_diff_applied(const struct sg_applied *have, const struct sg_applied *want,
                                  unsigned write)
{
        struct sg_applied a = *have;

        if (write & (SG_WRITE_WEIGHT | SG_WRITE_CAP)) {
                a.weight = want->weight;
                a.cap_pm = want->cap_pm;
        }
        if (write & SG_WRITE_ALLOCATION) {
                a.threads = want->threads;
                a.cpus = want->cpus;
        }
        return a;
}
