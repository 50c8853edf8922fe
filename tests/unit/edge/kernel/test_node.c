/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/file.h"
#include "edge/kernel/node.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
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
        assert_false(sg_node_look_at_cpus(&n));
        assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
        assert_int_equal(sg_node_look_at_cpus(&n), CPU_COUNT(&all) > 1);
        assert_int_equal(n.n_cpus, CPU_COUNT(&all));
        assert_false(sg_node_look_at_cpus(&n));
        sg_node_deinit(&n);
}

static void test_snapshots(void **state)
{
        struct sg_node_snapshot a, b;
        const struct sg_stock *memory = &a.stocks[SG_STOCK_MEMORY];
        struct sg_node n;

        (void)state;
        assert_int_equal(sg_node_init(&n, "x"), 0);
        assert_int_equal(sg_node_snapshot(&n, &a), 0);
        assert_int_equal(sg_node_snapshot(&n, &b), 0);
        sg_node_deinit(&n);
        assert_int_equal(a.cpus, n.n_cpus);
        assert_int_equal(memory->total, n.memory_total);
        assert_int_equal(memory->total % 1024, 0);
        assert_in_range(memory->total, (uint64_t)64 << 20, (uint64_t)1 << 50);
        assert_in_range(memory->available, 1, memory->total);
        assert_in_range(b.stocks[SG_STOCK_MEMORY].available, 1, b.stocks[SG_STOCK_MEMORY].total);
        assert_int_equal(memory->declared_used, 0);
        assert_true(a.now_usec > 0);
        assert_true(b.now_usec >= a.now_usec);

        b.cpus = 77;
        assert_int_equal(sg_node_snapshot(&n, &b), -EBADF);
        assert_int_equal(b.cpus, 77);
}

/* A file of ours in the place of /proc/meminfo: what is free there moves with others' memory. */
static int readings_setup(void **state)
{
        struct sg_node *n = calloc(1, sizeof(*n));

        if (!n || sg_node_init(n, "x") < 0)
                return -1;
        (void)sg_close(n->meminfo_fd);
        n->meminfo_fd = memfd_create("meminfo", MFD_CLOEXEC);
        *state = n;
        return n->meminfo_fd < 0 ? -1 : 0;
}

static int readings_teardown(void **state)
{
        struct sg_node *n = *state;

        sg_node_deinit(n);
        free(n);
        return 0;
}

static int reading(struct sg_node *n, const char *text, struct sg_node_snapshot *ret)
{
        assert_int_equal(ftruncate(n->meminfo_fd, 0), 0);
        assert_int_equal(pwrite(n->meminfo_fd, text, strlen(text), 0), strlen(text));
        return sg_node_snapshot(n, ret);
}

/* Every snapshot reads the file that is kept open anew, and from its beginning. */
static void test_readings_are_fresh(void **state)
{
        struct sg_node_snapshot s;

        assert_int_equal(reading(*state,
                                 "MemTotal:       2000 kB\n"
                                 "MemFree:          17 kB\n"
                                 "MemAvailable:    900 kB\n",
                                 &s),
                         0);
        assert_int_equal(s.stocks[SG_STOCK_MEMORY].total, 2000 * 1024);
        assert_int_equal(s.stocks[SG_STOCK_MEMORY].available, 900 * 1024);
        assert_int_equal(reading(*state,
                                 "MemTotal:       3000 kB\n"
                                 "MemFree:          17 kB\n"
                                 "MemAvailable:      5 kB\n",
                                 &s),
                         0);
        assert_int_equal(s.stocks[SG_STOCK_MEMORY].total,
                         3000 * 1024); /* memory may be plugged in */
        assert_int_equal(s.stocks[SG_STOCK_MEMORY].available, 5 * 1024);
}

static void test_odd_readings(void **state)
{
        struct sg_node_snapshot s = {.cpus = 77};

        assert_int_equal(reading(*state, "", &s), -EBADMSG);
        assert_int_equal(reading(*state, "MemTotal: 2000 kB\nMemFree: 17 kB\n", &s), -EBADMSG);
        assert_int_equal(reading(*state, "MemTotal: 2000 kB\nMemAvailable: many\n", &s), -EBADMSG);
        assert_int_equal(s.cpus, 77);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_names),
                cmocka_unit_test(test_boot_id),
                cmocka_unit_test(test_cpus),
                cmocka_unit_test(test_snapshots),
                cmocka_unit_test_setup_teardown(test_readings_are_fresh, readings_setup,
                                                readings_teardown),
                cmocka_unit_test_setup_teardown(test_odd_readings, readings_setup,
                                                readings_teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
