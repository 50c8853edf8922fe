/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The node as its kernel says, and files of a kernel that says something else, mounted over it. */

#include "base/file.h"
#include "base/parse.h"
#include "base/time-util.h"
#include "edge/kernel/node-sampler.h"
#include "tests/unit/test.h"
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/sysinfo.h>

#define WAIT_USEC (60 * SG_USEC_PER_SEC)

static struct sg_node_sampler *make(void)
{
        struct sg_node_sampler *s = NULL;

        assert_int_equal(sg_node_sampler_new(&s), 0);
        return s;
}

static uint64_t busy(const struct sg_node_sample *s)
{
        return s->cpu_total_usec - s->cpu_idle_usec - s->cpu_iowait_usec;
}

static void assert_known(const uint64_t *figures, size_t n)
{
        for (size_t i = 0; i < n; i++)
                assert_int_not_equal(figures[i], SG_UNLIMITED);
}

static void test_this_node(void **state)
{
        struct sg_node_sampler *s = make();
        struct sg_node_sample a, b;
        struct sysinfo info;
        double load[1];

        (void)state;
        sg_node_sampler_read(s, &a);
        assert_null(sg_node_sampler_trouble(s));
        assert_known((const uint64_t *)&a, sizeof(a) / sizeof(uint64_t));
        assert_int_equal(sysinfo(&info), 0);
        assert_int_equal(a.memory_total, info.totalram * info.mem_unit);
        assert_int_equal(a.swap_total, info.totalswap * info.mem_unit);
        assert_in_range(a.memory_available, 1, a.memory_total - 1);
        assert_true(a.swap_free <= a.swap_total);
        assert_true(a.procs_running >= 1); /* us */
        assert_int_equal(getloadavg(load, 1), 1);
        assert_true((double)a.load_pm < load[0] * 10000 + 10000);
        assert_true((double)a.load_pm + 10000 > load[0] * 10000);
        assert_true(a.cpu_idle_usec + a.cpu_iowait_usec < a.cpu_total_usec);
        sg_node_sampler_read_cpus(s, &b);
        assert_in_range(b.cpu_total_usec, a.cpu_total_usec, SG_UNLIMITED - 1);
        assert_int_not_equal(b.cpu_idle_usec, SG_UNLIMITED);
        assert_int_not_equal(b.procs_running, SG_UNLIMITED);
        assert_int_equal(b.memory_total, SG_UNLIMITED); /* it is in another file */
        assert_int_equal(b.io.some_usec, SG_UNLIMITED);
        sg_node_sampler_free(s);
}

#define LOOK_USEC (SG_USEC_PER_SEC / 50)

/* A second of one CPU's time is a second of all that passes, and of what is busy. */
static void test_cpu_time(void **state)
{
        struct sg_node_sampler *s = make();
        struct sg_node_sample a, b;
        uint64_t passed, cpus = (uint64_t)get_nprocs(), end = sg_now_monotonic_usec() + WAIT_USEC;
        volatile uint64_t n = 0;
        uint64_t took;

        (void)state;
        do { /* a look between whose parts nothing else ran */
                sg_node_sampler_read(s, &a);
                assert_true(a.now_usec < end);
        } while (sg_now_monotonic_usec() - a.now_usec > LOOK_USEC);
        do {
                n = n + 1;
                sg_node_sampler_read(s, &b);
                took = sg_now_monotonic_usec() - b.now_usec;
                assert_true(b.now_usec < end);
        } while (busy(&b) < busy(&a) + SG_USEC_PER_SEC || took > LOOK_USEC);
        passed = b.now_usec - a.now_usec;
        assert_true(passed * cpus + SG_USEC_PER_SEC / 5 >= SG_USEC_PER_SEC);
        assert_true(b.cpu_total_usec - a.cpu_total_usec < passed * cpus * 12 / 10);
        assert_true(b.cpu_total_usec - a.cpu_total_usec > passed * cpus * 8 / 10);
        print_message("a read takes %.0f us\n", (double)passed / (double)n);
        sg_node_sampler_free(s);
}

/* --- other kernels */

#define TEMPLATE "/tmp/sg-test-node-XXXXXX"
static char top[] = TEMPLATE;

static void put(const char *name, const char *text)
{
        char path[128];
        int fd;

        (void)snprintf(path, sizeof(path), "%s/%s", top, name);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        assert_true(fd >= 0);
        assert_int_equal(sg_write_all(fd, text, strlen(text)), 0);
        (void)close(fd);
}

