/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/parse.h"
#include "proto/counters.h"
#include "tests/unit/test_tree.h"

static struct sg_counters counters(const struct tree *t)
{
        struct sg_counters c;

        sg_counters_read(t->dirs, t->n_dirs, &c);
        return c;
}

static void test_v2(void **state)
{
        struct tree *t = *state;

        put(t, SG_HIER_UNIFIED, "cpu.stat", "usage_usec 1234567\nuser_usec 1\nsystem_usec 2\n");
        put(t, SG_HIER_UNIFIED, "memory.current", "4096\n");
        put(t, SG_HIER_UNIFIED, "memory.peak", "8192\n");
        put(t, SG_HIER_UNIFIED, "memory.events",
            "low 0\nhigh 1\nmax 2\noom 3\noom_kill 4\noom_group_kill 5\n");
        put(t, SG_HIER_UNIFIED, "io.stat",
            "8:0 rbytes=10 wbytes=20 rios=1 wios=2 dbytes=99 dios=0\n"
            "254:0 rbytes=1 wbytes=2 rios=1 wios=1 dbytes=0 dios=0\n7:1 \n");
        put(t, SG_HIER_UNIFIED, "pids.current", "3\n");

        struct sg_counters c = counters(t);
        assert_int_equal(c.cpu_usec, 1234567);
        assert_int_equal(c.memory_bytes, 4096);
        assert_int_equal(sg_counters_read_memory(t->dirs, t->n_dirs), 4096);
        assert_int_equal(c.memory_peak_bytes, 8192);
        assert_int_equal(c.oom_kills, 4);
        assert_int_equal(c.io_read_bytes, 11);
        assert_int_equal(c.io_write_bytes, 22);
        assert_int_equal(c.pids, 3);
}

static void test_hybrid(void **state)
{
        struct tree *t = *state;

        put(t, SG_HIER_UNIFIED, "cpu.stat", "usage_usec 77\n");
        put(t, SG_HIER_CPUACCT, "cpuacct.usage", "999000\n");
        put(t, SG_HIER_MEMORY, "memory.usage_in_bytes", "1000\n");
        put(t, SG_HIER_MEMORY, "memory.max_usage_in_bytes", "2000\n");
        put(t, SG_HIER_MEMORY, "memory.oom_control",
            "oom_kill_disable 0\nunder_oom 0\noom_kill 6\n");
        put(t, SG_HIER_BLKIO, "blkio.throttle.io_service_bytes_recursive",
            "8:0 Read 100\n8:0 Write 200\n8:0 Sync 1\n8:0 Total 300\n9:0 Read 1\nTotal 301\n");
        put(t, SG_HIER_PIDS, "pids.current", "5\n");

        struct sg_counters c = counters(t);
        assert_int_equal(c.cpu_usec, 77);
        assert_int_equal(c.memory_bytes, 1000);
        assert_int_equal(sg_counters_read_memory(t->dirs, t->n_dirs), 1000);
        assert_int_equal(c.memory_peak_bytes, 2000);
        assert_int_equal(c.oom_kills, 6);
        assert_int_equal(c.io_read_bytes, 101);
        assert_int_equal(c.io_write_bytes, 200);
        assert_int_equal(c.pids, 5);
}

static void test_v1_comounted(void **state)
{
        struct tree *t = *state;

        put(t, SG_HIER_CPU, "cpuacct.usage", "5000999\n");
        assert_int_equal(counters(t).cpu_usec, 5000);
}

static void test_unknown_is_not_zero(void **state)
{
        struct sg_counters c = counters(*state), none;

        memset(&none, 0xff, sizeof(none));
        assert_memory_equal(&c, &none, sizeof(c));
        assert_true(c.cpu_usec == SG_UNLIMITED);
        assert_true(sg_counters_read_memory(NULL, 0) == SG_UNLIMITED);
        (void)dir_of(*state, SG_HIER_UNIFIED); /* a group without files */
        c = counters(*state);
        assert_memory_equal(&c, &none, sizeof(c));
}

static void test_no_io_is_zero(void **state)
{
        put(*state, SG_HIER_UNIFIED, "io.stat", "");
        assert_int_equal(counters(*state).io_read_bytes, 0);
        assert_int_equal(counters(*state).io_write_bytes, 0);
}

static void test_garbled(void **state)
{
        struct tree *t = *state;

        put(t, SG_HIER_UNIFIED, "cpu.stat", "usage_usec\nusage_usec -1\nusage_usecs 4\n");
        put(t, SG_HIER_UNIFIED, "memory.current", "99999999999999999999999\n");
        put(t, SG_HIER_UNIFIED, "memory.peak", "12x\n");
        put(t, SG_HIER_UNIFIED, "memory.events", "\n\n oom_kill 4\n");
        put(t, SG_HIER_UNIFIED, "pids.current", "");

        struct sg_counters c = counters(t);
        assert_true(c.cpu_usec == SG_UNLIMITED);
        assert_true(c.memory_bytes == SG_UNLIMITED);
        assert_true(c.memory_peak_bytes == SG_UNLIMITED);
        assert_true(c.oom_kills == SG_UNLIMITED);
        assert_true(c.pids == SG_UNLIMITED);
}

/* More than one buffer of lines, and a line longer than one. */
static void test_long_files(void **state)
{
        enum { DEVICES = 500 };
        _cleanup_free_ char *text = malloc(DEVICES * 80 + 10000);
        char *p = text;

        assert_non_null(text);
        for (int i = 0; i < DEVICES; i++)
                p += sprintf(p, "8:%d rbytes=1 wbytes=2 rios=1 wios=2 dbytes=0 dios=0\n", i);
        memset(p, 'x', 9000);
        p += 9000;
        strcpy(p, "\n9:0 rbytes=1 wbytes=2"); /* and no newline at the end */
        put(*state, SG_HIER_UNIFIED, "io.stat", text);
        assert_int_equal(counters(*state).io_read_bytes, DEVICES + 1);
        assert_int_equal(counters(*state).io_write_bytes, 2 * (DEVICES + 1));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, tree_setup, tree_teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_v2),
                TEST(test_hybrid),
                TEST(test_v1_comounted),
                TEST(test_unknown_is_not_zero),
                TEST(test_no_io_is_zero),
                TEST(test_garbled),
                TEST(test_long_files),
        };

        return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
