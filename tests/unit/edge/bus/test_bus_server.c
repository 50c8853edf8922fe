/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bus server and its clients on one event loop: clients that behave, by sd-bus, and clients
 * that don't, by hand.
 */
#include "tests/unit/edge/bus/fixture.h"

/* Clients that behave */

static void test_service(void **state)
{
        _cleanup_close_ int own = (int)syscall(SYS_pidfd_open, getpid(), 0);
        struct fixture *f = *state;
        sd_bus *a = open_client(f), *b = open_client(f);
        struct sg_client *c;
        struct stat st;

        assert_int_equal(stat(f->path, &st), 0);
        assert_true(S_ISSOCK(st.st_mode));
        assert_int_equal(st.st_mode & 0777, 0666);
        echo(f, a, "first");
        echo(f, b, "second");
        echo(f, a, "third");
        assert_int_equal(n_clients(f), 2);
        c = last_client(f);
        assert_int_equal(c->caller.uid, getuid());
        assert_true(sg_caller_is_process(&c->caller, own));
        close_client(a);
        wait_until(f, f->disconnected == 1);
        echo(f, b, "fourth");
        close_client(b);
        wait_until(f, n_clients(f) == 0);
}

static void test_refused_by_the_owner(void **state)
{
        struct fixture *f = *state;
        sd_bus *bus;

        f->refuse = true;
        bus = open_client(f);
        wait_until(f, f->disconnected == 1);
        assert_int_equal(n_clients(f), 0);
        close_client(bus);
        f->refuse = false;
        assert_others_are_served(f);
}

static void test_freed_with_clients(void **state)
{
        struct fixture *f = *state;
        sd_bus *a = open_client(f), *b = open_client(f);

        echo(f, a, "x");
        echo(f, b, "x");
        f->server = sg_bus_server_free(f->server);
        assert_int_equal(f->disconnected, 2);
        assert_int_equal(access(f->path, F_OK), -1);
        close_client(a);
        close_client(b);
}

static void test_paths(void **state)
{
        struct fixture *f = *state;
        struct sg_bus_server *other = NULL;
        char longer[200];

        memset(longer, 'x', sizeof(longer) - 1);
        longer[sizeof(longer) - 1] = 0;
        assert_int_equal(new_server(f, longer, &other), -ENAMETOOLONG);
        assert_int_equal(new_server(f, "/no/such/bus", &other), -ENOENT);
        assert_null(other);

        /* A socket that a daemon left behind when it was killed. */
        assert_int_equal(new_server(f, f->path, &other), 0);
        assert_others_are_served(f);
        sg_bus_server_free(other);
}

/* Clients that don't */

