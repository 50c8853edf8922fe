/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which files a sampler reads and what it makes of broken ones: groups of ordinary files. */

#include "edge/kernel/sampler.h"
#include "tests/unit/test_tree.h"
#include <sys/resource.h>

#define READS_UNTIL_RETRY 64
#define PSI_OF(some, full)                                                                         \
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=" some                                       \
        "\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=" full "\n"

static struct sg_sampler *sampler(const struct tree *t)
{
        struct sg_sampler *s = NULL;

        assert_int_equal(sg_sampler_new(&s, t->dirs, t->n_dirs, false), 0);
        return s;
}

static struct sg_sample sample(struct sg_sampler *s, uint32_t what)
{
        struct sg_sample v;

        sg_sample_init(&v);
        assert_int_equal(sg_sampler_read(s, what, &v), 0);
        return v;
}

static void assert_quiet(struct sg_sampler *s)
{
        char why[PATH_MAX];

        if (sg_sampler_trouble(s, why, sizeof(why)))
                fail_msg("trouble: %s", why);
}

static void assert_trouble(struct sg_sampler *s, const char *file, const char *what)
{
        char why[PATH_MAX] = "";

        assert_true(sg_sampler_trouble(s, why, sizeof(why)));
        if (!strstr(why, file) || !strstr(why, what))
                fail_msg("\"%s\" says nothing of %s, %s", why, file, what);
        assert_quiet(s);
}

static void put_v2(struct tree *t)
{
        put(t, SG_HIER_UNIFIED, "cpu.stat",
            "usage_usec 500\nuser_usec 300\nsystem_usec 200\nnice_usec "
            "9\ncore_sched.force_idle_usec "
            "0\nnr_periods 40\nnr_throttled 30\nthrottled_usec 20\nnr_bursts 0\nburst_usec 0\n");
        put(t, SG_HIER_UNIFIED, "memory.current", "10000\n");
        put(t, SG_HIER_UNIFIED, "memory.stat",
            "anon 1\nfile 2\ninactive_anon 3\nactive_anon 4\ninactive_file 4000\nactive_file 5\n");
        put(t, SG_HIER_UNIFIED, "memory.peak", "20000\n");
        put(t, SG_HIER_UNIFIED, "memory.events",
            "low 0\nhigh 1\nmax 2\noom 3\noom_kill 4\noom_group_kill 5\n");
        put(t, SG_HIER_UNIFIED, "io.stat", "8:0 rbytes=11 wbytes=12 rios=13 wios=14 dbytes=0\n");
        put(t, SG_HIER_UNIFIED, "pids.current", "6\n");
        put(t, SG_HIER_UNIFIED, "cpu.pressure", PSI_OF("21", "0"));
        put(t, SG_HIER_UNIFIED, "memory.pressure", PSI_OF("22", "23"));
        put(t, SG_HIER_UNIFIED, "io.pressure", PSI_OF("24", "25"));
}

static void assert_cpu(const struct sg_sample *v, uint64_t usage, uint64_t user, uint64_t system)
{
        assert_int_equal(v->cpu_usec, usage);
        assert_int_equal(v->user_usec, user);
        assert_int_equal(v->system_usec, system);
}

static void assert_io(const struct sg_sample *v)
{
        assert_int_equal(v->io_read_bytes, 11);
        assert_int_equal(v->io_write_bytes, 12);
        assert_int_equal(v->io_read_ops, 13);
        assert_int_equal(v->io_write_ops, 14);
}

static void test_v2(void **state)
{
        struct tree *t = *state;
        struct sg_sampler *s;
        struct sg_sample v;

        put_v2(t);
        s = sampler(t);
        v = sample(s, SG_SAMPLE_ALL);
        assert_cpu(&v, 500, 300, 200);
        assert_int_equal(v.n_periods, 40);
        assert_int_equal(v.n_throttled, 30);
        assert_int_equal(v.throttled_usec, 20);
        assert_int_equal(v.memory_bytes, 10000);
        assert_int_equal(v.memory_peak_bytes, 20000);
        assert_int_equal(v.working_set_bytes, 6000);
        assert_int_equal(v.oom_kills, 4);
        assert_int_equal(v.memory_high_events, 1);
        assert_int_equal(v.memory_max_events, 2);
        assert_io(&v);
        assert_int_equal(v.pids, 6);
        assert_int_equal(v.psi_cpu_some_usec, 21);
        assert_int_equal(v.psi_memory_some_usec, 22);
        assert_int_equal(v.psi_memory_full_usec, 23);
        assert_int_equal(v.psi_io_some_usec, 24);
        assert_int_equal(v.psi_io_full_usec, 25);
        assert_int_equal(v.net_rx_bytes, SG_UNLIMITED);
        assert_true(v.now_usec > 0);
        assert_int_equal(sg_sampler_fds(s), 10);
        assert_quiet(s);
        (void)sg_sampler_free(s);
}

