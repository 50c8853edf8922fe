/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits of the cgroupfs backend, as the kernel enforces them. */

#include "edge/cgroup/fs.h"
#include "edge/cgroup/group.h"
#include "test_cgroup_jobs.h"
#include <sys/mman.h>

#define MIB (UINT64_C(1) << 20)

static int setup(void **state)
{
        return fixture_setup_as(state, "cgroupfs");
}

static const char *job_dir(struct fixture *f, struct sg_scope *s, enum sg_limit_kind kind,
                           char buf[PATH_MAX])
{
        const char *dir = sg_scope_dir(s, sg_fs_hier_of(f->backend, kind));

        assert_non_null(dir);
        assert_int_equal(sg_group_join(buf, dir, "job"), 0);
        return buf;
}

static bool on_v2(struct fixture *f, enum sg_limit_kind kind)
{
        return sg_fs_hier_of(f->backend, kind) == SG_HIER_UNIFIED;
}

/* Of what both use once both run: how fast the machine is doesn't matter. */
static void assert_three_to_one(struct sg_scope *big, struct sg_scope *small)
{
        uint64_t x0, y0, x, y;

        WAIT_FOR(counters(big).cpu_usec > 0 && counters(small).cpu_usec > 0);
        x0 = counters(big).cpu_usec;
        y0 = counters(small).cpu_usec;
        WAIT_FOR((x = counters(big).cpu_usec - x0) + (y = counters(small).cpu_usec - y0) >
                 2 * SG_USEC_PER_SEC);
        print_message("usage %llu : %llu ms\n", (unsigned long long)x / 1000,
                      (unsigned long long)y / 1000);
        assert_in_range(x * 100, y * 240, y * 360);
}

static void test_weights(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope *a, *b;

        a = scope(f, &l, 1);
        l.cpu_weight = 300;
        b = scope(f, &l, 0);
        assert_int_equal(sg_scope_unenforced(b), 0);
        (void)spawn(f, a, true, spin, f);
        (void)spawn(f, b, true, spin, f);
        assert_three_to_one(b, a);
}

static void test_class_weights(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope_request req = request(&l, 0);
        struct sg_scope *a, *b;

        a = scope_with(f, &req);
        req = request(&l, 1);
        req.class = "urgent";
        req.class_weight = 300;
        b = scope_with(f, &req);
        (void)spawn(f, a, true, spin, f);
        (void)spawn(f, b, true, spin, f);
        assert_three_to_one(b, a);
}

static void test_class_weight_changes_live(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope_request req = request(&l, 0);
        struct sg_scope *s;
        bool v2 = on_v2(f, SG_LIMIT_CPU_WEIGHT);
        char class[PATH_MAX];
        uint64_t v;

        req.class = "_odd"; /* whose group has another name */
        s = scope_with(f, &req);
        (void)snprintf(class, sizeof(class), "%s",
                       sg_scope_dir(s, sg_fs_hier_of(f->backend, SG_LIMIT_CPU_WEIGHT)));
        *strrchr(class, '/') = '\0';
        assert_int_equal(sg_backend_set_class_weight(f->backend, "_odd", 250, &f->why), 0);
        assert_int_equal(sg_group_read_u64(class, v2 ? "cpu.weight" : "cpu.shares", &v), 0);
        assert_int_equal(v, v2 ? 250 : 2560);
        assert_int_equal(sg_backend_set_class_weight(f->backend, "nowhere", 250, &f->why), 0);
        assert_null(f->why);
}

static uint64_t throttled(const char *job)
{
        uint64_t n = 0;

        assert_int_equal(sg_group_read_key(job, "cpu.stat", "nr_throttled", &n), 0);
        return n;
}

static void test_quota(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope *s;
        char job[PATH_MAX];
        uint64_t begun, used;

        l.cpu_quota_pm = 2000;
        s = scope(f, &l, 0);
        assert_int_equal(sg_scope_unenforced(s), 0);
        begun = sg_now_monotonic_usec();
        (void)spawn(f, s, true, spin, NULL);
        WAIT_FOR(throttled(job_dir(f, s, SG_LIMIT_CPU_QUOTA, job)) >= 10);
        used = counters(s).cpu_usec;
        /* One period's quota more than the time that went by. */
        assert_true(used <= (sg_now_monotonic_usec() - begun) / 5 + 40000);
}

