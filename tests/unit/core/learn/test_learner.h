/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What a learner is told, and asked. */

#include "tests/unit/test.h"

#include "core/learn/internal.h"
#include <math.h>

SG_DEFINE_CLEANUP(struct sg_learner *, sg_learner_free)

#define NONE ((double)NAN)

static inline struct sg_learner *make(double cpus, bool restarted)
{
        const struct sg_learner_job j = {.cpus = cpus, .probe = 3, .restarted = restarted};
        struct sg_learner *l;

        assert_int_equal(sg_learner_new(&l, &j), 0);
        return l;
}

static inline void say(struct sg_learner *l, double now, double cpu, double fraction, double eval)
{
        const struct sg_learner_report r = {
                .now = now, .cpu = cpu, .fraction = fraction, .eval = eval};

        assert_int_equal(sg_learner_report(l, &r), 0);
}

static inline void count(struct sg_learner *l, double now, double cpu, uint64_t step,
                         uint64_t total, double eval)
{
        const struct sg_report counters = {
                .has = SG_REPORT_STEP | SG_REPORT_TOTAL, .step = step, .total = total};
        const struct sg_learner_report r = {
                .now = now, .cpu = cpu, .counters = &counters, .eval = eval};

        assert_int_equal(sg_learner_report(l, &r), 0);
}

static inline struct sg_estimate estimate(const struct sg_learner *l,
                                          const struct sg_class_history *h, double now, double cpu)
{
        struct sg_estimate e;

        sg_learner_estimate(l, h, now, cpu, SG_ESTIMATE_MILESTONES | SG_ESTIMATE_EFFICIENCY,
                            SG_RESOURCE_CPU, &e);
        return e;
}

static inline void use(struct sg_learner *l, double now, double cpu, double delay, bool held)
{
        const struct sg_learner_use u = {.now = now,
                                         .cpu = cpu,
                                         .delay = delay,
                                         .pressure = delay,
                                         .held = held,
                                         .use = {NONE, NONE, NONE, NONE}};

        sg_learner_use(l, &u);
}
