/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What goes on to sd-bus, piece by piece; what doesn't; and what is charged for it meanwhile. */
#include "base/cleanup.h"
#include "edge/bus/intake.h"
#include "proto/names.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <sys/socket.h>

#define ALICE 1000
#define BOB 1001
#define CAROL 1002
#define KIB 1024U
#define MIB (1024U * KIB)
#define HEAD 16U

static const char hello[] = "\0AUTH EXTERNAL\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n";

/* One user's connection. */
struct line {
        int user, ours, bus;
        struct sg_intake *intake;
};

struct fixture {
        struct sg_ledger *ledger;
        struct line alice, bob;
};

static void line_open(struct line *l, struct sg_ledger *ledger, uid_t uid)
{
        int pair[2];

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair),
                         0);
        l->user = pair[0];
        l->ours = pair[1];
        assert_int_equal(sg_intake_new(&l->intake, ledger, uid, l->ours, &l->bus), 0);
}

static void line_close(struct line *l)
{
        sg_intake_free(l->intake);
        (void)sg_close(l->user);
        (void)sg_close(l->ours);
        (void)sg_close(l->bus);
}

static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        assert_non_null(f);
        assert_int_equal(sg_ledger_new(&f->ledger), 0);
        line_open(&f->alice, f->ledger, ALICE);
        line_open(&f->bob, f->ledger, BOB);
        *state = f;
        return 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        line_close(&f->alice);
        line_close(&f->bob);
        assert_int_equal(sg_ledger_held(f->ledger, ALICE, SG_CHARGE_REQUESTS), 0);
        assert_int_equal(sg_ledger_held(f->ledger, BOB, SG_CHARGE_REQUESTS), 0);
        sg_ledger_free(f->ledger);
        free(f);
        return 0;
}

static void say(struct line *l, const void *data, size_t size)
{
        assert_int_equal(send(l->user, data, size, MSG_NOSIGNAL), size);
}

/* The head of a message of that size in all. */
static void say_head(struct line *l, uint64_t size)
{
        uint8_t head[HEAD] = {'l', 1, 0, 1, 0, 0, 0, 0, 1};
        uint32_t body = (uint32_t)(size - HEAD - 8), fields = 5; /* filled up to 8 */

        memcpy(head + 4, &body, sizeof(body));
        memcpy(head + 12, &fields, sizeof(fields));
        say(l, head, sizeof(head));
}

static size_t arrived(struct line *l)
{
        char buf[64 * KIB];
        ssize_t n = recv(l->bus, buf, sizeof(buf), MSG_DONTWAIT);

        return n < 0 ? 0 : (size_t)n;
}

/* All that has been said goes on; what it comes to, and how it ended. */
static size_t pass_all(struct line *l, int *ret_end)
{
        size_t n = 0;

        while ((*ret_end = sg_intake_pass(l->intake)) == 0)
                n += arrived(l);
        return n;
}

static void assert_passes(struct line *l, size_t size)
{
        int end;

        assert_int_equal(pass_all(l, &end), size);
        assert_int_equal(end, -EAGAIN);
}

static void authenticate(struct line *l)
{
        say(l, hello, sizeof(hello) - 1);
        assert_passes(l, sizeof(hello) - 1);
        assert_true(sg_intake_is_between(l->intake));
}

static void test_text(void **state)
{
        struct fixture *f = *state;
        struct line *l = &f->alice;

        say(l, hello, 10);
        assert_passes(l, 10);
        assert_false(sg_intake_is_between(l->intake));
        say(l, hello + 10, sizeof(hello) - 14); /* up to BEGI */
        assert_passes(l, sizeof(hello) - 14);
        say(l, hello + sizeof(hello) - 4, 3);
        assert_passes(l, 3);
        assert_true(sg_intake_is_between(l->intake));
}

/* What comes right behind it is a message already. */
static void test_text_and_more(void **state)
{
        struct fixture *f = *state;
        int end;

        say(&f->alice, hello, sizeof(hello) - 1);
        say(&f->alice, "this is no message", 18);
        assert_int_equal(pass_all(&f->alice, &end), sizeof(hello) - 1);
        assert_int_equal(end, -EBADMSG);
}

