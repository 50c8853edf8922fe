/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NOTIFY_SOCKET, with a real socket, real processes and the real systemd-notify. */
#include "base/datagram.h"
#include "base/file.h"
#include "base/time-util.h"
#include "edge/channel/notify-internal.h"
#include "tests/unit/edge/channel/notify_fixture.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

/* Lines of /proc/self/cgroup. */
static void own_group(const char *prefix, char *buf, size_t size)
{
        _cleanup_free_ char *text = NULL;
        char *p, *line;

        *buf = '\0';
        assert_int_equal(sg_read_file(AT_FDCWD, "/proc/self/cgroup", 65536, &text, NULL), 0);
        p = text;
        while ((line = strsep(&p, "\n"))) {
                char *rest = strchr(line, ':');

                if (rest && strncmp(rest, prefix, strlen(prefix)) == 0)
                        (void)snprintf(buf, size, "%s", rest + strlen(prefix));
        }
}

static void test_message(void **state)
{
        struct fixture *f = *state;
        char group[4096], group_v1[4096];

        send_text(f, "SCHEDGOV_EVAL=0.25\nSTEP=3\nTOTAL_STEPS=10\nSTATUS=going on\n");
        assert_int_equal(f->messages, 1);
        assert_int_equal(f->got_key.n, 7);
        assert_int_equal(f->got.report.has, SG_REPORT_EVAL | SG_REPORT_STEP | SG_REPORT_TOTAL);
        assert_true(f->got.report.eval == 0.25);
        assert_int_equal(f->got.report.step, 3);
        assert_string_equal(f->got.status, "going on");
        assert_int_equal(f->sender.pid, getpid());
        assert_int_equal(f->sender.uid, getuid());
        own_group("::", group, sizeof(group));
        own_group(":memory:", group_v1, sizeof(group_v1));
        assert_string_equal(f->group, group);
        assert_string_equal(f->group_v1, group_v1);
        assert_true(*group || *group_v1);
}

static void test_mode(void **state)
{
        struct fixture *f = *state;
        struct stat st;

        assert_return_code(lstat(f->path, &st), errno);
        assert_true(S_ISSOCK(st.st_mode));
        assert_int_equal(st.st_mode & 0777, 0666);
}

/* A stale socket is replaced; what isn't possible is said. */
static void test_paths(void **state)
{
        struct fixture *f = *state;
        struct sg_notify_socket_options o = {.lookup = lookup, .on_message = on_message};
        struct sg_notify_socket *second = NULL;
        char path[256];

        memset(path, 'x', sizeof(path) - 1);
        path[sizeof(path) - 1] = '\0';
        o.path = path;
        assert_int_equal(sg_notify_socket_new(&second, f->event, &o), -ENAMETOOLONG);
        o.path = "/tmp/sg-not-there/notify";
        assert_int_equal(sg_notify_socket_new(&second, f->event, &o), -ENOENT);
        assert_null(second);
        o.path = f->path;
        assert_int_equal(sg_notify_socket_new(&second, f->event, &o), 0);
        second = sg_notify_socket_free(second);
}

/* Who sent is looked up once a second, and again when the job has ended. */
static void test_kept(void **state)
{
        struct fixture *f = *state;

        for (unsigned i = 0; i < 5; i++)
                send_text(f, "STEP=1");
        assert_in_range(f->lookups, 1, 3); /* a second may go by */
        unsigned before = f->lookups;
        sg_notify_socket_forget(f->socket, &f->key);
        f->who = SG_NOTIFY_NOBODY;
        send_text(f, "STEP=1");
        assert_true(f->lookups > before);
        assert_int_equal(f->messages, 5);
}

