/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much a job has left: from its reports, from its class, and when it isn't believed. */

#include "test_learner.h"

#include "base/rng.h"

static void the_first_report_tells_the_size(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(2, false);
        struct sg_estimate e = estimate(l, NULL, 0, 0);

        (void)state;
        assert_true(e.wants_probe);
        assert_int_equal(e.source, SG_SIZE_UNKNOWN);
        assert_true(e.remaining > 0);
        say(l, 10, 5, .1, NONE);
        e = estimate(l, NULL, 10, 5);
        assert_int_equal(e.source, SG_SIZE_REPORTS);
        assert_alike(e.remaining, 45 / 2., 1e-9);
        assert_alike(e.total, 50 / 2., 1e-9);
        assert_alike(e.to[SG_MILESTONE_DONE], e.remaining, 1e-9);
        assert_false(e.wants_probe);
        e = estimate(l, NULL, 12, 7); /* it goes on */
        assert_alike(e.remaining, 43 / 2., 1e-9);
        e = estimate(l, NULL, 99, 1000); /* … for too long */
        assert_true(e.remaining >= .01 * e.total);
}

static void a_slow_start_is_soon_forgotten(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, false);
        struct sg_estimate e;

        (void)state;
        for (unsigned i = 1; i <= 8; i++)
                say(l, 20 + i, 20 + i, i / 100., NONE);
        e = estimate(l, NULL, 28, 28);
        assert_near(e.remaining, 92, 5);
}

static void one_report_in_a_hurry_does_not_matter(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, false);
        struct sg_estimate e;

        (void)state;
        for (unsigned i = 1; i <= 10; i++)
                say(l, i, i + (i == 5 ? 3 : 0), i / 100., NONE);
        e = estimate(l, NULL, 10, 10);
        assert_near(e.remaining, 90, 2);
}

static void a_restart_is_a_baseline_only(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, true);
        struct sg_class_history h = {0};

        (void)state;
        sg_history_add(&h, 70, NONE);
        say(l, 2, 2, .5, NONE);
        assert_int_equal(estimate(l, &h, 2, 2).source, SG_SIZE_HISTORY);
        say(l, 7, 7, .6, NONE);
        assert_alike(estimate(l, &h, 7, 7).remaining, 20, 1e-9);
}

static void a_step_back_begins_again(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, false);

        (void)state;
        for (unsigned i = 1; i <= 50; i++)
                say(l, i, i, i / 100., NONE);
        say(l, 51, 51, .495, NONE); /* a line of another process */
        assert_alike(estimate(l, NULL, 51, 51).remaining, 49, 1e-9);
        say(l, 52, 52, .2, NONE);
        say(l, 56, 56, .22, NONE);
        assert_alike(estimate(l, NULL, 56, 56).remaining, 78 * 2, 1e-9);
}

static void many_reports_are_as_good_as_few(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, false);
        struct sg_estimate e;

        (void)state;
        for (unsigned i = 1; i <= 6000; i++) /* a checkpoint takes a tenth, every 600 */
                say(l, i * .01, i * .01 + i / 600 * .6, i / 1e4, NONE);
        e = estimate(l, NULL, 60, 66);
        assert_near(e.remaining, 44, 2);
}

static void sizes_are_known_within_a_few_hundredths(void **state)
{
        double sum = 0;
        unsigned n = 0;
        struct sg_rng rng;

        (void)state;
        sg_rng_init(&rng, 6, 0);
        for (unsigned round = 0; round < 200; round++) {
                _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, false);
                double size = sg_rng_between(&rng, 30, 300), off = .1 * sg_rng_normal(&rng);
                unsigned reports = 20 + sg_rng_below(&rng, 81);

                for (unsigned k = 1; k < reports; k++) {
                        double x = (double)k / reports, used = x * size;

                        say(l, used, used, x / exp(off * (1 - x)), NONE);
                        if (x < .5)
                                continue;
                        assert_int_equal(estimate(l, NULL, used, used).source, SG_SIZE_REPORTS);
                        sum += fabs(estimate(l, NULL, used, used).remaining / (size - used) - 1);
                        n++;
                }
        }
        print_message("off by %.3f from one half on\n", sum / n);
        assert_true(sum / n < .06);
}

