/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Making scopes, freezing, killing, devices. */

#include "edge/cgroup/bpf/devices.h"
#include "edge/cgroup/group.h"
#include "test_cgroup_v1.h"
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define BOMBS 6 /* < PIDS_MAX */

static void test_layout(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope *s = scope(f, &l, 2);
        const struct sg_group_dir *dirs;
        char tail[128], path[PATH_MAX];
        size_t n;

        dirs = sg_scope_dirs(s, &n);
        assert_true(n >= 1);
        (void)snprintf(tail, sizeof(tail), "/schedgov-t%d/train/schedgov-3-host-a-2", getpid());
        for (size_t i = 0; i < n; i++) {
                assert_non_null(strstr(dirs[i].path, tail));
                assert_int_equal(sg_group_join(path, dirs[i].path, "keeper"), 0);
                assert_int_equal(access(path, F_OK), 0);
                assert_int_equal(sg_group_join(path, dirs[i].path, "job"), 0);
                assert_int_equal(access(path, F_OK), 0);
        }
        assert_int_equal(sg_scope_populated(s), 0);
        assert_int_equal(sg_scope_signal(s, SIGTERM), 0);
        assert_int_equal(sg_scope_remove(s), 0);
        assert_int_equal(access(path, F_OK), -1);
        assert_int_equal(sg_scope_remove(s), 0); /* again is fine */
        print_message("%s\n", sg_backend_describe(f->backend));
        assert_ptr_equal(strstr(sg_backend_describe(f->backend), "cgroupfs ("),
                         sg_backend_describe(f->backend));
}

/* The kernel refuses the second group: what was made before it goes, what was there stays. */
static void test_never_partial(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope_request req = request(&l, 1);
        struct sg_scope *s = scope(f, &l, 0), *failed = NULL;
        const struct sg_group_dir *dirs;
        char taken[PATH_MAX] = "", path[PATH_MAX];
        size_t n;

        dirs = sg_scope_dirs(s, &n);
        for (size_t i = 0; i < n; i++) {
                (void)snprintf(path, sizeof(path), "%s/train/schedgov-2-host-a-1",
                               f->backend->hier[dirs[i].hier].base);
                if (i == n - 1) {
                        assert_int_equal(mkdir(path, 0755), 0);
                        (void)snprintf(taken, sizeof(taken), "%s", path);
                }
        }
        assert_int_equal(sg_scope_new(&failed, f->backend, &req, &f->why), -EEXIST);
        assert_non_null(strstr(f->why, taken));
        assert_null(failed);
        assert_int_equal(rmdir(taken), 0);
        for (size_t i = 0; i < n; i++) {
                (void)snprintf(path, sizeof(path), "%s/train/schedgov-2-host-a-1",
                               f->backend->hier[dirs[i].hier].base);
                assert_int_equal(access(path, F_OK), -1);
        }
}

static void test_full_tree_is_said(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope_request req = request(&l, 0);
        const char *base = f->backend->hier[SG_HIER_UNIFIED].base;
        struct sg_scope *failed = NULL;

        assert_int_equal(sg_group_write(base, "cgroup.max.descendants", "2"), 0);
        assert_int_equal(sg_scope_new(&failed, f->backend, &req, &f->why), -EAGAIN);
        assert_non_null(strstr(f->why, "cgroup.max.descendants"));
        assert_null(failed);
}

/* As when somebody tidies up: what is missing is made again. */
static void test_vanished_class_is_made_again(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope *s = scope(f, &l, 0);
        char path[PATH_MAX];

        assert_int_equal(sg_scope_remove(s), 0);
        for (size_t i = 0; i < s->n_dirs; i++) {
                (void)snprintf(path, sizeof(path), "%s", s->dirs[i].path);
                *strrchr(path, '/') = 0;
                assert_int_equal(rmdir(path), 0);
        }
        s = scope(f, &l, 1);
        (void)spawn(f, s, true, idle, NULL);
        assert_int_equal(sg_scope_populated(s), 1);
}

static void test_freeze(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope *s = scope(f, &l, 0);
        struct sg_counters before;
        pid_t keeper = spawn(f, s, false, spin, NULL);

        (void)spawn(f, s, true, spin, NULL);
        WAIT_FOR(counters(s).cpu_usec > 0);
        assert_int_equal(sg_scope_frozen(s), 0);
        assert_int_equal(sg_scope_freeze(s, true), 0);
        WAIT_FOR(sg_scope_frozen(s) == 1);
        before = counters(s);
        burn_cpu(50000);
        assert_int_equal(counters(s).cpu_usec, before.cpu_usec);
        assert_int_equal(kill(keeper, 0), 0);
        assert_int_equal(sg_scope_freeze(s, false), 0);
        WAIT_FOR(sg_scope_frozen(s) == 0 && counters(s).cpu_usec > before.cpu_usec);
        /* A frozen job can be killed. */
        assert_int_equal(sg_scope_freeze(s, true), 0);
        assert_true(sg_scope_signal(s, SIGKILL) > 0);
        WAIT_FOR(sg_scope_populated(s) == 0);
}

