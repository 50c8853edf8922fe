/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The daemon's side of schedgov-launch; the test plays the launcher. */
#include "base/datagram.h"
#include "base/file.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "edge/start/launcher.h"
#include "proto/launch.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#define MANY 600 /* more than a socket takes */

struct fixture {
        char dir[32], socket[48];
        sd_event *event;
        struct sg_launcher *launcher;
        int listener, connection;
        unsigned calls;
        int result;
        pid_t pid;
        int gate[2];
};

static const struct sg_job_key key = {.origin = "host", .n = 12, .attempt = 3};

static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));
        struct sockaddr_un sa = {.sun_family = AF_UNIX};

        assert_non_null(f);
        *state = f;
        strcpy(f->dir, "/tmp/sg-launcher-XXXXXX");
        assert_non_null(mkdtemp(f->dir));
        assert_int_equal(sg_path_join(f->socket, sizeof(f->socket), f->dir, "launch"), 0);
        strcpy(sa.sun_path, f->socket);
        f->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        assert_return_code(bind(f->listener, (struct sockaddr *)&sa, sizeof(sa)), errno);
        assert_return_code(listen(f->listener, 8), errno);
        f->connection = -1;
        assert_int_equal(sd_event_new(&f->event), 0);
        assert_int_equal(sg_launcher_new(&f->launcher, f->event, "/bin/true", f->dir, f->socket),
                         0);
        assert_int_equal(
                socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, f->gate), 0);
        sg_log_set_level(LOG_EMERG);
        return 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        sg_launcher_free(f->launcher);
        sd_event_unref(f->event);
        (void)sg_close(f->connection);
        (void)sg_close(f->listener);
        (void)sg_close(f->gate[0]);
        (void)sg_close(f->gate[1]);
        assert_int_equal(sg_remove_tree(AT_FDCWD, f->dir), 0);
        free(f);
        return 0;
}

static void on_launched(int result, pid_t pid, int pidfd, void *userdata)
{
        struct fixture *f = userdata;

        f->calls++;
        f->result = result;
        f->pid = pid;
        assert_int_equal(pidfd >= 0, result >= 0);
        (void)sg_close(pidfd);
}

static int start_for(struct fixture *f, sg_launched_cb cb, void *userdata)
{
        const struct sg_launch launch = {
                .key = &key, .gate = f->gate[1], .cb = cb, .userdata = userdata};
        pid_t pid = 0;
        unsigned calls = f->calls;
        int r = sg_launcher_start(f->launcher, &launch, &pid);

        assert_int_equal(f->calls, calls);
        assert_int_equal(pid, 0);
        return r;
}

static int start(struct fixture *f)
{
        return start_for(f, on_launched, f);
}

/* Runs the loop until nothing happens at once. */
static void settle(struct fixture *f)
{
        while (sd_event_run(f->event, 20000) > 0)
                continue;
}

/* The launcher's side */

static uint64_t inode(int fd)
{
        struct stat st;

        assert_return_code(fstat(fd, &st), errno);
        return st.st_ino;
}

static void accept_it(struct fixture *f)
{
        (void)sg_close(f->connection);
        f->connection = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC);
        assert_true(f->connection >= 0);
}

static uint64_t take_request(struct fixture *f)
{
        struct sg_launch_request request;
        struct sg_datagram d;
        struct sg_job_key got;
        uint64_t id;

        assert_int_equal(sg_datagram_receive(f->connection, &request, sizeof(request), &d), 1);
        assert_false(d.cut);
        assert_int_equal(d.n_fds, 1);
        assert_int_equal(inode(d.fd), inode(f->gate[1]));
        (void)sg_close(d.fd);
        assert_int_equal(sg_launch_request_parse(&request, d.size, &id, &got), 0);
        assert_string_equal(got.origin, "host");
        assert_int_equal(got.n, 12);
        assert_int_equal(got.attempt, 3);
        return id;
}

static void answer(struct fixture *f, uint64_t id, int error)
{
        const struct sg_launch_answer a = {
                .magic = SG_LAUNCH_MAGIC, .id = id, .error = error, .pid = error ? 0 : 4711};
        _cleanup_close_ int pidfd = error ? -1 : (int)syscall(SYS_pidfd_open, getpid(), 0);

        assert_int_equal(sg_datagram_send(f->connection, &a, sizeof(a), pidfd), 0);
}

