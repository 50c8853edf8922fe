/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NOTIFY_SOCKET of one job: who can reach it, and who is heard. */
#include "base/file.h"
#include "base/time-util.h"
#include "tests/unit/edge/channel/notify_fixture.h"

#include <grp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int connect_to(const char *path)
{
        struct sockaddr_un sa = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

        strcpy(sa.sun_path, path);
        assert_return_code(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), errno);
        return fd;
}

/* A job's own socket hears that job alone, until it is forgotten. */
static void test_own(void **state)
{
        struct fixture *f = *state;
        const struct sg_job_key own = f->key, other = {.origin = "host", .n = 8, .attempt = 1};
        int all = f->client;
        char path[64];

        assert_int_equal(sg_path_join(path, sizeof(path), f->dir, "own"), 0);
        assert_false(sg_notify_socket_has(f->socket, &own));
        assert_int_equal(sg_notify_socket_admit(f->socket, &own, path, geteuid()), 0);
        assert_int_equal(sg_notify_socket_admit(f->socket, &own, "/nowhere/own", 0), 0);
        assert_true(sg_notify_socket_has(f->socket, &own));
        assert_int_equal(sg_notify_socket_admit(f->socket, &other, "/nowhere/own", 0), -ENOENT);
        assert_false(sg_notify_socket_has(f->socket, &other));

        f->key = other;
        send_text(f, "STEP=1"); /* by that for all it is heard */
        assert_int_equal(f->got_key.n, 8);
        f->client = connect_to(path);
        send_text(f, "STEP=2");
        assert_int_equal(f->messages, 1);
        sg_notify_socket_forget(f->socket, &other); /* who sent is looked up again */
        f->key = own;
        send_text(f, "STEP=3");
        assert_int_equal(f->messages, 2);
        assert_int_equal(f->got_key.n, 7);
        assert_int_equal(f->report.step, 3);

        sg_notify_socket_forget(f->socket, &own);
        assert_false(sg_notify_socket_has(f->socket, &own));
        assert_int_equal(send(f->client, "STEP=4", 6, 0), -1);
        assert_int_equal(sg_notify_socket_admit(f->socket, &own, path, geteuid()),
                         0); /* replaced */
        (void)sg_close(f->client);
        f->client = all;
}

static bool can_reach(const char *path, uid_t uid)
{
        pid_t pid = fork();
        int status;

        if (pid == 0) {
                struct sockaddr_un sa = {.sun_family = AF_UNIX};
                int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

                strcpy(sa.sun_path, path);
                _exit(setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 ||
                      setresuid(uid, uid, uid) < 0 ||
                      connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0);
        }
        assert_return_code(pid, errno);
        assert_return_code(waitpid(pid, &status, 0), errno);
        return status == 0;
}

static void test_own_users(void **state)
{
        struct fixture *f = *state;
        char path[64];

        if (geteuid() != 0) {
                print_message("not root: there are no other users\n");
                return;
        }
        assert_int_equal(sg_path_join(path, sizeof(path), f->dir, "own"), 0);
        assert_int_equal(sg_notify_socket_admit(f->socket, &f->key, path, 1234), 0);
        assert_true(can_reach(path, 1234));
        assert_false(can_reach(path, 1235));
        assert_true(can_reach(f->path, 1235));
        sg_notify_socket_forget(f->socket, &f->key);
        assert_int_equal(sg_notify_socket_admit(f->socket, &f->key, path, geteuid()), 0);
        assert_false(can_reach(path, 1234));
}

#define REPORTS 100

/* Sends without waiting; exits with how many weren't taken. */
static pid_t start_reporter(const char *path)
{
        pid_t pid = fork();
        int fd, lost = 0;

        if (pid != 0) {
                assert_return_code(pid, errno);
                return pid;
        }
        fd = connect_to(path);
        for (unsigned i = 0; i < REPORTS; i++) {
                lost += send(fd, "EPOCH=9", 7, MSG_DONTWAIT) < 0;
                (void)usleep(5000);
        }
        _exit(lost);
}

/* What is sent to the socket for all leaves a job's own free. */
static void test_flood_elsewhere(void **state)
{
        struct fixture *f = *state;
        uint64_t end = sg_now_monotonic_usec() + PATIENCE_USEC;
        pid_t flooder, reporter;
        char path[64];
        int status;

        assert_int_equal(sg_path_join(path, sizeof(path), f->dir, "own"), 0);
        assert_int_equal(sg_notify_socket_admit(f->socket, &f->key, path, geteuid()), 0);
        flooder = flood(f);
        reporter = start_reporter(path);
        while (waitpid(reporter, &status, WNOHANG) == 0) {
                assert_true(sg_now_monotonic_usec() < end);
                assert_return_code(sd_event_run(f->event, 5 * SG_USEC_PER_MSEC), 0);
        }
        assert_return_code(kill(flooder, SIGKILL), errno);
        assert_return_code(waitpid(flooder, NULL, 0), errno);
        assert_int_equal(f->report.epoch, 9);
        assert_true(WIFEXITED(status));
        assert_in_range(WEXITSTATUS(status), 0, REPORTS / 10);
}

#define BUSY_MAX 1000 /* turns of something else */

static int on_busy(sd_event_source *source, uint64_t usec, void *userdata)
{
        unsigned *turns = userdata;

        (void)usec;
        assert_true(++*turns < BUSY_MAX);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

/* However busy the daemon is kept by others, say on its bus, both sockets have their turns. */
static void test_loop_is_never_idle(void **state)
{
        struct fixture *f = *state;
        sd_event_source *busy;
        unsigned turns = 0;
        char path[64];
        int own;

        assert_int_equal(sg_path_join(path, sizeof(path), f->dir, "own"), 0);
        assert_int_equal(sg_notify_socket_admit(f->socket, &f->key, path, geteuid()), 0);
        assert_true(sd_event_add_time(f->event, &busy, CLOCK_MONOTONIC, 0, 0, on_busy, &turns) >=
                    0);
        own = connect_to(path);
        assert_int_equal(send(own, "STEP=1", 6, MSG_DONTWAIT), 6);
        assert_int_equal(send(f->client, "EPOCH=2", 7, MSG_DONTWAIT), 7);
        while (f->messages < 2)
                assert_return_code(sd_event_run(f->event, 0), 0);
        assert_int_equal(f->report.step, 1);
        assert_int_equal(f->report.epoch, 2);
        sd_event_source_disable_unref(busy);
        (void)sg_close(own);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_own, setup, teardown),
                cmocka_unit_test_setup_teardown(test_own_users, setup, teardown),
                cmocka_unit_test_setup_teardown(test_flood_elsewhere, setup, teardown),
                cmocka_unit_test_setup_teardown(test_loop_is_never_idle, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
