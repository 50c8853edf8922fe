/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* On a sysfs of our own: two packages of 32 cores with two siblings each, four cores to a cache and
 * two nodes to a package; siblings are 64 apart. */
#include "base/cleanup.h"
#include "core/place/cpus.h"
#include "edge/kernel/topology.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CORES 64
#define CPUS (2 * CORES)

struct fixture {
        char root[64];
        struct sg_cpuset cpus;
        struct sg_topology t;
};

static void put(const struct fixture *f, const char *text, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

static void put(const struct fixture *f, const char *text, const char *format, ...)
{
        char path[256], *name;
        va_list ap;
        FILE *file;
        size_t n;

        n = (size_t)snprintf(path, sizeof(path), "%s/", f->root);
        va_start(ap, format);
        (void)vsnprintf(path + n, sizeof(path) - n, format, ap);
        va_end(ap);
        for (name = path + n; (name = strchr(name, '/')); *name++ = '/') {
                *name = 0;
                (void)mkdir(path, 0755);
        }
        file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "%s\n", text);
        assert_int_equal(fclose(file), 0);
}

/* `n` cores from `first` on, and their siblings. */
static const char *cores(unsigned first, unsigned n)
{
        static char text[64];

        if (n == 1)
                (void)snprintf(text, sizeof(text), "%u,%u", first, first + CORES);
        else
                (void)snprintf(text, sizeof(text), "%u-%u,%u-%u", first, first + n - 1,
                               first + CORES, first + CORES + n - 1);
        return text;
}

static void put_cpu(const struct fixture *f, unsigned cpu, bool old)
{
        unsigned core = cpu % CORES;

        put(f, cores(core, 1), "cpu/cpu%u/topology/%s", cpu,
            old ? "thread_siblings_list" : "core_cpus_list");
        put(f, cores(core - core % 32, 32), "cpu/cpu%u/topology/%s", cpu,
            old ? "core_siblings_list" : "package_cpus_list");
        put(f, cores(core - core % 4, 4), "cpu/cpu%u/cache/index3/shared_cpu_list", cpu);
}

static int set_up(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        strcpy(f->root, "/tmp/test_topology.XXXXXX");
        if (!mkdtemp(f->root))
                return -1;
        for (unsigned cpu = 0; cpu < CPUS; cpu++) {
                sg_cpuset_add(&f->cpus, cpu);
                put_cpu(f, cpu, false);
        }
        for (unsigned node = 0; node < 4; node++)
                put(f, cores(16 * node, 16), "node/node%u/cpulist", node);
        put(f, "", "node/node4/cpulist"); /* memory only */
        put(f, "0-4", "node/possible");
        *state = f;
        return 0;
}

static int tear_down(void **state)
{
        struct fixture *f = *state;
        char command[128];
        int r;

        (void)snprintf(command, sizeof(command), "rm -r %s", f->root);
        r = system(command);
        free(f);
        return r;
}

static void expect_shared(const struct fixture *f, unsigned a, unsigned b, bool core, bool cache,
                          bool node, bool package)
{
        assert_int_equal(sg_topology_shares(&f->t, SG_LEVEL_CORE, a, b), core);
        assert_int_equal(sg_topology_shares(&f->t, SG_LEVEL_CACHE, a, b), cache);
        assert_int_equal(sg_topology_shares(&f->t, SG_LEVEL_NODE, a, b), node);
        assert_int_equal(sg_topology_shares(&f->t, SG_LEVEL_PACKAGE, a, b), package);
}

static void test_large(void **state)
{
        struct fixture *f = *state;

        sg_topology_read(&f->t, f->root, &f->cpus);
        expect_shared(f, 5, 69, true, true, true, true);
        expect_shared(f, 4, 71, false, true, true, true);
        expect_shared(f, 4, 8, false, false, true, true);
        expect_shared(f, 4, 16 + 64, false, false, false, true);
        expect_shared(f, 31, 32, false, false, false, false);
        assert_int_equal(sg_topology_cores(&f->t, &f->cpus), CORES);
}

/* 64 jobs of one CPU have a core each; the 65th is the first beside another. */
static void test_a_core_each(void **state)
{
        struct fixture *f = *state;
        uint32_t jobs[SG_CPUS_MAX] = {0};
        struct sg_cpuset all = {0};

        sg_topology_read(&f->t, f->root, &f->cpus);
        for (unsigned i = 0; i < CPUS; i++) {
                const struct sg_cpus_place place = {
                        .topology = &f->t, .allowed = &f->cpus, .jobs = jobs};
                struct sg_own_cpus own;
                unsigned n = i < CORES ? i + 1 : CORES;

                sg_cpus_pick(&place, 1, &own);
                for (unsigned cpu = 0; cpu < CPUS; cpu++)
                        if (sg_cpuset_has(&own.cpus, cpu)) {
                                jobs[cpu]++;
                                sg_cpuset_add(&all, cpu);
                        }
                assert_int_equal(sg_cpuset_count(&all), i + 1);
                assert_int_equal(sg_topology_cores(&f->t, &all), n);
        }
}