static void test_started(void **state)
{
        struct fixture *f = *state;

        assert_int_equal(start(f), 1);
        accept_it(f);
        answer(f, take_request(f), 0);
        settle(f);
        assert_int_equal(f->calls, 1);
        assert_int_equal(f->result, 0);
        assert_int_equal(f->pid, 4711);

        assert_int_equal(start(f), 1); /* over the same connection */
        answer(f, take_request(f), ENOENT);
        settle(f);
        assert_int_equal(f->calls, 2);
        assert_int_equal(f->result, -ENOENT);
        assert_int_equal(f->pid, -1);
}

/* The caller may close its end of the pair at once, and nobody here keeps the gate open. */
static void test_gate_is_let_go(void **state)
{
        struct fixture *f = *state;
        char c;

        assert_int_equal(start(f), 1);
        f->gate[1] = sg_close(f->gate[1]);
        accept_it(f);
        assert_int_equal(recv(f->gate[0], &c, 1, 0), -1);
        assert_int_equal(errno, EAGAIN);
        f->connection = sg_close(f->connection); /* with the request unread */
        assert_int_equal(recv(f->gate[0], &c, 1, 0), 0);
}

static void test_lost(void **state)
{
        struct fixture *f = *state;

        for (unsigned i = 0; i < 5; i++)
                assert_int_equal(start(f), 1);
        accept_it(f);
        (void)take_request(f);
        f->connection = sg_close(f->connection);
        settle(f);
        assert_int_equal(f->calls, 5);
        assert_int_equal(f->result, -ECONNRESET);

        assert_int_equal(start(f), 1);
        accept_it(f);
        answer(f, take_request(f), 0);
        settle(f);
        assert_int_equal(f->calls, 6);
        assert_int_equal(f->result, 0);
}

/* It went away while nothing was asked for: the first who asks doesn't notice. */
static void test_restarted(void **state)
{
        struct fixture *f = *state;

        assert_int_equal(start(f), 1);
        accept_it(f);
        answer(f, take_request(f), 0);
        settle(f);
        f->connection = sg_close(f->connection);
        assert_int_equal(start(f), 1);
        settle(f);
        accept_it(f);
        answer(f, take_request(f), 0);
        settle(f);
        assert_int_equal(f->calls, 2);
        assert_int_equal(f->result, 0);
}

static void test_not_there(void **state)
{
        struct fixture *f = *state;

        f->listener = sg_close(f->listener);
        assert_int_equal(start(f), -ECONNREFUSED);
        assert_int_equal(unlink(f->socket), 0);
        assert_int_equal(start(f), -ENOENT);
        settle(f);
        assert_int_equal(f->calls, 0);
}

/* What was not yet sent when it went away goes to the next one. */
static void test_burst(void **state)
{
        struct fixture *f = *state;
        unsigned sent = 0, after = 0;

        for (unsigned i = 0; i < MANY; i++)
                assert_int_equal(start(f), 1);
        settle(f);
        accept_it(f);
        for (; sent < 3; sent++)
                answer(f, take_request(f), 0);
        settle(f);
        assert_int_equal(f->calls, 3);
        f->connection = sg_close(f->connection);
        settle(f);
        assert_in_range(f->calls, 4, MANY - 1);
        assert_int_equal(f->result, -ECONNRESET);
        accept_it(f);
        while (f->calls < MANY) {
                answer(f, take_request(f), 0);
                settle(f);
                after++;
        }
        assert_int_equal(f->result, 0);
        assert_true(after > 100);
}

static void test_forget(void **state)
{
        struct fixture *f = *state, other = *f;
        uint64_t id;

        assert_int_equal(start_for(f, on_launched, &other), 1);
        assert_int_equal(start(f), 1);
        accept_it(f);
        id = take_request(f);
        sg_launcher_forget(f->launcher, &other);
        answer(f, id, 0); /* its pidfd is closed */
        answer(f, take_request(f), 0);
        settle(f);
        assert_int_equal(other.calls, 0);
        assert_int_equal(f->calls, 1);
        assert_int_equal(start_for(f, on_launched, &other), 1);
        f->launcher = sg_launcher_free(f->launcher);
        settle(f);
        assert_int_equal(other.calls, 0);
}