/* Makes a group of its own, as a container engine in the job does, with a child in it. */
static int nest(void *arg)
{
        const char *job = arg;
        char path[PATH_MAX];

        if (sg_group_join(path, job, "inner") < 0 || mkdir(path, 0755) < 0)
                return 1;
        if (fork() == 0) {
                if (sg_group_write(path, "cgroup.procs", "0") < 0)
                        return 2;
                return idle(NULL);
        }
        return idle(NULL);
}

static char *job_path(const struct sg_scope *s, char buf[PATH_MAX])
{
        assert_int_equal(sg_group_join(buf, sg_scope_dir(s, s->backend->list_hier), "job"), 0);
        return buf;
}

static int count_pid(pid_t pid, void *userdata)
{
        (void)pid;
        (*(int *)userdata)++;
        return 0;
}

static int n_processes(const struct sg_scope *s)
{
        char job[PATH_MAX];
        int n = 0;

        assert_int_equal(sg_group_foreach_pid(job_path(s, job), count_pid, &n), 0);
        return n;
}

static void test_nested_groups(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope *s = scope(f, &l, 0);
        char job[PATH_MAX], inner[PATH_MAX];

        (void)spawn(f, s, true, nest, job_path(s, job));
        assert_int_equal(sg_group_join(inner, job, "inner"), 0);
        WAIT_FOR(access(inner, F_OK) == 0 && sg_group_populated(inner) == 1);
        assert_int_equal(sg_scope_remove(s), -EBUSY);
        assert_int_equal(sg_scope_signal(s, SIGTERM) >= 2, 1);
        WAIT_FOR(sg_scope_populated(s) == 0);
        assert_int_equal(access(inner, F_OK), 0);
        assert_int_equal(sg_scope_remove(s), 0);
        assert_int_equal(access(job, F_OK), -1);
}

/* One call kills all of them, and again and again: a fork can be anywhere when it comes. */
static void test_kill_fork_bomb(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope *s;
        pid_t keeper;

        l.tasks_max = 300;
        s = scope(f, &l, 0);
        keeper = spawn(f, s, false, idle, NULL);
        for (int i = 0; i < BOMBS; i++) {
                pid_t bomb = spawn(f, s, true, fork_bomb, NULL);

                WAIT_FOR(n_processes(s) > 200);
                assert_true(sg_scope_signal(s, SIGKILL) > 0);
                WAIT_FOR(sg_scope_populated(s) == 0);
                assert_int_equal(n_processes(s), 0);
                (void)reap(f, bomb);
                while (waitpid(-1, NULL, WNOHANG) > 0)
                        ;
        }
        assert_int_equal(kill(keeper, 0), 0);
        assert_int_equal(sg_scope_signal(s, SIGKILL), 0);
}

static int ignore_term(void *arg)
{
        (void)signal(SIGTERM, SIG_IGN);
        if (write(*(int *)arg, "r", 1) != 1)
                return 1;
        return idle(NULL);
}

static void test_signals(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope *s = scope(f, &l, 0);
        int ready[2], status;
        pid_t deaf, pid, keeper;
        char c;

        assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
        keeper = spawn(f, s, false, idle, NULL);
        deaf = spawn(f, s, true, ignore_term, &ready[1]);
        assert_int_equal(read(ready[0], &c, 1), 1);
        pid = spawn(f, s, true, idle, NULL);
        assert_int_equal(sg_scope_signal(s, SIGTERM), 2);
        status = reap(f, pid);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGTERM);
        assert_int_equal(sg_scope_populated(s), 1);
        assert_int_equal(kill(keeper, 0), 0);
        assert_true(sg_scope_signal(s, SIGKILL) > 0);
        status = reap(f, deaf);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGKILL);
        WAIT_FOR(sg_scope_populated(s) == 0);
        (void)close(ready[0]);
        (void)close(ready[1]);
}

/* A zombie is nobody. */
static void test_zombies_do_not_count(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope *s = scope(f, &l, 0);
        pid_t pid = spawn(f, s, true, idle, NULL);
        siginfo_t info;

        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
        WAIT_FOR(sg_scope_populated(s) == 0);
        WAIT_FOR(sg_scope_remove(s) == 0);
        (void)reap(f, pid);
}

static int make_node(void *arg)
{
        return mknod(arg, S_IFCHR | 0600, makedev(195, 77)) < 0 ? errno : 0;
}

