/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a job could use, however the kernel counts its waits for a CPU. */

#include "core/learn/demand.h"
#include "tests/unit/test.h"
#include <math.h>

#define NONE ((double)NAN)
#define CPUS 2

/* Threads that compute, of which each has a turn in every period. */
struct turns {
        double period, turn, first;
        unsigned threads;
        double shown; /* part of a wait that the pressure shows; NaN: there is none */
};

/* What the kernel has counted of them: a wait when it is over, and the pressure meanwhile. */
static struct sg_demand_count count_turns(const struct turns *t, double now)
{
        struct sg_demand_count c = {.now = now, .cpus = CPUS};

        for (unsigned i = 0; i < t->threads; i++) {
                double first = t->first + i * t->period / t->threads;
                double turns = fmax(floor((now - first) / t->period) + 1, 0);
                double last = first + (turns - 1) * t->period;

                if (turns > 0) {
                        c.cpu += (turns - 1) * t->turn + fmin(now - last, t->turn);
                        c.delay += first + (turns - 1) * (t->period - t->turn);
                }
        }
        c.pressure = t->shown * (t->threads > 1 ? now : now - c.cpu);
        return c;
}

/* As often as the monitor looks: in the first rounds, and then in every eighth. */
static bool is_looked_at(unsigned second, unsigned every)
{
        return second <= 4 || second % every == 0;
}

static bool is_wanted(const struct sg_demand *d, unsigned threads)
{
        double cpus = sg_demand_cpus(d);

        return !d->idle && !sg_demand_seems_idle(d) && !(cpus < .9) &&
               !(threads == 1 && cpus > 1.1);
}

static void expect_busy(const struct turns *t, unsigned every)
{
        struct sg_demand d;

        sg_demand_init(&d);
        for (unsigned now = 0; now <= 120; now++) {
                struct sg_demand_count c = count_turns(t, now);

                if (!is_looked_at(now, every))
                        continue;
                sg_demand_count(&d, &c);
                if (!is_wanted(&d, t->threads))
                        fail_msg("%u threads, %g s every %g s from %g on, %g of it shown, looked "
                                 "at every %u s: %g CPUs after %u s%s",
                                 t->threads, t->turn, t->period, t->first, t->shown, every,
                                 sg_demand_cpus(&d), now, d.idle ? ", idle" : "");
        }
}

/* The kernel adds a wait when it is over; till then it isn't sleep, however the looks fall. */
static void who_waits_for_its_turn_is_not_idle(void **state)
{
        static const double periods[] = {.5, 1.15, 2, 3, 5}, turns[] = {.003, .1},
                            firsts[] = {.2, .6, .9}, shown[] = {NONE, .5, 1};
        static const unsigned threads[] = {1, 4}, every[] = {1, 8, 16};

        (void)state;
        for (size_t n = 0; n < 5UL * 2 * 3 * 3 * 2 * 3; n++) {
                const struct turns t = {
                        .period = periods[n % 5],
                        .turn = turns[n / 5 % 2],
                        .first = firsts[n / 10 % 3] * periods[n % 5],
                        .shown = shown[n / 30 % 3],
                        .threads = threads[n / 90 % 2],
                };

                expect_busy(&t, every[n / 180]);
        }
}

/* Only the pressure tells of turns that are farther apart. */
static void a_wait_may_last(void **state)
{
        (void)state;
        expect_busy(&(struct turns){30, .01, 25, 1, .5}, 1);
        expect_busy(&(struct turns){30, .01, 25, 1, 1}, 8);
}

/* A loop with the least weight, beside four with a usual one that move it between two CPUs: what
 * Linux 6.18 counted of it in each second. */
static void a_loop_behind_others_is_not_idle(void **state)
{
        static const struct {
                double used, delay, pressure;
        } seconds[] = {
                {.021, .787, .444},  {.018, 1.150, .506}, {.000, .984, .513},  {.002, .786, .531},
                {.004, .928, .648},  {.001, .979, .511},  {.008, 1.064, .508}, {.003, 1.225, .980},
                {.000, .908, .551},  {.010, .989, .584},  {.012, .973, .598},  {.014, .358, .689},
                {.003, 1.673, .519}, {.000, .232, .741},  {.004, 1.484, .617}, {.091, 1.109, .499}};
        struct sg_demand_count c = {.cpus = CPUS};
        struct sg_demand d;

        (void)state;
        sg_demand_init(&d);
        sg_demand_count(&d, &c);
        for (size_t i = 0; i < 8 * SG_ELEMENTSOF(seconds); i++) {
                c.now++;
                c.cpu += seconds[i % SG_ELEMENTSOF(seconds)].used;
                c.delay += seconds[i % SG_ELEMENTSOF(seconds)].delay;
                c.pressure += seconds[i % SG_ELEMENTSOF(seconds)].pressure;
                sg_demand_count(&d, &c);
                if (sg_demand_seems_idle(&d))
                        fail_msg("idle after %zu s: %g CPUs", i + 1, sg_demand_cpus(&d));
        }
}

