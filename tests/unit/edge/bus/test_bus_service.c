/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Our name on a message bus, and those who call there: who they are, their order, their number. */
#include "edge/bus/service.h"
#include "tests/unit/edge/common/test_bus_daemon.h"

#include <sys/resource.h>

#define NAME "org.example.Service"
#define PATH "/test"
#define INTERFACE "org.example.Test"
#define FLOOD 240 /* of the 256 that a bus allows to a user */

struct fixture {
        struct bus_daemon daemon;
        sd_event *event;
        struct sg_ledger *ledger;
        struct sg_bus_service *service;
        unsigned published, disconnected, calls, answers, refusals;
        uint32_t last; /* argument of the last call; they come in order */
        bool in_order;
        struct sg_client *client; /* of the last call */
};

/* Number(u) → u */
static int on_number(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct fixture *f = userdata;
        uint32_t n;
        int r;

        (void)error;
        f->calls++;
        f->client = sg_bus_service_find(f->service, m);
        assert_non_null(f->client); /* no call is handled before its caller is known */
        r = sd_bus_message_read(m, "u", &n);
        assert_true(r >= 0);
        f->in_order &= n == f->last + 1;
        f->last = n;
        return sd_bus_reply_method_return(m, "u", n);
}

static const sd_bus_vtable vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Number", "u", "u", on_number, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static int on_publish(sd_bus *bus, void *userdata)
{
        struct fixture *f = userdata;

        f->published++;
        return sd_bus_add_object_vtable(bus, NULL, PATH, INTERFACE, vtable, f);
}

static void on_disconnected(struct sg_client *c, void *userdata)
{
        struct fixture *f = userdata;

        if (c == f->client)
                f->client = NULL;
        f->disconnected++;
}

static const struct sg_bus_service_ops ops = {on_publish, on_disconnected};

static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        assert_non_null(f);
        bus_daemon_init(&f->daemon);
        bus_daemon_start(&f->daemon);
        assert_true(sd_event_new(&f->event) >= 0);
        assert_int_equal(sg_ledger_new(&f->ledger), 0);
        assert_int_equal(sg_bus_service_new(&f->service,
                                            &(struct sg_bus_host){f->event, f->ledger, f}, false,
                                            NAME, &ops),
                         0);
        wait_until(f->event, f->published == 1);
        f->in_order = true;
        *state = f;
        return 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        sg_bus_service_free(f->service);
        sg_ledger_free(f->ledger);
        sd_event_unref(f->event);
        bus_daemon_deinit(&f->daemon);
        free(f);
        return 0;
}

static unsigned count(struct sg_list *list)
{
        unsigned n = 0;

        for (struct sg_list *it = list->next; it != list; it = it->next)
                n++;
        return n;
}

/* Callers, on the same loop; each has a connection of its own */

static sd_bus *open_caller(struct fixture *f)
{
        char address[96];
        sd_bus *bus;

        (void)snprintf(address, sizeof(address), "unix:path=%s", f->daemon.path);
        assert_int_equal(sd_bus_new(&bus), 0);
        assert_true(sd_bus_set_address(bus, address) >= 0);
        assert_true(sd_bus_set_bus_client(bus, 1) >= 0);
        assert_true(sd_bus_start(bus) >= 0);
        assert_true(sd_bus_attach_event(bus, f->event, SD_EVENT_PRIORITY_NORMAL) >= 0);
        return bus;
}

static int on_reply(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct fixture *f = userdata;

        (void)error;
        if (sd_bus_message_is_method_error(m, SD_BUS_ERROR_LIMITS_EXCEEDED))
                f->refusals++;
        else if (!sd_bus_message_is_method_error(m, NULL))
                f->answers++;
        return 0;
}

static void call(struct fixture *f, sd_bus *bus, uint32_t n)
{
        assert_true(sd_bus_call_method_async(bus, NULL, NAME, PATH, INTERFACE, "Number", on_reply,
                                             f, "u", n) >= 0);
}