static void put_v1(struct tree *t)
{
        put(t, SG_HIER_CPU, "cpu.stat",
            "nr_periods 40\nnr_throttled 30\nthrottled_time 20999\nnr_bursts 0\nburst_time 0\n");
        put(t, SG_HIER_MEMORY, "memory.usage_in_bytes", "10000\n");
        put(t, SG_HIER_MEMORY, "memory.stat", "inactive_file 1\ntotal_inactive_file 4000\n");
        put(t, SG_HIER_MEMORY, "memory.max_usage_in_bytes", "20000\n");
        put(t, SG_HIER_MEMORY, "memory.oom_control",
            "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
        put(t, SG_HIER_MEMORY, "memory.failcnt", "2\n");
        put(t, SG_HIER_BLKIO, "blkio.throttle.io_service_bytes_recursive",
            "8:0 Read 11\n8:0 Write 12\n8:0 Total 23\nTotal 23\n");
        put(t, SG_HIER_BLKIO, "blkio.throttle.io_serviced_recursive",
            "8:0 Read 13\n8:0 Write 14\n8:0 Total 27\nTotal 27\n");
        put(t, SG_HIER_PIDS, "pids.current", "6\n");
}

static void assert_v1(const struct sg_sample *v)
{
        assert_int_equal(v->n_periods, 40);
        assert_int_equal(v->n_throttled, 30);
        assert_int_equal(v->throttled_usec, 20);
        assert_int_equal(v->memory_bytes, 10000);
        assert_int_equal(v->memory_peak_bytes, 20000);
        assert_int_equal(v->working_set_bytes, 6000);
        assert_int_equal(v->oom_kills, 4);
        assert_true(v->memory_high_events == SG_UNLIMITED);
        assert_int_equal(v->memory_max_events, 2);
        assert_io(v);
        assert_int_equal(v->pids, 6);
}

static void test_v1(void **state)
{
        struct tree *t = *state;
        struct sg_sampler *s;
        struct sg_sample v;

        put_v1(t);
        put(t, SG_HIER_CPUACCT, "cpuacct.usage", "500999\n");
        put(t, SG_HIER_CPUACCT, "cpuacct.stat", "user 3\nsystem 2\n");
        s = sampler(t);
        v = sample(s, SG_SAMPLE_ALL);
        assert_cpu(&v, 500, 30000, 20000);
        assert_v1(&v);
        assert_true(v.psi_cpu_some_usec == SG_UNLIMITED);
        assert_int_equal(sg_sampler_fds(s), 11);
        assert_quiet(s);
        (void)sg_sampler_free(s);
}

/* cpu and cpuacct mounted together, and a v2 tree without controllers. */
static void test_hybrid(void **state)
{
        struct tree *t = *state;
        struct sg_sampler *s;
        struct sg_sample v;

        put_v1(t);
        put(t, SG_HIER_CPU, "cpuacct.usage", "900000\n");
        put(t, SG_HIER_CPU, "cpuacct.stat", "user 9\nsystem 9\n");
        put(t, SG_HIER_UNIFIED, "cpu.stat", "usage_usec 500\nuser_usec 300\nsystem_usec 200\n");
        put(t, SG_HIER_UNIFIED, "cpu.pressure", PSI_OF("21", "0"));
        s = sampler(t);
        v = sample(s, SG_SAMPLE_ALL);
        assert_cpu(&v, 500, 300, 200);
        assert_v1(&v);
        assert_int_equal(v.psi_cpu_some_usec, 21);
        assert_int_equal(sg_sampler_fds(s), 11);
        assert_quiet(s);
        (void)sg_sampler_free(s);
}

/* What isn't asked for stays as it was. */
static void test_only_what_is_asked(void **state)
{
        struct tree *t = *state;
        struct sg_sampler *s;
        struct sg_sample v;

        put_v2(t);
        s = sampler(t);
        v = sample(s, SG_SAMPLE_PIDS);
        assert_int_equal(v.pids, 6);
        assert_int_equal(v.cpu_usec, SG_UNLIMITED);
        assert_int_equal(v.io_read_bytes, SG_UNLIMITED);
        assert_int_equal(sg_sampler_fds(s), 1);
        v = sample(s, SG_SAMPLE_ALL);
        put(t, SG_HIER_UNIFIED, "pids.current", "7\n");
        put(t, SG_HIER_UNIFIED, "memory.current", "7\n");
        assert_int_equal(sg_sampler_read(s, SG_SAMPLE_PIDS, &v), 0);
        assert_int_equal(v.pids, 7);
        assert_int_equal(v.memory_bytes, 10000);
        assert_int_equal(v.psi_io_some_usec, 24);
        (void)sg_sampler_free(s);
}

/* One event, and no number, until the file is whole again. */
static void test_garbled(void **state)
{
        struct tree *t = *state;
        struct sg_sampler *s;
        struct sg_sample v;

        put_v2(t);
        s = sampler(t);
        v = sample(s, SG_SAMPLE_ALL);
        put(t, SG_HIER_UNIFIED, "cpu.stat", "usage_usec 501\nuser_usec 3o0\nsystem_usec 200\n");
        put(t, SG_HIER_UNIFIED, "memory.current", "-1\n");
        for (int i = 0; i < 3; i++) {
                assert_int_equal(sg_sampler_read(s, SG_SAMPLE_CPU, &v), 0);
                assert_int_equal(v.cpu_usec, SG_UNLIMITED);
                assert_int_equal(v.user_usec, SG_UNLIMITED);
                assert_int_equal(v.n_periods, SG_UNLIMITED);
                assert_int_equal(v.memory_bytes, 10000);
                if (i == 0)
                        assert_trouble(s, "/job/cpu.stat", "form");
                assert_quiet(s);
        }
        assert_int_equal(sg_sampler_read(s, SG_SAMPLE_ALL, &v), 0);
        assert_int_equal(v.memory_bytes, SG_UNLIMITED);
        assert_int_equal(v.working_set_bytes, SG_UNLIMITED);
        assert_int_equal(v.pids, 6);
        assert_trouble(s, "/job/memory.current", "form");
        put_v2(t);
        v = sample(s, SG_SAMPLE_ALL);
        assert_cpu(&v, 500, 300, 200);
        assert_int_equal(v.working_set_bytes, 6000);
        put(t, SG_HIER_UNIFIED, "cpu.stat", "");
        v = sample(s, SG_SAMPLE_ALL);
        assert_true(v.cpu_usec == SG_UNLIMITED);
        assert_int_equal(v.pids, 6);
        assert_quiet(s);
        (void)sg_sampler_free(s);
}

static void test_too_long(void **state)
{
        struct tree *t = *state;
        char *text = malloc(40001);
        struct sg_sampler *s;
        struct sg_sample v;

        assert_non_null(text);
        put_v2(t);
        for (size_t i = 0; i < 40000; i += 20)
                memcpy(text + i, "8:0 rbytes=00000001\n", 20);
        text[20000] = '\0';
        put(t, SG_HIER_UNIFIED, "io.stat", text);
        s = sampler(t);
        v = sample(s, SG_SAMPLE_ALL);
        assert_int_equal(v.io_read_bytes, 1000);
        memcpy(text + 20000, "8", 1);
        text[40000] = '\0';
        put(t, SG_HIER_UNIFIED, "io.stat", text);
        v = sample(s, SG_SAMPLE_ALL);
        assert_true(v.io_read_bytes == SG_UNLIMITED);
        assert_int_equal(v.pids, 6);
        assert_trouble(s, "/job/io.stat", "longer");
        (void)sg_sampler_free(s);
        free(text);
}

/* A controller that is switched on for a neighbour. */
static void test_arrives_late(void **state)
{
        struct tree *t = *state;
        struct sg_sampler *s;
        struct sg_sample v;
        int reads = 0;

        put(t, SG_HIER_UNIFIED, "cpu.stat", "usage_usec 500\nuser_usec 300\nsystem_usec 200\n");
        s = sampler(t);
        v = sample(s, SG_SAMPLE_ALL);
        assert_int_equal(v.cpu_usec, 500);
        assert_int_equal(v.memory_bytes, SG_UNLIMITED);
        assert_int_equal(v.n_periods, SG_UNLIMITED);
        assert_quiet(s);
        put_v2(t);
        while (sample(s, SG_SAMPLE_MEMORY).memory_bytes == SG_UNLIMITED)
                assert_true(++reads <= READS_UNTIL_RETRY);
        assert_true(reads > READS_UNTIL_RETRY / 2);
        assert_int_equal(sample(s, SG_SAMPLE_EVENTS).n_periods, 40);
        (void)sg_sampler_free(s);
}

/* A group in one more hierarchy is looked into at once. */
static void test_more_dirs(void **state)
{
        struct tree *t = *state;
        struct sg_sampler *s;

        put(t, SG_HIER_UNIFIED, "cpu.stat", "usage_usec 500\n");
        s = sampler(t);
        assert_true(sample(s, SG_SAMPLE_ALL).pids == SG_UNLIMITED);
        put(t, SG_HIER_PIDS, "pids.current", "6\n");
        sg_sampler_set_dirs(s, t->dirs, t->n_dirs);
        assert_int_equal(sample(s, SG_SAMPLE_ALL).pids, 6);
        (void)sg_sampler_free(s);
}

/* A tree without any group: there is nothing to know, and nothing to say about it. */
static void test_no_dirs(void **state)
{
        struct tree *t = *state;
        struct sg_sampler *s = sampler(t);
        struct sg_sample v = sample(s, SG_SAMPLE_ALL);

        assert_int_equal(v.cpu_usec, SG_UNLIMITED);
        assert_int_equal(v.pids, SG_UNLIMITED);
        assert_quiet(s);
        (void)sg_sampler_free(s);
}

/* --- file descriptors */

static void limit_fds(rlim_t n, struct rlimit *old)
{
        assert_int_equal(getrlimit(RLIMIT_NOFILE, old), 0);
        assert_int_equal(setrlimit(RLIMIT_NOFILE,
                                   &(struct rlimit){.rlim_cur = n, .rlim_max = old->rlim_max}),
                         0);
}

static void unlimit_fds(const struct rlimit *old)
{
        assert_int_equal(setrlimit(RLIMIT_NOFILE, old), 0);
}

/* The lowest number that is free, which the next open(2) gets. */
static int next_fd(void)
{
        int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

        assert_true(fd >= 0);
        assert_int_equal(close(fd), 0);
        return fd;
}

static void assert_same(const struct sg_sample *a, struct sg_sample b)
{
        b.now_usec = a->now_usec;
        assert_memory_equal(a, &b, sizeof(b));
}

/* Three quarters of what is allowed are kept; with the last one files are read in turn. */
static void test_fds_short(void **state)
{
        struct tree *t = *state;
        struct sg_sample v, few, none;
        struct sg_sampler *s;
        struct rlimit old;
        int next = next_fd();

        put_v2(t);
        s = sampler(t);
        limit_fds((rlim_t)next + 1, &old);
        none = sample(s, SG_SAMPLE_ALL);
        assert_int_equal(sg_sampler_fds(s), 0);
        assert_int_equal(next_fd(), next);
        unlimit_fds(&old);
        limit_fds((rlim_t)(next + 6) * 4 / 3, &old);
        few = sample(s, SG_SAMPLE_ALL);
        assert_int_equal(sg_sampler_fds(s), 6);
        unlimit_fds(&old);
        v = sample(s, SG_SAMPLE_ALL);
        assert_int_equal(sg_sampler_fds(s), 10);
        assert_int_equal(v.cpu_usec, 500);
        assert_same(&v, none);
        assert_same(&v, few);
        assert_quiet(s);
        (void)sg_sampler_free(s);
        assert_int_equal(next_fd(), next);
}

/* None at all: one event for all files, and everything comes back. */
static void test_no_fds(void **state)
{
        struct tree *t = *state;
        struct sg_sampler *s;
        struct sg_sample v;
        struct rlimit old;

        put_v2(t);
        s = sampler(t);
        limit_fds((rlim_t)next_fd(), &old);
        v = sample(s, SG_SAMPLE_ALL);
        unlimit_fds(&old);
        assert_int_equal(v.cpu_usec, SG_UNLIMITED);
        assert_int_equal(v.pids, SG_UNLIMITED);
        assert_trouble(s, "/job/cpu.stat", "descriptor");
        v = sample(s, SG_SAMPLE_ALL);
        assert_int_equal(v.cpu_usec, 500);
        assert_int_equal(v.pids, 6);
        (void)sg_sampler_free(s);
}

/* A file goes, and its controller comes back. */
static void test_vanishes(void **state)
{
        struct tree *t = *state;
        struct sg_sampler *s;
        struct sg_sample v;
        struct rlimit old;
        char path[PATH_MAX];
        int reads = 0;

        put_v2(t);
        s = sampler(t);
        limit_fds((rlim_t)next_fd() + 1, &old);
        v = sample(s, SG_SAMPLE_ALL);
        path_in(t, SG_HIER_UNIFIED, "pids.current", path);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(sg_sampler_read(s, SG_SAMPLE_ALL, &v), 0);
        assert_true(v.pids == SG_UNLIMITED);
        assert_int_equal(v.memory_bytes, 10000);
        assert_trouble(s, "/job/pids.current", "gone");
        put(t, SG_HIER_UNIFIED, "pids.current", "8\n");
        while (sample(s, SG_SAMPLE_PIDS).pids != 8)
                assert_true(++reads <= READS_UNTIL_RETRY);
        unlimit_fds(&old);
        assert_quiet(s);
        (void)sg_sampler_free(s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, tree_setup, tree_teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_v2),           TEST(test_v1),
                TEST(test_hybrid),       TEST(test_only_what_is_asked),
                TEST(test_garbled),      TEST(test_too_long),
                TEST(test_arrives_late), TEST(test_more_dirs),
                TEST(test_no_dirs),      TEST(test_fds_short),
                TEST(test_no_fds),       TEST(test_vanishes),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
