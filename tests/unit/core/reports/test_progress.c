/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Positions and estimates: single cases, and simulated jobs whose end is known. */

#include "base/parse.h"
#include "core/reports/progress.h"
#include "tests/unit/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SEC 1000000ULL
#define RUN (SG_REPORT_STEP | SG_REPORT_TOTAL)
#define EPOCHS (SG_REPORT_EPOCH | SG_REPORT_EPOCHS)
#define JOBS 400

static struct sg_progress_view view(const struct sg_progress *p, uint64_t now_usec)
{
        struct sg_progress_view v;

        sg_progress_view(p, now_usec, &v);
        return v;
}

static void feed_step(struct sg_progress *p, uint64_t step, uint64_t total, uint64_t usec)
{
        struct sg_report r = {.has = RUN, .step = step, .total = total};

        sg_progress_feed(p, &r, usec, SG_UNLIMITED);
}

static void test_nothing(void **state)
{
        struct sg_progress p;
        struct sg_progress_view v;

        (void)state;
        assert_true(sizeof(p) <= 256);
        sg_progress_init(&p, SG_GOAL_MIN, 0);
        v = view(&p, 5 * SEC);
        assert_int_equal(v.has, 0);
        assert_true(isnan(v.eval));
        assert_true(isnan(v.best));
        assert_true(isnan(v.fraction));
        assert_true(isnan(v.eta_sec));
        sg_progress_feed(&p, &(struct sg_report){.has = SG_REPORT_EVAL, .eval = 2}, SEC, 0);
        v = view(&p, 5 * SEC);
        assert_int_equal(v.has, SG_REPORT_EVAL);
        assert_true(isnan(v.eta_sec));
        assert_true(isnan(v.eta_low_sec));
        assert_true(isnan(v.eta_high_sec));
}

/* Ten seconds a step; the estimate counts down between two of them. */
static void test_steady(void **state)
{
        struct sg_progress p;
        struct sg_progress_view v;

        (void)state;
        sg_progress_init(&p, SG_GOAL_MIN, 0);
        for (uint64_t i = 0; i <= 20; i++)
                feed_step(&p, i, 100, i * 10 * SEC);
        v = view(&p, 200 * SEC);
        assert_int_equal(v.has, RUN);
        assert_int_equal(v.step, 20);
        assert_int_equal(v.total, 100);
        assert_near(v.fraction, 0.2, 1e-9);
        assert_near(v.eta_sec, 800, 1e-3);
        assert_true(v.eta_low_sec < 800);
        assert_true(v.eta_low_sec > 700);
        assert_true(v.eta_high_sec > 800);
        assert_true(v.eta_high_sec < 900);
        assert_near(view(&p, 207 * SEC).eta_sec, 793, 1e-3);
        assert_near(view(&p, 100 * SEC).eta_sec, 800, 1e-3); /* time went back */
        feed_step(&p, 100, 100, 1000 * SEC);
        v = view(&p, 2000 * SEC);
        assert_near(v.eta_sec, 0, 0);
        assert_near(v.eta_low_sec, 0, 0);
        assert_near(v.eta_high_sec, 0, 0);
        assert_near(v.fraction, 1, 0);
}

/* No step any more: what is expected grows with the time that it stands still. */
static void test_stall(void **state)
{
        struct sg_progress p;
        double before;

        (void)state;
        sg_progress_init(&p, SG_GOAL_MIN, 0);
        for (uint64_t i = 0; i <= 20; i++)
                feed_step(&p, i, 100, i * SEC);
        before = view(&p, 20 * SEC).eta_sec;
        assert_near(before, 80, 0.1);
        for (uint64_t t = 25; t < 10000; t += 100) {
                double now = view(&p, t * SEC).eta_sec;

                assert_true(now > before);
                before = now;
        }
        /* One standstill isn't taken for the usual speed afterwards. */
        for (uint64_t i = 21; i <= 40; i++)
                feed_step(&p, i, 100, (10000 + i) * SEC);
        assert_near(view(&p, 10040 * SEC).eta_sec, 60, 200);
}

/* Where nobody says how many epochs there will be, what is known is how far the epoch is; and the
 * speed, which is the run's. */