/* Nobody's, too large, empty, with fields that can't be: no harm to what follows. */
static void test_bad(void **state)
{
        struct fixture *f = *state;
        char large[5000];

        f->who = SG_NOTIFY_NOBODY;
        send_text(f, "STEP=1");
        assert_int_equal(f->messages, 0);
        f->who = SG_NOTIFY_JOB;
        sg_notify_socket_forget(f->socket, &f->key);
        memset(large, 'x', sizeof(large) - 1);
        large[sizeof(large) - 1] = '\0';
        send_text(f, large);
        assert_int_equal(f->messages, 0);
        uint64_t until = sg_now_monotonic_usec() + 1100 * SG_USEC_PER_MSEC;
        while (sg_now_monotonic_usec() < until) /* that it is nobody's is kept for a second */
                assert_return_code(sd_event_run(f->event, 10 * SG_USEC_PER_MSEC), 0);
        send_text(f, "STEP=x\nEPOCH=4");
        assert_int_equal(f->messages, 1);
        assert_int_equal(f->got.report.has, SG_REPORT_EPOCH);
        assert_int_equal(f->got.n_bad, 1);
        assert_return_code(send(f->client, "", 0, 0), errno);
        run_until_received(f);
        send_text(f, "STEP=2");
        assert_int_equal(f->got.report.step, 2);
}

/* What BARRIER=1 waits for: its pipe closes when all before it is handled; and fds that come with
 * anything else don't stay open either, nor are they open for a moment. */
static void test_fds(void **state)
{
        struct fixture *f = *state;
        unsigned before = open_fds();
        int p[2];
        char c;

        assert_return_code(pipe2(p, O_CLOEXEC | O_NONBLOCK), errno);
        assert_int_equal(sg_datagram_send(f->client, "STEP=1", 6, -1), 0);
        assert_int_equal(sg_datagram_send(f->client, "BARRIER=1", 9, p[1]), 0);
        (void)sg_close(p[1]);
        assert_int_equal(read(p[0], &c, 1), -1);
        assert_int_equal(errno, EAGAIN);
        run_until_received(f);
        assert_int_equal(read(p[0], &c, 1), 0);
        assert_int_equal(f->report.step, 1);
        (void)sg_close(p[0]);

        f->count_fds = true;
        for (unsigned i = 0; i < 5; i++)
                assert_int_equal(sg_datagram_send(f->client, "STEP=2", 6, STDIN_FILENO), 0);
        run_until_received(f);
        assert_int_equal(open_fds(), before);
        assert_int_equal(f->fds, before); /* they were never ours: to close one may take forever */
}

static pid_t start(const struct fixture *f, const char *const argv[])
{
        pid_t pid = fork();

        if (pid == 0) {
                (void)setenv("NOTIFY_SOCKET", f->path, 1);
                execvp(argv[0], (char **)argv);
                _exit(127);
        }
        assert_return_code(pid, errno);
        return pid;
}

