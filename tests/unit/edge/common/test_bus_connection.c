/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The connection to a bus that comes, goes, comes again, and never was. */
#include "edge/common/bus-connection.h"
#include "tests/unit/edge/common/test_bus_daemon.h"

struct fixture {
        struct bus_daemon daemon;
        sd_event *event;
        unsigned ups, downs, answers, failures;
        int refuse;
};

static int on_up(sd_bus *bus, void *userdata)
{
        struct fixture *f = userdata;

        assert_true(sd_bus_is_ready(bus) > 0);
        f->ups++;
        return f->refuse;
}

static void on_down(sd_bus *bus, void *userdata)
{
        struct fixture *f = userdata;

        assert_non_null(bus);
        f->downs++;
        assert_true(f->downs <= f->ups);
}

static const struct sg_bus_connection_ops ops = {.purpose = "tests", .up = on_up, .down = on_down};

static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        assert_non_null(f);
        bus_daemon_init(&f->daemon);
        assert_true(sd_event_new(&f->event) >= 0);
        *state = f;
        return 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        sd_event_unref(f->event);
        bus_daemon_deinit(&f->daemon);
        free(f);
        return 0;
}

static int on_answer(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct fixture *f = userdata;

        (void)error;
        if (sd_bus_message_is_method_error(m, NULL))
                f->failures++;
        else
                f->answers++;
        return 0;
}