static void test_tiny_quota_has_a_longer_period(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_cpuset none = {};
        struct sg_scope *s;
        char job[PATH_MAX], text[64];
        uint64_t quota, period;

        l.cpu_quota_pm = 20;
        s = scope(f, &l, 0);
        assert_int_equal(sg_scope_unenforced(s), 0);
        (void)job_dir(f, s, SG_LIMIT_CPU_QUOTA, job);
        if (on_v2(f, SG_LIMIT_CPU_QUOTA)) {
                assert_int_equal(sg_group_read(job, "cpu.max", text, sizeof(text)), 0);
                assert_string_equal(text, "1000 500000");
        } else {
                assert_int_equal(sg_group_read_u64(job, "cpu.cfs_quota_us", &quota), 0);
                assert_int_equal(sg_group_read_u64(job, "cpu.cfs_period_us", &period), 0);
                assert_int_equal(quota, 1000);
                assert_int_equal(period, 500000);
        }
        l.cpu_quota_pm = 5; /* less than the kernel can hold */
        assert_int_equal(sg_scope_set_limits(s, &l, &none, NULL, NULL, &f->why), 0);
        assert_int_equal(sg_scope_unenforced(s), sg_bit(SG_LIMIT_CPU_QUOTA));
        assert_non_null(f->why);
        l.cpu_quota_pm = SG_UNLIMITED;
        assert_int_equal(sg_scope_set_limits(s, &l, &none, NULL, NULL, NULL), 0);
        assert_int_equal(sg_scope_unenforced(s), 0);
}

static int eat(void *arg)
{
        size_t size = *(const size_t *)arg;
        char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (p == MAP_FAILED)
                return 1;
        memset(p, 1, size);
        return idle(NULL);
}

static void test_memory_limit_kills_the_job_only(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        size_t size = 256 * MIB;
        struct sg_scope *s;
        pid_t keeper, job;
        int status;

        l.memory_max = 32 * MIB;
        s = scope(f, &l, 0);
        assert_int_equal(sg_scope_unenforced(s), 0);
        keeper = spawn(f, s, false, idle, NULL);
        job = spawn(f, s, true, eat, &size);
        status = reap(f, job);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGKILL);
        assert_true(counters(s).oom_kills >= 1);
        assert_true(counters(s).oom_kills != SG_UNLIMITED);
        assert_int_equal(kill(keeper, 0), 0);
        assert_int_equal(sg_scope_holds(s, keeper, false), 1);
        WAIT_FOR(sg_scope_populated(s) == 0);
        assert_int_equal(sg_scope_remove(s), -EBUSY); /* the keeper */
}

static void expect_no_swap(void)
{
        FILE *swaps;
        char line[256];
        int n = 0;

        for (swaps = fopen("/proc/swaps", "re"); swaps && fgets(line, sizeof(line), swaps); n++)
                ;
        if (swaps)
                (void)fclose(swaps);
        if (n > 1)
                fail_msg("this test needs a machine without swap");
}

/* A kernel that makes room for long: here a pipe that nobody reads. */
static void test_memory_write_is_brief(void **state)
{
        char dir[] = "/tmp/sg-brief-XXXXXX", path[PATH_MAX], filler[4096] = {0};
        int reader, writer;

        (void)state;
        assert_non_null(mkdtemp(dir));
        snprintf(path, sizeof(path), "%s/memory.high", dir);
        assert_int_equal(mkfifo(path, 0600), 0);
        reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        writer = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        assert_true(reader >= 0);
        assert_true(writer >= 0);
        while (write(writer, filler, sizeof(filler)) > 0)
                ;
        assert_int_equal(sg_group_write(dir, "memory.high", "1"), -EINTR);
        assert_int_equal(read(reader, filler, sizeof(filler)), sizeof(filler));
        assert_int_equal(sg_group_write(dir, "memory.high", "1"), 0);
        (void)close(reader);
        (void)close(writer);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(rmdir(dir), 0);
}

