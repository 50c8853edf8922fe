/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sampler on this kernel: what it reads is what the kernel counts, and groups come and go. */

#include "edge/kernel/sampler.h"
#include "tests/unit/edge/cgroup/test_cgroup_jobs.h"
#include <sys/mman.h>
#include <sys/stat.h>

#define MIB (UINT64_C(1) << 20)

static int setup(void **state)
{
        return fixture_setup_as(state, "cgroupfs");
}

/* All that a job can ask for: so it has groups in all hierarchies there are. */
static struct sg_scope *full_scope(struct fixture *f)
{
        struct sg_limits l = limits();
        struct sg_scope *s;

        l.tasks_max = 50;
        l.memory_max = 256 * MIB;
        l.cpu_quota_pm = 500; /* what it gets on the busiest machine, so that it is throttled */
        l.io_read_max = l.io_write_max = 1024 * MIB;
        s = scope(f, &l, 0);
        return s;
}

static struct sg_sampler *sampler(struct sg_scope *s)
{
        struct sg_sampler *ret = NULL;
        const struct sg_group_dir *dirs;
        size_t n;

        dirs = sg_scope_dirs(s, &n);
        assert_int_equal(sg_sampler_new(&ret, dirs, n, false), 0);
        return ret;
}

static struct sg_sample sample(struct sg_sampler *s)
{
        struct sg_sample v;

        sg_sample_init(&v);
        assert_int_equal(sg_sampler_read(s, SG_SAMPLE_ALL, &v), 0);
        return v;
}

static void assert_quiet(struct sg_sampler *s)
{
        char why[PATH_MAX];

        if (sg_sampler_trouble(s, why, sizeof(why)))
                fail_msg("trouble: %s", why);
}

/* Touches memory, then spins: it shows in every figure but IO. */
static int work(void *arg)
{
        char *p = mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        (void)arg;
        if (p == MAP_FAILED)
                return 1;
        memset(p, 1, 32 * MIB);
        return spin(NULL);
}

static void test_counts_what_the_kernel_counts(void **state)
{
        struct fixture *f = *state;
        struct sg_scope *s = full_scope(f);
        struct sg_sampler *m = sampler(s);
        struct sg_counters before, after;
        struct sg_sample v;

        (void)spawn(f, s, true, work, NULL);
        (void)spawn(f, s, true, spin, NULL);
        /* Counted when a throttling ends, not when it begins; user time by ticks of the clock, of
         * which those who are often throttled may meet none for a while. */
        WAIT_FOR((v = sample(m)).throttled_usec > 0 && v.memory_bytes > 32 * MIB &&
                 v.user_usec > 0);
        before = counters(s);
        v = sample(m);
        after = counters(s);
        assert_in_range(v.cpu_usec, before.cpu_usec, after.cpu_usec);
        assert_in_range(v.memory_bytes, 32 * MIB, 256 * MIB);
        assert_in_range(v.memory_peak_bytes, before.memory_peak_bytes, after.memory_peak_bytes);
        assert_in_range(v.working_set_bytes, 32 * MIB, v.memory_bytes);
        assert_int_equal(v.pids, 2);
        assert_int_equal(v.oom_kills, 0);
        assert_true(v.n_periods > 0);
        assert_true(v.n_throttled > 0);
        assert_in_range(v.user_usec, 1, v.cpu_usec + 20000);
        assert_true(v.io_read_bytes != SG_UNLIMITED);
        assert_true(v.io_write_ops != SG_UNLIMITED);
        assert_true(v.memory_max_events != SG_UNLIMITED);
        assert_quiet(m);
        (void)sg_sampler_free(m);
}

/* Two runners on one CPU wait for each other. */
static void test_pressure(void **state)
{
        struct fixture *f = *state;
        struct sg_scope *s = full_scope(f);
        struct sg_sampler *m = sampler(s);

        (void)spawn(f, s, true, spin, f);
        (void)spawn(f, s, true, spin, f);
        WAIT_FOR(sample(m).psi_cpu_some_usec > 10000);
        assert_true(sample(m).psi_memory_full_usec != SG_UNLIMITED);
        assert_true(sample(m).psi_io_some_usec != SG_UNLIMITED);
        assert_quiet(m);
        (void)sg_sampler_free(m);
}

