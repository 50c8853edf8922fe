/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A share policy and the jobs that it decides on, for tests of single policies. */

#include "core/share/share.h"
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>

#define MAX_JOBS 8

struct scene {
        const struct sg_share_policy *policy;
        void *state;
        struct sg_share_settings settings;
        struct sg_share_class classes[2]; /* "a" and "b", of the same weight */
        struct sg_share_job jobs[MAX_JOBS];
        struct sg_share_out out[MAX_JOBS];
        size_t n;
        double now, next;
};

/* Change the settings between the two. */
static inline void scene_init(struct scene *c, enum sg_share_kind kind)
{
        *c = (struct scene){.policy = sg_share_policies[kind]};
        sg_share_settings_init(&c->settings);
        c->settings.share = kind;
        c->settings.floor = 0;
        c->classes[0] = (struct sg_share_class){"a", 100, &c->settings};
        c->classes[1] = (struct sg_share_class){"b", 100, &c->settings};
}

static inline void scene_start(struct scene *c)
{
        if (c->policy->create)
                assert_int_equal(c->policy->create(&c->state, &c->settings), 0);
}

static inline void scene_deinit(struct scene *c)
{
        if (c->state)
                c->policy->destroy(c->state);
}

/* As wide as the node, linear, 100 s of work of which nothing has been done. Keys are 10, 20 … */
static inline struct sg_share_job *scene_add(struct scene *c)
{
        struct sg_share_job *j = &c->jobs[c->n++];

        *j = (struct sg_share_job){
                .key = 10 * c->n,
                .uid = 1000,
                .arrival = c->now,
                .weight = 100,
                .width = 1,
                .deadline = INFINITY,
                .cpu_bound = true,
                .estimate =
                        {
                                .remaining = 100,
                                .total = 100,
                                .to = {NAN, NAN, NAN, 100},
                                .exponent = 1,
                                .efficiency = NAN,
                                .loss_rate = NAN,
                                .source = SG_SIZE_REPORTS,
                        },
        };
        return j;
}

/* What the policy returned. */
static inline int scene_step(struct scene *c)
{
        const struct sg_share_snapshot s = {
                .now = c->now,
                .classes = c->classes,
                .n_classes = SG_ELEMENTSOF(c->classes),
                .jobs = c->jobs,
                .n_jobs = c->n,
        };
        int r = c->policy->step(c->state, &s, c->out, &c->next);

        assert_true(r >= 0);
        assert_true(c->next > c->now);
        for (size_t i = 0; i < c->n; i++) {
                assert_in_range(c->out[i].weight, 1, 10000);
                assert_true(c->out[i].share >= 0);
                assert_true(c->out[i].share <= c->jobs[i].width + 1e-9);
                assert_true(!c->jobs[i].held || c->out[i].share <= 0);
        }
        return r;
}

/* shares: of all jobs. */
static inline void scene_expect(struct scene *c, const double *shares)
{
        for (size_t i = 0; i < c->n; i++)
                assert_near(c->out[i].share, shares[i], 1e-9);
}
#define expect_shares(c, ...) scene_expect(c, (const double[]){__VA_ARGS__})