static void test_identity(void **state)
{
        struct fixture *f = *state;
        sd_bus *bus = open_caller(f);
        struct sg_caller *c;
        uint64_t ticks;

        call(f, bus, 1);
        wait_until(f->event, f->answers == 1);
        assert_non_null(f->client);
        assert_non_null(f->client->name);
        c = &f->client->caller;
        assert_int_equal(c->uid, getuid());
        assert_int_equal(c->gid, getgid());
        assert_int_equal(c->pid, getpid());
        assert_true(sg_caller_in_group(c, getgid()));
        assert_int_equal(sg_caller_start_ticks(c, &ticks), 0);
        assert_true(ticks > 0);

        /* Known from now on, until its name goes away. */
        call(f, bus, 2);
        wait_until(f->event, f->answers == 2);
        assert_int_equal(count(sg_bus_service_clients(f->service)), 1);
        assert_int_equal(f->disconnected, 0);
        sd_bus_close_unref(bus);
        wait_until(f->event, f->disconnected == 1);
        assert_null(f->client);
        assert_int_equal(count(sg_bus_service_clients(f->service)), 0);
}

/* Calls that come before the first is handled, and while those are handed on, keep their order. */
static void test_order(void **state)
{
        struct fixture *f = *state;
        sd_bus *bus = open_caller(f);

        for (uint32_t n = 1; n <= 8; n++)
                call(f, bus, n);
        wait_until(f->event, f->answers == 1);
        for (uint32_t n = 9; n <= 12; n++)
                call(f, bus, n);
        wait_until(f->event, f->answers == 12);
        assert_true(f->in_order);
        assert_int_equal(f->calls, 12);
        sd_bus_close_unref(bus);
}

/* More than may wait for one caller: refused, not kept. */
static void test_too_many_calls(void **state)
{
        struct fixture *f = *state;
        sd_bus *bus = open_caller(f);

        for (uint32_t n = 1; n <= 100; n++)
                call(f, bus, n);
        wait_until(f->event, f->answers + f->refusals == 100);
        assert_true(f->answers >= 8);
        assert_true(f->refusals > 0);
        sd_bus_close_unref(bus);
}

static void test_gone_before_known(void **state)
{
        struct fixture *f = *state;

        for (unsigned i = 0; i < 20; i++) {
                sd_bus *bus = open_caller(f);

                wait_until(f->event, sd_bus_is_ready(bus) > 0);
                call(f, bus, 1);
                sd_bus_flush(bus);
                sd_bus_close_unref(bus);
        }
        test_identity(state);
        assert_int_equal(count(sg_bus_service_clients(f->service)), 0);
}

static void raise_limit(void)
{
        struct rlimit limit;

        assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
        limit.rlim_cur = limit.rlim_max;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Root always gets in; what is bounded is who waits to be known. None is forgotten. */
static void test_flood(void **state)
{
        struct fixture *f = *state;
        sd_bus *callers[FLOOD];

        raise_limit();
        for (unsigned i = 0; i < FLOOD; i++)
                callers[i] = open_caller(f);
        for (unsigned i = 0; i < FLOOD; i++)
                wait_until(f->event, sd_bus_is_ready(callers[i]) > 0);
        for (unsigned i = 0; i < FLOOD; i++)
                call(f, callers[i], 1);
        wait_until(f->event, f->answers + f->refusals == FLOOD);
        assert_true(f->answers >= 64);
        assert_int_equal(f->answers, count(sg_bus_service_clients(f->service)));
        for (unsigned i = 0; i < FLOOD; i++)
                sd_bus_close_unref(callers[i]);
        wait_until(f->event, f->disconnected == f->answers);
        assert_int_equal(count(sg_bus_service_clients(f->service)), 0);
}

static void test_bus_restarts(void **state)
{
        struct fixture *f = *state;
        sd_bus *bus = open_caller(f);

        call(f, bus, 1);
        wait_until(f->event, f->answers == 1);
        assert_non_null(sg_bus_service_bus(f->service));
        sd_bus_close_unref(bus);
        bus = open_caller(f);
        call(f, bus, 2);
        wait_until(f->event, f->answers == 2);
        sd_bus_detach_event(bus);
        bus_daemon_stop(&f->daemon);
        wait_until(f->event, f->disconnected == 2);
        assert_null(sg_bus_service_bus(f->service));
        assert_int_equal(count(sg_bus_service_clients(f->service)), 0);
        sd_bus_close_unref(bus);

        bus_daemon_start(&f->daemon);
        wait_until(f->event, f->published == 2);
        bus = open_caller(f);
        call(f, bus, 3);
        wait_until(f->event, f->answers == 3);
        sd_bus_close_unref(bus);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                T(test_identity),          T(test_order), T(test_too_many_calls),
                T(test_gone_before_known), T(test_flood), T(test_bus_restarts),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