static void steps_of_something_within_the_run_tell_nothing(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, false);
        struct sg_estimate e;
        char text[128];

        (void)state;
        for (unsigned i = 1; i <= 20; i++)
                count(l, i, i, (i - 1) % 10 + 1, 10, NONE);
        count(l, 21, 21, 1, 10, NONE);
        e = estimate(l, NULL, 21, 21);
        assert_int_equal(e.source, SG_SIZE_UNKNOWN);
        sg_learner_explain(l, text, sizeof(text));
        assert_non_null(strstr(text, "begin again"));
        count(l, 30, 30, 10, 10, NONE);
        assert_int_equal(estimate(l, NULL, 30, 30).source, SG_SIZE_UNKNOWN);
}

static void count_epoch(struct sg_learner *l, double now, uint64_t epoch, uint64_t epochs)
{
        const struct sg_report counters = {
                .has = SG_REPORT_EPOCH | SG_REPORT_EPOCHS, .epoch = epoch, .epochs = epochs};
        const struct sg_learner_report r = {
                .now = now, .cpu = now, .counters = &counters, .eval = NONE};

        assert_int_equal(sg_learner_report(l, &r), 0);
}

/* Data are prepared, with a bar for each set. */
static unsigned prepare(struct sg_learner *l)
{
        unsigned now = 0;

        for (unsigned bar = 0; bar < 3; bar++)
                for (unsigned step = 1; step <= 5; step++) {
                        now++;
                        count(l, now, now, step, 5, NONE);
                }
        return now;
}

static void epochs_count_from_their_beginning(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, true);
        unsigned now = prepare(l);

        (void)state;
        for (unsigned epoch = 7; epoch <= 9; epoch++)
                count_epoch(l, now += 10, epoch, 10);
        assert_int_equal(estimate(l, NULL, now, now).source, SG_SIZE_REPORTS);
        assert_alike(estimate(l, NULL, now, now).remaining, 10, 1e-9);
}

static void a_lie_behind_bars_is_found_out(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, false);
        unsigned now = prepare(l);

        (void)state;
        for (unsigned i = 0; i < 100; i++)
                count_epoch(l, now += 10, 999, 1000);
        assert_int_equal(estimate(l, NULL, now, now).source, SG_SIZE_DISTRUST);
}

static void declared_steps_go_before_what_it_says(void **state)
{
        const struct sg_learner_job j = {.cpus = 1, .probe = 3, .steps = 100};
        struct sg_learner *l;

        (void)state;
        assert_int_equal(sg_learner_new(&l, &j), 0);
        count(l, 10, 10, 10, 20, NONE);
        assert_alike(estimate(l, NULL, 10, 10).total, 100, 1e-9);
        sg_learner_free(l);
}

static void without_reports_the_class_tells(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, false);
        struct sg_class_history h = {0};

        (void)state;
        for (unsigned i = 1; i <= 5; i++)
                sg_history_add(&h, i * 10, NONE);
        assert_alike(estimate(l, &h, 0, 0).remaining, 30, 1e-9);
        assert_alike(estimate(l, &h, 12, 12).remaining, 35 - 12, 1e-9);
        assert_alike(estimate(l, &h, 60, 60).remaining, 60,
                     1e-9);      /* longer than all: as much again */
        say(l, 61, 61, NONE, 1); /* says nothing of how far it is */
        assert_alike(estimate(l, &h, 61, 61).remaining, 61, 1e-9);
}

static void early_ends_of_a_class_are_learnt(void **state)
{
        struct sg_class_history h = {0};

        (void)state;
        for (unsigned i = 0; i < 5; i++) {
                _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, false);

                for (unsigned k = 1; k <= 6; k++)
                        say(l, k * 10, k * 10, k / 10., NONE);
                assert_alike(sg_learner_claimed(l), 100, 1e-9);
                sg_history_add(&h, 60, sg_learner_claimed(l));
        }
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, false);

        say(l, 10, 10, .1, NONE);
        assert_near(estimate(l, &h, 10, 10).remaining, 50, 1e-4);
}

static void who_is_overdue_is_not_believed(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, false);
        struct sg_class_history h = {0};
        struct sg_estimate e;
        char line[256];

        (void)state;
        sg_history_add(&h, 200, NONE);
        for (unsigned i = 1; i <= 20; i++)
                say(l, i, i, .99, NONE); /* all but done, for ever */
        assert_int_equal(estimate(l, &h, 11, 11).source, SG_SIZE_DISTRUST);
        e = estimate(l, &h, 20, 20);
        assert_int_equal(e.source, SG_SIZE_DISTRUST);
        assert_alike(e.remaining, 180, 1e-9);
        assert_alike(estimate(l, &h, 150, 150).remaining, 150, 1e-9);
        assert_true(isnan(sg_learner_claimed(l)));
        sg_learner_explain(l, line, sizeof(line));
        assert_non_null(strstr(line, "aren't believed"));
}