static void call(struct fixture *f, sd_bus *bus, const char *member)
{
        assert_true(sd_bus_call_method_async(bus, NULL, "org.freedesktop.DBus",
                                             "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                             member, on_answer, f, NULL) >= 0);
}

static void test_comes_and_goes(void **state)
{
        struct fixture *f = *state;
        struct sg_bus_connection *c;

        bus_daemon_start(&f->daemon);
        assert_int_equal(sg_bus_connection_new(&c, f->event, false, &ops, f), 0);
        assert_null(sg_bus_connection_get(c));
        assert_int_equal(f->ups, 0); /* nothing is called from inside */
        wait_until(f->event, f->ups == 1);
        call(f, sg_bus_connection_get(c), "ListNames");
        wait_until(f->event, f->answers == 1);

        /* An answer that the bus owes when it dies is an error, and that comes before down(). */
        assert_int_equal(kill(f->daemon.pid, SIGSTOP), 0);
        call(f, sg_bus_connection_get(c), "ListNames");
        assert_true(sd_event_run(f->event, 0) >= 0);
        bus_daemon_stop(&f->daemon);
        wait_until(f->event, f->downs == 1);
        assert_int_equal(f->failures, 1);
        assert_null(sg_bus_connection_get(c));

        bus_daemon_start(&f->daemon);
        wait_until(f->event, f->ups == 2);
        call(f, sg_bus_connection_get(c), "ListNames");
        wait_until(f->event, f->answers == 2);
        assert_null(sg_bus_connection_free(c));
        assert_int_equal(f->downs, 2);
}

/* Who sends may be the first to see that the bus has gone: then it is down for the next, too. */
static void test_lost_while_sending(void **state)
{
        struct fixture *f = *state;
        struct sg_bus_connection *c;
        sd_bus *bus;
        int r;

        bus_daemon_start(&f->daemon);
        assert_int_equal(sg_bus_connection_new(&c, f->event, false, &ops, f), 0);
        wait_until(f->event, f->ups == 1);
        bus = sg_bus_connection_get(c);
        assert_non_null(bus);
        bus_daemon_stop(&f->daemon);
        r = sd_bus_call_method_async(bus, NULL, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                     "org.freedesktop.DBus", "ListNames", on_answer, f, NULL);
        assert_int_equal(r, -ECONNRESET);
        assert_int_equal(f->downs, 0);
        assert_null(sg_bus_connection_get(c));

        bus_daemon_start(&f->daemon);
        wait_until(f->event, f->ups == 2);
        assert_int_equal(f->downs, 1);
        assert_non_null(sg_bus_connection_get(c));
        assert_null(sg_bus_connection_free(c));
}

static void test_never_was(void **state)
{
        struct fixture *f = *state;
        struct sg_bus_connection *c;
        uint64_t before = sg_now_monotonic_usec();

        assert_int_equal(sg_bus_connection_new(&c, f->event, false, &ops, f), 0);
        while (sg_now_monotonic_usec() < before + SG_USEC_PER_SEC)
                assert_true(sd_event_run(f->event, 50000) >= 0);
        assert_int_equal(f->ups, 0);
        bus_daemon_start(&f->daemon);
        wait_until(f->event, f->ups == 1);
        assert_null(sg_bus_connection_free(c));
        assert_int_equal(f->downs, 1);
        assert_null(sg_bus_connection_free(NULL));
}

/* A bus that accepts and says nothing holds nobody up. */
static void test_silent(void **state)
{
        struct fixture *f = *state;
        struct sg_bus_connection *c;
        uint64_t before;

        bus_daemon_start(&f->daemon);
        assert_int_equal(kill(f->daemon.pid, SIGSTOP), 0);
        assert_int_equal(sg_bus_connection_new(&c, f->event, false, &ops, f), 0);
        before = sg_now_monotonic_usec();
        for (int i = 0; i < 10; i++)
                assert_true(sd_event_run(f->event, 10000) >= 0);
        assert_true(sg_now_monotonic_usec() < before + PATIENCE_USEC);
        assert_int_equal(f->ups, 0);
        assert_int_equal(kill(f->daemon.pid, SIGCONT), 0);
        wait_until(f->event, f->ups == 1);
        assert_null(sg_bus_connection_free(c));
}

static void test_owner_refuses(void **state)
{
        struct fixture *f = *state;
        struct sg_bus_connection *c;

        bus_daemon_start(&f->daemon);
        f->refuse = -EPERM;
        assert_int_equal(sg_bus_connection_new(&c, f->event, false, &ops, f), 0);
        wait_until(f->event, f->ups == 2);
        assert_int_equal(f->downs, 2);
        assert_null(sg_bus_connection_get(c));
        f->refuse = 0;
        wait_until(f->event, sg_bus_connection_get(c));
        assert_null(sg_bus_connection_free(c));
}

static void test_user_bus(void **state)
{
        struct fixture *f = *state;
        struct sg_bus_connection *c;
        char dir[64], bus[80];

        assert_int_equal(unsetenv("DBUS_SESSION_BUS_ADDRESS"), 0);
        assert_int_equal(unsetenv("XDG_RUNTIME_DIR"), 0);
        assert_int_equal(sg_bus_connection_new(&c, f->event, true, &ops, f), -ENXIO);

        /* A path with what an address has to escape */
        (void)snprintf(dir, sizeof(dir), "%s/a,b %%", f->daemon.dir);
        (void)snprintf(bus, sizeof(bus), "%s/bus", dir);
        assert_int_equal(mkdir(dir, 0700), 0);
        assert_int_equal(setenv("XDG_RUNTIME_DIR", dir, 1), 0);
        bus_daemon_start(&f->daemon);
        assert_int_equal(symlink(f->daemon.path, bus), 0);
        assert_int_equal(sg_bus_connection_new(&c, f->event, true, &ops, f), 0);
        wait_until(f->event, f->ups == 1);
        assert_null(sg_bus_connection_free(c));

        bus_daemon_setenv(&f->daemon, "DBUS_SESSION_BUS_ADDRESS");
        assert_int_equal(unlink(bus), 0);
        assert_int_equal(rmdir(dir), 0);
        assert_int_equal(sg_bus_connection_new(&c, f->event, true, &ops, f), 0);
        wait_until(f->event, f->ups == 2);
        assert_null(sg_bus_connection_free(c));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_comes_and_goes, setup, teardown),
                cmocka_unit_test_setup_teardown(test_lost_while_sending, setup, teardown),
                cmocka_unit_test_setup_teardown(test_never_was, setup, teardown),
                cmocka_unit_test_setup_teardown(test_silent, setup, teardown),
                cmocka_unit_test_setup_teardown(test_owner_refuses, setup, teardown),
                cmocka_unit_test_setup_teardown(test_user_bus, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
