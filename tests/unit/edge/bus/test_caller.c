/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who is at the other end, asked of real sockets whose other ends are real users' processes. */
#include "edge/bus/caller.h"
#include "tests/unit/test.h"

#include <grp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define UID 54321
#define GID 54322
#define N_GROUPS 100 /* more than what is asked for at first */

struct fixture {
        char dir[64], path[128];
        int listener;
        pid_t child;
        int go; /* closing it ends the child */
        int connection;
        struct sg_caller caller;
};

static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));
        struct sockaddr_un sa = {.sun_family = AF_UNIX};

        assert_non_null(f);
        f->go = f->connection = f->caller.pidfd = -1;
        strcpy(f->dir, "/tmp/sg-caller-XXXXXX");
        assert_non_null(mkdtemp(f->dir));
        assert_int_equal(chmod(f->dir, 0711), 0);
        (void)snprintf(f->path, sizeof(f->path), "%s/bus", f->dir);
        strcpy(sa.sun_path, f->path);
        f->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_true(f->listener >= 0);
        assert_int_equal(bind(f->listener, (struct sockaddr *)&sa, sizeof(sa)), 0);
        assert_int_equal(chmod(f->path, 0666), 0);
        assert_int_equal(listen(f->listener, 8), 0);
        *state = f;
        return 0;
}

/* Ends the child and takes its status. */
static void end_child(struct fixture *f)
{
        int status;

        if (f->child <= 0)
                return;
        f->go = sg_close(f->go);
        assert_int_equal(waitpid(f->child, &status, 0), f->child);
        assert_int_equal(status, 0);
        f->child = 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        end_child(f);
        sg_caller_deinit(&f->caller);
        (void)sg_close(f->connection);
        (void)sg_close(f->listener);
        (void)unlink(f->path);
        (void)rmdir(f->dir);
        free(f);
        return 0;
}

static void child_main(const struct fixture *f, int go)
{
        const struct rlimit files = {123, 456}, core = {0, RLIM_INFINITY};
        struct sockaddr_un sa = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        gid_t groups[N_GROUPS];
        char byte;

        for (gid_t i = 0; i < N_GROUPS; i++)
                groups[i] = 60000 + i;
        strcpy(sa.sun_path, f->path);
        if (setrlimit(RLIMIT_NOFILE, &files) < 0 || setrlimit(RLIMIT_CORE, &core) < 0 ||
            setgroups(N_GROUPS, groups) < 0 || setresgid(GID, GID, GID) < 0 ||
            setresuid(UID, UID, UID) < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
                _exit(1);
        (void)!read(go, &byte, 1);
        _exit(0);
}

/* A child of another user that has connected and stays until it is told. */
static void start_child(struct fixture *f)
{
        int fds[2];

        assert_int_equal(pipe(fds), 0);
        f->child = fork();
        assert_true(f->child >= 0);
        if (f->child == 0) {
                (void)close(fds[1]);
                child_main(f, fds[0]);
        }
        (void)sg_close(fds[0]);
        f->go = fds[1];
        f->connection = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC);
        assert_true(f->connection >= 0);
}

static int open_pid(pid_t pid)
{
        int fd = (int)syscall(SYS_pidfd_open, pid, 0);

        assert_true(fd >= 0);
        return fd;
}

static void test_another_user(void **state)
{
        struct fixture *f = *state;

        start_child(f);
        assert_int_equal(sg_caller_from_socket(&f->caller, f->connection), 0);
        assert_int_equal(f->caller.uid, UID);
        assert_int_equal(f->caller.gid, GID);
        assert_int_equal(f->caller.pid, f->child);
        assert_int_equal(f->caller.n_groups, N_GROUPS);
        assert_true(sg_caller_in_group(&f->caller, GID));
        assert_true(sg_caller_in_group(&f->caller, 60000));
        assert_true(sg_caller_in_group(&f->caller, 60000 + N_GROUPS - 1));
        assert_false(sg_caller_in_group(&f->caller, 60000 + N_GROUPS));
        assert_false(sg_caller_in_group(&f->caller, 0));
}