static void test_text_without_end(void **state)
{
        struct fixture *f = *state;
        char text[8 * KIB];
        int end;

        memset(text, 'x', sizeof(text));
        say(&f->alice, text, sizeof(text));
        assert_true(pass_all(&f->alice, &end) <= 4 * KIB);
        assert_int_equal(end, -EPROTO);
}

static void test_messages(void **state)
{
        struct fixture *f = *state;
        struct line *l = &f->alice;
        char body[200] = "";

        authenticate(l);
        say_head(l, 100);
        assert_passes(l, 0); /* no more than the head is known */
        assert_false(sg_intake_is_between(l->intake));
        say(l, body, 84);
        assert_passes(l, 100);
        assert_true(sg_intake_is_between(l->intake));
        assert_int_equal(sg_intake_size(l->intake), 100);
        for (int i = 0; i < 3; i++) {
                say_head(l, 100 + (uint64_t)i);
                say(l, body, 84 + (size_t)i);
        }
        say_head(l, 50);
        assert_passes(l, 303);
        say(l, body, 34);
        assert_passes(l, 50);
        assert_int_equal(sg_ledger_held(f->ledger, ALICE, SG_CHARGE_REQUESTS), 0);
}

static void test_too_large(void **state)
{
        static const unsigned char huge[HEAD] = {'B', 1, 0, 1, 0xff, 0xff, 0xff, 0xff,
                                                 0,   0, 0, 1, 0xff, 0xff, 0xff, 0xff};
        struct fixture *f = *state;
        int end;

        authenticate(&f->alice);
        say_head(&f->alice, SG_SPEC_MAX + 2 * MIB);
        assert_int_equal(pass_all(&f->alice, &end), 0);
        assert_int_equal(end, -EMSGSIZE);
        authenticate(&f->bob);
        say(&f->bob, huge, sizeof(huge));
        assert_int_equal(pass_all(&f->bob, &end), 0);
        assert_int_equal(end, -EMSGSIZE);
}

/* A message that began is charged until it has ended. */
static void test_charged(void **state)
{
        struct fixture *f = *state;
        char body[4 * KIB] = "";

        authenticate(&f->alice);
        say_head(&f->alice, HEAD + sizeof(body));
        say(&f->alice, body, 100);
        assert_passes(&f->alice, HEAD + 100);
        assert_true(sg_intake_holds(f->alice.intake));
        assert_int_equal(sg_ledger_held(f->ledger, ALICE, SG_CHARGE_REQUESTS), HEAD + sizeof(body));
        say(&f->alice, body, sizeof(body) - 100);
        assert_passes(&f->alice, sizeof(body) - 100);
        assert_false(sg_intake_holds(f->alice.intake));
        assert_int_equal(sg_ledger_held(f->ledger, ALICE, SG_CHARGE_REQUESTS), 0);
}

/* For which there is no room: nothing of it is taken until there is. */
static void test_waits(void **state)
{
        struct fixture *f = *state;
        struct line other;
        char body[64 * KIB] = "";

        sg_ledger_bound(f->ledger, SG_CHARGE_REQUESTS, MIB, 2 * MIB);
        line_open(&other, f->ledger, ALICE);
        authenticate(&other);
        authenticate(&f->alice);
        say_head(&other, MIB - 32 * KIB);
        say(&other, body, 1);
        assert_passes(&other, HEAD + 1);
        say_head(&f->alice, HEAD + sizeof(body));
        say(&f->alice, body, sizeof(body));
        assert_int_equal(sg_intake_pass(f->alice.intake), SG_LEDGER_USER_FULL);
        assert_int_equal(sg_intake_pass(f->alice.intake), SG_LEDGER_USER_FULL);
        assert_int_equal(arrived(&f->alice), 0);
        assert_false(sg_intake_holds(f->alice.intake));
        line_close(&other);
        assert_passes(&f->alice, HEAD + sizeof(body));
}

