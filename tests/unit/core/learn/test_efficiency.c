/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Growth efficiency: equations 4.1 and 4.2, what E is measured in,
 * and which values are believed. */

#include "tests/unit/test.h"

#include "core/learn/efficiency.h"
#include <math.h>

static size_t say(struct sg_efficiency *e, enum sg_goal goal, double now, double eval)
{
        struct sg_eval_point p = {eval, now}, taken[SG_EFFICIENCY_HELD + 1];

        return sg_efficiency_report(e, goal, now, &p, taken);
}

static double growth(const struct sg_efficiency *e, double now, bool *ret_measured)
{
        return sg_efficiency_growth(e, now, now, 1, SG_RESOURCE_CPU, ret_measured);
}

static void equations(void **state)
{
        double progress;

        (void)state;
        assert_alike(sg_efficiency(2.3, 1.15, 2.3, 20, .5, &progress), .05, 1e-9);
        assert_alike(progress, .025, 1e-9);
        assert_alike(sg_efficiency(1, 2, 1, 10, 0, NULL), .1 / .001, 1e-9);
}

static void it_is_measured_from_the_last_mark(void **state)
{
        struct sg_efficiency e;
        bool measured;

        (void)state;
        sg_efficiency_init(&e);
        assert_true(isnan(growth(&e, 0, &measured)));
        assert_false(measured);
        say(&e, SG_GOAL_MIN, 10, 4);
        assert_true(isnan(growth(&e, 20, &measured)));
        assert_false(measured);
        say(&e, SG_GOAL_MIN, 10.5, 3);
        assert_true(isnan(growth(&e, 10.9, &measured)));
        assert_false(measured); /* less than a second */
        assert_alike(growth(&e, 20, &measured), 1 / 4. / 10, 1e-9);
        assert_true(measured);
        sg_efficiency_mark(&e, 20, 20, 1, SG_RESOURCE_CPU);
        assert_alike(growth(&e, 30, &measured), 1 / 4. / 10, 1e-9); /* nothing new: as before */
        assert_false(measured);
        sg_efficiency_mark(&e, 30, 30, 1, SG_RESOURCE_CPU); /* … and t' stays */
        say(&e, SG_GOAL_MIN, 35, 2);
        assert_alike(growth(&e, 40, &measured), 1 / 4. / 20, 1e-9);
}

static void it_is_per_part_of_the_resource(void **state)
{
        const double use[SG_N_RESOURCES] = {(double)NAN, .5, (double)NAN, .1};
        struct sg_efficiency e;
        bool measured;

        (void)state;
        sg_efficiency_init(&e);
        say(&e, SG_GOAL_MIN, 0, 1);
        say(&e, SG_GOAL_MIN, 5, .9);
        sg_efficiency_use(&e, 10, use);
        assert_alike(sg_efficiency_growth(&e, 10, 5, 2, SG_RESOURCE_CPU, &measured), .01 / .25,
                     1e-9);
        assert_alike(sg_efficiency_growth(&e, 10, 5, 2, SG_RESOURCE_MEMORY, &measured), .01 / .5,
                     1e-9);
        assert_alike(sg_efficiency_growth(&e, 10, 5, 2, SG_RESOURCE_IO, &measured), .01 / .001,
                     1e-9);
}

static void the_unit_does_not_matter(void **state)
{
        static const double evals[] = {550, 400, 500, 300, 200, 180};

        (void)state;
        for (unsigned goal = SG_GOAL_MIN; goal <= SG_GOAL_MAX; goal++) {
                struct sg_efficiency e, f;
                bool measured;

                sg_efficiency_init(&e);
                sg_efficiency_init(&f);
                for (unsigned i = 0; i < SG_ELEMENTSOF(evals); i++) {
                        say(&e, goal, i, evals[i]);
                        say(&f, goal, i, evals[i] * 1e-6);
                        if (isnan(growth(&e, i, &measured)))
                                assert_true(isnan(growth(&f, i, &measured)));
                        else
                                assert_alike(growth(&f, i, &measured), growth(&e, i, &measured),
                                             1e-9);
                }
        }
}

static void the_scale_is_what_happens(void **state)
{
        struct sg_efficiency e;

        (void)state;
        sg_efficiency_init(&e);
        say(&e, SG_GOAL_MIN, 0, 2);
        say(&e, SG_GOAL_MIN, 1, 1.5);
        say(&e, SG_GOAL_MIN, 2, .5);
        assert_alike(e.reference, 2, 1e-9); /* the range is smaller */
        say(&e, SG_GOAL_MIN, 3, -3);
        assert_alike(e.reference, 5, 1e-9);
        say(&e, SG_GOAL_MIN, 4, -9);
        assert_alike(e.reference, 5, 1e-9); /* and stays */

        sg_efficiency_init(&e);
        say(&e, SG_GOAL_MAX, 0, .1);
        say(&e, SG_GOAL_MAX, 1, .3);
        assert_alike(e.reference, .1, 1e-9);
        say(&e, SG_GOAL_MAX, 2, .6);
        assert_alike(e.reference, .5, 1e-9);
}