static void test_devices(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope_request req = request(&l, 0);
        struct sg_device_rule rules[] = {{'c', 195, 3, "rw"}, {'b', 7, -1, "r"}};
        struct sg_scope *closed, *allowed, *open;
        char node[] = "/tmp/test_cgroup_node.XXXXXX", other[64];
        struct stat st;
        int fd;

        fd = mkstemp(node);
        assert_true(fd >= 0);
        (void)close(fd);
        (void)unlink(node);
        (void)snprintf(other, sizeof(other), "%s.other", node);
        assert_int_equal(mknod(node, S_IFCHR | 0600, makedev(195, 3)), 0);

        open = scope_with(f, &req);
        req = request(&l, 1);
        req.devices.closed = true;
        closed = scope_with(f, &req);
        req = request(&l, 2);
        req.devices =
                (struct sg_device_list){.closed = true, .rules = rules, .n = SG_ELEMENTSOF(rules)};
        allowed = scope_with(f, &req);
        assert_int_equal(sg_scope_unenforced(closed) | sg_scope_unenforced(allowed), 0);

        /* ENXIO: let through to where a driver would be. */
        assert_int_equal(run(f, open, true, open_node, node), ENXIO);
        assert_int_equal(run(f, closed, true, open_node, node), EPERM);
        assert_int_equal(run(f, closed, false, open_node, node), ENXIO);
        assert_int_equal(run(f, allowed, true, open_node, node), ENXIO);
        assert_int_equal(run(f, closed, true, open_node, "/dev/null"), 0);
        assert_int_equal(run(f, closed, true, open_node, "/dev/zero"), 0);
        assert_int_equal(run(f, allowed, true, open_node, "/dev/urandom"), 0);
        assert_int_equal(run(f, closed, true, make_node, other), EPERM);
        assert_int_equal(run(f, allowed, true, make_node, other), EPERM); /* another minor */
        assert_int_equal(stat(other, &st), -1);
        (void)unlink(node);
}

/* Rules can be replaced while the job runs: the new ones hold, and no others. */
static void test_devices_replaced(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope_request req = request(&l, 0);
        struct sg_device_rule node_rule = {'c', 195, 3, "rwm"}, null_rule = {'c', 1, 3, "r"};
        const struct sg_device_list open = {.closed = false}, closed = {.closed = true},
                                    ours = {.closed = true, .rules = &node_rule, .n = 1},
                                    null = {.closed = true, .rules = &null_rule, .n = 1};
        struct sg_scope *s;
        char node[] = "/tmp/test_cgroup_node.XXXXXX";
        int fd = mkstemp(node);

        assert_true(fd >= 0);
        (void)close(fd);
        (void)unlink(node);
        assert_int_equal(mknod(node, S_IFCHR | 0600, makedev(195, 3)), 0);
        req.devices.closed = true;
        s = scope_with(f, &req);
        assert_int_equal(run(f, s, true, open_node, node), EPERM);
        assert_int_equal(sg_scope_set_devices(s, &ours, &f->why), 0);
        assert_int_equal(run(f, s, true, open_node, node), ENXIO);
        assert_int_equal(sg_scope_set_devices(s, &null, &f->why), 0);
        assert_int_equal(run(f, s, true, open_node, node), EPERM);
        assert_int_equal(sg_scope_set_devices(s, &closed, &f->why), 0);
        assert_int_equal(run(f, s, true, open_node, node), EPERM);
        assert_int_equal(run(f, s, true, open_node, "/dev/null"), 0); /* though a rule less */
        assert_int_equal(sg_scope_set_devices(s, &open, &f->why), 0);
        assert_int_equal(run(f, s, true, open_node, node), ENXIO);
        (void)unlink(node);
}

/* A scope that was open has no group in the devices hierarchy of v1 yet. */
static void test_devices_closed_later(void **state)
{
        const struct sg_device_list closed = {.closed = true};
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope *s = scope(f, &l, 0);
        pid_t pid = spawn(f, s, true, idle, NULL);

        assert_int_equal(run(f, s, true, open_node, "/dev/null"), 0);
        assert_int_equal(run(f, s, true, open_node, "/dev/kmsg"), 0);
        assert_int_equal(sg_scope_set_devices(s, &closed, &f->why), 0);
        assert_int_equal(sg_scope_unenforced(s), 0);
        assert_int_equal(sg_scope_holds(s, pid, true), 1);
        assert_int_equal(run(f, s, true, open_node, "/dev/null"), 0);
        assert_int_equal(run(f, s, true, open_node, "/dev/kmsg"), EPERM);
}

int main(void)
{
        bool v1 = has_v1();
        const struct CMUnitTest tests[] = {
                TEST(test_layout),
                TEST(test_never_partial),
                TEST(test_full_tree_is_said),
                TEST(test_vanished_class_is_made_again),
                TEST(test_freeze),
                TEST(test_nested_groups),
                TEST(test_kill_fork_bomb),
                TEST(test_signals),
                TEST(test_zombies_do_not_count),
                TEST(test_devices),
                TEST(test_devices_replaced),
                TEST(test_devices_closed_later),
                TEST_V1(test_layout),
                TEST_V1(test_freeze),
                TEST_V1(test_nested_groups),
                TEST_V1(test_kill_fork_bomb),
                TEST_V1(test_signals),
                TEST_V1(test_zombies_do_not_count),
                TEST_V1(test_devices),
                TEST_V1(test_devices_replaced),
                TEST_V1(test_devices_closed_later),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
