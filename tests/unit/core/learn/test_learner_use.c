/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a job could use, and how its speed grows with that: from what it used and waited for. */

#include "core/learn/past.h"
#include "test_learner.h"

static void width_is_what_it_used_and_waited_for(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(4, false);
        double cpu = 0, delay = 0;

        (void)state;
        assert_true(isnan(sg_learner_width(l)));
        for (unsigned i = 0; i <= 20; i++, cpu += .5, delay += 1.5)
                use(l, i, cpu, delay, false);
        assert_near(sg_learner_width(l), .5, 1e-9);
        for (unsigned i = 21; i <= 90; i++) /* suspended: tells nothing */
                use(l, i, cpu, delay, true);
        assert_near(sg_learner_width(l), .5, 1e-9);
        for (unsigned i = 91; i <= 130; i++, cpu += 1)
                use(l, i, cpu, delay, false);
        assert_near(sg_learner_width(l), .25, .01);
        use(l, 131, cpu, NONE, false);
        assert_false(isnan(sg_learner_width(l)));
}

/* Where nobody counts waits, as without privileges, CPUs that stand idle say that there were none.
 */
static void width_is_known_where_waits_are_not_counted(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(4, false);

        (void)state;
        for (unsigned i = 0; i <= 20; i++)
                use(l, i, i * .1, NONE, false);
        assert_true(isnan(sg_learner_width(l)));
        for (unsigned i = 21; i <= 40; i++)
                sg_learner_use(l, &(struct sg_learner_use){.now = i,
                                                           .cpu = i * .1,
                                                           .delay = NONE,
                                                           .pressure = NONE,
                                                           .spare = true});
        assert_near(sg_learner_width(l) * 4, .1, 1e-9);
        assert_false(sg_learner_cpu_bound(l));
}

/* A narrow job gets short turns, in which it makes up for what came while it waited. */
static void width_isnt_what_it_makes_up_for(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(4, false);
        double now = 0, cpu = 0, delay = 0;

        (void)state;
        while (now < 10)
                use(l, now++, cpu += .2, delay, false);
        for (unsigned turn = 0; turn < 20; turn++) {
                for (unsigned i = 0; i < 9; i++)
                        use(l, now++, cpu += .01, delay += .99, false);
                use(l, now++, cpu += 1, delay, false);
        }
        assert_near(sg_learner_width(l) * 4, .2, .01);
        for (unsigned i = 0; i < 60; i++)
                use(l, now++, cpu += .3, delay, false);
        assert_near(sg_learner_width(l) * 4, .3, .01);
}

/* One that was narrow while it began gets as much as that, of a policy that goes by widths. */
static void width_is_found_out_under_a_cap(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(4, false);
        double now = 0, cpu = 0, delay = 0;

        (void)state;
        while (now < 5)
                use(l, now++, cpu += .3, delay, false);
        assert_near(sg_learner_width(l) * 4, .3, .01);
        while (now < 400) {
                double part = sg_learner_width(l) * 4;

                use(l, now++, cpu += part, delay += 1 - part, false);
        }
        assert_true(sg_learner_width(l) * 4 > .9);
}

/* A narrow job that is kept waiting for a minute has something to do all the time, and is as narrow
 * as before; one that computes is as wide as before. */
static void width_outlasts_a_wait(void **state)
{
        static const double own[] = {.2, 1};

        (void)state;
        for (size_t k = 0; k < SG_ELEMENTSOF(own); k++) {
                struct sg_learner *l = make(4, false);
                double now = 0, cpu = 0, delay = 0;

                for (; now <= 10; now++, cpu += own[k])
                        use(l, now, cpu, delay, false);
                assert_near(sg_learner_width(l) * 4, own[k], 1e-9);
                for (; now <= 70; now++, cpu += .01, delay += .99)
                        use(l, now, cpu, delay, false);
                assert_near(sg_learner_width(l) * 4, own[k], .01);
                for (; now <= 110; now++, cpu += 1)
                        use(l, now, cpu, delay, false);
                assert_true(sg_learner_width(l) * 4 > .95); /* it is another phase */
                sg_learner_free(l);
        }
}