/* Alone it fills its cache, its node with cores, then with siblings, then its package, … */
static void test_grows(void **state)
{
        static const struct {
                unsigned n;
                const char *cpus;
        } steps[] = {
                {4, "0-3"},         {16, "0-15"},       {20, "0-15,64-67"}, {32, "0-15,64-79"},
                {48, "0-31,64-79"}, {64, "0-31,64-95"}, {96, "0-63,64-95"}, {128, "0-127"},
        };
        struct fixture *f = *state;
        static const uint32_t nobody[SG_CPUS_MAX];
        const struct sg_cpus_place place = {.topology = &f->t, .allowed = &f->cpus, .jobs = nobody};
        struct sg_own_cpus own = {0};

        sg_topology_read(&f->t, f->root, &f->cpus);
        for (size_t i = 0; i < 2 * SG_ELEMENTSOF(steps); i++) {
                size_t step = i < SG_ELEMENTSOF(steps) ? i : 2 * SG_ELEMENTSOF(steps) - 1 - i;
                struct sg_cpuset wanted;

                assert_int_equal(sg_parse_cpuset(steps[step].cpus, &wanted), 0);
                sg_cpus_resize(&place, steps[step].n, &own);
                assert_memory_equal(&own.cpus, &wanted, sizeof(wanted));
        }
}

static void test_old_names(void **state)
{
        struct fixture *f = *state;

        for (unsigned cpu = 0; cpu < CPUS; cpu++) {
                char path[256];

                (void)snprintf(path, sizeof(path), "%s/cpu/cpu%u/topology/core_cpus_list", f->root,
                               cpu);
                assert_int_equal(unlink(path), 0);
                (void)snprintf(path, sizeof(path), "%s/cpu/cpu%u/topology/package_cpus_list",
                               f->root, cpu);
                assert_int_equal(unlink(path), 0);
                put_cpu(f, cpu, true);
        }
        sg_topology_read(&f->t, f->root, &f->cpus);
        expect_shared(f, 5, 69, true, true, true, true);
        expect_shared(f, 31, 32, false, false, false, false);
}

/* Of those that we have; the others aren't there for us. */
static void test_part(void **state)
{
        struct fixture *f = *state;

        assert_int_equal(sg_parse_cpuset("5,66-69,96", &f->cpus), 0);
        sg_topology_read(&f->t, f->root, &f->cpus);
        expect_shared(f, 5, 69, true, true, true, true);
        expect_shared(f, 66, 67, false, true, true, true);
        expect_shared(f, 66, 96, false, false, false, false);
        assert_int_equal(sg_topology_cores(&f->t, &f->cpus), 5);
}

static void test_nothing(void **state)
{
        struct fixture *f = *state;

        sg_topology_read(&f->t, "/nonexistent", &f->cpus);
        expect_shared(f, 5, 69, false, true, true, true);
        assert_int_equal(sg_topology_cores(&f->t, &f->cpus), CPUS);
}

/* Nonsense on one level is nothing on that, and leaves the others as they are. */
static void test_nonsense(void **state)
{
        static const struct {
                const char *file, *text;
                bool core, cache, node, package; /* are believed */
        } cases[] = {
                {"cpu/cpu5/topology/core_cpus_list", "", false, true, true, true},
                {"cpu/cpu5/topology/core_cpus_list", "6", false, true, true, true},
                {"cpu/cpu5/topology/core_cpus_list", "5-6", false, true, true, true},
                {"cpu/cpu69/topology/core_cpus_list", "69", false, true, true, true},
                {"cpu/cpu5/topology/core_cpus_list", "5,99999", false, true, true, true},
                {"cpu/cpu5/topology/core_cpus_list", "0-127", false, true, true, true},
                {"cpu/cpu0/cache/index3/shared_cpu_list", "none", true, false, true, true},
                {"cpu/cpu0/cache/index3/shared_cpu_list", "0-40", true, false, true, true},
                {"node/node1/cpulist", "0-31", true, true, false, true},
                {"node/node1/cpulist", "", true, true, false, true},
                {"cpu/cpu127/topology/package_cpus_list", "127", true, true, true, false},
                {"node/node9/cpulist", "x", true, true, false, true},
        };
        struct fixture *f = *state;

        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                char path[256], keep[256] = "";
                FILE *file;

                (void)snprintf(path, sizeof(path), "%s/%s", f->root, cases[i].file);
                file = fopen(path, "r");
                if (file) {
                        assert_non_null(fgets(keep, sizeof(keep), file));
                        (void)fclose(file);
                        keep[strcspn(keep, "\n")] = 0;
                }
                put(f, cases[i].text, "%s", cases[i].file);
                sg_topology_read(&f->t, f->root, &f->cpus);
                assert_int_equal(sg_topology_shares(&f->t, SG_LEVEL_CORE, 7, 71), cases[i].core);
                assert_int_equal(sg_topology_shares(&f->t, SG_LEVEL_CACHE, 3, 4), !cases[i].cache);
                assert_int_equal(sg_topology_shares(&f->t, SG_LEVEL_NODE, 3, 50), !cases[i].node);
                assert_int_equal(sg_topology_shares(&f->t, SG_LEVEL_PACKAGE, 3, 50),
                                 !cases[i].package);
                if (file)
                        put(f, keep, "%s", cases[i].file);
                else
                        assert_int_equal(unlink(path), 0);
        }
}

/* Whatever it says, this machine's CPUs are in groups of each other. */
static void test_here(void **state)
{
        struct fixture *f = *state;
        struct sg_cpuset one = {0};

        sg_cpuset_add(&one, 0);
        sg_topology_read(&f->t, SG_SYSFS_SYSTEM, &one);
        for (enum sg_level level = 0; level < _SG_LEVEL_MAX; level++)
                assert_int_equal(f->t.of[level][0], 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_large, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_a_core_each, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_grows, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_old_names, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_part, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_nonsense, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_here, set_up, tear_down),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
