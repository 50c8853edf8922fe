/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Speed-ups, and what speeds say of them. */
#include "base/rng.h"
#include "core/learn/past.h"
#include "tests/unit/test.h"
#include <math.h>

static void test_a_curve(void **state)
{
        struct sg_speedup s = {{.5, .5, .25, 0}};

        (void)state;
        assert_near(sg_speedup_at(&s, .3), .3, 0);
        assert_near(sg_speedup_at(&s, 1), 1, 0);
        assert_near(sg_speedup_at(&s, 2), sqrt(2), 1e-12);
        assert_near(sg_speedup_at(&s, 4), 2, 1e-12);
        assert_near(sg_speedup_at(&s, 8), 2 * exp2(.25), 1e-12);
        assert_near(sg_speedup_at(&s, 1024), 2 * exp2(.25), 1e-12);
        assert_near(sg_speedup_exponent(&s, 8), 1.25 / 3, 1e-12);
        assert_near(sg_speedup_at(&s, 3), (sqrt(2) + 2) / 2, 1e-12);
        assert_true(sg_speedup_exponent(&s, .5) == 1);
        for (double cpus = 1; cpus < 64; cpus += .5) /* concave */
                assert_true(sg_speedup_at(&s, cpus + .5) - sg_speedup_at(&s, cpus) <=
                            sg_speedup_at(&s, cpus) - sg_speedup_at(&s, cpus - .5) + 1e-12);
}

/* Speeds of a program with noise, by its true exponent. */
static void run(struct sg_pace *p, double exponent, double cpus, unsigned intervals,
                struct sg_rng *rng)
{
        const struct sg_speedup s = sg_speedup_of(exponent);

        for (unsigned i = 0; i < intervals; i++)
                (void)sg_pace_take(
                        p, cpus, .01 * sg_speedup_at(&s, cpus) * exp(.05 * sg_rng_normal(rng)), 1);
}

static void test_learns(void **state)
{
        const struct sg_usual usual = sg_usual_of_all();

        (void)state;
        for (uint64_t seed = 1; seed <= 100; seed++) {
                struct sg_pace p;
                struct sg_rng rng;
                double exponent;

                sg_rng_init(&rng, seed, 0);
                exponent = sg_rng_double(&rng);
                sg_pace_init(&p, &usual);
                assert_true(isnan(sg_pace_on_one(&p)));
                run(&p, exponent, 1, 8, &rng);
                assert_near(p.curve.exponent[0], SG_SPEEDUP_PRIOR,
                            0); /* nothing to compare with yet */
                run(&p, exponent, 2, 8, &rng);
                assert_near(exp2(p.curve.exponent[0]) / exp2(exponent), 1, .1);
                assert_true(p.sure[0] < .1);
                assert_true(p.sure[1] > .2);
                assert_near(sg_pace_on_one(&p) / .01, 1, .1);
                run(&p, exponent, .25, 8, &rng); /* less than one CPU: a part of one */
                assert_near(exp2(p.curve.exponent[0]) / exp2(exponent), 1, .1);
                run(&p, exponent, 8, 12, &rng);
                assert_near(sg_speedup_at(&p.curve, 8) / pow(8, exponent), 1, .15);
                for (int o = 1; o < SG_SPEEDUP_OCTAVES; o++)
                        assert_true(p.curve.exponent[o] <=
                                    sg_speedup_next_exponent(p.curve.exponent[o - 1]) + 1e-12);
        }
}

/* What is learnt changes in steps that matter, not with each interval. */
static void test_does_not_flap(void **state)
{
        const struct sg_usual usual = sg_usual_of_all();
        unsigned changes = 0;
        struct sg_pace p;
        struct sg_rng rng;

        (void)state;
        sg_rng_init(&rng, 1, 0);
        sg_pace_init(&p, &usual);
        run(&p, .3, 1, 10, &rng);
        run(&p, .3, 2, 10, &rng);
        for (unsigned i = 0; i < 200; i++)
                changes += sg_pace_take(
                        &p, 1 + (i & 1),
                        (i & 1 ? exp2(.3) : 1) * .01 * exp(.05 * sg_rng_normal(&rng)), 1);
        assert_true(changes <= 2);
}

/* One interval on each tells something, and two that agree by chance aren't believed as ten are. */
static void test_few_tell_less(void **state)
{
        const struct sg_usual usual = sg_usual_of_all();
        const double gain = .9;
        double sure;
        struct sg_pace p;

        (void)state;
        sg_pace_init(&p, &usual);
        assert_false(sg_pace_take(&p, 1, .01, 1));
        assert_true(sg_pace_take(&p, 2, .01 * exp2(gain), 1));
        assert_in_between(p.curve.exponent[0], SG_SPEEDUP_PRIOR + .2, gain - .2);
        assert_in_between(p.sure[0], .15, usual.error[0] - .05);
        assert_true(isnan(sg_pace_on_one(&p)));

        sure = p.sure[0];
        (void)sg_pace_take(&p, 1, .01, 1);
        (void)sg_pace_take(&p, 2, .01 * exp2(gain), 1);
        assert_in_between(p.sure[0], .1, sure - .03);
        assert_near(sg_pace_on_one(&p) / .01, 1, .1);
        for (unsigned i = 0; i < 8; i++) {
                (void)sg_pace_take(&p, 1, .01, 1);
                (void)sg_pace_take(&p, 2, .01 * exp2(gain), 1);
        }
        assert_in_between(p.sure[0], 0, .06);
        assert_near(p.curve.exponent[0], gain, .06);
}

/* One that is slower with two CPUs isn't thought to be faster with four than with two. */
static void test_no_gain_stays_none(void **state)
{
        const struct sg_usual usual = sg_usual_of_all();
        struct sg_pace p;

        (void)state;
        sg_pace_init(&p, &usual);
        for (unsigned i = 0; i < 20; i++) {
                (void)sg_pace_take(&p, 1, .02, 1);
                (void)sg_pace_take(&p, 2, .015, 1);
        }
        assert_near(p.curve.exponent[0], log2(.75), .06); /* changes in steps of .05 */
        for (int o = 1; o < SG_SPEEDUP_OCTAVES; o++)
                assert_true(p.curve.exponent[o] <= p.curve.exponent[0]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_curve),
                cmocka_unit_test(test_learns),
                cmocka_unit_test(test_does_not_flap),
                cmocka_unit_test(test_few_tell_less),
                cmocka_unit_test(test_no_gain_stays_none),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