static void test_epochs_without_number(void **state)
{
        struct sg_progress p;
        struct sg_report r = {.has = RUN | SG_REPORT_EPOCH, .epoch = 1, .step = 38, .total = 60};
        struct sg_report validation = {.has = RUN | SG_REPORT_EPOCH, .epoch = 2, .total = 12};
        struct sg_progress_view v;

        (void)state;
        sg_progress_init(&p, SG_GOAL_MIN, 0);
        for (r.step = 0; r.step <= 38; r.step++)
                sg_progress_feed(&p, &r, r.step * SEC, SG_UNLIMITED);
        v = view(&p, 38 * SEC);
        assert_int_equal(v.has, RUN);
        assert_int_equal(v.epoch, 1);
        assert_int_equal(v.step, 38);
        assert_int_equal(v.total, 60);
        assert_near(v.fraction, 38. / 60, 1e-9);
        assert_near(v.eta_sec, 22, 1e-3);
        for (r.epoch = 2, r.step = 0; r.step <= 15; r.step++)
                sg_progress_feed(&p, &r, (60 + r.step) * SEC, SG_UNLIMITED);
        v = view(&p, 75 * SEC);
        assert_int_equal(v.epoch, 2);
        assert_int_equal(v.step, 15);
        assert_int_equal(v.total, 60);
        assert_near(v.eta_sec, 45, 1);
        /* Steps of another kind within the epoch forget nothing of its speed. */
        validation.step = 1;
        sg_progress_feed(&p, &validation, 76 * SEC, SG_UNLIMITED);
        assert_true(p.n_intervals > 0);
        sg_progress_feed(&p, &r, 77 * SEC, SG_UNLIMITED);
        v = view(&p, 77 * SEC);
        sg_progress_view_run(&v);
        assert_int_equal(v.has, SG_REPORT_STEP);
        assert_int_equal(v.epoch, 0);
        assert_int_equal(v.step, 60 + r.step);
        assert_true(isnan(v.fraction));
        assert_true(isnan(v.eta_sec));
}

/* What its user has declared is the run's. */
static void test_epochs_of_declared_steps(void **state)
{
        struct sg_progress p;
        struct sg_report r = {.has = RUN | SG_REPORT_EPOCH, .epoch = 2, .step = 30, .total = 60};
        struct sg_progress_view v;

        (void)state;
        sg_progress_init(&p, SG_GOAL_MIN, 180);
        sg_progress_feed(&p, &r, SEC, SG_UNLIMITED);
        v = view(&p, SEC);
        assert_int_equal(v.epoch, 0);
        assert_int_equal(v.step, 90);
        assert_int_equal(v.total, 180);
}

static void test_epochs(void **state)
{
        struct sg_progress p;
        struct sg_report r = {.has = RUN | EPOCHS, .epoch = 1, .epochs = 4, .total = 50};
        struct sg_progress_view v;
        uint64_t last = 0;

        (void)state;
        sg_progress_init(&p, SG_GOAL_MIN, 7);
        for (r.epoch = 1; r.epoch <= 3; r.epoch++)
                for (r.step = 0; r.step <= 50; r.step++) {
                        uint64_t at = (r.epoch - 1) * 50 + r.step;

                        sg_progress_feed(&p, &r, at * SEC, SG_UNLIMITED);
                        v = view(&p, at * SEC);
                        assert_true(v.step >= last);
                        last = v.step;
                        assert_int_equal(v.total, 200);
                }
        assert_int_equal(last, 150);
        assert_near(view(&p, 150 * SEC).eta_sec, 50, 0.1);
}

static void test_epochs_only(void **state)
{
        struct sg_progress p;
        struct sg_report r = {.has = EPOCHS, .epochs = 10};
        struct sg_progress_view v;

        (void)state;
        sg_progress_init(&p, SG_GOAL_MIN, 0);
        for (r.epoch = 1; r.epoch <= 4; r.epoch++)
                sg_progress_feed(&p, &r, r.epoch * 100 * SEC, SG_UNLIMITED);
        v = view(&p, 400 * SEC);
        assert_int_equal(v.step, 4);
        assert_near(v.eta_sec, 600, 0.1);
}

