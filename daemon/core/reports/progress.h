/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * How far a job is, and when it will be done.
 *
 * Steps are counted over the whole run: (epoch − 1) · steps per epoch + step. A job that reports
 * epochs only is counted in epochs. The total is what the job says; where it doesn't (no number of
 * epochs), what was declared at submission; and where nobody has declared anything, what is shown
 * is how far the epoch is. A total that the job has passed is no longer believed.
 *
 * Time is the job's running time: what it was suspended doesn't count. The speed is that of about
 * the last quarter of the run, in at most eight intervals; one in which it nearly stood still
 * counts as no more than four usual ones. It is measured in CPU time per step instead, at the CPU
 * time per second that the job gets now, if that was the steadier of the two: so the estimate
 * follows at once when the job's share changes. Between two reports the estimate counts down; when
 * the next step is overdue, the time since counts as slow progress, and the estimate grows again.
 *
 * low … high hold the truth in about 8 of 10 cases, from the spread of the intervals' speeds.
 *
 * A step behind the newest: a little (two, or one in a hundred) is another process's line and is
 * ignored, unless three reports agree; more is a restart from a checkpoint: the way is counted
 * again from there, what is known about the speed is kept. Back to half and less under another
 * total is another phase, whose speed is learnt anew. NaN and infinite evals are shown, and never
 * the best.
 */

#include "core/reports/report.h"

#define SG_PROGRESS_INTERVALS 8

struct sg_progress_interval {
        float sec, cpu_sec, steps; /* cpu_sec < 0: not known */
};

struct sg_progress {
        uint32_t has; /* SG_REPORT_*, of eval, step, total */
        uint8_t goal, n_intervals, behind;
        double eval, best;
        uint64_t step, total, declared;
        uint64_t epoch, before; /* total is the end of this epoch, and so many steps were before it;
                                   0 = it is the run's */
        uint64_t first_usec;    /* running time of the first step */
        uint64_t mark_usec, mark_cpu_usec, mark_step; /* where the newest interval ends */
        uint64_t moved_usec;                          /* running time when the step last changed */
        uint64_t gap_usec;                            /* between its last two changes */
        struct sg_progress_interval intervals[SG_PROGRESS_INTERVALS]; /* oldest first */
};

struct sg_progress_view {
        uint32_t has;      /* SG_REPORT_EVAL, _STEP, _TOTAL */
        double eval, best; /* best is NaN until there was a finite one */
        uint64_t step, total;
        uint64_t epoch, before; /* of which these are, and so all below, and the steps before it;
                                   epoch 0 = of the run */
        double fraction;        /* 0 … 1; NaN = not known, as all below */
        double eta_sec, eta_low_sec, eta_high_sec;
};

void sg_progress_init(struct sg_progress *p, enum sg_goal goal,
                      uint64_t declared_steps /* 0 = unknown */);
/* cpu_usec: used by the job so far; SG_UNLIMITED = not known. Times that go backwards are taken for
 * no time at all. */
void sg_progress_feed(struct sg_progress *p, const struct sg_report *r, uint64_t running_usec,
                      uint64_t cpu_usec);
void sg_progress_view(const struct sg_progress *p, uint64_t running_usec_now,
                      struct sg_progress_view *ret);
/* Turns a view of an epoch into one of the run: the step, and no total. */
void sg_progress_view_run(struct sg_progress_view *v);
