/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a job is on its curve: milestones foretold from noisy evaluations, and breaks. */

#include "tests/unit/test.h"

#include "base/rng.h"
#include "core/learn/curve.h"
#include <math.h>

#define NOISE 0.02

enum kind { EXP, POWER, WEIBULL };

struct model {
        enum kind kind;
        double a, b, first, last;
};

/* Of real training jobs. */
static const struct model models[] = {
        {EXP, 5.2, 0, 550, 105}, {POWER, 60, 1, 2.3, .03}, {EXP, 8, 0, 4.6, 1},
        {POWER, 20, 1, .9, .05}, {EXP, 19.6, 0, 2.3, .08}, {WEIBULL, .1394, 2.31, .0102, .0002},
        {POWER, 30, 1, 2.3, .1}, {EXP, 10, 0, .69, .05},
};

static double phi(const struct model *m, double x)
{
        if (m->kind == EXP)
                return exp(-m->a * x);
        return m->kind == POWER ? pow(1 + m->a * x, -m->b) : exp(-pow(x / m->a, m->b));
}

static double left(const struct model *m, double x)
{
        return (phi(m, x) - phi(m, 1)) / (1 - phi(m, 1));
}

static double where_left(const struct model *m, double part)
{
        double lo = 0, hi = 1;

        while (hi - lo > 1e-9) {
                double mid = (lo + hi) / 2;

                if (left(m, mid) > part)
                        lo = mid;
                else
                        hi = mid;
        }
        return lo;
}

static double noisy(struct sg_rng *rng, const struct model *m, double x)
{
        double part = left(m, x);

        return m->last + (m->first - m->last) * part * (1 + NOISE * sg_rng_normal(rng));
}

struct errors {
        double sum[SG_MILESTONE_DONE];
        unsigned n, breaks;
};

/* Of what is foretold between x = .2 and .4. */
static void run_one(struct sg_rng *rng, const struct model *m, struct errors *ret)
{
        static const double parts[SG_MILESTONE_DONE] = {.1, .05, .01};
        unsigned reports = 20 + sg_rng_below(rng, 81);
        struct sg_curve c;

        sg_curve_init(&c);
        for (unsigned k = 1; k < reports; k++) {
                double x = (double)k / reports;
                const double *at;

                sg_curve_add(&c, x, noisy(rng, m, x));
                at = sg_curve_milestones(&c);
                if (x < .2 || x > .4)
                        continue;
                for (unsigned i = 0; i < SG_MILESTONE_DONE; i++)
                        ret->sum[i] += fabs(at[i] - where_left(m, parts[i]));
                ret->n++;
        }
        ret->breaks += c.begin > 0;
}

static void milestones_are_foretold_from_a_third(void **state)
{
        static const double most[SG_MILESTONE_DONE] = {.05, .07, .09};
        struct errors all = {0};
        struct sg_rng rng;

        (void)state;
        sg_rng_init(&rng, 5, 0);
        for (unsigned round = 0; round < 50; round++)
                for (unsigned i = 0; i < SG_ELEMENTSOF(models); i++)
                        run_one(&rng, &models[i], &all);
        for (unsigned i = 0; i < SG_MILESTONE_DONE; i++) {
                print_message("milestone %u: off by %.3f\n", i, all.sum[i] / all.n);
                assert_true(all.sum[i] / all.n < most[i]);
        }
        assert_in_range(all.breaks, 0, 50 * SG_ELEMENTSOF(models) / 50);
}

static void what_is_exact_is_found_exactly(void **state)
{
        static const struct model known[] = {{EXP, 5, 0, 1, 0}, {POWER, 40, 1, 7, 3}};

        (void)state;
        for (unsigned k = 0; k < SG_ELEMENTSOF(known); k++) {
                struct sg_curve c;

                sg_curve_init(&c);
                for (unsigned i = 1; i <= 12; i++) {
                        double x = i / 40.;

                        sg_curve_add(&c, x,
                                     known[k].last +
                                             (known[k].first - known[k].last) * left(&known[k], x));
                }
                assert_near(sg_curve_milestones(&c)[SG_MILESTONE_90], where_left(&known[k], .1),
                            1e-3);
        }
}

static void the_scale_of_evaluations_does_not_matter(void **state)
{
        struct sg_curve a, b;
        struct sg_rng rng;

        (void)state;
        sg_rng_init(&rng, 3, 0);
        sg_curve_init(&a);
        sg_curve_init(&b);
        for (unsigned i = 1; i < 100; i++) {
                double eval = noisy(&rng, &models[0], i / 100.);

                sg_curve_add(&a, i / 100., eval);
                sg_curve_add(&b, i / 100., eval * 0x1p-20);
                for (unsigned k = 0; k < SG_MILESTONE_DONE; k++)
                        assert_near(sg_curve_milestones(&a)[k], sg_curve_milestones(&b)[k], 1e-9);
        }
}

static int by_value(const void *a, const void *b)
{
        const double *p = a, *q = b;

        return (*p > *q) - (*p < *q);
}

