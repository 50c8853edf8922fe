/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the governor says of its decisions. */

#include "base/parse.h"
#include "test_governor.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void test_explain(void **state)
{
        _cleanup_free_ char *text = NULL;
        struct world w;

        (void)state;
        world_new(&w);
        class_of(&w, "default", 100, SG_SHARE_GROWTH);
        configure(&w);
        for (uint64_t key = 1; key <= 3; key++)
                add(&w, key, "default", 0);
        assert_int_equal(sg_governor_explain(w.g, 1, &text), -ENOENT);
        feed(&w, 10);
        step(&w, 10);
        assert_int_equal(sg_governor_explain(w.g, 1, &text), 0);
        assert_non_null(strstr(text, "Policy: growth, objective balanced, class default"));
        assert_non_null(strstr(text, "Share: "));
        assert_int_equal(sg_governor_explain(w.g, 9, &text), -ENOENT);
        sg_governor_free(w.g);
}

/* What isn't CPU-bound isn't spoken of as if it were: by its use, from the start. */
static void test_explain_sleeper(void **state)
{
        char why[128] = "";
        struct world w;

        (void)state;
        world_new(&w);
        class_of(&w, "default", 100, SG_SHARE_GROWTH);
        configure(&w);
        for (uint64_t key = 1; key <= 3; key++)
                add(&w, key, "default", 0);
        assert_true(isnan(sg_governor_share(w.g, 1, why, sizeof(why))));
        for (unsigned i = 0; i <= 3; i++)
                for (uint64_t key = 1; key <= 3; key++) {
                        struct sg_learner_use u = {.now = i,
                                                   .cpu = key > 1 ? i / 2. : 0,
                                                   .delay = key > 1 ? i / 2. : 0,
                                                   .pressure = key > 1 ? i / 2. : 0};

                        sg_governor_use(w.g, key, &u);
                }
        step(&w, 3);
        for (uint64_t key = 1; key <= 2; key++) {
                _cleanup_free_ char *text = NULL;

                assert_int_equal(sg_governor_explain(w.g, key, &text), 0);
                print_message("%s", text);
                assert_int_equal(strstr(text, "Promise: Fair sharing would finish it in ") != NULL,
                                 key > 1);
                assert_int_equal(strstr(text, "of CPU time") != NULL, key > 1);
                assert_int_equal(strstr(text, "waits for something other than the CPU") != NULL,
                                 key == 1);
        }
        assert_near(sg_governor_share(w.g, 1, why, sizeof(why)), 0, 1e-3);
        assert_string_equal(why, "waits for something other than the CPU");
        assert_int_equal(sg_governor_list(w.g, 1), SG_LIST_ASIDE);
        assert_int_equal(sg_governor_list(w.g, 2), SG_LIST_PROBE);
        /* Only one can be measured at a time. */
        (void)sg_governor_share(w.g, 2, why, sizeof(why));
        assert_string_equal(why, "no progress yet; being measured");
        (void)sg_governor_share(w.g, 3, why, sizeof(why));
        assert_string_equal(why, "no progress yet; will be measured after job 2 and 1 other");
        sg_governor_free(w.g);
}

/* Where nobody counts waits, and others have all CPUs, it is told by what it has used. */
static void test_explain_unmeasured(void **state)
{
        char why[128] = "";
        struct world w;

        (void)state;
        world_new(&w);
        class_of(&w, "default", 100, SG_SHARE_GROWTH);
        configure(&w);
        for (uint64_t key = 1; key <= 2; key++)
                add(&w, key, "default", 0);
        for (unsigned i = 0; i <= 300; i += 10) {
                sg_governor_count(w.g, 1, i, .001);
                sg_governor_count(w.g, 2, i, i * .01);
                step(&w, i);
        }
        assert_near(sg_governor_share(w.g, 1, why, sizeof(why)), 0, 1e-3);
        assert_string_equal(why, "waits for something other than the CPU");
        (void)sg_governor_share(w.g, 2, why, sizeof(why));
        assert_string_not_equal(why, "waits for something other than the CPU");
        sg_governor_free(w.g);
}