static void test_garbage(void **state)
{
        static const struct sg_launch_answer bad[] = {
                {.magic = 1, .id = 1, .error = 1},
                {.magic = SG_LAUNCH_MAGIC, .id = 0, .error = EBADMSG},
        };
        struct fixture *f = *state;

        for (unsigned i = 0; i < SG_ELEMENTSOF(bad) + 1; i++) {
                assert_int_equal(start(f), 1);
                accept_it(f);
                (void)take_request(f);
                if (i < SG_ELEMENTSOF(bad))
                        (void)sg_datagram_send(f->connection, &bad[i], sizeof(bad[i]), -1);
                else
                        (void)sg_datagram_send(f->connection, bad, sizeof(bad), f->gate[0]);
                settle(f);
                assert_int_equal(f->calls, i + 1);
                assert_int_equal(f->result, -ECONNRESET);
        }
        assert_int_equal(start(f), 1); /* a success without a pidfd is none */
        accept_it(f);
        (void)sg_datagram_send(f->connection,
                               &(struct sg_launch_answer){
                                       .magic = SG_LAUNCH_MAGIC, .id = take_request(f), .pid = 2},
                               sizeof(struct sg_launch_answer), -1);
        settle(f);
        assert_int_equal(f->result, -EBADMSG);
}

/* A callback that asks again, and one that lets go of the next. */
struct chain {
        struct fixture *f;
        struct chain *victim;
        unsigned calls;
        bool again;
};

static void on_chain(int result, pid_t pid, int pidfd, void *userdata)
{
        struct chain *c = userdata;

        (void)pid;
        assert_int_equal(result, -ECONNRESET);
        assert_int_equal(pidfd, -1);
        c->calls++;
        if (c->victim)
                sg_launcher_forget(c->f->launcher, c->victim);
        if (c->again)
                assert_int_equal(start(c->f), 1);
}

static void test_reentered(void **state)
{
        struct fixture *f = *state;
        struct chain last = {.f = f}, victim = {.f = f};
        struct chain first = {.f = f, .victim = &victim, .again = true};

        assert_int_equal(start_for(f, on_chain, &first), 1);
        assert_int_equal(start_for(f, on_chain, &victim), 1);
        assert_int_equal(start_for(f, on_chain, &last), 1);
        accept_it(f);
        f->connection = sg_close(f->connection);
        settle(f);
        assert_int_equal(first.calls, 1);
        assert_int_equal(victim.calls, 0);
        assert_int_equal(last.calls, 1);
        accept_it(f);
        answer(f, take_request(f), 0);
        settle(f);
        assert_int_equal(f->calls, 1);
}

/* One that hears and doesn't answer. */
static void test_timeout(void **state)
{
        struct fixture *f = *state;
        uint64_t begin = sg_now_monotonic_usec(), took;

        assert_int_equal(start(f), 1);
        while (f->calls == 0)
                assert_return_code(sd_event_run(f->event, UINT64_MAX), 0);
        took = sg_now_monotonic_usec() - begin;
        assert_int_equal(f->result, -ETIMEDOUT);
        assert_in_range(took, 10 * SG_USEC_PER_SEC, 30 * SG_USEC_PER_SEC);
        accept_it(f);
        answer(f, take_request(f), 0); /* too late */
        settle(f);
        assert_int_equal(f->calls, 1);
}

static void test_own_fork(void **state)
{
        struct fixture *f = *state;
        struct sg_launch launch = {.key = &key, .gate = f->gate[1], .cb = on_launched};
        pid_t pid = 0;
        int status;

        sg_launcher_free(f->launcher);
        assert_int_equal(sg_launcher_new(&f->launcher, f->event, "/bin/true", f->dir, NULL), 0);
        assert_int_equal(sg_launcher_start(f->launcher, &launch, &pid), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        sg_launcher_free(f->launcher);
        assert_int_equal(sg_launcher_new(&f->launcher, f->event, "/nonexistent", f->dir, NULL), 0);
        assert_int_equal(sg_launcher_start(f->launcher, &launch, &pid), -ENOENT);
        assert_int_equal(f->calls, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
        static const struct CMUnitTest tests[] = {
                TEST(test_started),   TEST(test_gate_is_let_go), TEST(test_lost),
                TEST(test_restarted), TEST(test_not_there),      TEST(test_burst),
                TEST(test_forget),    TEST(test_garbage),        TEST(test_reentered),
                TEST(test_timeout),   TEST(test_own_fork),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
