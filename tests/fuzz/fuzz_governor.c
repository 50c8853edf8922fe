/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Any bytes as what a governor before us knew. Whatever is taken of them, jobs that are found again
 * are governed as others are: shares that make sense, weights that the kernel takes, and
 * state that the one after us can read.
 */
#include "core/govern/governor.h"

#include <math.h>
#include <stdlib.h>

#define JOBS 6
#define CPUS 2
#define NOW 1e6 /* later than anything that the corpus remembers */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
        if (!condition)
                abort();
}

/* Every policy that remembers something, each with a class of its own. */
static void configure(struct sg_governor *g)
{
        static const struct {
                const char *name;
                enum sg_share_kind share;
                double weight;
        } known[] = {{"default", SG_SHARE_GROWTH, 100},
                     {"flow", SG_SHARE_FLOWCON, 110},
                     {"late", SG_SHARE_DEADLINE, 50}};
        struct sg_governor_class classes[SG_ELEMENTSOF(known)];

        for (size_t i = 0; i < SG_ELEMENTSOF(known); i++) {
                classes[i] = (struct sg_governor_class){.name = known[i].name,
                                                        .weight = known[i].weight};
                sg_share_settings_init(&classes[i].settings);
                classes[i].settings.share = known[i].share;
        }
        must(sg_governor_configure(g, CPUS, classes, SG_ELEMENTSOF(known)) == 0);
}

static void add_jobs(struct sg_governor *g)
{
        static const char *const classes[] = {"default", "default", "flow", "late"};

        for (uint64_t key = 1; key <= JOBS; key++) {
                const struct sg_governor_job j = {
                        .key = key,
                        .attempt = 1,
                        .class = classes[key % SG_ELEMENTSOF(classes)],
                        .uid = 1000 + key % 2,
                        .now = NOW,
                        .arrival = NOW,
                        .cpus_max = INFINITY,
                        .weight = 100,
                        .deadline = key % 4 == 3 ? NOW + 100 : INFINITY,
                };

                must(sg_governor_add(g, &j) == 0);
        }
}

static void check_step(struct sg_governor *g, double now)
{
        struct sg_governor_plan plan;
        double sum = 0;

        must(sg_governor_step(g, now, &plan) == 0 && plan.n_jobs == JOBS);
        must(!isnan(plan.next)); /* too early is the daemon's to bound */
        for (size_t i = 0; i < plan.n_jobs; i++) {
                const struct sg_share_out *out = &plan.jobs[i]->out;

                must(out->share >= 0 && out->share <= 1 + 1e-6);
                must(out->weight >= 1 && out->weight <= 10000);
                must(out->cap > 0);
                sum += out->share;
        }
        must(sum <= 1 + 1e-6);
}

static void check_saved(const struct sg_governor *g)
{
        _cleanup_(sg_record_deinitp) struct sg_record saved = {0};
        struct sg_governor *again = NULL;

        sg_governor_save(g, &saved);
        must(saved.error == 0 && sg_governor_new(&again, CPUS) == 0);
        configure(again);
        must(sg_governor_load(again, saved.data, saved.size, NOW + 3) == 0);
        sg_governor_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct sg_governor *g;

        must(sg_governor_new(&g, CPUS) == 0);
        configure(g);
        (void)sg_governor_load(g, data, size, size % 8 ? NOW : (double)NAN);
        add_jobs(g);
        for (unsigned t = 0; t < 3; t++) {
                const struct sg_report counters = {
                        .has = SG_REPORT_STEP | SG_REPORT_TOTAL, .step = 1 + 2 * t, .total = 10};
                const struct sg_learner_report r = {.now = NOW + t,
                                                    .cpu = t,
                                                    .fraction = .1 + .2 * t,
                                                    .counters = t % 2 ? &counters : NULL,
                                                    .eval = 1. / (1 + t)};

                check_step(g, NOW + t);
                (void)sg_governor_report(g, 1 + t, &r);
        }
        sg_governor_end(g, JOBS, NOW + 3, 3, true);
        check_saved(g);
        sg_governor_free(g);
        return 0;
}
