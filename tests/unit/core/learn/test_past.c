/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How programs have scaled before: what the next run is thought to do, and how much is kept. */

#include "core/learn/programs.h"
#include "tests/unit/test.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define RUNS_DIFFER .08

/* What a run has shown whose speed grows by that from one CPU to two. */
static struct sg_pace shown(double exponent)
{
        const struct sg_usual usual = sg_usual_of_all();
        struct sg_pace p;

        sg_pace_init(&p, &usual);
        for (int i = 0; i < 10; i++) {
                (void)sg_pace_take(&p, 1, 1, 1);
                (void)sg_pace_take(&p, 2, exp2(exponent), 1);
        }
        return p;
}

static struct sg_program_key key_of(uint32_t uid, uint64_t program, const char *class)
{
        struct sg_program_key key = {.uid = uid, .program = program};

        strcpy(key.class, class);
        return key;
}

static double thought(const struct sg_past *past)
{
        const struct sg_usual all = sg_usual_of_all();

        return sg_past_usual(past, &all, RUNS_DIFFER).speedup.exponent[0];
}

static void test_comes_near(void **state)
{
        const struct sg_usual all = sg_usual_of_all();
        struct sg_past past = {};
        double before = thought(&past);
        const double exponents[] = {.9, .1, 1, -.2};

        (void)state;
        assert_true(before == SG_SPEEDUP_PRIOR);
        for (size_t i = 0; i < 4; i++) {
                struct sg_pace p = shown(exponents[i]);
                struct sg_usual usual;

                past = (struct sg_past){};
                assert_true(sg_past_add(&past, &p));
                assert_near(thought(&past), exponents[i], .16);
                assert_true(sg_past_add(&past, &p));
                usual = sg_past_usual(&past, &all, RUNS_DIFFER);
                assert_true(usual.speedup.exponent[0] < exponents[i]); /* never all of it */
                assert_true(usual.error[0] < all.error[0] / 2);
                assert_true(usual.error[1] == all.error[1]); /* of more CPUs nothing is known */
                assert_true(usual.speedup.exponent[1] <=
                            sg_speedup_next_exponent(usual.speedup.exponent[0]) + 1e-12);
        }
}

/* Programs that differ make what is said of the next unsure, and it is cautious. */
static void test_differing(void **state)
{
        const struct sg_usual all = sg_usual_of_all();
        struct sg_pace fast = shown(1), slow = shown(0);
        struct sg_past past = {};
        struct sg_usual usual;

        (void)state;
        for (int i = 0; i < 20; i++)
                (void)sg_past_add(&past, i % 2 ? &fast : &slow);
        usual = sg_past_usual(&past, &all, RUNS_DIFFER);
        assert_true(usual.error[0] == all.error[0]); /* as unsure as of any */
        assert_near(usual.speedup.exponent[0], .5 - .75 * all.error[0], .05);
}

static void test_what_says_nothing_is_not_kept(void **state)
{
        const struct sg_usual usual = sg_usual_of_all();
        struct sg_past past = {};
        struct sg_pace p;

        (void)state;
        sg_pace_init(&p, &usual);
        for (int i = 0; i < 10; i++)
                (void)sg_pace_take(&p, 2, 1, 1);
        assert_false(sg_past_add(&past, &p));
        assert_true(thought(&past) == SG_SPEEDUP_PRIOR);
}

static void test_by_user_program_and_class(void **state)
{
        const struct sg_program_key a = key_of(1, 7, "train"),
                                    others[] = {key_of(2, 7, "train"), key_of(1, 8, "train"),
                                                key_of(1, 7, "test")};
        struct sg_programs p = {};
        struct sg_pace pace = shown(.9);

        (void)state;
        assert_int_equal(sg_programs_add(&p, &a, &pace), 0);
        assert_non_null(sg_programs_find(&p, &a));
        for (size_t i = 0; i < 3; i++)
                assert_null(sg_programs_find(&p, &others[i]));
        sg_programs_deinit(&p);
}

/* A user's oldest go; another user's never for them, until all are too many. */
static void test_bounded(void **state)
{
        struct sg_program_key first = key_of(1, 1, "c"), other = key_of(2, 1, "c");
        struct sg_pace pace = shown(.5);
        struct sg_programs p = {};

        (void)state;
        assert_int_equal(sg_programs_add(&p, &other, &pace), 0);
        for (uint64_t i = 1; i <= SG_PROGRAMS_PER_USER; i++) {
                struct sg_program_key key = key_of(1, i, "c");

                assert_int_equal(sg_programs_add(&p, &key, &pace), 0);
        }
        assert_non_null(sg_programs_find(&p, &first)); /* used: not the oldest any more */
        for (uint64_t i = 1; i < SG_PROGRAMS_PER_USER; i++) {
                struct sg_program_key key = key_of(1, 1000 + i, "c");

                assert_int_equal(sg_programs_add(&p, &key, &pace), 0);
        }
        assert_int_equal(p.n, SG_PROGRAMS_PER_USER + 1);
        assert_non_null(sg_programs_find(&p, &first));
        assert_non_null(sg_programs_find(&p, &other));
        for (uint32_t uid = 100; uid < 100 + SG_PROGRAMS_MOST - SG_PROGRAMS_PER_USER; uid++) {
                struct sg_program_key key = key_of(uid, 1, "c");

                assert_int_equal(sg_programs_add(&p, &key, &pace), 0);
        }
        assert_int_equal(p.n, SG_PROGRAMS_MOST); /* one of the first user's went */
        assert_non_null(sg_programs_find(&p, &first));
        assert_non_null(sg_programs_find(&p, &other));
        sg_programs_deinit(&p);
}

static int load_all(struct sg_programs *p, const struct sg_record *r)
{
        struct sg_reader in = sg_reader_init(r->data, r->size);
        struct sg_field f;
        int k = 0;

        while (k == 0 && sg_reader_next(&in, &f) > 0)
                k = sg_programs_load(p, &f);
        return k;
}

static void test_kept(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record r = {0};
        const struct sg_program_key a = key_of(1, 7, "train"), b = key_of(2, 7, "train");
        struct sg_programs p = {}, again = {};
        struct sg_pace pace = shown(.9);

        (void)state;
        assert_int_equal(sg_programs_add(&p, &a, &pace), 0);
        assert_int_equal(sg_programs_add(&p, &b, &pace), 0);
        sg_programs_save(&p, &r, 5);
        assert_int_equal(load_all(&again, &r), 0);
        assert_int_equal(again.n, 2);
        assert_true(thought(sg_programs_find(&again, &a)) == thought(sg_programs_find(&p, &a)));
        assert_int_equal(load_all(&again, &r), -EBADMSG); /* twice the same */
        sg_programs_deinit(&p);
        sg_programs_deinit(&again);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_comes_near),
                cmocka_unit_test(test_differing),
                cmocka_unit_test(test_what_says_nothing_is_not_kept),
                cmocka_unit_test(test_by_user_program_and_class),
                cmocka_unit_test(test_bounded),
                cmocka_unit_test(test_kept),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
