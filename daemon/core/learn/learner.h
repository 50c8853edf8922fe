/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What is learnt of one job from its reports and its use of the node: how much work is left, where
 * on its curve it is, how it scales, whether it is to be believed. It knows nothing of policies, so
 * that a change of policy loses nothing.
 */

#include "base/record.h"
#include "core/job/estimate.h"
#include "core/job/history.h"
#include "core/learn/pace.h"
#include "core/reports/report.h"

struct sg_learner;

struct sg_learner_job {
        enum sg_goal goal;
        double cpus;    /* of the node */
        double probe;   /* CPU-seconds (settings/share.h) */
        bool restarted; /* it may go on from a checkpoint: its first report needn't be its beginning
                         */
        double exponent; /* its speed grows as share^exponent; NaN or 0: as measured */
        bool whole;      /* shares come in whole CPUs: there is a curve in place of an exponent */
        const struct sg_usual *usual; /* … of what it is thought to be at first; outlives the
                                         learner, or its next configuration */
        uint64_t steps;               /* as declared at submission; 0 = not */
};

/* One report, or the newest of several since the last. */
struct sg_learner_report {
        double now;      /* s */
        double cpu;      /* CPU-seconds used by this attempt, up to now */
        double fraction; /* x: of its work done, 0 … 1, as it says; NaN = doesn't say */
        double eval;     /* NaN = none; infinite = as it says */
        const struct sg_report *counters; /* NULL: `fraction` it is; else x is found in this */
};

/* What the kernel counted, in all, of this attempt. */
struct sg_learner_use {
        double now;
        double cpu;      /* CPU-seconds used */
        double delay;    /* seconds that its threads waited for a CPU, in sum, without waits that
                            aren't over; NaN = not known */
        double pressure; /* seconds in which any of them waited, with those; NaN = not known */
        bool held;       /* it was held since the last time, which tells nothing of what it wants */
        bool spare; /* CPUs stood idle meanwhile: where its waits aren't counted, it had none */
        double use[SG_N_RESOURCES]; /* mean since the last time, parts of the node; NaN = not known
                                     */
};

int sg_learner_new(struct sg_learner **ret, const struct sg_learner_job *j);
/* Its class, or what is said of it, has changed. */
void sg_learner_configure(struct sg_learner *l, const struct sg_learner_job *j);
struct sg_learner *sg_learner_free(struct sg_learner *l);
int sg_learner_report(struct sg_learner *l, const struct sg_learner_report *r); /* -ENOMEM */
void sg_learner_use(struct sg_learner *l, const struct sg_learner_use *u);
/* From now on it has so many CPUs for itself; 0 = it shares them. */
void sg_learner_give(struct sg_learner *l, double now, double cpu, double own);

enum { SG_ESTIMATE_MILESTONES = 1, SG_ESTIMATE_EFFICIENCY = 2 };

/* The estimate as of now. h: history of its class, NULL = none. want: fields that cost something to
 * compute are NaN unless they are in it. */
void sg_learner_estimate(const struct sg_learner *l, const struct sg_class_history *h, double now,
                         double cpu, unsigned want, enum sg_resource driving,
                         struct sg_estimate *ret);
/* As measured: the part of the node that it would use if it could have all; NaN = not known. */
double sg_learner_width(const struct sg_learner *l);
bool sg_learner_cpu_bound(const struct sg_learner *l); /* true until seen otherwise */
/* It isn't, or hasn't been so far: not enough to decide by, but not to be spoken of as if it were.
 */
bool sg_learner_seems_idle(const struct sg_learner *l);
bool sg_learner_waits_known(const struct sg_learner *l); /* somebody counts its waits for a CPU */
/* The policy has stepped: the next growth efficiency is from here on. */
void sg_learner_mark(struct sg_learner *l, double now, enum sg_resource driving);
/* Its size by its own word when it was half done or later, CPU-seconds, for its class's history;
 * NaN */
double sg_learner_claimed(const struct sg_learner *l);
/* How its speed has grown with its CPUs; NULL: its reports don't show that. */
const struct sg_pace *sg_learner_pace(const struct sg_learner *l);
/* One line on the size and where it comes from, and on distrust, for `explain`. */
void sg_learner_explain(const struct sg_learner *l, char *buf, size_t size);

void sg_learner_save(const struct sg_learner *l, struct sg_record *r);
int sg_learner_load(struct sg_learner **ret, const struct sg_learner_job *j, const void *data,
                    size_t size);
