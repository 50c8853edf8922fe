/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The backend that applies nothing but can still end, suspend and measure a job. */

#include "test_cgroup_jobs.h"
#include <sys/mount.h>

static int setup(void **state)
{
        return fixture_setup_as(state, "observe");
}

/* Like the shim: a subreaper in a session of its own whose child is the job. */
static int shim(void *arg)
{
        int (*job)(void *) = *(int (**)(void *))arg;

        (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
        if (fork() == 0) {
                (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
                _exit(job(NULL));
        }
        for (;;)
                if (wait(NULL) < 0 && errno == ECHILD)
                        (void)pause();
        return 0;
}

static struct sg_scope *start(struct fixture *f, int (*job)(void *), pid_t *ret_shim)
{
        struct sg_limits l = limits();
        struct sg_scope *s;

        l.memory_max = 1 << 20;
        s = scope(f, &l, 0);
        *ret_shim = spawn(f, s, false, shim, &job);
        sg_scope_set_main(s, *ret_shim, 0);
        WAIT_FOR(sg_scope_populated(s) == 1);
        return s;
}

static void test_says_what_it_is(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope *s;
        size_t n = 1;

        assert_string_equal(sg_backend_name(f->backend), "observe");
        assert_non_null(strstr(sg_backend_describe(f->backend), "no limit is enforced"));
        assert_true(sg_backend_unenforced(f->backend) & sg_bit(SG_LIMIT_MEMORY_MAX));
        assert_false(sg_backend_unenforced(f->backend) & sg_bit(SG_LIMIT_FREEZE));
        s = scope(f, &l, 0);
        assert_int_equal(sg_scope_unenforced(s), 0); /* nothing was asked for */
        l.memory_max = 1 << 20;
        l.cpu_weight = 200;
        assert_int_equal(sg_scope_set_limits(s, &l, NULL, NULL, NULL, NULL), 0);
        assert_int_equal(sg_scope_unenforced(s),
                         sg_bit(SG_LIMIT_MEMORY_MAX) | sg_bit(SG_LIMIT_CPU_WEIGHT));
        (void)sg_scope_dirs(s, &n);
        assert_int_equal(n, 0);
        assert_int_equal(sg_scope_signal(s, SIGKILL), 0);
        assert_int_equal(sg_scope_populated(s), 0);
}

static int family(void *arg)
{
        for (int i = 0; i < 3; i++)
                if (fork() == 0 && fork() >= 0)
                        return spin(arg);
        return spin(arg);
}

static void test_counts_and_kills_the_tree(void **state)
{
        struct fixture *f = *state;
        pid_t keeper;
        struct sg_scope *s = start(f, family, &keeper);

        WAIT_FOR(counters(s).pids == 7 && counters(s).cpu_usec > 50000);
        assert_in_range(counters(s).memory_bytes, 4097, (1U << 30) - 1);
        assert_true(counters(s).io_read_bytes == SG_UNLIMITED);
        assert_int_equal(sg_scope_remove(s), -EBUSY);
        assert_int_equal(sg_scope_signal(s, SIGKILL), 7);
        WAIT_FOR(sg_scope_populated(s) == 0);
        assert_int_equal(kill(keeper, 0), 0);
        /* The dead are still in the account. */
        assert_true(counters(s).cpu_usec > 50000);
        assert_int_equal(sg_scope_remove(s), 0);
}

static void test_suspends(void **state)
{
        struct fixture *f = *state;
        pid_t keeper;
        struct sg_scope *s = start(f, family, &keeper);
        uint64_t used;

        WAIT_FOR(counters(s).pids == 7);
        assert_int_equal(sg_scope_frozen(s), 0);
        assert_int_equal(sg_scope_freeze(s, true), 0);
        WAIT_FOR(sg_scope_frozen(s) == 1);
        used = counters(s).cpu_usec;
        burn_cpu(50000);
        assert_int_equal(counters(s).cpu_usec, used);
        assert_int_equal(sg_scope_freeze(s, false), 0);
        WAIT_FOR(counters(s).cpu_usec > used);
        assert_int_equal(sg_scope_frozen(s), 0);
}

/* Forks and leaves, so that the one to kill is always another one. Bounded, lest it outlive us. */
static int runner(void *arg)
{
        (void)arg;
        for (unsigned generation = 0; generation < 20000; generation++)
                if (fork() > 0)
                        _exit(0);
        return 0;
}

static void test_kills_what_runs_away(void **state)
{
        struct fixture *f = *state;
        pid_t keeper;
        struct sg_scope *s = start(f, runner, &keeper);

        WAIT_FOR(sg_scope_signal(s, SIGKILL) >= 0 && sg_scope_populated(s) == 0);
        assert_int_equal(kill(keeper, 0), 0);
}

static void test_main_without_shim(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope *s = scope(f, &l, 0);
        pid_t pid = spawn(f, s, true, idle, NULL);

        sg_scope_set_main(s, 0, pid);
        assert_int_equal(sg_scope_populated(s), 1);
        assert_int_equal(sg_scope_signal(s, SIGTERM), 1);
        (void)reap(f, pid);
        assert_int_equal(sg_scope_populated(s), 0);
        assert_int_equal(sg_scope_holds(s, pid, true), -ESRCH);
}

/* What a child that fn changed first gets without asking for a backend, and its description. */
static void default_backend(void (*fn)(void), const char *name, const char *reason)
{
        int pipe_fds[2], status;
        char text[1024] = "";
        pid_t pid;

        assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
        pid = fork();
        if (pid == 0) {
                struct sg_backend *b = NULL;
                int r;

                fn();
                r = sg_backend_new(
                        &b, &(struct sg_backend_options){.wanted = NULL, .instance = "refused"},
                        NULL);
                if (r < 0)
                        _exit(1);
                dprintf(pipe_fds[1], "%s: %s", sg_backend_name(b), sg_backend_describe(b));
                (void)sg_backend_free(b);
                _exit(0);
        }
        (void)close(pipe_fds[1]);
        assert_true(read(pipe_fds[0], text, sizeof(text) - 1) > 0);
        (void)close(pipe_fds[0]);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        print_message("%s\n", text);
        assert_int_equal(strncmp(text, name, strlen(name)), 0);
        assert_non_null(strstr(text, reason));
}

static void become_nobody(void)
{
        if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
                _exit(2);
}

static void make_read_only(void)
{
        _cleanup_fclose_ FILE *f = NULL;
        char line[4096], point[1024], type[64];

        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                _exit(2);
        f = fopen("/proc/self/mounts", "re");
        while (f && fgets(line, sizeof(line), f))
                if (sscanf(line, "%*s %1023s %63s", point, type) == 2 &&
                    strncmp(type, "cgroup", 6) == 0 &&
                    mount(NULL, point, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) < 0)
                        _exit(3);
}

static void test_is_chosen_where_nothing_is_writable(void **state)
{
        (void)state;
        default_backend(become_nobody, "observe", "not permitted to user 65534");
        default_backend(make_read_only, "observe", "mounted read-only");
}

static void test_wrong_choices_are_refused(void **state)
{
        struct sg_backend *b = NULL;
        char *why = NULL;

        (void)state;
        assert_int_equal(
                sg_backend_new(&b,
                               &(struct sg_backend_options){.wanted = "docker", .instance = "x"},
                               &why),
                -EINVAL);
        assert_non_null(strstr(why, "docker"));
        free(why);
        assert_int_equal(
                sg_backend_new(&b, &(struct sg_backend_options){.wanted = NULL, .instance = "../x"},
                               NULL),
                -EINVAL);
        assert_int_equal(
                sg_backend_new(&b, &(struct sg_backend_options){.wanted = NULL, .instance = ""},
                               NULL),
                -EINVAL);
        assert_null(b);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
        const struct CMUnitTest tests[] = {
                TEST(test_says_what_it_is),
                TEST(test_counts_and_kills_the_tree),
                TEST(test_suspends),
                TEST(test_kills_what_runs_away),
                TEST(test_main_without_shim),
                cmocka_unit_test(test_is_chosen_where_nothing_is_writable),
                cmocka_unit_test(test_wrong_choices_are_refused),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