static void test_memory_limit_below_use(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits(), lower;
        struct sg_cpuset none = {};
        size_t size = 64 * MIB;
        struct sg_scope *s;
        pid_t pid;

        expect_no_swap();
        l.memory_max = 128 * MIB;
        s = scope(f, &l, 0);
        pid = spawn(f, s, true, eat, &size);
        WAIT_FOR(counters(s).memory_bytes >= size);
        lower = l;
        lower.memory_max = 16 * MIB;
        lower.cpu_weight = 500;
        assert_int_equal(sg_scope_set_limits(s, &lower, &none, NULL, NULL, &f->why), -EBUSY);
        assert_non_null(strstr(f->why, "can't shrink it to 16M"));
        /* Nothing changed, nobody was killed, and what fits is taken. */
        assert_int_equal(kill(pid, 0), 0);
        assert_int_equal(counters(s).oom_kills, 0);
        assert_int_equal(s->limits.memory_max, 128 * MIB);
        assert_int_equal(s->limits.cpu_weight, 100);
        lower.memory_max = 100 * MIB;
        assert_int_equal(sg_scope_set_limits(s, &lower, &none, NULL, NULL, NULL), 0);
        assert_int_equal(s->limits.memory_max, 100 * MIB);
        assert_int_equal(kill(pid, 0), 0);
}

static uint64_t refused_forks(const char *job)
{
        uint64_t n = 0;

        assert_int_equal(sg_group_read_key(job, "pids.events", "max", &n), 0);
        return n;
}

static void test_tasks_stop_a_fork_bomb(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope *s;
        char job[PATH_MAX];

        l.tasks_max = 50;
        s = scope(f, &l, 0);
        assert_int_equal(sg_scope_unenforced(s), 0);
        (void)spawn(f, s, true, fork_bomb, NULL);
        WAIT_FOR(refused_forks(job_dir(f, s, SG_LIMIT_TASKS, job)) > 100);
        assert_in_range(counters(s).pids, 1, 50);
        assert_true(sg_scope_signal(s, SIGKILL) > 0);
        WAIT_FOR(sg_scope_populated(s) == 0);
}

static unsigned cpus_of(pid_t pid)
{
        cpu_set_t set;

        assert_int_equal(sched_getaffinity(pid, sizeof(set), &set), 0);
        return (unsigned)CPU_COUNT(&set);
}

static void test_pin(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope_request req;
        struct sg_cpuset other = {};
        struct sg_scope *s;
        unsigned all = cpus_of(0);
        pid_t pid, keeper;
        cpu_set_t set;

        if (all < 2)
                fail_msg("this test needs two CPUs");
        l.pin = 1;
        req = request(&l, 0);
        sg_cpuset_add(&req.cpus, 1);
        s = scope_with(f, &req);
        assert_int_equal(sg_scope_unenforced(s), 0);
        pid = spawn(f, s, true, idle, NULL);
        keeper = spawn(f, s, false, idle, NULL);
        assert_int_equal(sched_getaffinity(pid, sizeof(set), &set), 0);
        assert_int_equal(CPU_COUNT(&set), 1);
        assert_true(CPU_ISSET(1, &set));
        assert_int_equal(cpus_of(keeper), all);
        sg_cpuset_add(&other, 0);
        assert_int_equal(sg_scope_set_limits(s, &l, &other, NULL, NULL, NULL), 0);
        assert_int_equal(sched_getaffinity(pid, sizeof(set), &set), 0);
        assert_int_equal(CPU_COUNT(&set), 1);
        assert_true(CPU_ISSET(0, &set));
        /* A CPU that isn't there doesn't arrive. */
        sg_cpuset_add(&other, SG_CPUS_MAX - 1);
        assert_int_equal(sg_scope_set_limits(s, &l, &other, NULL, NULL, NULL), 0);
        assert_int_equal(sg_scope_unenforced(s), sg_bit(SG_LIMIT_CPUSET));
        l.pin = 0;
        assert_int_equal(sg_scope_set_limits(s, &l, NULL, NULL, NULL, NULL), 0);
        assert_int_equal(sg_scope_unenforced(s), 0);
        assert_int_equal(cpus_of(pid), all);
}