/* The program as it is shipped, which waits until it was heard. */
static void run_program(struct fixture *f, const char *const argv[])
{
        pid_t pid = start(f, argv);
        uint64_t end = sg_now_monotonic_usec() + PATIENCE_USEC;
        int status;

        while (waitpid(pid, &status, WNOHANG) == 0) {
                assert_true(sg_now_monotonic_usec() < end);
                assert_return_code(sd_event_run(f->event, 5 * SG_USEC_PER_MSEC), 0);
        }
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_systemd_notify(void **state)
{
        struct fixture *f = *state;

        run_program(f, (const char *const[]){"systemd-notify", "SCHEDGOV_EVAL=0.5", "STEP=3",
                                             "TOTAL_STEPS=10", NULL});
        assert_true(f->report.eval == 0.5);
        assert_int_equal(f->report.step, 3);
        assert_int_equal(f->report.total, 10);
        run_program(f, (const char *const[]){"systemd-notify", "--status=half way", NULL});
        assert_int_equal(f->messages, 4); /* each with its barrier */
}

/* Of an unprivileged user, whose sender can't be anybody else's name. */
static void test_systemd_notify_user(void **state)
{
        struct fixture *f = *state;

        if (geteuid() != 0) {
                print_message("not root: the user is the one that runs this test\n");
                return;
        }
        run_program(f, (const char *const[]){"setpriv", "--reuid=65534", "--regid=65534",
                                             "--clear-groups", "systemd-notify", "EPOCH=3", NULL});
        assert_int_equal(f->report.epoch, 3);
        assert_int_equal(f->sender.uid, 65534);
}

/* --- signals --- */

static volatile sig_atomic_t got_signal;

static void on_signal(int signal)
{
        got_signal = signal;
}

static void test_signal(void **state)
{
        struct fixture *f = *state;

        (void)signal(SIGUSR1, on_signal);
        (void)signal(SIGWINCH, on_signal);
        assert_int_equal(sg_notify_socket_signal(f->socket, &f->key), 0);
        send_text(f, "SCHEDGOV_ALLOCATION_SIGNAL=USR1");
        assert_int_equal(sg_notify_socket_signal(f->socket, &f->key), 1);
        assert_int_equal(got_signal, SIGUSR1);
        send_text(f, "SCHEDGOV_ALLOCATION_SIGNAL=WINCH");
        assert_int_equal(sg_notify_socket_signal(f->socket, &f->key), 1);
        assert_int_equal(got_signal, SIGWINCH);
        got_signal = 0;
        send_text(f, "SCHEDGOV_ALLOCATION_SIGNAL=0");
        assert_int_equal(sg_notify_socket_signal(f->socket, &f->key), 0);

        send_text(f, "SCHEDGOV_ALLOCATION_SIGNAL=KILL");
        f->who = SG_NOTIFY_KEEPER;
        sg_notify_socket_forget(f->socket, &f->key);
        send_text(f, "SCHEDGOV_ALLOCATION_SIGNAL=USR1");
        assert_int_equal(sg_notify_socket_signal(f->socket, &f->key), 0);

        f->who = SG_NOTIFY_JOB;
        send_text(f, "SCHEDGOV_ALLOCATION_SIGNAL=USR1");
        sg_notify_socket_forget(f->socket, &f->key);
        assert_int_equal(sg_notify_socket_signal(f->socket, &f->key), 0);
        assert_int_equal(got_signal, 0);
}

static int pidfd_of(pid_t pid)
{
        int fd = (int)syscall(SYS_pidfd_open, pid, 0);

        assert_return_code(fd, errno);
        return fd;
}

/* Sleeps until it is killed. */
static pid_t sleeper(void)
{
        pid_t pid = fork();

        if (pid == 0)
                for (;;)
                        pause();
        assert_return_code(pid, errno);
        return pid;
}

/* So many per job and no more, and those that have gone make room. */
static void test_signal_bounds(void **state)
{
        struct sg_notify_wishes w = {0};
        struct sg_job_key key = {.origin = "host", .n = 1, .attempt = 1}, other = key;
        pid_t pids[SG_SIGNALLED_PER_JOB];
        unsigned before = open_fds();

        (void)state;
        other.n = 2;
        for (size_t i = 0; i < SG_SIGNALLED_PER_JOB; i++) {
                pids[i] = sleeper();
                assert_int_equal(
                        sg_notify_wishes_set(&w, &key, pids[i], pidfd_of(pids[i]), SIGCONT), 0);
        }
        (void)signal(SIGCONT, SIG_DFL);
        assert_int_equal(sg_notify_wishes_set(&w, &key, getpid(), pidfd_of(getpid()), SIGCONT),
                         -ENOSPC);
        assert_int_equal(sg_notify_wishes_set(&w, &other, getpid(), pidfd_of(getpid()), SIGCONT),
                         0);
        assert_int_equal(sg_notify_wishes_fulfil(&w, &key), SG_SIGNALLED_PER_JOB);
        assert_return_code(kill(pids[3], SIGKILL), errno);
        assert_return_code(waitpid(pids[3], NULL, 0), errno);
        assert_int_equal(sg_notify_wishes_set(&w, &key, getpid(), pidfd_of(getpid()), SIGCONT), 0);
        assert_int_equal(sg_notify_wishes_fulfil(&w, &key), SG_SIGNALLED_PER_JOB);
        assert_return_code(kill(pids[4], SIGKILL), errno);
        assert_return_code(waitpid(pids[4], NULL, 0), errno);
        assert_int_equal(sg_notify_wishes_fulfil(&w, &key), SG_SIGNALLED_PER_JOB - 1);
        sg_notify_wishes_forget(&w, &key);
        assert_int_equal(w.n, 1);
        sg_notify_wishes_deinit(&w);
        for (size_t i = 0; i < SG_SIGNALLED_PER_JOB; i++)
                if (i != 3 && i != 4) {
                        assert_return_code(kill(pids[i], SIGKILL), errno);
                        assert_return_code(waitpid(pids[i], NULL, 0), errno);
                }
        assert_int_equal(open_fds(), before);
}

/* --- floods --- */

static int on_tick(sd_event_source *s, uint64_t usec, void *userdata)
{
        uint64_t *ticks = userdata;

        (*ticks)++;
        (void)sd_event_source_set_time(s, usec + 1000);
        return sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
}

static uint64_t cpu_usec(void)
{
        struct timespec t;

        assert_return_code(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), errno);
        return (uint64_t)t.tv_sec * SG_USEC_PER_SEC + (uint64_t)t.tv_nsec / 1000;
}