/* While some scale badly, more than NoHarm= is promised. */
static void test_explain_planned(void **state)
{
        for (int planned = 0; planned < 2; planned++) {
                _cleanup_free_ char *text = NULL;
                struct world w;

                world_new(&w);
                class_of(&w, "default", 100, SG_SHARE_GROWTH);
                w.classes[0].settings.exponent = planned ? .7 : 1;
                configure(&w);
                for (uint64_t key = 1; key <= 3; key++)
                        add(&w, key, "default", 0);
                feed(&w, 10);
                step(&w, 10);
                assert_int_equal(sg_governor_explain(w.g, 1, &text), 0);
                assert_non_null(strstr(text, "Promise: "));
                assert_int_equal(strstr(text, ", 23 % later instead of NoHarm=") != NULL, planned);
                sg_governor_free(w.g);
        }
        (void)state;
}

/* The time between two phrases, in seconds; NAN if they aren't there. */
static double said(const char *text, const char *before, const char *after)
{
        const char *p = strstr(text, before), *end = p ? strstr(p += strlen(before), after) : NULL;
        _cleanup_free_ char *word = end ? strndup(p, (size_t)(end - p)) : NULL;
        uint64_t usec;

        if (!word)
                return (double)NAN;
        assert_int_equal(sg_parse_usec(word, &usec), 0);
        return (double)usec / 1e6;
}

/* What is left of a job on one CPU, and the time for which it can wait, fit in before it is due:
 * also when a decision is some time ago. */
static void test_explain_patience(void **state)
{
        unsigned n = 0;
        struct world w;

        (void)state;
        world_new(&w);
        class_of(&w, "default", 100, SG_SHARE_GROWTH);
        configure(&w);
        for (uint64_t key = 1; key <= 3; key++)
                add(&w, key, "default", 0);
        feed(&w, 10);
        step(&w, 10);
        for (unsigned now = 10; now < 900; now++) {
                sg_governor_count(w.g, 1, now, now);
                for (uint64_t key = 1; key <= 3; key++) {
                        _cleanup_free_ char *text = NULL;
                        double due, left, wait;

                        assert_int_equal(sg_governor_explain(w.g, key, &text), 0);
                        wait = said(text, "; it can still wait ", ".\n");
                        if (isnan(wait))
                                continue;
                        due = said(text, "; promised within ", ";");
                        left = said(text, "of CPU time, ", " of it left");
                        n++;
                        if (!(left + wait <= due * 1.01 + 1))
                                fail_msg("at %u: %s", now, text);
                }
        }
        assert_in_range(n, 100, UINT32_MAX);
        sg_governor_free(w.g);
}

static void add_narrow(struct world *w, uint64_t key)
{
        const struct sg_governor_job j = {.key = key,
                                          .class = "default",
                                          .uid = 1000,
                                          .cpus_max = 1,
                                          .weight = 100,
                                          .deadline = INFINITY};

        assert_int_equal(sg_governor_add(w->g, &j), 0);
}

/* Six jobs of one thread on two CPUs have been served alike, and are to end at the same time. Those
 * that wait for the others' promises don't run now for their own. */
static void test_explain_due(void **state)
{
        unsigned n_now = 0, n_next = 0;
        struct world w;

        (void)state;
        world_new(&w);
        class_of(&w, "default", 100, SG_SHARE_GROWTH);
        w.classes[0].settings.no_harm = 0;
        assert_int_equal(sg_governor_configure(w.g, 2, w.classes, w.n_classes), 0);
        for (uint64_t key = 1; key <= 6; key++)
                add_narrow(&w, key);
        for (unsigned now = 1; now < 30; now++) {
                for (uint64_t key = 1; key <= 6; key++) {
                        struct sg_learner_report r = {.now = now,
                                                      .cpu = now / 3.,
                                                      .fraction = now / 30.,
                                                      .eval = 3 / (1 + now / 10.)};

                        assert_int_equal(sg_governor_report(w.g, key, &r), 0);
                }
                step(&w, now);
                for (uint64_t key = 1; key <= 6; key++) {
                        bool waits = sg_governor_list(w.g, key) == SG_LIST_WAIT;
                        char why[128] = "";

                        (void)sg_governor_share(w.g, key, why, sizeof(why));
                        if (waits)
                                assert_null(strstr(why, "must run now"));
                        n_now += strcmp(why, "must run now to keep its promise") == 0;
                        n_next += strcmp(why, "goes next to keep its promise") == 0;
                }
        }
        assert_in_range(n_now, 1, UINT32_MAX);
        assert_in_range(n_next, 1, UINT32_MAX);
        sg_governor_free(w.g);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_explain),
                cmocka_unit_test(test_explain_sleeper),
                cmocka_unit_test(test_explain_unmeasured),
                cmocka_unit_test(test_explain_planned),
                cmocka_unit_test(test_explain_patience),
                cmocka_unit_test(test_explain_due),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