/* Each second a job uses, waits and sleeps so long, in small pieces. */
struct habit {
        double used, waited;
        bool spare;
};

static struct sg_demand watch(const struct habit *h, double shown, unsigned every, unsigned seconds)
{
        struct sg_demand d;

        sg_demand_init(&d);
        for (unsigned now = 0; now <= seconds; now++) {
                const struct sg_demand_count c = {.now = now,
                                                  .cpu = now * h->used,
                                                  .delay = now * h->waited,
                                                  .pressure = now * h->waited * shown,
                                                  .cpus = CPUS,
                                                  .spare = h->spare};

                if (is_looked_at(now, every))
                        sg_demand_count(&d, &c);
        }
        return d;
}

/* That a wait may be under way doesn't hide sleep: not for long where no pressure is counted, and
 * not at all where it is. */
static void who_sleeps_is_idle(void **state)
{
        static const struct habit habits[] = {{0, 0, true}, {.01, 0, true}, {.01, .005, true}};
        static const double shown[] = {.5, 1};
        static const unsigned every[] = {1, 8, 16};

        (void)state;
        for (size_t n = 0; n < SG_ELEMENTSOF(habits) * 3; n++) {
                const struct habit *h = &habits[n / 3];
                struct habit among = {h->used, h->waited, false};
                struct sg_demand d;

                for (size_t k = 0; k < SG_ELEMENTSOF(shown); k++) {
                        d = watch(h, shown[k], every[n % 3], 3);
                        assert_true(sg_demand_seems_idle(&d));
                        d = watch(h, shown[k], every[n % 3], 32);
                        assert_true(d.idle);
                        assert_near(sg_demand_cpus(&d), h->used, .01);
                }
                d = watch(h, NONE, every[n % 3], 3);
                assert_true(sg_demand_seems_idle(&d));
                d = watch(&among, NONE, every[n % 3], 16);
                assert_true(sg_demand_seems_idle(&d));
                d = watch(&among, NONE, every[n % 3], 64);
                assert_true(d.idle);
        }
}

/* What a job does half of its time, the other half it sleeps, and some of the first it waits. */
static void who_is_half_idle_is_as_wide_as_that(void **state)
{
        static const struct habit habits[] = {{.2, .2, false}, {.45, .2, false}, {.7, .1, false}};
        static const double shown[] = {NONE, .5, 1};
        static const unsigned every[] = {1, 8, 16};

        (void)state;
        for (size_t n = 0; n < 9 * SG_ELEMENTSOF(habits); n++) {
                const struct habit *h = &habits[n / 9];
                struct sg_demand d = watch(h, shown[n % 3], every[n / 3 % 3], 400);
                double want = h->used / (1 - h->waited);

                assert_near(sg_demand_cpus(&d), want, .01);
                assert_int_equal(d.idle, want < .5);
        }
}

/* Short processes have ended before anybody asks what they waited for; a long one follows. */
static void processes_that_are_gone_leave_their_pressure(void **state)
{
        struct sg_demand_count c = {.cpus = CPUS};
        struct sg_demand d;

        (void)state;
        sg_demand_init(&d);
        for (unsigned i = 0; i < 90; i++) {
                sg_demand_count(&d, &c);
                c.now++;
                c.cpu += .1;
                c.delay += i < 60 ? 0 : .9;
                c.pressure += i < 60 ? .9 : .45;
        }
        assert_false(sg_demand_seems_idle(&d));
        assert_near(sg_demand_cpus(&d), 1, .05);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(who_waits_for_its_turn_is_not_idle),
                cmocka_unit_test(a_wait_may_last),
                cmocka_unit_test(a_loop_behind_others_is_not_idle),
                cmocka_unit_test(who_sleeps_is_idle),
                cmocka_unit_test(who_is_half_idle_is_as_wide_as_that),
                cmocka_unit_test(processes_that_are_gone_leave_their_pressure),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
