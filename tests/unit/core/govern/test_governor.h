/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A governor of a node of one CPU, its classes and jobs. */

#include "core/govern/governor.h"
#include "tests/unit/test.h"
#include <math.h>

struct world {
        struct sg_governor *g;
        struct sg_governor_class classes[3];
        size_t n_classes;
        struct sg_governor_plan plan;
};

static inline void class_of(struct world *w, const char *name, double weight,
                            enum sg_share_kind share)
{
        struct sg_governor_class *c = &w->classes[w->n_classes++];

        *c = (struct sg_governor_class){.name = name, .weight = weight};
        sg_share_settings_init(&c->settings);
        c->settings.share = share;
}

static inline void configure(struct world *w)
{
        assert_int_equal(sg_governor_configure(w->g, 1, w->classes, w->n_classes), 0);
}

static inline void world_new(struct world *w)
{
        *w = (struct world){0};
        assert_int_equal(sg_governor_new(&w->g, 1), 0);
}

static inline void add(struct world *w, uint64_t key, const char *class, double now)
{
        const struct sg_governor_job j = {.key = key,
                                          .class = class,
                                          .uid = 1000,
                                          .now = now,
                                          .arrival = now,
                                          .cpus_max = INFINITY,
                                          .weight = 100,
                                          .deadline = INFINITY};

        assert_int_equal(sg_governor_add(w->g, &j), 0);
}

static inline void step(struct world *w, double now)
{
        assert_int_equal(sg_governor_step(w->g, now, &w->plan), 0);
}

static inline void feed(struct world *w, double now)
{
        for (uint64_t key = 1; key <= 3; key++) {
                struct sg_learner_report r = {.now = now,
                                              .cpu = now / 3,
                                              .fraction = now / (100 * (double)key),
                                              .eval = 3 / (1 + now / 10)};

                assert_int_equal(sg_governor_report(w->g, key, &r), 0);
        }
}