static void test_files_stay_open(void **state)
{
        struct fixture *f = *state;
        struct sg_scope *s = full_scope(f);
        struct sg_sampler *m = sampler(s);
        unsigned fds;

        assert_int_equal(sg_sampler_fds(m), 0);
        (void)sample(m);
        fds = sg_sampler_fds(m);
        assert_in_range(fds, 8, SG_SAMPLER_FILES_MAX);
        for (int i = 0; i < 200; i++)
                (void)sample(m);
        assert_int_equal(sg_sampler_fds(m), fds);
        (void)sg_sampler_free(m);
}

/* Kept-open files of a group that was removed fail with ENODEV; another group of the same name is
 * opened anew, and its counters begin again. */
static void test_group_goes_and_comes(void **state)
{
        struct fixture *f = *state;
        struct sg_scope *s = full_scope(f);
        struct sg_sampler *m = sampler(s);
        const struct sg_group_dir *dirs;
        struct sg_sample v, before;
        pid_t pid = spawn(f, s, true, spin, NULL);
        size_t n;

        WAIT_FOR((before = sample(m)).cpu_usec > 20000);
        assert_int_equal(kill(pid, SIGKILL), 0);
        (void)reap(f, pid);
        WAIT_FOR(sg_scope_remove(s) == 0);
        v = before;
        for (int i = 0; i < 3; i++)
                assert_int_equal(sg_sampler_read(m, SG_SAMPLE_ALL, &v), -ENOENT);
        assert_memory_equal(&v, &before, sizeof(v));
        assert_quiet(m);

        s = full_scope(f);
        dirs = sg_scope_dirs(s, &n);
        sg_sampler_set_dirs(m, dirs, n);
        assert_int_equal(sg_sampler_read(m, SG_SAMPLE_ALL, &v), 0);
        assert_int_equal(v.pids, 0);
        assert_true(v.cpu_usec < before.cpu_usec);
        assert_quiet(m);
        (void)sg_sampler_free(m);
}

/* Nobody said anything; only the open files know. */
static void test_reopens(void **state)
{
        struct fixture *f = *state;
        struct sg_scope *s = full_scope(f);
        struct sg_sampler *m = sampler(s);
        const struct sg_group_dir *dirs;
        char job[PATH_MAX];
        unsigned fds;
        size_t n;

        assert_int_equal(sample(m).pids, 0);
        fds = sg_sampler_fds(m);
        dirs = sg_scope_dirs(s, &n);
        for (size_t i = 0; i < n; i++) {
                assert_int_equal(sg_path_join(job, sizeof(job), dirs[i].path, "job"), 0);
                assert_int_equal(rmdir(job), 0);
                assert_int_equal(mkdir(job, 0755), 0);
        }
        assert_int_equal(sample(m).pids, 0);
        assert_int_equal(sg_sampler_fds(m), fds);
        assert_quiet(m);
        (void)sg_sampler_free(m);
}

/* As groups of others are read: the whole scope, keeper included. */
static void test_whole(void **state)
{
        struct fixture *f = *state;
        struct sg_scope *s = full_scope(f);
        struct sg_sampler *m = NULL;
        const struct sg_group_dir *dirs;
        size_t n;

        (void)spawn(f, s, true, idle, NULL);
        (void)spawn(f, s, false, idle, NULL);
        dirs = sg_scope_dirs(s, &n);
        assert_int_equal(sg_sampler_new(&m, dirs, n, true), 0);
        assert_int_equal(sample(m).pids, 2);
        (void)sg_sampler_free(m);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, fixture_teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_counts_what_the_kernel_counts),
                TEST(test_pressure),
                TEST(test_files_stay_open),
                TEST(test_group_goes_and_comes),
                TEST(test_reopens),
                TEST(test_whole),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