static void no_numbers_are_no_values(void **state)
{
        struct sg_efficiency e;

        (void)state;
        sg_efficiency_init(&e);
        assert_int_equal(say(&e, SG_GOAL_MIN, 0, (double)NAN), 0);
        assert_int_equal(say(&e, SG_GOAL_MIN, 0, -(double)INFINITY), 0);
        assert_int_equal(say(&e, SG_GOAL_MIN, 0, 1e300), 0); /* differences wouldn't be finite */
        assert_int_equal(e.n_rejected, 3);
        assert_int_equal(e.n, 0);
        assert_int_equal(say(&e, SG_GOAL_MIN, 0, 1), 1);
}

/* All of them are added up, and what isn't finite would leave nothing for the others. */
static void growth_from_nothing_is_finite(void **state)
{
        struct sg_efficiency e;
        bool measured;

        (void)state;
        sg_efficiency_init(&e);
        say(&e, SG_GOAL_MIN, 0, 5e-324);
        say(&e, SG_GOAL_MIN, 2, 1);
        assert_true(isfinite(sg_efficiency_growth(&e, 2, 2, 1, SG_RESOURCE_CPU, &measured)));
        assert_true(measured);
        sg_efficiency_mark(&e, 2, 2, 1, SG_RESOURCE_CPU);
        assert_true(isfinite(e.last_growth));
}

static void settle(struct sg_efficiency *e)
{
        sg_efficiency_init(e);
        for (unsigned i = 0; i < 10; i++)
                assert_int_equal(say(e, SG_GOAL_MIN, i, 2 - .1 * i), 1);
}

static void a_wild_value_is_held_back(void **state)
{
        struct sg_efficiency e;

        (void)state;
        settle(&e);
        assert_int_equal(say(&e, SG_GOAL_MIN, 10, 1e4), 0);
        assert_int_equal(say(&e, SG_GOAL_MIN, 11, 1), 1);
        assert_int_equal(say(&e, SG_GOAL_MIN, 12, 1e4), 0);
        assert_int_equal(say(&e, SG_GOAL_MIN, 13, -1e4), 0); /* doesn't agree */
        assert_int_equal(say(&e, SG_GOAL_MIN, 14, 1e4), 0);
        assert_int_equal(say(&e, SG_GOAL_MIN, 15, 1), 1);
        assert_int_equal(e.n_rejected, 4);
        assert_true(e.most - e.least < 2);
}

static void three_that_agree_are_a_new_level(void **state)
{
        struct sg_eval_point p = {-51, 12}, taken[SG_EFFICIENCY_HELD + 1];
        struct sg_efficiency e;
        bool measured;

        (void)state;
        settle(&e);
        assert_int_equal(say(&e, SG_GOAL_MIN, 10, -50), 0);
        assert_int_equal(say(&e, SG_GOAL_MIN, 11, -50.5), 0);
        assert_int_equal(sg_efficiency_report(&e, SG_GOAL_MIN, 12, &p, taken), 3);
        assert_near(taken[0].eval, -50, 0);
        assert_near(taken[1].eval, -50.5, 0);
        assert_near(taken[2].eval, -51, 0);
        assert_int_equal(e.n_rejected, 0);
        assert_alike(growth(&e, 12, &measured), 53 / 52. / 12, 1e-9);
        assert_int_equal(say(&e, SG_GOAL_MIN, 13, -51), 1);
}

static void the_rate_is_of_the_last_few(void **state)
{
        struct sg_efficiency e;

        (void)state;
        sg_efficiency_init(&e);
        assert_true(isnan(sg_efficiency_rate(&e)));
        for (unsigned i = 0; i <= 10; i++)
                say(&e, SG_GOAL_MIN, i * 2, i < 5 ? 10 - i : 5 - .1 * (i - 5));
        assert_alike(sg_efficiency_rate(&e), .4 / 5.5 / 8, 1e-9);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(equations),
                cmocka_unit_test(it_is_measured_from_the_last_mark),
                cmocka_unit_test(it_is_per_part_of_the_resource),
                cmocka_unit_test(the_unit_does_not_matter),
                cmocka_unit_test(the_scale_is_what_happens),
                cmocka_unit_test(no_numbers_are_no_values),
                cmocka_unit_test(growth_from_nothing_is_finite),
                cmocka_unit_test(a_wild_value_is_held_back),
                cmocka_unit_test(three_that_agree_are_a_new_level),
                cmocka_unit_test(the_rate_is_of_the_last_few),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