static void who_waits_for_other_things_is_not_cpu_bound(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(4, false);
        struct sg_estimate e;

        (void)state;
        for (unsigned i = 0; i <= 100; i++) {
                assert_true(sg_learner_cpu_bound(l) == (i <= 10)); /* it is a clear case */
                use(l, i, i * .1, 0, false);
                if (i % 10 == 1)
                        say(l, i, i * .1 * (1 + (i % 3)), i / 1000., NONE);
        }
        /* 900 s at its own rate, of a tenth of a CPU. */
        e = estimate(l, NULL, 101, 10.1);
        assert_near(e.remaining / sg_learner_width(l), 899, 20);
}

/* How it is spoken of follows what it uses at once: nobody believes that what sleeps wants a CPU.
 */
static void who_sleeps_seems_idle_before_it_is_judged(void **state)
{
        struct sg_learner *l = make(4, false);

        (void)state;
        assert_false(sg_learner_seems_idle(l)); /* nothing is known */
        for (unsigned i = 0; i <= 3; i++)
                use(l, i, i * .01, 0, false);
        assert_true(sg_learner_seems_idle(l));
        assert_true(sg_learner_cpu_bound(l));
        for (unsigned i = 4; i <= 20; i++)
                use(l, i, i - 3, 0, false);
        assert_false(sg_learner_seems_idle(l));
        for (unsigned i = 21; i <= 40; i++) /* it is kept waiting */
                use(l, i, 17 + (i - 20) * .01, (i - 20) * .99, false);
        assert_false(sg_learner_seems_idle(l));
        sg_learner_free(l);
}

/* The daemon is started again while the job waits for its turn of 0.1 s, every five. */
static void a_wait_outlasts_a_restart(void **state)
{
        static const double cpus[] = {0, 0, 0, 0, .1}, delays[] = {0, 0, 0, 0, 4.9};
        struct sg_learner *l = make(2, false);
        double now = 0, cpu = 0, delay = 0;

        (void)state;
        for (unsigned i = 0; i < 100; i++) {
                _cleanup_(sg_record_deinitp) struct sg_record r = {0};
                struct sg_learner_use u = {.use = {NONE, NONE, NONE, NONE}};
                struct sg_learner *again;

                u.now = now++;
                u.cpu = cpu;
                u.delay = delay;
                u.pressure = (now - cpu) / 2;
                sg_learner_use(l, &u);
                assert_false(sg_learner_seems_idle(l));
                sg_learner_save(l, &r);
                assert_int_equal(sg_learner_load(&again, &l->job, r.data, r.size), 0);
                sg_learner_free(l);
                l = again;
                cpu += cpus[i % 5];
                delay += delays[i % 5];
        }
        assert_near(sg_learner_width(l) * 2, 1, .1);
        sg_learner_free(l);
}

/* Nearer to the bound it takes three times as long to be sure. */
static void what_is_less_clear_takes_longer_to_judge(void **state)
{
        struct sg_learner *l = make(4, false);

        (void)state;
        for (unsigned i = 0; i <= 40; i++) {
                assert_true(sg_learner_cpu_bound(l) == (i <= 30));
                use(l, i, i * .4, 0, false);
        }
        sg_learner_free(l);
}

/* Its speed grows as the root of its share. */
static void a_job_that_scales_badly_is_found_out(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(2, false);
        double x = 0, cpu = 0, t = 0;
        struct sg_estimate e;

        (void)state;
        for (unsigned i = 0; i < 60; i++) {
                double share = i / 5 % 2 ? 1 : .3;

                for (unsigned k = 0; k < 3; k++) {
                        t++;
                        cpu += 2 * share;
                        x += pow(share, .5) / 1000;
                        use(l, t, cpu, 2 * t - cpu, false);
                }
                say(l, t, cpu, x, NONE);
        }
        e = estimate(l, NULL, t, cpu);
        assert_near(e.exponent, .5, .02);
        assert_near(e.remaining / (1000 * (1 - x)), 1, .05);
}

