/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where shims come back: who is wanted stays, others are hung up on, and all have their turn. */
#include "base/datagram.h"
#include "base/file.h"
#include "edge/start/gate-socket.h"
#include "tests/unit/test.h"

#include <sys/socket.h>
#include <unistd.h>

#define BUSY_MAX 1000 /* turns of something else */

struct fixture {
        char dir[32];
        sd_event *event;
        struct sg_gate_socket *socket;
        bool wanted;
        int kept;
        unsigned came, turns;
};

static bool on_shim(int fd, pid_t pid, uid_t uid, void *userdata)
{
        struct fixture *f = userdata;

        assert_int_equal(pid, getpid());
        assert_int_equal(uid, geteuid());
        f->came++;
        if (f->wanted)
                f->kept = fd;
        return f->wanted;
}

static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        assert_non_null(f);
        strcpy(f->dir, "/tmp/sg-gate-XXXXXX");
        assert_non_null(mkdtemp(f->dir));
        assert_int_equal(sd_event_new(&f->event), 0);
        assert_int_equal(sg_gate_socket_new(&f->socket, f->event, f->dir, on_shim, f), 0);
        f->kept = -1;
        *state = f;
        return 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        (void)sg_close(f->kept);
        sg_gate_socket_free(f->socket);
        sd_event_unref(f->event);
        assert_int_equal(rmdir(f->dir), 0); /* its socket has gone */
        free(f);
        return 0;
}

static int come(const struct fixture *f)
{
        int fd = sg_socket_connect(sg_gate_socket_path(f->socket));

        assert_return_code(fd, -fd);
        return fd;
}

static void run_until_came(struct fixture *f, unsigned n)
{
        while (f->came < n)
                assert_true(sd_event_run(f->event, 0) >= 0);
}

static void test_who_stays(void **state)
{
        struct fixture *f = *state;
        _cleanup_close_ int stranger = come(f), shim = -1;
        char byte = 0;

        run_until_came(f, 1);
        assert_int_equal(recv(stranger, &byte, 1, MSG_DONTWAIT), 0);
        f->wanted = true;
        shim = come(f);
        run_until_came(f, 2);
        assert_int_equal(send(f->kept, "x", 1, MSG_DONTWAIT), 1);
        assert_int_equal(recv(shim, &byte, 1, MSG_DONTWAIT), 1);
        assert_int_equal(byte, 'x');
}

static int on_busy(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct fixture *f = userdata;

        (void)usec;
        assert_true(++f->turns < BUSY_MAX);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

/* … as a bus is that somebody keeps asking. */
static void test_loop_is_never_idle(void **state)
{
        struct fixture *f = *state;
        sd_event_source *busy;
        _cleanup_close_ int shim = come(f);

        assert_true(sd_event_add_time(f->event, &busy, CLOCK_MONOTONIC, 0, 0, on_busy, f) >= 0);
        run_until_came(f, 1);
        sd_event_source_disable_unref(busy);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        const struct CMUnitTest tests[] = {TEST(test_who_stays), TEST(test_loop_is_never_idle)};

        return cmocka_run_group_tests(tests, NULL, NULL);
}