/* The same uid is not enough: a pidfd counts only if it is the peer's own. */
static void test_identity(void **state)
{
        struct fixture *f = *state;
        _cleanup_close_ int own = open_pid(getpid()), other = -1;

        start_child(f);
        other = open_pid(f->child);
        assert_int_equal(sg_caller_from_socket(&f->caller, f->connection), 0);
        assert_true(sg_caller_is_process(&f->caller, other));
        assert_true(sg_caller_is_process(&f->caller, f->caller.pidfd));
        assert_false(sg_caller_is_process(&f->caller, own));
        assert_false(sg_caller_is_process(&f->caller, f->connection));
        assert_false(sg_caller_is_process(&f->caller, -1));

        end_child(f);
        assert_false(sg_caller_is_process(&f->caller, other));
        assert_false(sg_caller_is_process(&f->caller, f->caller.pidfd));
}

/* It went before we looked: its uid is still known, and no process may stand in for it. */
static void test_a_peer_that_has_gone(void **state)
{
        struct rlimit limits[RLIM_NLIMITS];
        struct fixture *f = *state;
        _cleanup_close_ int own = open_pid(getpid());

        start_child(f);
        end_child(f);
        assert_int_equal(sg_caller_from_socket(&f->caller, f->connection), 0);
        assert_int_equal(f->caller.uid, UID);
        assert_true(sg_caller_in_group(&f->caller, 60001));
        assert_false(sg_caller_is_process(&f->caller, own));
        assert_false(sg_caller_is_process(&f->caller, f->caller.pidfd));
        assert_int_equal(sg_caller_rlimits(&f->caller, limits), -ESRCH);
}

static void test_rlimits(void **state)
{
        struct rlimit limits[RLIM_NLIMITS], own;
        struct fixture *f = *state;

        start_child(f);
        assert_int_equal(sg_caller_from_socket(&f->caller, f->connection), 0);
        assert_int_equal(sg_caller_rlimits(&f->caller, limits), 0);
        assert_int_equal(limits[RLIMIT_NOFILE].rlim_cur, 123);
        assert_int_equal(limits[RLIMIT_NOFILE].rlim_max, 456);
        assert_int_equal(limits[RLIMIT_CORE].rlim_cur, 0);
        for (int i = 0; i < RLIM_NLIMITS; i++) {
                if (i == RLIMIT_NOFILE || i == RLIMIT_CORE)
                        continue;
                assert_int_equal(getrlimit((__rlimit_resource_t)i, &own), 0);
                assert_true(limits[i].rlim_cur == own.rlim_cur);
                assert_true(limits[i].rlim_max == own.rlim_max);
        }
        end_child(f);
        limits[0].rlim_cur = 77;
        assert_int_equal(sg_caller_rlimits(&f->caller, limits), -ESRCH);
        assert_int_equal(limits[0].rlim_cur, 77);
}

static void test_own_pair(void **state)
{
        struct fixture *f = *state;
        _cleanup_close_ int own = open_pid(getpid());
        int fds[2];

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        assert_int_equal(sg_caller_from_socket(&f->caller, fds[0]), 0);
        assert_int_equal(f->caller.uid, getuid());
        assert_int_equal(f->caller.gid, getgid());
        assert_int_equal(f->caller.pid, getpid());
        assert_true(sg_caller_is_process(&f->caller, own));
        (void)sg_close(fds[0]);
        (void)sg_close(fds[1]);
        assert_true(sg_caller_is_process(&f->caller, own));
}

static void test_no_socket(void **state)
{
        struct fixture *f = *state;
        struct sg_caller c = {.uid = 77, .pidfd = -1};
        int fds[2];

        assert_int_equal(sg_caller_from_socket(&c, -1), -EBADF);
        assert_int_equal(pipe(fds), 0);
        assert_int_equal(sg_caller_from_socket(&c, fds[0]), -ENOTSOCK);
        assert_int_equal(c.uid, 77);
        (void)sg_close(fds[0]);
        (void)sg_close(fds[1]);
        sg_caller_deinit(&c);
        (void)f;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_another_user), TEST(test_identity), TEST(test_a_peer_that_has_gone),
                TEST(test_rlimits),      TEST(test_own_pair), TEST(test_no_socket),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
