/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which part of its work a job says it has behind it. */

#include "tests/unit/test.h"

#include "core/learn/fraction.h"
#include <math.h>

static double epochs(struct sg_fraction *f, uint64_t epoch, uint64_t n)
{
        struct sg_report r = {
                .has = SG_REPORT_EPOCH | SG_REPORT_EPOCHS, .epoch = epoch, .epochs = n};

        return sg_fraction_feed(f, &r);
}

static double steps(struct sg_fraction *f, uint64_t step, uint64_t total)
{
        struct sg_report r = {
                .has = SG_REPORT_STEP | (total > 0 ? SG_REPORT_TOTAL : 0U),
                .step = step,
                .total = total,
        };

        return sg_fraction_feed(f, &r);
}

static double both(struct sg_fraction *f, uint64_t epoch, uint64_t step, uint64_t total)
{
        struct sg_report r = {
                .has = SG_REPORT_EPOCH | SG_REPORT_EPOCHS | SG_REPORT_STEP | SG_REPORT_TOTAL,
                .epoch = epoch,
                .epochs = 10,
                .step = step,
                .total = total,
        };

        return sg_fraction_feed(f, &r);
}

static void another_total_is_believed_the_third_time(void **state)
{
        struct sg_fraction f;

        (void)state;
        sg_fraction_init(&f, 0);
        assert_true(isnan(steps(&f, 1, 0)));
        assert_near(steps(&f, 2, 100), .02, 1e-12);
        assert_near(steps(&f, 3, 100), .03, 1e-12);
        assert_true(isnan(steps(&f, 4, 200)));
        assert_true(isnan(steps(&f, 5, 100)));
        assert_true(isnan(steps(&f, 6, 100)));
        assert_near(steps(&f, 7, 100), .07, 1e-12);
        assert_near(steps(&f, 8, 0), .08, 1e-12);
        assert_true(isnan(steps(&f, 101, 100)));
}

static void a_declared_total_is_believed_at_once(void **state)
{
        struct sg_fraction f;

        (void)state;
        sg_fraction_init(&f, 50);
        assert_near(steps(&f, 5, 100), .1, 1e-12);
        assert_near(steps(&f, 10, 0), .2, 1e-12);
        sg_fraction_init(&f, 2000);
        assert_near(both(&f, 2, 50, 100), .075, 1e-12);
        sg_fraction_init(&f, 20);
        assert_near(epochs(&f, 5, 10), .25, 1e-12);
}

static void the_outermost_counter_counts(void **state)
{
        struct sg_fraction f;

        (void)state;
        sg_fraction_init(&f, 0);
        assert_near(both(&f, 1, 10, 100), .01, 1e-12);
        assert_near(both(&f, 1, 30, 100), .03, 1e-12);
        assert_near(both(&f, 1, 100, 100), .1, 1e-12);
        assert_near(epochs(&f, 2, 10), .1, 1e-12); /* has just begun */
        assert_near(both(&f, 2, 50, 100), .15, 1e-12);
        assert_near(steps(&f, 60, 100), .16, 1e-12); /* of the same epoch */
        assert_near(both(&f, 10, 100, 100), 1, 1e-12);
}

static void validation_does_not_count(void **state)
{
        struct sg_fraction f;

        (void)state;
        sg_fraction_init(&f, 0);
        (void)both(&f, 1, 1, 2); /* a check before the training */
        (void)both(&f, 1, 2, 2);
        for (uint64_t i = 10; i <= 100; i += 10)
                (void)both(&f, 1, i, 100);
        for (uint64_t i = 1; i <= 20; i++)
                assert_near(both(&f, 1, i, 20), .1, 1e-12);
        assert_near(both(&f, 2, 10, 100), .11, 1e-12);
        for (uint64_t i = 1; i <= 20; i++)
                assert_near(steps(&f, i, 20), .11, 1e-12);
}

static void epochs_alone_have_ended(void **state)
{
        struct sg_fraction f;

        (void)state;
        sg_fraction_init(&f, 0);
        (void)epochs(&f, 1, 4);
        (void)epochs(&f, 2, 4);
        assert_near(epochs(&f, 3, 4), .75, 1e-12);
        assert_near(epochs(&f, 4, 4), 1, 1e-12);
}

static void a_counter_that_begins_again_twice_is_an_inner_one(void **state)
{
        struct sg_fraction f;

        (void)state;
        sg_fraction_init(&f, 0);
        for (uint64_t i = 1; i <= 10; i++)
                (void)steps(&f, i, 10);
        assert_near(f.x, 1, 1e-12);
        assert_near(steps(&f, 1, 10), .1, 1e-12);
        for (uint64_t i = 2; i <= 10; i++)
                assert_near(steps(&f, i, 10), (double)i / 10, 1e-12);
        assert_false(sg_fraction_is_inner(&f));
        assert_true(isnan(steps(&f, 1, 10)));
        assert_true(sg_fraction_is_inner(&f));
        for (uint64_t i = 2; i <= 30; i++)
                assert_true(isnan(steps(&f, i, 10)));
        (void)epochs(&f, 1, 4); /* it was something before the run */
        assert_false(sg_fraction_is_inner(&f));
        assert_near(epochs(&f, 2, 4), .5, 1e-12);
}

static void an_evaluation_alone_changes_nothing(void **state)
{
        struct sg_fraction f;
        struct sg_report r = {.has = SG_REPORT_EVAL, .eval = 1};

        (void)state;
        sg_fraction_init(&f, 10);
        assert_true(isnan(sg_fraction_feed(&f, &r)));
        (void)steps(&f, 4, 0);
        assert_near(sg_fraction_feed(&f, &r), .4, 1e-12);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(another_total_is_believed_the_third_time),
                cmocka_unit_test(a_declared_total_is_believed_at_once),
                cmocka_unit_test(the_outermost_counter_counts),
                cmocka_unit_test(validation_does_not_count),
                cmocka_unit_test(epochs_alone_have_ended),
                cmocka_unit_test(a_counter_that_begins_again_twice_is_an_inner_one),
                cmocka_unit_test(an_evaluation_alone_changes_nothing),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