/* Without a number of epochs the total is what was declared; a wrong one isn't believed. */
static void test_declared(void **state)
{
        struct sg_progress p;
        struct sg_report r = {.has = RUN | SG_REPORT_EPOCH, .epoch = 2, .total = 10};
        struct sg_progress_view v;

        (void)state;
        sg_progress_init(&p, SG_GOAL_MIN, 40);
        for (r.step = 0; r.step < 10; r.step++)
                sg_progress_feed(&p, &r, (10 + r.step) * SEC, SG_UNLIMITED);
        v = view(&p, 19 * SEC);
        assert_int_equal(v.step, 19);
        assert_int_equal(v.total, 40);
        assert_near(v.eta_sec, 21, 0.1);
        r.epoch = 9;
        sg_progress_feed(&p, &r, 90 * SEC, SG_UNLIMITED);
        v = view(&p, 90 * SEC);
        assert_int_equal(v.has, SG_REPORT_STEP);
        assert_true(isnan(v.eta_sec));
        assert_true(isnan(v.fraction));
}

static void test_eval(void **state)
{
        static const double evals[] = {2, 1, (double)NAN, (double)INFINITY, -(double)INFINITY, 1.5};
        struct sg_report r = {.has = SG_REPORT_EVAL};
        struct sg_progress min, max;

        (void)state;
        sg_progress_init(&min, SG_GOAL_MIN, 0);
        sg_progress_init(&max, SG_GOAL_MAX, 0);
        for (size_t i = 0; i < SG_ELEMENTSOF(evals); i++) {
                r.eval = evals[i];
                sg_progress_feed(&min, &r, i, 0);
                sg_progress_feed(&max, &r, i, 0);
                assert_int_equal(isnan(view(&min, 9).eval), isnan(evals[i]));
        }
        assert_near(view(&min, 9).best, 1, 0);
        assert_near(view(&max, 9).best, 2, 0);
        assert_true(view(&min, 9).eval == 1.5);
}

/* Back by half a run under the same total: a checkpoint. The speed is still known. */
/* Lines that are read at one go are one report, of which the last value isn't always the best. */
static void test_best_of_many(void **state)
{
        static const double evals[] = {.5, NAN, .1, -INFINITY, .9, .4};
        struct sg_progress min, max;
        struct sg_report all = {0};

        (void)state;
        sg_progress_init(&min, SG_GOAL_MIN, 0);
        sg_progress_init(&max, SG_GOAL_MAX, 0);
        for (size_t i = 0; i < SG_ELEMENTSOF(evals); i++) {
                const struct sg_report one = {.has = SG_REPORT_EVAL, .eval = evals[i]};

                sg_report_merge(&all, &one);
        }
        sg_progress_feed(&min, &all, SEC, 0);
        sg_progress_feed(&max, &all, SEC, 0);
        assert_near(view(&min, SEC).eval, .4, 0);
        assert_near(view(&min, SEC).best, .1, 0);
        assert_near(view(&max, SEC).best, .9, 0);
}

static void test_restart(void **state)
{
        struct sg_progress p;

        (void)state;
        sg_progress_init(&p, SG_GOAL_MIN, 0);
        for (uint64_t i = 0; i <= 60; i++)
                feed_step(&p, i, 100, i * SEC);
        feed_step(&p, 30, 100, 100 * SEC);
        assert_int_equal(view(&p, 100 * SEC).step, 30);
        assert_near(view(&p, 100 * SEC).eta_sec, 70, 0.5);
        for (uint64_t i = 31; i <= 50; i++)
                feed_step(&p, i, 100, (70 + i) * SEC);
        assert_near(view(&p, 120 * SEC).eta_sec, 50, 0.5);
}

