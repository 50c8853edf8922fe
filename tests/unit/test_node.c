/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/file.h"
#include "edge/node.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

static void test_names(void **state)
{
        struct sg_node n;
        char host[256], longer[200];

        (void)state;
        assert_int_equal(sg_node_init(&n, "lab-1"), 0);
        assert_string_equal(n.name, "lab-1");
        sg_node_deinit(&n);

        assert_int_equal(gethostname(host, sizeof(host)), 0);
        assert_int_equal(sg_node_init(&n, NULL), 0);
        assert_int_equal(strncmp(n.name, host, strlen(n.name)), 0);
        assert_true(host[strlen(n.name)] == '.' || host[strlen(n.name)] == 0);
        sg_node_deinit(&n);

        memset(longer, 'x', sizeof(longer) - 1);
        longer[sizeof(longer) - 1] = 0;
        assert_int_equal(sg_node_init(&n, longer), 0);
        assert_int_equal(strlen(n.name), SG_NODE_NAME_MAX - 1);
        sg_node_deinit(&n);
        sg_node_deinit(&n); /* twice is harmless */
}

static void test_boot_id(void **state)
{
        struct sg_node n;
        char line[64], *to = line;

        (void)state;
        assert_int_equal(
                sg_read_line_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", line, sizeof(line)),
                0);
        for (const char *p = line; *p; p++)
                if (*p != '-')
                        *to++ = *p;
        *to = 0;
        assert_int_equal(sg_node_init(&n, "x"), 0);
        assert_int_equal(strlen(n.boot_id), 32);
        assert_string_equal(n.boot_id, line);
        sg_node_deinit(&n);
}

/* What we may run on, not what the machine has. */
static void test_cpus(void **state)
{
        cpu_set_t all, one;
        struct sg_node n;
        int last = -1;

        (void)state;
        assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
        assert_int_equal(sg_node_init(&n, "x"), 0);
        assert_int_equal(n.n_cpus, CPU_COUNT(&all));
        for (int i = 0; i < CPU_SETSIZE; i++) {
                assert_int_equal(sg_cpuset_has(&n.cpus, (unsigned)i), !!CPU_ISSET(i, &all));
                last = CPU_ISSET(i, &all) ? i : last;
        }
        sg_node_deinit(&n);

        CPU_ZERO(&one);
        CPU_SET(last, &one);
        assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
        assert_int_equal(sg_node_init(&n, "x"), 0);
        assert_int_equal(n.n_cpus, 1);
        assert_true(sg_cpuset_has(&n.cpus, (unsigned)last));
        sg_node_deinit(&n);
        assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

static void test_snapshots(void **state)
{
        struct sg_node_snapshot a, b;
        struct sg_node n;
        char *used;

        (void)state;
        assert_int_equal(sg_node_init(&n, "x"), 0);
        assert_int_equal(sg_node_snapshot(&n, &a), 0);
        assert_int_equal(a.cpus, n.n_cpus);
        assert_int_equal(a.memory_total, n.memory_total);
        assert_int_equal(a.memory_total % 1024, 0);
        assert_in_range(a.memory_total, (uint64_t)64 << 20, (uint64_t)1 << 50);
        assert_in_range(a.memory_available, 1, a.memory_total);
        assert_int_equal(a.declared_used, 0);
        assert_true(a.now_usec > 0);

        used = malloc(256 << 20); /* the same open file shows what has changed */
        assert_non_null(used);
        for (size_t i = 0; i < 256 << 20; i += 4096)
                ((volatile char *)used)[i] = 1;
        assert_int_equal(sg_node_snapshot(&n, &b), 0);
        assert_true(b.memory_available < a.memory_available);
        assert_true(b.now_usec > a.now_usec);
        free(used);

        sg_node_deinit(&n);
        b.cpus = 77;
        assert_int_equal(sg_node_snapshot(&n, &b), -EBADF);
        assert_int_equal(b.cpus, 77);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_names),
                cmocka_unit_test(test_boot_id),
                cmocka_unit_test(test_cpus),
                cmocka_unit_test(test_snapshots),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