/* Others may hold all that there is: a usual request of who holds nothing goes through. */
static void test_usual_requests(void **state)
{
        struct fixture *f = *state;
        char body[8 * KIB] = "";

        sg_ledger_bound(f->ledger, SG_CHARGE_REQUESTS, MIB, MIB);
        assert_int_equal(sg_ledger_book(f->ledger, CAROL, SG_CHARGE_REQUESTS, 2 * MIB), 0);
        authenticate(&f->alice);
        authenticate(&f->bob);
        say_head(&f->alice, HEAD + sizeof(body));
        say(&f->alice, body, sizeof(body));
        assert_passes(&f->alice, HEAD + sizeof(body));
        say_head(&f->bob, MIB);
        say(&f->bob, body, sizeof(body));
        assert_int_equal(sg_intake_pass(f->bob.intake), SG_LEDGER_FULL);
        sg_ledger_give(f->ledger, CAROL, SG_CHARGE_REQUESTS, 2 * MIB);
        assert_passes(&f->bob, HEAD + sizeof(body));
}

static void say_with_fds(struct line *l, const void *data, size_t size, unsigned n)
{
        _Alignas(struct cmsghdr) char control[CMSG_SPACE(16 * sizeof(int))] = {0};
        struct iovec iov = {(void *)data, size};
        struct msghdr m = {.msg_iov = &iov,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = CMSG_SPACE(n * sizeof(int))};
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);

        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(n * sizeof(int));
        for (unsigned i = 0; i < n; i++)
                memcpy(CMSG_DATA(c) + i * sizeof(int), &l->user, sizeof(int));
        assert_int_equal(sendmsg(l->user, &m, MSG_NOSIGNAL), size);
}

static unsigned arrived_fds(struct line *l, size_t size)
{
        _Alignas(struct cmsghdr) char control[CMSG_SPACE(16 * sizeof(int))];
        char buf[4 * KIB];
        struct iovec iov = {buf, sizeof(buf)};
        struct msghdr m = {.msg_iov = &iov,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof(control)};
        struct cmsghdr *c;
        unsigned n;
        int fd;

        assert_int_equal(recvmsg(l->bus, &m, MSG_CMSG_CLOEXEC), size);
        c = CMSG_FIRSTHDR(&m);
        n = c ? (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int)) : 0;
        for (unsigned i = 0; i < n; i++) {
                memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
                assert_return_code(fcntl(fd, F_GETFD), errno);
                (void)sg_close(fd);
        }
        return n;
}

static unsigned count_fds(void)
{
        unsigned n = 0;

        for (int fd = 0; fd < 256; fd++)
                n += fcntl(fd, F_GETFD) >= 0;
        return n;
}

static void test_descriptors(void **state)
{
        struct fixture *f = *state;
        unsigned before = count_fds();
        char body[84] = "";

        authenticate(&f->alice);
        say_head(&f->alice, 100);
        say_with_fds(&f->alice, body, sizeof(body), 2);
        assert_int_equal(sg_intake_pass(f->alice.intake), 0);
        assert_int_equal(arrived_fds(&f->alice, 100), 2);
        say_head(&f->alice, 100);
        say_with_fds(&f->alice, body, 1, 2);
        assert_passes(&f->alice, HEAD + 1);
        say_with_fds(&f->alice, body, 1, 1); /* more than any request has, a few at a time */
        assert_int_equal(sg_intake_pass(f->alice.intake), -EMSGSIZE);
        authenticate(&f->bob);
        say_with_fds(&f->bob, body, 1, 9);
        assert_int_equal(sg_intake_pass(f->bob.intake), -EMSGSIZE);
        line_close(&f->alice);
        line_close(&f->bob);
        line_open(&f->alice, f->ledger, ALICE);
        line_open(&f->bob, f->ledger, BOB);
        assert_int_equal(count_fds(), before);
}

static void test_end(void **state)
{
        struct fixture *f = *state;

        authenticate(&f->alice);
        say_head(&f->alice, 100);
        assert_int_equal(shutdown(f->alice.user, SHUT_WR), 0);
        assert_int_equal(sg_intake_pass(f->alice.intake), -ECONNRESET);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                T(test_text),     T(test_text_and_more),  T(test_text_without_end),
                T(test_messages), T(test_too_large),      T(test_charged),
                T(test_waits),    T(test_usual_requests), T(test_descriptors),
                T(test_end),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