/* Two processes that print in turn aren't going back and forth. */
static void test_behind(void **state)
{
        struct sg_progress p;

        (void)state;
        sg_progress_init(&p, SG_GOAL_MIN, 0);
        for (uint64_t i = 2; i <= 40; i++) {
                feed_step(&p, i, 100, i * SEC);
                feed_step(&p, i - 2, 100, i * SEC + 1000);
                assert_int_equal(view(&p, i * SEC).step, i);
        }
        assert_near(view(&p, 40 * SEC).eta_sec, 60, 0.5);
        for (int i = 0; i < 3; i++)
                feed_step(&p, 39, 100, 41 * SEC);
        assert_int_equal(view(&p, 41 * SEC).step, 39);
}

/* Three shards that were loaded say nothing about the thousand steps to come. */
static void test_phase(void **state)
{
        struct sg_progress p;

        (void)state;
        sg_progress_init(&p, SG_GOAL_MIN, 0);
        for (uint64_t i = 0; i <= 3; i++)
                feed_step(&p, i, 3, i * 60 * SEC);
        feed_step(&p, 0, 1000, 200 * SEC);
        assert_true(isnan(view(&p, 200 * SEC).eta_sec));
        for (uint64_t i = 1; i <= 10; i++)
                feed_step(&p, i, 1000, (200 + i) * SEC);
        assert_near(view(&p, 210 * SEC).eta_sec, 990, 5);
        /* A total that is put right changes what is left, not the speed. */
        feed_step(&p, 11, 500, 211 * SEC);
        assert_near(view(&p, 211 * SEC).eta_sec, 489, 5);
}

/* Steps of one CPU second each, on four CPUs and then on one. */
static void test_share(void **state)
{
        struct sg_progress p;
        struct sg_report r = {.has = RUN, .total = 1000};
        uint64_t now = 0;

        (void)state;
        sg_progress_init(&p, SG_GOAL_MIN, 0);
        for (r.step = 0; r.step < 400; r.step++) {
                sg_progress_feed(&p, &r, now, r.step * SEC);
                now += r.step < 380 ? SEC / 4 : SEC;
        }
        assert_near(view(&p, now).eta_sec, 600, 20);
}

static void test_huge(void **state)
{
        struct sg_report r = {.has = RUN | EPOCHS, .epoch = UINT64_MAX, .epochs = UINT64_MAX};
        struct sg_progress p;
        struct sg_progress_view v;

        (void)state;
        sg_progress_init(&p, SG_GOAL_MIN, 0);
        r.step = r.total = UINT64_MAX;
        sg_progress_feed(&p, &r, SEC, UINT64_MAX - 1);
        assert_false(view(&p, SEC).has & SG_REPORT_STEP);
        feed_step(&p, 0, UINT64_MAX, UINT64_MAX - 2);
        feed_step(&p, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX - 1);
        v = view(&p, UINT64_MAX);
        assert_true(v.eta_sec >= 0);
        assert_true(v.eta_low_sec <= v.eta_high_sec);
}

/* --- simulated jobs --------------------------------------------------------------------------- */

static double normal(void)
{
        double v = 0;

        for (int i = 0; i < 12; i++)
                v += drand48();
        return v - 6;
}

struct sim {
        uint64_t total, every; /* steps, and how many between two reports */
        double at[4001];       /* when each is done */
};

/* Steps differ, and so does the speed from one hundredth of the run to the next; now and then there
 * is a pause for validation. */
static void simulate(struct sim *s, long seed)
{
        double now = 0, pace, noise, weather = 1;

        srand48(seed);
        s->total = 200 + (uint64_t)(drand48() * 3800);
        s->every = 1 + (uint64_t)(drand48() * (double)s->total / 50);
        pace = exp(normal());
        noise = 0.3 * drand48();
        for (uint64_t i = 0; i <= s->total; i++) {
                s->at[i] = now;
                if (i % (s->total / 100) == 0)
                        weather = exp(0.2 * normal());
                now += pace * weather * exp(noise * normal());
                if (i % (s->total / 10) == 0)
                        now += 5 * pace;
        }
}