static int open_raw(const char *path)
{
        struct sockaddr_un sa = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        strcpy(sa.sun_path, path);
        if (fd >= 0 && connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
                return sg_close(fd);
        return fd;
}

static void send_raw(int fd, const void *data, size_t size)
{
        assert_int_equal(send(fd, data, size, MSG_NOSIGNAL), size);
}

static const char hello[] = "\0AUTH EXTERNAL\r\nDATA\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n";

static void authenticate_raw(struct fixture *f, int fd)
{
        send_raw(fd, hello, sizeof(hello) - 1);
        wait_until(f, n_clients(f) > 0);
        wait_until(f, sd_bus_is_ready(last_client(f)->bus) > 0);
}

static bool is_closed(int fd)
{
        char buf[4096];
        ssize_t n;

        while ((n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
                ;
        return n == 0 || (errno != EAGAIN && errno != EINTR);
}

static void test_garbage(void **state)
{
        static const char not_auth[] = "\0GET / HTTP/1.1\r\nHost: here\r\n\r\n",
                          not_nul[] = "AUTH EXTERNAL\r\n", not_message[64] = "x";
        struct fixture *f = *state;
        sd_bus *bystander = open_client(f);
        _cleanup_close_ int a = open_raw(f->path), b = open_raw(f->path), c = -1;
        char noise[MIB / 4];

        echo(f, bystander, "before");
        send_raw(a, not_nul, sizeof(not_nul) - 1);
        wait_until(f, is_closed(a));
        memset(noise, 0xa5, sizeof(noise)); /* no end of a line */
        noise[0] = 0;
        (void)!send(b, noise, sizeof(noise), MSG_NOSIGNAL | MSG_DONTWAIT);
        wait_until(f, is_closed(b));

        c = open_raw(f->path);
        drain(f);
        authenticate_raw(f, c);
        send_raw(c, not_message, sizeof(not_message));
        wait_until(f, is_closed(c));

        c = (sg_close(c), open_raw(f->path));
        send_raw(c, not_auth, sizeof(not_auth) - 1); /* refused, and may try again */
        drain(f);
        assert_int_equal(n_clients(f), 2);
        echo(f, bystander, "after");
        assert_others_are_served(f);
        close_client(bystander);
}

/* A message whose head promises more than D-Bus allows, or than it then sends. */
static void test_absurd_sizes(void **state)
{
        static const unsigned char huge[16] = {'l', 1, 0, 1, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0},
                                   large[16] = {'l', 1, 0, 1, 0, 0, 0, 7, 1, 0, 0, 0};
        struct fixture *f = *state;
        _cleanup_close_ int a = open_raw(f->path), b = -1;

        authenticate_raw(f, a);
        send_raw(a, huge, sizeof(huge));
        wait_until(f, is_closed(a));
        b = open_raw(f->path);
        authenticate_raw(f, b);
        send_raw(b, large, sizeof(large)); /* 112 MiB are announced */
        wait_until(f, is_closed(b));
        assert_others_are_served(f);
}

static unsigned count_in(int fd, const char *what)
{
        char text[4096] = "", *p = text;
        unsigned n = 0;

        assert_true(pread(fd, text, sizeof(text) - 1, 0) >= 0);
        while ((p = strstr(p, what))) {
                p += strlen(what);
                n++;
        }
        return n;
}

/* Whoever is dropped again and again fills no log. */
static void test_told_once(void **state)
{
        static const unsigned char large[16] = {'l', 1, 0, 1, 0, 0, 0, 7, 1, 0, 0, 0};
        struct fixture *f = *state;
        _cleanup_close_ int log = memfd_create("log", MFD_CLOEXEC);
        _cleanup_close_ int before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);

        sg_log_set_level(LOG_NOTICE);
        assert_return_code(dup2(log, STDERR_FILENO), errno);
        for (int i = 0; i < 3; i++) {
                _cleanup_close_ int fd = open_raw(f->path);

                authenticate_raw(f, fd);
                send_raw(fd, large, sizeof(large));
                wait_until(f, is_closed(fd));
        }
        assert_return_code(dup2(before, STDERR_FILENO), errno);
        assert_int_equal(f->disconnected, 3);
        assert_int_equal(count_in(log, "too large"), 1);
}

/* Who sees the ends of messages elsewhere than sd-bus could let it take in what nobody has looked
 * at: text behind BEGIN before authentication, in what looks like a message. */
static void test_text_in_disguise(void **state)
{
        static const char before[] = "\0BEGIN\r\n";
        static const unsigned char head[16] = {'l', 1, 0, 1, 0, 1, 0, 0, 1};
        struct fixture *f = *state;
        _cleanup_close_ int a = open_raw(f->path);

        send_raw(a, before, sizeof(before) - 1);
        send_raw(a, head, sizeof(head));
        send_raw(a, hello + 1, sizeof(hello) - 2);
        wait_until(f, is_closed(a));
        assert_others_are_served(f);
}

/* … or what is no message inside, of the right size. */
static void test_no_message_inside(void **state)
{
        static const unsigned char nothing[64] = {'l', 1, 0, 1, 16, 0, 0, 0, 1, 0, 0, 0, 32};
        struct fixture *f = *state;
        _cleanup_close_ int a = open_raw(f->path);

        authenticate_raw(f, a);
        send_raw(a, nothing, sizeof(nothing));
        wait_until(f, is_closed(a));
        assert_int_equal(f->calls, 0);
        assert_others_are_served(f);
}

static void test_never_authenticates(void **state)
{
        struct fixture *f = *state;
        uint64_t begin = sg_now_monotonic_usec(), took;
        sd_bus *bystander = open_client(f);
        _cleanup_close_ int silent = open_raw(f->path), half = open_raw(f->path);

        send_raw(half, "\0AUTH EXT", 9);
        echo(f, bystander, "x");
        wait_until(f, n_clients(f) == 3);
        wait_until(f, n_clients(f) == 1);
        took = sg_now_monotonic_usec() - begin;
        assert_in_range(took, 4900000, 20000000);
        assert_true(is_closed(silent));
        assert_true(is_closed(half));
        echo(f, bystander, "y"); /* who was quick stays */
        close_client(bystander);
}

/* One that has begun and doesn't end goes; who waited for its room gets it. */
static void test_unfinished_message(void **state)
{
        static const unsigned char head[32] = {'l', 1, 0, 1, 0, 0, 8, 0, 1, 0, 0, 0};
        struct fixture *f = *state;
        _cleanup_close_ int a = open_raw(f->path), b = -1;
        uint64_t begin = sg_now_monotonic_usec();

        sg_ledger_bound(f->ledger, SG_CHARGE_REQUESTS, MIB, MIB); /* one of 512 KiB, and no other */
        authenticate_raw(f, a);
        send_raw(a, head, sizeof(head));
        wait_until(f, sg_ledger_held(f->ledger, getuid(), SG_CHARGE_REQUESTS) > 0);
        b = open_raw(f->path);
        authenticate_raw(f, b);
        send_raw(b, head, sizeof(head));
        drain(f);
        assert_others_are_served(f);
        assert_false(is_closed(a));
        wait_until(f, is_closed(a));
        assert_true(sg_now_monotonic_usec() - begin >= 9900000);
        assert_false(is_closed(b));
        assert_others_are_served(f);
}

/* One that goes on arriving stays, however long all of it takes. */
static void test_slow_message(void **state)
{
        /* 4 MiB and 1 KiB of fields */
        static const unsigned char large[16] = {'l', 1, 0, 1, 0, 0, 64, 0, 1, 0, 0, 0, 0, 4},
                                   small[32] = {'l', 1, 0, 1, 0, 0, 8, 0, 1, 0, 0, 0};
        static const char part[64 * 1024];
        struct fixture *f = *state;
        _cleanup_close_ int a = open_raw(f->path), b = -1;

        authenticate_raw(f, a);
        send_raw(a, large, sizeof(large));
        wait_until(f, sg_ledger_held(f->ledger, getuid(), SG_CHARGE_REQUESTS) > 0);
        b = open_raw(f->path);
        authenticate_raw(f, b);
        send_raw(b, small, sizeof(small)); /* nothing more comes of this one */
        for (size_t sent = 0; sent < MIB + MIB / 2; sent += sizeof(part)) {
                send_raw(a, part, sizeof(part));
                drain(f);
        }
        wait_until(f, is_closed(b));
        drain(f);
        assert_false(is_closed(a));
        assert_others_are_served(f);
}

/* Limits */

/* As many connections as it can get, each of which authenticates, as its time would be over else;
 * says "K" once the surplus has been closed, and goes when told. */
static void child_main(const char *path, int say, int go)
{
        struct pollfd fds[PER_USER + TRY_MORE];
        unsigned closed = 0;
        char byte;

        if (setgroups(0, NULL) < 0 || setresgid(12345, 12345, 12345) < 0 ||
            setresuid(12345, 12345, 12345) < 0)
                _exit(1);
        for (size_t i = 0; i < SG_ELEMENTSOF(fds); i++) {
                fds[i] = (struct pollfd){.fd = open_raw(path), .events = POLLIN};
                if (fds[i].fd < 0)
                        _exit(2);
                (void)!send(fds[i].fd, hello, sizeof(hello) - 1, MSG_NOSIGNAL);
        }
        while (closed < TRY_MORE) {
                if (poll(fds, SG_ELEMENTSOF(fds), -1) < 0)
                        _exit(3);
                for (size_t i = 0; i < SG_ELEMENTSOF(fds); i++)
                        if (fds[i].revents && is_closed(fds[i].fd)) {
                                fds[i].fd = sg_close(fds[i].fd);
                                closed++;
                        }
        }
        if (write(say, "K", 1) != 1)
                _exit(4);
        (void)!read(go, &byte, 1);
        _exit(closed == TRY_MORE ? 0 : 5);
}

/* Who waits behind others to be accepted doesn't wait for as many turns. */
static void test_accepted_together(void **state)
{
        struct fixture *f = *state;
        int fds[16];

        for (unsigned i = 0; i < SG_ELEMENTSOF(fds); i++)
                fds[i] = open_raw(f->path);
        assert_true(sd_event_run(f->event, SG_USEC_PER_SEC) > 0);
        assert_int_equal(f->connected, SG_ELEMENTSOF(fds));
        for (unsigned i = 0; i < SG_ELEMENTSOF(fds); i++)
                (void)sg_close(fds[i]);
        wait_until(f, n_clients(f) == 0);
}

/* Those that have gone take no places, be it that the next one comes before anybody has looked. */
static void test_places_of_the_gone(void **state)
{
        struct fixture *f = *state;
        int fds[16];

        sg_ledger_bound(f->ledger, SG_CHARGE_CONNECTIONS, SG_ELEMENTSOF(fds), SG_ELEMENTSOF(fds));
        for (unsigned i = 0; i < SG_ELEMENTSOF(fds); i++) {
                fds[i] = open_raw(f->path);
                authenticate_raw(f, fds[i]);
        }
        drain(f);
        assert_int_equal(n_clients(f), SG_ELEMENTSOF(fds));
        for (unsigned i = 0; i < SG_ELEMENTSOF(fds); i++)
                (void)sg_close(fds[i]);
        assert_others_are_served(f);
}

static int on_said(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        char *said = userdata;

        (void)source;
        (void)revents;
        if (read(fd, said, 1) != 1)
                *said = '?';
        return 0;
}

static void test_connections_per_user(void **state)
{
        struct fixture *f = *state;
        sd_event_source *source;
        int say[2], go[2], status;
        char said = 0;
        pid_t pid;

        assert_int_equal(pipe2(say, O_CLOEXEC), 0);
        assert_int_equal(pipe2(go, O_CLOEXEC), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                (void)close(go[1]);
                child_main(f->path, say[1], go[0]);
        }
        (void)sg_close(say[1]);
        (void)sg_close(go[0]);
        assert_true(sd_event_add_io(f->event, &source, say[0], EPOLLIN, on_said, &said) >= 0);
        assert_true(sd_event_source_set_enabled(source, SD_EVENT_ONESHOT) >= 0);
        wait_until(f, said != 0);
        assert_int_equal(said, 'K');
        assert_int_equal(n_clients(f), PER_USER);
        assert_int_equal(last_client(f)->caller.uid, 12345);
        assert_others_are_served(f);
        (void)sg_close(go[1]);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        wait_until(f, n_clients(f) == 0);
        sd_event_source_disable_unref(source);
        (void)sg_close(say[0]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_service),
                TEST(test_refused_by_the_owner),
                TEST(test_freed_with_clients),
                TEST(test_paths),
                TEST(test_garbage),
                TEST(test_absurd_sizes),
                TEST(test_told_once),
                TEST(test_text_in_disguise),
                TEST(test_no_message_inside),
                TEST(test_never_authenticates),
                TEST(test_unfinished_message),
                TEST(test_slow_message),
                TEST(test_connections_per_user),
                TEST(test_accepted_together),
                TEST(test_places_of_the_gone),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