static void sizes_that_disagree_are_not_believed(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, false);

        (void)state;
        for (unsigned i = 1; i <= 60; i++)
                say(l, i, i, i < 20 ? i / 100. : .19 + (i - 19) * 1e-5, NONE);
        assert_int_equal(estimate(l, NULL, 60, 60).source, SG_SIZE_DISTRUST);
}

static void a_jump_is_not_believed(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, false);

        (void)state;
        for (unsigned i = 1; i <= 10; i++)
                say(l, i, i, i / 100., NONE);
        say(l, 10, 10, .13, NONE); /* was in a buffer */
        assert_int_equal(estimate(l, NULL, 11, 11).source, SG_SIZE_REPORTS);
        say(l, 12, 12, .9, NONE);
        assert_int_equal(estimate(l, NULL, 12, 12).source, SG_SIZE_DISTRUST);
}

static void nonsense_changes_nothing(void **state)
{
        static const double words[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, -1, 0,
                                       1e300};
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, false);

        (void)state;
        for (unsigned i = 0; i < SG_ELEMENTSOF(words); i++)
                for (unsigned k = 0; k < SG_ELEMENTSOF(words); k++) {
                        struct sg_estimate e;

                        say(l, i, i, words[i], words[k]);
                        e = estimate(l, NULL, i, i);
                        assert_true(e.remaining > 0);
                        assert_true(isfinite(e.remaining));
                        assert_true(e.total >= e.remaining);
                }
}

static void nonsense_stays_small(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, false), *at_once = make(1, true);
        struct sg_estimate e;

        (void)state;
        say(l, 1, 1, 0, NONE);
        say(l, 2, 2, 1e-19, NONE); /* what was done would be lost in the last bits of that */
        assert_true(estimate(l, NULL, 2, 2).total <= 1e10);
        for (unsigned i = 0; i < 3; i++)
                say(at_once, 5, 5, .01 * (i + 1), 3 - i); /* lines that were in a buffer */
        e = estimate(at_once, NULL, 5, 5);
        for (unsigned i = 0; i < SG_N_MILESTONES; i++)
                assert_false(e.to[i] <= 0);
}

static void milestones_are_on_the_way(void **state)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(2, false);
        struct sg_estimate e;
        struct sg_rng rng;

        (void)state;
        sg_rng_init(&rng, 7, 0);
        for (unsigned i = 1; i <= 20; i++)
                say(l, i, i, i / 100., exp(-.07 * i) * (1 + .01 * sg_rng_normal(&rng)));
        e = estimate(l, NULL, 21, 21);
        assert_near(e.to[SG_MILESTONE_90], (33 - 21) / 2., 1.5);
        assert_true(e.to[SG_MILESTONE_90] < e.to[SG_MILESTONE_95]);
        assert_true(e.to[SG_MILESTONE_95] < e.to[SG_MILESTONE_99]);
        assert_true(e.to[SG_MILESTONE_99] < e.to[SG_MILESTONE_DONE]);
        for (unsigned i = 21; i <= 60; i++)
                say(l, i, i, i / 100., exp(-.07 * i) * (1 + .01 * sg_rng_normal(&rng)));
        e = estimate(l, NULL, 60, 60);
        assert_true(isnan(e.to[SG_MILESTONE_90]));
        assert_true(isnan(e.to[SG_MILESTONE_95]));
        assert_false(isnan(e.to[SG_MILESTONE_99]));
}

static void assert_same(const struct sg_learner *a, const struct sg_learner *b, double now)
{
        struct sg_estimate e = estimate(a, NULL, now, now), f = estimate(b, NULL, now, now);

        assert_memory_equal(&e.remaining, &f.remaining, sizeof(double));
        assert_memory_equal(&e.total, &f.total, sizeof(double));
        assert_memory_equal(e.to, f.to, sizeof(e.to));
        assert_memory_equal(&e.exponent, &f.exponent, sizeof(double));
        assert_memory_equal(&e.efficiency, &f.efficiency, sizeof(double));
        assert_memory_equal(&e.loss_rate, &f.loss_rate, sizeof(double));
        assert_int_equal(e.n_reports, f.n_reports);
        assert_int_equal(e.source, f.source);
        assert_int_equal(e.measured, f.measured);
}

