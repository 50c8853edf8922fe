/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Growth efficiency: how much a job's evaluation E changes per second, of what it is measured in
 * (E_ref), and per part of a resource that it uses. A smaller E is the better here: those of jobs
 * whose goal is the maximum come with the sign changed.
 *
 *   P = |E(t) − E(t′)| ÷ E_ref ÷ (t − t′)        G = P ÷ R
 *
 * E_ref is |first E|; if that isn't the scale of what happens (the goal is the maximum, or the
 * range seen is larger), it is |best − first| from the third E on, and stays. t′ is when the policy
 * last used a G that had been measured since the t′ before.
 */

#include "core/job/estimate.h"
#include "core/reports/report.h"
#include <stddef.h>

#define SG_EFFICIENCY_LAST 5
#define SG_EFFICIENCY_HELD 2

struct sg_eval_point {
        double eval, cpu; /* CPU-seconds used when it was said */
};

struct sg_efficiency {
        double first, least, most; /* of E */
        double reference;          /* E_ref; 0 = not known */
        double last_growth;        /* G as last measured; NaN = never */
        double mark_time, mark_eval, mark_cpu;
        double use[SG_N_RESOURCES]; /* part of the node × seconds, since the mark */
        struct sg_eval_point last[SG_EFFICIENCY_LAST]; /* oldest first */
        struct sg_eval_point held[SG_EFFICIENCY_HELD]; /* too far off to be believed as yet */
        uint64_t n, n_rejected, n_new;                 /* n_new: since the mark */
        uint32_t n_held;
        bool maximised, frozen; /* frozen: reference */
};

/* Equations 4.1 and 4.2: G; P in *ret_progress unless that is NULL. */
double sg_efficiency(double prev, double now, double reference, double dt, double use,
                     double *ret_progress);

void sg_efficiency_init(struct sg_efficiency *e);
/* What is to be taken for new values into taken[SG_EFFICIENCY_HELD + 1]: none if it is held back or
 * no number, more than one if those held back turn out to be right. Returns how many. */
size_t sg_efficiency_report(struct sg_efficiency *e, enum sg_goal goal, double now,
                            const struct sg_eval_point *p, struct sg_eval_point *taken);
void sg_efficiency_use(struct sg_efficiency *e, double seconds, const double *use);
/* G as of now; *ret_measured: there has been an E since the mark, and a second's time. */
double sg_efficiency_growth(const struct sg_efficiency *e, double now, double cpu, double cpus,
                            enum sg_resource driving, bool *ret_measured);
/* Keeps G and measures anew from here on, if it has been measured since the last mark. */
void sg_efficiency_mark(struct sg_efficiency *e, double now, double cpu, double cpus,
                        enum sg_resource driving);
/* |ΔE| of the range seen, per CPU-second, over the last few; NaN. */
double sg_efficiency_rate(const struct sg_efficiency *e);