static void cover(const char *name, const char *path)
{
        char from[128];

        (void)snprintf(from, sizeof(from), "%s/%s", top, name);
        if (mount(from, path, NULL, MS_BIND, NULL) < 0)
                fail_msg("%s over %s: %s", from, path, strerror(errno));
}

static int setup_mounts(void **state)
{
        (void)state;
        strcpy(top, TEMPLATE);
        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                return -1;
        return mkdtemp(top) && mount("none", top, "tmpfs", 0, NULL) == 0 ? 0 : -1;
}

static int teardown_mounts(void **state)
{
        (void)state;
        (void)umount2("/proc/stat", MNT_DETACH);
        (void)umount2("/proc/meminfo", MNT_DETACH);
        (void)umount2("/proc/vmstat", MNT_DETACH);
        (void)umount2("/proc/pressure", MNT_DETACH);
        (void)umount2(top, MNT_DETACH);
        return rmdir(top);
}

#define STAT "cpu  100 20 30 4000 50 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n"
#define REST "ctxt 5\nprocs_running 3\nprocs_blocked 2\n"

static void test_other_kernels(void **state)
{
        struct sg_node_sampler *s;
        struct sg_node_sample a;

        (void)state;
        put("stat", STAT REST);
        put("meminfo", "MemTotal: 1000 kB\nMemFree: 10 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
        put("vmstat", "nr_free_pages 5\n");
        cover("stat", "/proc/stat");
        cover("meminfo", "/proc/meminfo");
        cover("vmstat", "/proc/vmstat");
        assert_int_equal(mount("none", "/proc/pressure", "tmpfs", 0, NULL), 0);
        s = make();
        sg_node_sampler_read(s, &a);
        assert_null(sg_node_sampler_trouble(s)); /* nothing has changed for the worse */
        assert_int_equal(a.cpu_total_usec, 4221 * SG_USEC_PER_SEC / sysconf(_SC_CLK_TCK));
        assert_int_equal(a.cpu_idle_usec, 4000 * SG_USEC_PER_SEC / sysconf(_SC_CLK_TCK));
        assert_int_equal(a.cpu_iowait_usec, 50 * SG_USEC_PER_SEC / sysconf(_SC_CLK_TCK));
        assert_int_equal(a.procs_running, 3);
        assert_int_equal(a.procs_blocked, 2);
        assert_int_equal(a.memory_total, 1000 << 10);
        assert_int_equal(a.memory_available, SG_UNLIMITED);
        assert_int_equal(a.swap_total, 0);
        assert_int_equal(a.swap_in_bytes, SG_UNLIMITED);
        assert_int_equal(a.io.some_usec, SG_UNLIMITED);
        assert_int_equal(a.cpu.full_usec, SG_UNLIMITED);
        sg_node_sampler_free(s);
}

static void test_garbled(void **state)
{
        struct sg_node_sampler *s = NULL;
        struct sg_node_sample a;

        (void)state;
        put("stat", STAT REST);
        cover("stat", "/proc/stat");
        s = make();
        sg_node_sampler_read(s, &a);
        assert_int_equal(a.procs_running, 3);
        put("stat", "cpu  100 20 thirty\n");
        for (int i = 0; i < 3; i++) {
                sg_node_sampler_read(s, &a);
                assert_int_equal(a.procs_running, SG_UNLIMITED);
                assert_int_equal(a.cpu_total_usec, SG_UNLIMITED);
                assert_int_not_equal(a.load_pm, SG_UNLIMITED);
                if (i == 0)
                        assert_string_equal(sg_node_sampler_trouble(s),
                                            "/proc/stat: can't be made sense of");
                assert_null(sg_node_sampler_trouble(s)); /* once */
        }
        put("stat", STAT REST);
        sg_node_sampler_read(s, &a);
        assert_int_equal(a.procs_running, 3);
        sg_node_sampler_free(s);
}

/* As with hundreds of CPUs and thousands of interrupts. */
static void test_long(void **state)
{
        struct sg_node_sampler *s;
        struct sg_node_sample a;
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        (void)state;
        fputs(STAT "intr 12345", f);
        for (int i = 0; i < 50000; i++)
                fputs(" 0", f);
        fputs("\n" REST, f);
        assert_int_equal(fclose(f), 0);
        put("stat", text);
        free(text);
        cover("stat", "/proc/stat");
        s = make();
        sg_node_sampler_read(s, &a);
        assert_int_equal(a.procs_blocked, 2);
        assert_null(sg_node_sampler_trouble(s));
        sg_node_sampler_free(s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_mounts, teardown_mounts)
                cmocka_unit_test(test_this_node),
                cmocka_unit_test(test_cpu_time),
                TEST(test_other_kernels),
                TEST(test_garbled),
                TEST(test_long),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