static void test_pin_what_runs_already(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_cpuset one = {};
        struct sg_scope *s = scope(f, &l, 0);
        pid_t pid = spawn(f, s, true, idle, NULL), keeper = spawn(f, s, false, idle, NULL);

        sg_cpuset_add(&one, 1);
        l.pin = 1;
        assert_int_equal(sg_scope_set_limits(s, &l, &one, NULL, NULL, &f->why), 0);
        assert_int_equal(sg_scope_unenforced(s), 0);
        assert_int_equal(cpus_of(pid), 1);
        assert_int_equal(sg_scope_holds(s, pid, true), 1);
        assert_int_equal(sg_scope_holds(s, keeper, false), 1);
        assert_int_equal(sg_scope_holds(s, keeper, true), 0);
}

static uint64_t memory_file(const char *job, const char *file)
{
        uint64_t v;

        assert_int_equal(sg_group_read_u64(job, file, &v), 0);
        return v;
}

static void expect_swap_v1(const char *job, uint64_t memory, uint64_t swap)
{
        assert_int_equal(memory_file(job, "memory.limit_in_bytes"), memory);
        assert_int_equal(memory_file(job, "memory.memsw.limit_in_bytes"), memory + swap);
}

/* Up and down, as v1 takes the two only in the right order. */
static void test_swap_beside_memory(void **state)
{
        static const uint64_t steps[][2] = {{64, 16}, {128, 16}, {32, 0}, {32, 64}, {100, 8}};
        struct fixture *f = *state;
        struct sg_limits l = limits();
        bool v2 = on_v2(f, SG_LIMIT_SWAP);
        struct sg_scope *s = scope(f, &l, 0);
        char job[PATH_MAX];

        (void)job_dir(f, s, SG_LIMIT_SWAP, job);
        for (size_t i = 0; i < SG_ELEMENTSOF(steps); i++) {
                l.memory_max = steps[i][0] * MIB;
                l.memory_swap_max = steps[i][1] * MIB + 1; /* held as whole pages */
                assert_int_equal(sg_scope_set_limits(s, &l, NULL, NULL, NULL, &f->why), 0);
                assert_int_equal(sg_scope_unenforced(s), 0);
                if (v2)
                        assert_int_equal(memory_file(job, "memory.swap.max"), steps[i][1] * MIB);
                else
                        expect_swap_v1(job, steps[i][0] * MIB, steps[i][1] * MIB);
        }
        l.memory_max = SG_UNLIMITED;
        assert_int_equal(sg_scope_set_limits(s, &l, NULL, NULL, NULL, &f->why), 0);
        assert_int_equal(sg_scope_unenforced(s), v2 ? 0 : sg_bit(SG_LIMIT_SWAP));
        l.memory_swap_max = SG_UNLIMITED;
        assert_int_equal(sg_scope_set_limits(s, &l, NULL, NULL, NULL, NULL), 0);
        assert_int_equal(sg_scope_unenforced(s), 0);
        if (!v2)
                assert_true(memory_file(job, "memory.memsw.limit_in_bytes") >= UINT64_C(1) << 62);
}

static void expect_swap(struct fixture *f, struct sg_scope *s, uint64_t memory, uint64_t swap)
{
        char job[PATH_MAX];

        (void)job_dir(f, s, SG_LIMIT_SWAP, job);
        if (!on_v2(f, SG_LIMIT_SWAP))
                return expect_swap_v1(job, memory, swap);
        assert_int_equal(memory_file(job, "memory.max"), memory);
        assert_int_equal(memory_file(job, "memory.swap.max"), swap);
}

/* On v1 the sum of both is raised before memory is refused. */
static void test_refused_memory_leaves_swap(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits(), other;
        size_t size = 64 * MIB;
        struct sg_scope *s;

        expect_no_swap();
        l.memory_max = 128 * MIB;
        l.memory_swap_max = 64 * MIB;
        s = scope(f, &l, 0);
        (void)spawn(f, s, true, eat, &size);
        WAIT_FOR(counters(s).memory_bytes >= size);
        other = l;
        other.memory_max = 16 * MIB;
        other.memory_swap_max = 512 * MIB;
        assert_int_equal(sg_scope_set_limits(s, &other, NULL, NULL, NULL, NULL), -EBUSY);
        expect_swap(f, s, 128 * MIB, 64 * MIB);
        assert_int_equal(s->limits.memory_swap_max, 64 * MIB);
        other.memory_swap_max = 0;
        assert_int_equal(sg_scope_set_limits(s, &other, NULL, NULL, NULL, NULL), -EBUSY);
        expect_swap(f, s, 128 * MIB, 64 * MIB);
}