/*
 * While one job sends as fast as it can, the rest of the daemon goes on, and another's report
 * arrives. The daemon's own CPU time is a small part of what goes by.
 */
static void test_flood(void **state)
{
        struct fixture *f = *state;
        _cleanup_(sd_event_source_unrefp) sd_event_source *timer = NULL;
        uint64_t ticks = 0, begin = sg_now_monotonic_usec(), cpu = cpu_usec();
        pid_t other, flooder = flood(f);

        assert_int_equal(
                sd_event_add_time(f->event, &timer, CLOCK_MONOTONIC, begin, 0, on_tick, &ticks), 0);
        run_until(f, &ticks, 300);
        cpu = cpu_usec() - cpu;
        begin = sg_now_monotonic_usec() - begin;
        print_message("flood: %.0f datagrams/s, %.1f %% of a CPU, %.0f timer events/s\n",
                      (double)f->messages * 1e6 / (double)begin,
                      100.0 * (double)cpu / (double)begin, (double)ticks * 1e6 / (double)begin);
        assert_true(cpu < begin / 4); /* the timer's part is in it, and sanitizers' */

        other = start(f, (const char *const[]){"systemd-notify", "EPOCH=9", NULL});
        uint64_t end = sg_now_monotonic_usec() + PATIENCE_USEC;
        while (f->report.epoch != 9) {
                assert_true(sg_now_monotonic_usec() < end);
                assert_return_code(sd_event_run(f->event, 100 * SG_USEC_PER_MSEC), 0);
        }
        assert_return_code(kill(flooder, SIGKILL), errno);
        assert_return_code(waitpid(flooder, NULL, 0), errno);
        int status;
        while (waitpid(other, &status, WNOHANG) == 0) {
                assert_true(sg_now_monotonic_usec() < end);
                assert_return_code(sd_event_run(f->event, 5 * SG_USEC_PER_MSEC), 0);
        }
        assert_int_equal(status, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_message, setup, teardown),
                cmocka_unit_test_setup_teardown(test_mode, setup, teardown),
                cmocka_unit_test_setup_teardown(test_paths, setup, teardown),
                cmocka_unit_test_setup_teardown(test_kept, setup, teardown),
                cmocka_unit_test_setup_teardown(test_bad, setup, teardown),
                cmocka_unit_test_setup_teardown(test_fds, setup, teardown),
                cmocka_unit_test_setup_teardown(test_systemd_notify, setup, teardown),
                cmocka_unit_test_setup_teardown(test_systemd_notify_user, setup, teardown),
                cmocka_unit_test_setup_teardown(test_signal, setup, teardown),
                cmocka_unit_test(test_signal_bounds),
                cmocka_unit_test_setup_teardown(test_flood, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