static bool within(const struct sim *s, double fraction, double *ret_off)
{
        uint64_t stop = (uint64_t)(fraction * (double)s->total) / s->every * s->every, now = 0;
        struct sg_progress_view v;
        struct sg_progress p;
        double left;

        sg_progress_init(&p, SG_GOAL_MIN, 0);
        for (uint64_t i = 0; i <= stop; i += s->every) {
                now = (uint64_t)(s->at[i] * 1e6);
                feed_step(&p, i, s->total, now);
        }
        v = view(&p, now);
        left = s->at[s->total] - s->at[stop];
        assert_true(v.eta_low_sec <= v.eta_sec);
        assert_true(v.eta_sec <= v.eta_high_sec);
        *ret_off = fabs(v.eta_sec - left) / left;
        return v.eta_low_sec <= left && left <= v.eta_high_sec;
}

/* "About 8 of 10", anywhere between a tenth and nine tenths of the way. */
static void test_interval(void **state)
{
        static const double fractions[] = {0.1, 0.3, 0.5, 0.7, 0.9};
        static struct sim s;
        bool in_range = true;

        (void)state;
        for (size_t f = 0; f < SG_ELEMENTSOF(fractions); f++) {
                double off, sum = 0;
                int hits = 0;

                for (long seed = 1; seed <= JOBS; seed++) {
                        simulate(&s, seed);
                        hits += within(&s, fractions[f], &off);
                        sum += off;
                }
                print_message("at %.1f: %d %% within, off by %.1f %% on average\n", fractions[f],
                              hits * 100 / JOBS, sum * 100 / JOBS);
                in_range = in_range && hits * 100 / JOBS >= 70 && hits * 100 / JOBS <= 95;
                assert_true(sum / JOBS < 0.15);
        }
        assert_true(in_range);
}

static void check_view(const struct sg_progress *p, uint64_t now)
{
        struct sg_progress_view v = view(p, now), later = view(p, now + SEC);

        assert_true(isnan(v.fraction) || (v.fraction >= 0 && v.fraction <= 1));
        assert_int_equal(isnan(v.eta_sec), isnan(v.eta_low_sec));
        assert_int_equal(isnan(v.eta_sec), isnan(v.eta_high_sec));
        assert_int_equal(isnan(v.eta_sec), isnan(later.eta_sec));
        if (isnan(v.eta_sec))
                return;
        assert_true(v.has & SG_REPORT_TOTAL);
        assert_true(v.step <= v.total);
        assert_in_between(v.eta_low_sec, 0, v.eta_sec);
        assert_true(v.eta_sec <= v.eta_high_sec);
        assert_true(isfinite(v.eta_high_sec));
}

static uint64_t any_count(void)
{
        return drand48() < 0.02 ? (uint64_t)mrand48() << 20 : (uint64_t)(drand48() * 200);
}

/* Whatever a job says, in whatever order, what is shown makes sense. */
static void test_anything(void **state)
{
        (void)state;
        for (long seed = 1; seed <= JOBS; seed++) {
                struct sg_progress p;
                uint64_t now = 0;

                srand48(seed);
                sg_progress_init(&p, SG_GOAL_MIN, any_count());
                for (int i = 0; i < 300; i++) {
                        struct sg_report r = {.has = (uint32_t)(drand48() * 32),
                                              .eval = normal(),
                                              .step = any_count(),
                                              .total = any_count(),
                                              .epoch = any_count(),
                                              .epochs = any_count()};

                        now += drand48() < 0.3 ? 0 : (uint64_t)(drand48() * 1e8);
                        sg_progress_feed(&p, &r, now, drand48() < 0.5 ? now : SG_UNLIMITED);
                        check_view(&p, now);
                }
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_best_of_many),
                cmocka_unit_test(test_nothing),
                cmocka_unit_test(test_steady),
                cmocka_unit_test(test_stall),
                cmocka_unit_test(test_epochs_without_number),
                cmocka_unit_test(test_epochs_of_declared_steps),
                cmocka_unit_test(test_epochs),
                cmocka_unit_test(test_epochs_only),
                cmocka_unit_test(test_declared),
                cmocka_unit_test(test_eval),
                cmocka_unit_test(test_restart),
                cmocka_unit_test(test_behind),
                cmocka_unit_test(test_phase),
                cmocka_unit_test(test_share),
                cmocka_unit_test(test_huge),
                cmocka_unit_test(test_interval),
                cmocka_unit_test(test_anything),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
