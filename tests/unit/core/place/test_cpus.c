/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/place/cpus.h"
#include "tests/unit/test.h"

static struct sg_cpuset set_of(const char *s)
{
        struct sg_cpuset set;

        assert_int_equal(sg_parse_cpuset(s, &set), 0);
        return set;
}

static void expect_pick(const uint32_t *pinned, const char *allowed, uint64_t n,
                        const char *expected)
{
        struct sg_cpuset from = set_of(allowed), wanted = set_of(expected), picked;

        memset(&picked, 0xff, sizeof(picked));
        sg_cpus_pick(pinned, &from, n, &picked);
        assert_memory_equal(&picked, &wanted, sizeof(picked));
}

static void test_fewest_pinned_first(void **state)
{
        static const uint32_t pinned[SG_CPUS_MAX] = {2, 1, 1, 0, 1, [1023] = 3};

        (void)state;
        expect_pick(pinned, "0-4", 1, "3");
        expect_pick(pinned, "0-4", 2, "1,3");
        expect_pick(pinned, "0-4", 4, "1-4");
        expect_pick(pinned, "0-4", 5, "0-4");
        expect_pick(pinned, "0,2,1023", 2, "0,2");
        expect_pick(pinned, "1022-1023", 1, "1022");
}

static void test_only_what_is_allowed(void **state)
{
        static const uint32_t none[SG_CPUS_MAX];

        (void)state;
        expect_pick(none, "5,9", 1, "5");
        expect_pick(none, "5,9", 3, "5,9");
        expect_pick(none, "5,9", SG_UNLIMITED, "5,9");
        expect_pick(none, "5,9", 0, "");
        expect_pick(none, "", 4, "");
        expect_pick(none, "0-1023", 1024, "0-1023");
}

/* Job after job, as they are started: no CPU ever has two more than another. */
static void test_even(void **state)
{
        struct sg_cpuset allowed = set_of("1-7,70"), picked;
        uint32_t pinned[SG_CPUS_MAX] = {0};

        (void)state;
        for (uint64_t job = 0; job < 200; job++) {
                uint32_t least = UINT32_MAX, most = 0;

                sg_cpus_pick(pinned, &allowed, 1 + job * 7 % 5, &picked);
                assert_int_equal(sg_cpuset_count(&picked), 1 + job * 7 % 5);
                for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++) {
                        if (!sg_cpuset_has(&allowed, cpu)) {
                                assert_false(sg_cpuset_has(&picked, cpu));
                                continue;
                        }
                        pinned[cpu] += sg_cpuset_has(&picked, cpu);
                        least = pinned[cpu] < least ? pinned[cpu] : least;
                        most = pinned[cpu] > most ? pinned[cpu] : most;
                }
                assert_true(most - least <= 1);
        }
}

/* An earlier set may be replaced by one that is picked from it. */
static void test_into_itself(void **state)
{
        static const uint32_t pinned[SG_CPUS_MAX] = {1};
        struct sg_cpuset set = set_of("0-2"), wanted = set_of("1-2");

        (void)state;
        sg_cpus_pick(pinned, &set, 2, &set);
        assert_memory_equal(&set, &wanted, sizeof(set));
}

static void expect_resize(const uint32_t *pinned, const char *from, uint64_t n,
                          const char *expected)
{
        struct sg_cpuset allowed = set_of("0-5"), set = set_of(from), wanted = set_of(expected);

        sg_cpus_resize(pinned, &allowed, n, &set);
        assert_memory_equal(&set, &wanted, sizeof(set));
}

/* What a job has it keeps, as far as it can, wherever others are. */
static void test_resize(void **state)
{
        static const uint32_t pinned[SG_CPUS_MAX] = {3, 1, 2, 0, 0, 1};

        (void)state;
        expect_resize(pinned, "", 2, "3-4");
        expect_resize(pinned, "0", 1, "0");
        expect_resize(pinned, "0", 3, "0,3-4");
        expect_resize(pinned, "0-2", 2, "1-2");
        expect_resize(pinned, "0-2", 1, "1");
        expect_resize(pinned, "0-5", 9, "0-5");
        expect_resize(pinned, "9", 2, "3,9"); /* no longer allowed, but its own */
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_fewest_pinned_first),
                cmocka_unit_test(test_only_what_is_allowed),
                cmocka_unit_test(test_even),
                cmocka_unit_test(test_into_itself),
                cmocka_unit_test(test_resize),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
