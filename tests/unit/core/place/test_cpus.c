/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/place/cpus.h"
#include "tests/unit/test.h"

static struct sg_cpuset set_of(const char *s)
{
        struct sg_cpuset set;

        assert_int_equal(sg_parse_cpuset(s, &set), 0);
        return set;
}

/* Where nothing is known of CPUs. */
static struct sg_cpus_place flat(const uint32_t *jobs, const struct sg_cpuset *allowed)
{
        static struct sg_topology topology;

        sg_topology_init(&topology);
        return (struct sg_cpus_place){
                .topology = &topology, .allowed = allowed, .jobs = jobs, .stays = true};
}

static void expect_pick(const uint32_t *pinned, const char *allowed, uint64_t n,
                        const char *expected)
{
        struct sg_cpuset from = set_of(allowed), wanted = set_of(expected);
        struct sg_cpus_place place = flat(pinned, &from);
        struct sg_own_cpus picked;

        memset(&picked, 0xff, sizeof(picked));
        sg_cpus_pick(&place, n, &picked);
        assert_memory_equal(&picked.cpus, &wanted, sizeof(wanted));
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
        struct sg_cpuset allowed = set_of("1-7,70");
        uint32_t pinned[SG_CPUS_MAX] = {0};
        struct sg_cpus_place place = flat(pinned, &allowed);
        struct sg_own_cpus picked;

        (void)state;
        for (uint64_t job = 0; job < 200; job++) {
                uint32_t least = UINT32_MAX, most = 0;

                sg_cpus_pick(&place, 1 + job * 7 % 5, &picked);
                assert_int_equal(sg_cpuset_count(&picked.cpus), 1 + job * 7 % 5);
                for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++) {
                        if (!sg_cpuset_has(&allowed, cpu)) {
                                assert_false(sg_cpuset_has(&picked.cpus, cpu));
                                continue;
                        }
                        pinned[cpu] += sg_cpuset_has(&picked.cpus, cpu);
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
        struct sg_own_cpus own = {.cpus = set_of("0-2")};
        struct sg_cpus_place place = flat(pinned, &own.cpus);
        struct sg_cpuset wanted = set_of("1-2");

        (void)state;
        sg_cpus_pick(&place, 2, &own);
        assert_memory_equal(&own.cpus, &wanted, sizeof(wanted));
}

static void expect_resize(const uint32_t *pinned, const char *from, uint64_t n,
                          const char *expected)
{
        struct sg_cpuset allowed = set_of("0-5"), wanted = set_of(expected);
        struct sg_cpus_place place = flat(pinned, &allowed);
        struct sg_own_cpus own = {.cpus = set_of(from)};

        sg_cpus_resize(&place, n, &own);
        assert_memory_equal(&own.cpus, &wanted, sizeof(wanted));
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

/* Two packages, of which each is a node with two caches of two cores; siblings are 8 apart. */
static struct sg_topology small_machine(void)
{
        static const struct {
                enum sg_level level;
                const char *cpus[8];
        } groups[] = {
                {SG_LEVEL_CORE, {"0,8", "1,9", "2,10", "3,11", "4,12", "5,13", "6,14", "7,15"}},
                {SG_LEVEL_CACHE, {"0-1,8-9", "2-3,10-11", "4-5,12-13", "6-7,14-15"}},
                {SG_LEVEL_NODE, {"0-3,8-11", "4-7,12-15"}},
                {SG_LEVEL_PACKAGE, {"0-3,8-11", "4-7,12-15"}},
        };
        struct sg_topology t;

        sg_topology_init(&t);
        for (size_t i = 0; i < SG_ELEMENTSOF(groups); i++)
                for (size_t j = 0; j < 8 && groups[i].cpus[j]; j++) {
                        struct sg_cpuset cpus = set_of(groups[i].cpus[j]);

                        sg_topology_join(&t, groups[i].level, &cpus);
                }
        return t;
}

static void have(uint32_t jobs[SG_CPUS_MAX], const char *cpus)
{
        struct sg_cpuset set = set_of(cpus);

        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++)
                jobs[cpu] += sg_cpuset_has(&set, cpu);
}

/* What a job that has `from` gets of n, where others have `others`. */
static void expect(const char *others, const char *from, uint64_t n, const char *expected)
{
        struct sg_topology t = small_machine();
        struct sg_cpuset allowed = set_of("0-15"), wanted = set_of(expected);
        struct sg_own_cpus own = {.cpus = set_of(from)};
        uint32_t jobs[SG_CPUS_MAX] = {0};
        struct sg_cpus_place place = {.topology = &t, .allowed = &allowed, .jobs = jobs};

        have(jobs, others);
        have(jobs, from);
        own.home = sg_cpus_home(&t, &own.cpus);
        sg_cpus_resize(&place, n, &own);
        assert_memory_equal(&own.cpus, &wanted, sizeof(wanted));
}

static void test_begins(void **state)
{
        (void)state;
        expect("", "", 1, "0");
        expect("", "", 2, "0-1"); /* two cores of one cache, not two siblings */
        expect("0", "", 1, "4");  /* where there is the most room to grow */
        expect("0,4", "", 1, "2");
        expect("0,4", "", 2, "2-3");
        expect("0-1,4,6", "", 2, "2-3"); /* all in one cache, though the other node has as much */
        expect("0,4-7", "", 3, "1-3");   /* all in one node */
        expect("0,2,4,6", "", 2, "1,3");
        expect("", "", 5, "0-3,8"); /* a sibling before another package */
        expect("", "", 9, "0-4,8-11");
        expect("", "", 99, "0-15");
}

static void test_company(void **state)
{
        (void)state;
        expect("0-6", "", 1, "7");
        expect("0-6", "", 2, "7,15"); /* the only core that nobody has, whole */
        expect("0-7", "", 1, "8");    /* a sibling of somebody's, when all cores are taken */
        expect("0-7,8-14", "", 1, "15");
        expect("0-15", "", 1, "0");    /* shared, when all CPUs are taken */
        expect("1-15", "0", 2, "0,8"); /* with one other, on its own core */
}

/* Nobody stays with others while there is somewhere to be alone, or moves otherwise. */
static void test_moves(void **state)
{
        (void)state;
        expect("0", "0", 1, "1");
        expect("8", "0", 1, "1"); /* its core's other sibling is another's */
        expect("8,1-3", "0", 1, "4");
        expect("8,1-7", "0", 1, "0"); /* no core is free */
        expect("4-7", "0,3", 2, "0,3");
        expect("0-3", "0,8", 2, "4-5");
}

static void test_grows(void **state)
{
        (void)state;
        expect("", "5", 2, "4-5");
        expect("", "5", 3, "4-6");
        expect("", "5", 4, "4-7");
        expect("", "5", 5, "4-7,12");
        expect("4", "5", 2, "5-6");
        expect("4,6-7", "5", 2, "5,13");
        expect("4,6-7", "5", 3, "0,5,13");
}

static void test_shrinks(void **state)
{
        (void)state;
        expect("", "4-7,13", 4, "4-7");
        expect("", "5,13", 1, "5");
        expect("", "0-1,8-9", 2, "0-1");
        expect("", "0,4-5", 2, "4-5"); /* most of it is there */
        expect("1", "0-1", 1, "0");
        expect("", "3", 0, "");
}

static void test_cores(void **state)
{
        struct sg_topology t = small_machine(), none;
        struct sg_cpuset two = set_of("0,8,3"), all = set_of("0-15"), nobody = set_of("");

        (void)state;
        sg_topology_init(&none);
        assert_int_equal(sg_topology_cores(&t, &two), 2);
        assert_int_equal(sg_topology_cores(&t, &all), 8);
        assert_int_equal(sg_topology_cores(&t, &nobody), 0);
        assert_int_equal(sg_topology_cores(&none, &all), 16);
        assert_true(sg_topology_shares(&t, SG_LEVEL_CACHE, 2, 11));
        assert_false(sg_topology_shares(&t, SG_LEVEL_CACHE, 2, 9));
        assert_true(sg_topology_shares(&none, SG_LEVEL_NODE, 2, 1023));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_fewest_pinned_first),
                cmocka_unit_test(test_only_what_is_allowed),
                cmocka_unit_test(test_even),
                cmocka_unit_test(test_into_itself),
                cmocka_unit_test(test_resize),
                cmocka_unit_test(test_begins),
                cmocka_unit_test(test_company),
                cmocka_unit_test(test_moves),
                cmocka_unit_test(test_grows),
                cmocka_unit_test(test_shrinks),
                cmocka_unit_test(test_cores),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