static void test_live_changes(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_cpuset none = {};
        struct sg_scope *s = scope(f, &l, 0);
        char job[PATH_MAX];
        uint64_t v;

        l.tasks_max = 7;
        l.cpu_weight = 1;
        l.memory_max = 64 * MIB + 1; /* held as whole pages */
        l.cpu_quota_pm = 15000;
        assert_int_equal(sg_scope_set_limits(s, &l, &none, NULL, NULL, &f->why), 0);
        assert_int_equal(sg_scope_unenforced(s), 0);
        (void)job_dir(f, s, SG_LIMIT_TASKS, job);
        assert_int_equal(sg_group_read_u64(job, "pids.max", &v), 0);
        assert_int_equal(v, 7);
        (void)job_dir(f, s, SG_LIMIT_MEMORY_MAX, job);
        assert_int_equal(sg_group_read_u64(job,
                                           on_v2(f, SG_LIMIT_MEMORY_MAX) ? "memory.max"
                                                                         : "memory.limit_in_bytes",
                                           &v),
                         0);
        assert_int_equal(v, 64 * MIB);
        l = limits(); /* unset unsets */
        assert_int_equal(sg_scope_set_limits(s, &l, &none, NULL, NULL, NULL), 0);
        (void)job_dir(f, s, SG_LIMIT_TASKS, job);
        assert_int_equal(sg_group_read_u64(job, "pids.max", &v), 0);
        assert_true(v == SG_UNLIMITED);
}

static void test_what_the_kernel_lacks_is_said(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope *s;

        l.memory_high = 64 * MIB;
        s = scope(f, &l, 0);
        if (on_v2(f, SG_LIMIT_MEMORY_HIGH)) {
                assert_int_equal(sg_scope_unenforced(s), 0);
                return;
        }
        assert_int_equal(sg_scope_unenforced(s), sg_bit(SG_LIMIT_MEMORY_HIGH));
        assert_true(sg_backend_unenforced(f->backend) & sg_bit(SG_LIMIT_MEMORY_HIGH));
        assert_non_null(strstr(f->why, "memory_high"));
}

static void test_refused_values_are_said(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope *s;
        struct sg_scope_request req;
        struct sg_scope *other = NULL;

        l.cpu_weight = UINT64_C(1) << 40;
        s = scope(f, &l, 0);
        assert_int_equal(sg_scope_unenforced(s), sg_bit(SG_LIMIT_CPU_WEIGHT));
        assert_non_null(f->why);
        /* The same attempt twice, and a name that would leave our groups. */
        l = limits();
        req = request(&l, 0);
        assert_int_equal(sg_scope_new(&other, f->backend, &req, NULL), -EEXIST);
        assert_int_equal(access(sg_scope_dirs(s, &(size_t){0})[0].path, F_OK), 0);
        req.class = "../../x";
        assert_int_equal(sg_scope_new(&other, f->backend, &req, NULL), -EINVAL);
        assert_null(other);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
        const struct CMUnitTest tests[] = {
                TEST(test_weights),
                TEST(test_class_weights),
                TEST(test_class_weight_changes_live),
                TEST(test_quota),
                TEST(test_tiny_quota_has_a_longer_period),
                TEST(test_memory_limit_kills_the_job_only),
                cmocka_unit_test(test_memory_write_is_brief),
                TEST(test_memory_limit_below_use),
                TEST(test_tasks_stop_a_fork_bomb),
                TEST(test_pin),
                TEST(test_pin_what_runs_already),
                TEST(test_swap_beside_memory),
                TEST(test_refused_memory_leaves_swap),
                TEST(test_live_changes),
                TEST(test_what_the_kernel_lacks_is_said),
                TEST(test_refused_values_are_said),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