static void one_that_scales_is_left_alone(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, false);
        double cpu = 0, t = 0;

        (void)state;
        for (unsigned i = 0; i < 60; i++) {
                double share = i / 5 % 2 ? 1 : .3;

                t += 3;
                cpu += 3 * share;
                use(l, t, cpu, t - cpu, false);
                say(l, t, cpu, cpu / 1000 * (1 - .0005 * i), NONE);
        }
        assert_true(estimate(l, NULL, t, cpu).exponent >= 1);
}

/* The way is told exactly, and its curve with a little noise. */
static void an_exponent_can_be_given_later(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(4, false);
        struct sg_learner_job j = {.cpus = 4, .probe = 3, .exponent = .5};

        (void)state;
        use(l, 1, 1, 0, false);
        say(l, 1, 1, .1, NONE);
        assert_alike(estimate(l, NULL, 1, 1).exponent, 1, 1e-9);
        sg_learner_configure(l, &j);
        assert_alike(estimate(l, NULL, 1, 1).exponent, .5, 1e-9);
        say(l, 2, 2, .2, NONE);
        assert_false(isnan(estimate(l, NULL, 2, 2).remaining));
        j.exponent = NONE;
        sg_learner_configure(l, &j);
        assert_alike(estimate(l, NULL, 2, 2).exponent, 1, 1e-9);
}

/* --- on whole CPUs --- */

static struct sg_learner *make_whole(void)
{
        static struct sg_usual usual;
        const struct sg_learner_job j = {.cpus = 2, .probe = 3, .whole = true, .usual = &usual};
        struct sg_learner *l;

        usual = sg_usual_of_all();
        assert_int_equal(sg_learner_new(&l, &j), 0);
        return l;
}

struct course {
        double now, cpu, x;
        uint64_t batches; /* of an epoch; 0: it has none */
};

/* Where it is by its counters. */
static struct sg_report counters_of(const struct course *c, double steps)
{
        uint64_t step = (uint64_t)lround(c->x * steps);

        if (c->batches == 0)
                return (struct sg_report){.has = SG_REPORT_STEP, .step = step};
        return (struct sg_report){.has = SG_REPORT_EPOCH | SG_REPORT_STEP | SG_REPORT_TOTAL,
                                  .epoch = 1 + step / c->batches,
                                  .step = step % c->batches,
                                  .total = c->batches};
}

/* So long with so many CPUs of its own, all of which it uses up; a report each second. steps: of
 * how many it says where it is, not that there are so many; 0: as a fraction. */
static void go(struct sg_learner *l, struct course *c, double own, double speed, unsigned seconds,
               double steps)
{
        sg_learner_give(l, c->now, c->cpu, own);
        for (unsigned i = 0; i < seconds; i++) {
                struct sg_report counters;
                struct sg_learner_use u = {.use = {NONE, NONE, NONE, NONE}};

                u.now = c->now += 1;
                u.cpu = c->cpu += own;
                c->x += speed;
                sg_learner_use(l, &u);
                counters = counters_of(c, steps);
                assert_int_equal(
                        sg_learner_report(l,
                                          &(struct sg_learner_report){
                                                  .now = c->now,
                                                  .cpu = c->cpu,
                                                  .fraction = steps > 0 ? NONE : c->x,
                                                  .eval = NONE,
                                                  .counters = steps > 0 ? &counters : NULL}),
                        0);
        }
}

static double speedup(const struct sg_learner *l, const struct course *c)
{
        struct sg_estimate e = estimate(l, NULL, c->now, c->cpu);

        assert_true(e.whole);
        return sg_speedup_at(&e.speedup, 2);
}

/* What both threads use is twice as much, what it does half as much again; what is left is counted
 * in seconds of one CPU. */
static void speed_is_learnt_by_what_it_does(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make_whole(), *again = NULL;
        _cleanup_(sg_record_deinitp) struct sg_record r = {0};
        struct course c = {0};
        double left;

        (void)state;
        assert_near(speedup(l, &c), exp2(SG_SPEEDUP_PRIOR), 1e-12);
        go(l, &c, 1, .01, 12, 0);
        go(l, &c, 2, .015, 12, 0);
        assert_near(speedup(l, &c) / 1.5, 1, .05);
        left = estimate(l, NULL, c.now, c.cpu).remaining * 2;
        assert_near(left / ((1 - c.x) / .01), 1, .05);
        go(l, &c, 2, .015, 3, 0);
        assert_true(estimate(l, NULL, c.now, c.cpu).remaining * 2 < left);
        sg_learner_save(l, &r);
        assert_int_equal(sg_learner_load(&again, &l->job, r.data, r.size), 0);
        assert_true(speedup(again, &c) == speedup(l, &c));
        assert_true(estimate(again, NULL, c.now, c.cpu).remaining ==
                    estimate(l, NULL, c.now, c.cpu).remaining);
}