/* Between the mean and the median of the sixteen shapes. */
static void two_points_say_nothing(void **state)
{
        static const double parts[SG_MILESTONE_DONE] = {.1, .05, .01};
        static const struct model shapes[] = {
                {EXP, 2, 0, 1, 0},      {EXP, 3.5, 0, 1, 0},     {EXP, 5, 0, 1, 0},
                {EXP, 7, 0, 1, 0},      {EXP, 10, 0, 1, 0},      {EXP, 14, 0, 1, 0},
                {EXP, 20, 0, 1, 0},     {EXP, 30, 0, 1, 0},      {POWER, 8, 1, 1, 0},
                {POWER, 20, 1, 1, 0},   {POWER, 40, 1, 1, 0},    {POWER, 60, 1, 1, 0},
                {POWER, 120, 1, 1, 0},  {WEIBULL, .10, 2, 1, 0}, {WEIBULL, .14, 2.3, 1, 0},
                {WEIBULL, .2, 2, 1, 0},
        };
        struct sg_curve c;

        (void)state;
        sg_curve_init(&c);
        sg_curve_add(&c, .1, 3);
        sg_curve_add(&c, .2, 2);
        for (unsigned i = 0; i < SG_MILESTONE_DONE; i++) {
                double at[SG_ELEMENTSOF(shapes)], mean = 0, median;

                for (size_t k = 0; k < SG_ELEMENTSOF(shapes); k++) {
                        at[k] = where_left(&shapes[k], parts[i]);
                        mean += at[k] / SG_ELEMENTSOF(shapes);
                }
                qsort(at, SG_ELEMENTSOF(at), sizeof(*at), by_value);
                median = (at[7] + at[8]) / 2;
                assert_near((mean + median) / 2, sg_curve_unknown[i], 1e-3);
                assert_true(sg_curve_milestones(&c)[i] == sg_curve_unknown[i]);
        }
}

/* It has lost three quarters of what it can lose: what is left to come can't be far. */
static void a_loss_does_not_end_below_zero(void **state)
{
        struct sg_curve loss, other;

        (void)state;
        sg_curve_init(&loss);
        sg_curve_init(&other);
        for (unsigned i = 1; i <= 4; i++) {
                double eval = exp(-(double)i / 3);

                sg_curve_add(&loss, i / 50., eval);
                sg_curve_add(&other, i / 50., eval - .5);
        }
        assert_true(sg_curve_milestones(&loss)[SG_MILESTONE_95] < .35);
        assert_true(sg_curve_milestones(&other)[SG_MILESTONE_95] >
                    sg_curve_milestones(&loss)[SG_MILESTONE_95]);
}

static void nothing_falls_nothing_is_known(void **state)
{
        struct sg_curve c;

        (void)state;
        sg_curve_init(&c);
        assert_true(isnan(sg_curve_milestones(&c)[SG_MILESTONE_90]));
        for (unsigned i = 1; i < 20; i++)
                sg_curve_add(&c, i / 20., i);
        assert_true(isnan(sg_curve_milestones(&c)[SG_MILESTONE_90]));
        sg_curve_init(&c);
        for (unsigned i = 1; i < 20; i++)
                sg_curve_add(&c, i / 20., 1);
        assert_true(isnan(sg_curve_milestones(&c)[SG_MILESTONE_90]));
}

/* It converges to a level, then the learning rate is lowered at one half. */
static double with_break(double x)
{
        return 1 + exp(-10 * x) - (x > .5 ? .4 * (1 - exp(-20 * (x - .5))) : 0);
}

static void a_break_is_noticed_and_fitted_anew(void **state)
{
        double end = with_break(1), begin = with_break(0), truth = .5;
        struct sg_curve c;
        struct sg_rng rng;
        double after = 0;

        (void)state;
        while (with_break(truth) > end + .1 * (begin - end))
                truth += 1e-4;
        sg_rng_init(&rng, 4, 0);
        sg_curve_init(&c);
        for (unsigned i = 1; i < 100; i++) {
                double x = i / 100.;

                sg_curve_add(&c, x, with_break(x) + .004 * sg_rng_normal(&rng));
                (void)sg_curve_milestones(&c);
                if (i == 50)
                        assert_true(sg_curve_milestones(&c)[SG_MILESTONE_90] < .4);
                if (c.begin > 0 && after <= 0)
                        after = x;
                if (after > 0 && x >= after + .05) {
                        assert_near(sg_curve_milestones(&c)[SG_MILESTONE_90], truth, .05);
                        break;
                }
        }
        assert_in_between(after, .5, .72);
        assert_in_between(c.begin, .38F, .62F);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(milestones_are_foretold_from_a_third),
                cmocka_unit_test(what_is_exact_is_found_exactly),
                cmocka_unit_test(the_scale_of_evaluations_does_not_matter),
                cmocka_unit_test(two_points_say_nothing),
                cmocka_unit_test(a_loss_does_not_end_below_zero),
                cmocka_unit_test(nothing_falls_nothing_is_known),
                cmocka_unit_test(a_break_is_noticed_and_fitted_anew),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
