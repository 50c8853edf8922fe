/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/parse.h"
#include "core/govern/want.h"
#include "tests/unit/test.h"
#include <math.h>

static const struct sg_want_job plain = {.own_weight = 100, .cpus = 2, .cpus_max = 2},
                                elastic = {.own_weight = 100, .cpus = 2, .cpus_max = 6},
                                at_terminal = {.own_weight = 100, .foreground = true};

static struct sg_share_out out(double share, uint32_t weight, double cap)
{
        return (struct sg_share_out){.share = share, .weight = weight, .cap = cap};
}

static void expect(struct sg_applied got, uint32_t weight, uint64_t cap_pm, uint32_t threads)
{
        assert_int_equal(got.weight, weight);
        assert_int_equal(got.cap_pm, cap_pm);
        assert_int_equal(got.threads, threads);
}

static void test_cap(void **state)
{
        struct sg_share_out none = out(.5, 300, INFINITY), half = out(.5, 300, .5),
                            little = out(.5, 300, .0001), nothing = out(0, 1, 0);

        (void)state;
        expect(sg_want(&plain, &none, 8), 300, SG_UNLIMITED, 0);
        expect(sg_want(&plain, &half, 8), 300, 40000, 0);
        expect(sg_want(&plain, &half, 1.5), 300, 7500, 0);
        /* The kernel takes no less than 1 ms in a period. */
        expect(sg_want(&plain, &little, 8), 300, 100, 0);
        expect(sg_want(&plain, &nothing, 8), 1, 100, 0);
}

static uint32_t threads(const struct sg_want_job *j, double share, double cpus)
{
        struct sg_share_out o = out(share, 100, INFINITY);

        return sg_want(j, &o, cpus).threads;
}

static void test_threads(void **state)
{
        static const struct sg_want_job from_none = {.cpus_max = 3};

        (void)state;
        assert_int_equal(threads(&plain, 1, 8), 0); /* it can have no others */
        assert_int_equal(threads(&elastic, .5, 8), 4);
        assert_int_equal(threads(&elastic, .505, 8), 4); /* four hundredths of a CPU more */
        assert_int_equal(threads(&elastic, .51, 8), 5);
        assert_int_equal(threads(&elastic, 1, 8), 6);
        assert_int_equal(threads(&elastic, 0, 8), 2);
        assert_int_equal(threads(&from_none, 0, 8), 1);
        assert_int_equal(threads(&from_none, 1, 8), 3);
}

/* Of its own: it is told of these, whatever its share; where it can't have them, of its share. */
static void test_own_cpus(void **state)
{
        static const struct sg_want_job one = {.cpus = 1, .cpus_max = 8, .confinable = true},
                                        other = {.cpus = 1, .cpus_max = 8},
                                        fixed = {.cpus = 2, .cpus_max = 2, .confinable = true};
        struct sg_share_out o = out(.5, 100, INFINITY);
        struct sg_applied got;

        (void)state;
        o.cpus = 3;
        got = sg_want(&one, &o, 8);
        assert_int_equal(got.cpus, 3);
        assert_int_equal(got.threads, 3);
        got = sg_want_to_begin(&one, &o, 8, 100);
        assert_int_equal(got.cpus, 3);
        assert_int_equal(got.threads, 3);
        got = sg_want(&fixed, &o, 8);
        assert_int_equal(got.cpus, 3);
        assert_int_equal(got.threads, 0);
        got = sg_want(&other, &o, 8);
        assert_int_equal(got.cpus, 0);
        assert_int_equal(got.threads, 4);
        assert_int_equal(sg_want_to_begin(&one, NULL, 8, 100).cpus, 0);
        o.cpus = 0;
        got = sg_want(&one, &o, 8);
        assert_int_equal(got.cpus, 0);
        assert_int_equal(got.threads, 4);
}

/* Nobody who is being started is behind others, whatever was decided; nor capped. */
static void test_begin(void **state)
{
        struct sg_share_out last = out(.01, 1, .01), first = out(1, 5000, INFINITY);

        (void)state;
        expect(sg_want_to_begin(&plain, &last, 8, 10000), 10000, SG_UNLIMITED, 0);
        expect(sg_want_to_begin(&plain, &last, 8, 90), 100, SG_UNLIMITED, 0);
        expect(sg_want_to_begin(&plain, &first, 8, 10000), 5000, SG_UNLIMITED, 0);
        expect(sg_want_to_begin(&elastic, &first, 4, 10000), 5000, SG_UNLIMITED, 4);
}

/* What `run` has forked may stay there for long: with its own weight. */
static void test_begin_of_run(void **state)
{
        struct sg_share_out last = out(.01, 1, .01), first = out(1, 5000, INFINITY);

        (void)state;
        expect(sg_want_to_begin(&at_terminal, &last, 8, 10000), 100, SG_UNLIMITED, 0);
        expect(sg_want_to_begin(&at_terminal, &first, 8, 10000), 5000, SG_UNLIMITED, 0);
        expect(sg_want_to_begin(&at_terminal, NULL, 8, 10000), 100, SG_UNLIMITED, 0);
}

/* The rest of a burst is decided on after its first. */
static void test_begin_undecided(void **state)
{
        (void)state;
        expect(sg_want_to_begin(&plain, NULL, 8, 10000), 10000, SG_UNLIMITED, 0);
        expect(sg_want_to_begin(&elastic, NULL, 8, 0), 100, SG_UNLIMITED, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_cap),          cmocka_unit_test(test_threads),
                cmocka_unit_test(test_own_cpus),     cmocka_unit_test(test_begin),
                cmocka_unit_test(test_begin_of_run), cmocka_unit_test(test_begin_undecided),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