static void speed_is_learnt_by_steps_of_unknown_number(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make_whole();
        struct course c = {0};
        char text[256];

        (void)state;
        go(l, &c, 1, .01, 12, 1e6);
        go(l, &c, 2, .011, 12, 1e6);
        assert_near(speedup(l, &c) / 1.1, 1, .05);
        assert_int_equal(estimate(l, NULL, c.now, c.cpu).source, SG_SIZE_UNKNOWN);
        sg_learner_explain(l, text, sizeof(text));
        assert_string_equal(text, "judged by its class, as it doesn't say how much there is to do");
        go(l, &c, 2, .011, 1, 0); /* now it says how far it is: of speeds in steps nothing counts */
        assert_near(speedup(l, &c), exp2(SG_SPEEDUP_PRIOR), 1e-12);
        go(l, &c, 2, .011, 5, 0);
        assert_int_equal(estimate(l, NULL, c.now, c.cpu).source, SG_SIZE_REPORTS);
}

static void speed_is_learnt_by_epochs_of_unknown_number(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make_whole(), *again = NULL;
        _cleanup_(sg_record_deinitp) struct sg_record r = {0};
        struct course c = {.batches = 700};

        (void)state;
        go(l, &c, 1, .01, 12, 1e4);
        go(l, &c, 2, .0175, 6, 1e4);
        sg_learner_save(l, &r);
        assert_int_equal(sg_learner_load(&again, &l->job, r.data, r.size), 0);
        go(again, &c, 2, .0175, 6, 1e4);
        assert_near(speedup(again, &c) / 1.75, 1, .05);
        assert_int_equal(estimate(again, NULL, c.now, c.cpu).source, SG_SIZE_UNKNOWN);
}

/* Every second it says how far it was at its last fiftieth step, of 22 or 34 a second. */
static void speed_is_learnt_by_coarse_reports(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make_whole();
        struct course c = {.now = 0};

        (void)state;
        for (unsigned i = 0; i < 40; i++) {
                const bool one = i < 20;
                struct course coarse;

                c.x += one ? .0022 : .0034;
                coarse = c;
                coarse.x = 50 * floor(c.x * 1e4 / 50) / 1e4;
                go(l, &coarse, one ? 1 : 2, 0, 1, 1e4);
                c.now = coarse.now;
                c.cpu = coarse.cpu;
        }
        assert_near(speedup(l, &c) / (34. / 22), 1, .1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(width_is_what_it_used_and_waited_for),
                cmocka_unit_test(width_is_known_where_waits_are_not_counted),
                cmocka_unit_test(width_isnt_what_it_makes_up_for),
                cmocka_unit_test(width_is_found_out_under_a_cap),
                cmocka_unit_test(width_outlasts_a_wait),
                cmocka_unit_test(who_waits_for_other_things_is_not_cpu_bound),
                cmocka_unit_test(who_sleeps_seems_idle_before_it_is_judged),
                cmocka_unit_test(a_wait_outlasts_a_restart),
                cmocka_unit_test(what_is_less_clear_takes_longer_to_judge),
                cmocka_unit_test(a_job_that_scales_badly_is_found_out),
                cmocka_unit_test(one_that_scales_is_left_alone),
                cmocka_unit_test(an_exponent_can_be_given_later),
                cmocka_unit_test(speed_is_learnt_by_what_it_does),
                cmocka_unit_test(speed_is_learnt_by_steps_of_unknown_number),
                cmocka_unit_test(speed_is_learnt_by_epochs_of_unknown_number),
                cmocka_unit_test(speed_is_learnt_by_coarse_reports),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