static void go_on(struct sg_learner *l, struct sg_rng *rng, unsigned i)
{
        double share = i % 7 < 3 ? .4 : 1;

        use(l, i, i * share, i * (1 - share), i % 11 == 0);
        count(l, i, i, i, 250,
              2 * exp(-i / 30.) + .02 * sg_rng_normal(rng) + (i % 50 == 1 ? 99 : 0));
        if (i % 5 == 0)
                sg_learner_mark(l, i, SG_RESOURCE_CPU);
}

/* At any moment: what was saved and loaded goes on like what stayed. */
static void a_restart_changes_nothing(void **state)
{
        const struct sg_learner_job j = {.cpus = 1, .probe = 3};
        _cleanup_(sg_learner_freep) struct sg_learner *kept = make(1, false);
        _cleanup_(sg_learner_freep) struct sg_learner *other = make(1, false);
        struct sg_rng rng, same;

        (void)state;
        sg_rng_init(&rng, 8, 0);
        for (unsigned i = 1; i < 200; i++) {
                _cleanup_(sg_record_deinitp) struct sg_record r = {0};

                sg_learner_save(other, &r);
                assert_int_equal(r.error, 0);
                other = sg_learner_free(other);
                assert_int_equal(sg_learner_load(&other, &j, r.data, r.size), 0);
                same = rng;
                go_on(kept, &rng, i);
                go_on(other, &same, i);
                assert_same(kept, other, i + .5);
        }
}

static void damaged_records_are_refused_or_harmless(void **state)
{
        const struct sg_learner_job j = {.cpus = 1, .probe = 3};
        _cleanup_(sg_learner_freep) struct sg_learner *l = make(1, false);
        _cleanup_(sg_record_deinitp) struct sg_record r = {0};
        struct sg_rng rng;

        (void)state;
        sg_rng_init(&rng, 9, 0);
        for (unsigned i = 1; i < 100; i++)
                go_on(l, &rng, i);
        sg_learner_save(l, &r);
        for (size_t cut = 1; cut < r.size; cut += 7) {
                struct sg_learner *loaded = NULL;

                if (sg_learner_load(&loaded, &j, r.data, cut) == 0)
                        sg_learner_free(loaded);
                else
                        assert_null(loaded);
        }
        for (unsigned i = 0; i < 20000; i++) {
                size_t at = sg_rng_below(&rng, (uint32_t)r.size);
                uint8_t was = r.data[at];
                struct sg_learner *loaded = NULL;

                r.data[at] = (uint8_t)sg_rng_u32(&rng);
                if (sg_learner_load(&loaded, &j, r.data, r.size) == 0) {
                        (void)estimate(loaded, NULL, 100, 100);
                        say(loaded, 101, 101, .5, 1);
                        (void)estimate(loaded, NULL, 101, 101);
                }
                sg_learner_free(loaded);
                r.data[at] = was;
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_first_report_tells_the_size),
                cmocka_unit_test(a_slow_start_is_soon_forgotten),
                cmocka_unit_test(one_report_in_a_hurry_does_not_matter),
                cmocka_unit_test(a_restart_is_a_baseline_only),
                cmocka_unit_test(a_step_back_begins_again),
                cmocka_unit_test(many_reports_are_as_good_as_few),
                cmocka_unit_test(sizes_are_known_within_a_few_hundredths),
                cmocka_unit_test(steps_of_something_within_the_run_tell_nothing),
                cmocka_unit_test(epochs_count_from_their_beginning),
                cmocka_unit_test(a_lie_behind_bars_is_found_out),
                cmocka_unit_test(declared_steps_go_before_what_it_says),
                cmocka_unit_test(without_reports_the_class_tells),
                cmocka_unit_test(early_ends_of_a_class_are_learnt),
                cmocka_unit_test(who_is_overdue_is_not_believed),
                cmocka_unit_test(sizes_that_disagree_are_not_believed),
                cmocka_unit_test(a_jump_is_not_believed),
                cmocka_unit_test(nonsense_changes_nothing),
                cmocka_unit_test(nonsense_stays_small),
                cmocka_unit_test(milestones_are_on_the_way),
                cmocka_unit_test(a_restart_changes_nothing),
                cmocka_unit_test(damaged_records_are_refused_or_harmless),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
