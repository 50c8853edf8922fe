/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Policies that are nothing but an order: srpt, las, slaq. */
#include "tests/unit/core/share/test_share.h"

static void start(struct scene *c, enum sg_share_kind kind, size_t n)
{
        scene_init(c, kind);
        scene_start(c);
        while (c->n < n)
                scene_add(c);
}

static void set_remaining(struct sg_share_job *j, double remaining)
{
        j->estimate.remaining = remaining;
        j->estimate.total = j->used + remaining;
}

static void expect_order(const struct scene *c, size_t first, size_t second, size_t third)
{
        assert_int_equal(c->out[first].why.rank, 1);
        assert_int_equal(c->out[second].why.rank, 2);
        assert_int_equal(c->out[third].why.rank, 3);
}

static void test_shortest_first(void **state)
{
        struct scene c;

        (void)state;
        start(&c, SG_SHARE_SRPT, 3);
        set_remaining(&c.jobs[0], 50);
        set_remaining(&c.jobs[1], 10);
        set_remaining(&c.jobs[2], 20);
        scene_step(&c);
        expect_order(&c, 1, 2, 0);
        expect_shares(&c, 0, 1, 0);
        assert_int_equal(c.out[1].weight, 10000);
        assert_int_equal(c.out[0].weight, 1);
        assert_int_equal(c.out[1].list, SG_LIST_RUN);
        assert_int_equal(c.out[2].list, SG_LIST_WAIT);
        assert_int_equal(c.out[1].why.reason, SG_REASON_SHORTEST);
        assert_near(c.out[1].why.index, 10, 1e-9);
        assert_true(isinf(c.next)); /* it only gets shorter */
        scene_deinit(&c);
}

static void test_ties_by_arrival(void **state)
{
        struct scene c;

        (void)state;
        start(&c, SG_SHARE_SRPT, 3);
        c.jobs[0].arrival = 5;
        scene_step(&c);
        expect_order(&c, 1, 2, 0);
        scene_deinit(&c);
}

/* Narrow ones leave the rest to the next, who may overtake them. */
static void test_narrow_ones(void **state)
{
        struct scene c;

        (void)state;
        start(&c, SG_SHARE_SRPT, 3);
        c.now = 1000;
        c.jobs[0].width = .3;
        set_remaining(&c.jobs[0], 10);
        set_remaining(&c.jobs[1], 12);
        set_remaining(&c.jobs[2], 90);
        scene_step(&c);
        expect_shares(&c, .3, .7, 0);
        assert_int_equal(c.out[0].list, SG_LIST_RUN);
        assert_int_equal(c.out[1].list, SG_LIST_LAST);
        assert_near(c.next, 1000 + 2 / .4, 1e-9);
        scene_deinit(&c);
}

static void test_held_aside_and_unbound(void **state)
{
        struct scene c;

        (void)state;
        start(&c, SG_SHARE_SRPT, 5);
        set_remaining(&c.jobs[0], 1);
        c.jobs[0].held = true;
        c.jobs[1].aside = true;
        c.jobs[2].cpu_bound = false;
        c.jobs[2].width = .1;
        set_remaining(&c.jobs[2], 1000);
        set_remaining(&c.jobs[3], 20);
        set_remaining(&c.jobs[4], 10);
        scene_step(&c);
        expect_shares(&c, 0, .3, .1, 0, .6); /* a fair node would give .3, .1, .3, .3 */
        assert_int_equal(c.out[0].list, SG_LIST_NONE);
        assert_int_equal(c.out[1].list, SG_LIST_ASIDE);
        assert_int_equal(c.out[1].why.reason, SG_REASON_ASIDE);
        assert_int_equal(c.out[2].why.reason, SG_REASON_UNBOUND);
        scene_deinit(&c);
}

static void test_floor(void **state)
{
        struct scene c;

        (void)state;
        start(&c, SG_SHARE_SRPT, 4);
        c.settings.floor = .2;
        set_remaining(&c.jobs[2], 10);
        scene_step(&c);
        expect_shares(&c, .05, .05, .85, .05);
        assert_int_equal(c.out[0].weight, 500);
        assert_int_equal(c.out[2].weight, 8500);
        scene_deinit(&c);
}

static void test_least_used_first(void **state)
{
        struct scene c;

        (void)state;
        start(&c, SG_SHARE_LAS, 3);
        c.jobs[0].used = 45; /* in the fourth queue, from 40 to 80 s */
        c.jobs[1].used = 12; /* the second, from 10 to 20 s */
        c.jobs[2].used = 15;
        scene_step(&c);
        expect_order(&c, 1, 2, 0); /* the older one of a queue, however much it has used */
        expect_shares(&c, 0, 1, 0);
        assert_near(c.next, 8, 1e-9);
        assert_near(c.out[0].why.index, 3, 1e-9);

        c.now = 8;
        c.jobs[1].used = 20;
        scene_step(&c);
        expect_order(&c, 2, 1, 0);
        assert_near(c.next, 13, 1e-9);

        c.jobs[1].width = c.jobs[2].width = .25;
        scene_step(&c);
        expect_shares(&c, .5, .25, .25);
        assert_near(c.next, 8 + 20, 1e-9);
        scene_deinit(&c);
}

static void test_forever(void **state)
{
        struct scene c;

        (void)state;
        start(&c, SG_SHARE_LAS, 2);
        c.jobs[0].used = 1e12; /* there is a last queue */
        c.jobs[1].used = 1e13;
        scene_step(&c);
        expect_shares(&c, 1, 0);
        assert_true(isinf(c.next));
        scene_deinit(&c);
}

static void test_best_gain_first(void **state)
{
        struct scene c;

        (void)state;
        start(&c, SG_SHARE_SLAQ, 3);
        c.jobs[0].estimate.loss_rate = .001;
        c.jobs[1].estimate.loss_rate = .008;
        scene_step(&c);
        expect_order(&c, 1, 2, 0); /* the third counts as their mean */
        assert_near(c.out[1].why.index, .008, 1e-9);
        assert_true(isnan(c.out[2].why.index));
        assert_int_equal(c.out[1].why.reason, SG_REASON_GAIN);

        c.jobs[0].estimate.loss_rate = .009; /* hardly more, and it came first */
        scene_step(&c);
        expect_order(&c, 0, 1, 2);
        c.jobs[0].estimate.loss_rate = .001;

        c.jobs[2].estimate.wants_probe = true;
        scene_step(&c);
        expect_order(&c, 2, 1, 0);
        c.jobs[2].estimate.wants_probe = false;
        c.jobs[2].estimate.n_reports = 1; /* the next one makes a rate … */
        scene_step(&c);
        expect_order(&c, 2, 1, 0);
        c.jobs[2].used = 60; /* … if it comes */
        scene_step(&c);
        expect_order(&c, 1, 2, 0);
        scene_deinit(&c);
}

/* Nobody says anything: the order of arrival. */
static void test_no_gain_known(void **state)
{
        struct scene c;

        (void)state;
        start(&c, SG_SHARE_SLAQ, 3);
        c.jobs[1].estimate.loss_rate = INFINITY;
        scene_step(&c);
        expect_order(&c, 0, 1, 2);
        scene_deinit(&c);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_shortest_first),
                cmocka_unit_test(test_ties_by_arrival),
                cmocka_unit_test(test_narrow_ones),
                cmocka_unit_test(test_held_aside_and_unbound),
                cmocka_unit_test(test_floor),
                cmocka_unit_test(test_least_used_first),
                cmocka_unit_test(test_forever),
                cmocka_unit_test(test_best_gain_first),
                cmocka_unit_test(test_no_gain_known),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
