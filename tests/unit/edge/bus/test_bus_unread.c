/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Clients that ask for more than they read, or than others can wait for. */
#include "tests/unit/edge/bus/fixture.h"

/* Calls without an end, of which no answer is read; the server reads each at once. */
static unsigned call_without_reading(struct fixture *f, sd_bus *bus, const char *method,
                                     const char *types, const void *argument, unsigned max)
{
        unsigned n;

        for (n = 0; n < max && f->disconnected == 0; n++) {
                _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
                unsigned before = f->calls;
                uint64_t cookie;

                assert_true(sd_bus_message_new_method_call(bus, &m, NULL, PATH, INTERFACE,
                                                           method) >= 0);
                assert_true(sd_bus_message_append_basic(m, types[0], argument) >= 0);
                if (sd_bus_send(bus, m, &cookie) < 0) /* without one no reply is asked for */
                        break;
                wait_until(f, f->calls > before || f->disconnected > 0);
        }
        return n;
}

static sd_bus *open_reader_no_more(struct fixture *f)
{
        sd_bus *bus = open_client(f);

        echo(f, bus, "the last that it reads");
        assert_true(sd_bus_detach_event(bus) >= 0);
        return bus;
}

static void test_does_not_read(void **state)
{
        struct fixture *f = *state;
        sd_bus *bus = open_reader_no_more(f), *bystander = open_client(f);
        size_t before = mallinfo2().uordblks, most;
        char text[1001];
        unsigned n;

        memset(text, 'x', sizeof(text) - 1);
        text[sizeof(text) - 1] = 0;
        n = call_without_reading(f, bus, "Echo", "s", text, 1000000);
        most = mallinfo2().uordblks;
        wait_until(f, f->disconnected == 1);
        assert_in_range(n, 512, 20000); /* the bound, and what 8 MiB of socket hold */
        assert_true(most < before + 4 * MIB);
        echo(f, bystander, "x");
        close_client(bus);
        close_client(bystander);
}

static void test_large_replies_are_bounded(void **state)
{
        struct fixture *f = *state;
        sd_bus *bus = open_reader_no_more(f);
        size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
        uint32_t size = MIB / 2;
        unsigned pages;

        (void)call_without_reading(f, bus, "Page", "u", &size, 400);
        pages = f->calls - 1 - f->busy; /* one call was the echo */
        assert_in_range(pages, 30, 80);
        assert_true(mallinfo2().uordblks + mallinfo2().hblkhd < before + 48 * MIB);
        assert_int_equal(f->disconnected,
                         1); /* then nothing more was asked for, until it had to go */
        close_client(bus);
        assert_others_are_served(f);
}

/* More than its socket takes, and it takes its time. */
static void test_large_reply_to_a_slow_one(void **state)
{
        struct fixture *f = *state;
        sd_bus *bus = open_reader_no_more(f);
        uint32_t size = 40 * MIB;
        unsigned before = f->replies;
        uint64_t queued = 0;

        assert_true(sd_bus_call_method_async(bus, NULL, NULL, PATH, INTERFACE, "Page", on_reply, f,
                                             "u", size) >= 0);
        wait_until(f, f->calls == 2);
        drain(f);
        assert_true(sd_bus_get_n_queued_write(last_client(f)->bus, &queued) >= 0);
        assert_int_equal(queued, 1);
        assert_true(sd_bus_attach_event(bus, f->event, SD_EVENT_PRIORITY_NORMAL) >= 0);
        wait_until(f, f->replies > before);
        echo(f, bus, "after it");
        close_client(bus);
        wait_until(f, f->disconnected == 1);
}

static void send_signals(struct sg_client *c, unsigned n)
{
        for (unsigned i = 0; i < n; i++) {
                _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

                assert_true(sd_bus_message_new_signal(c->bus, &m, PATH, INTERFACE, "Event") >= 0);
                assert_true(sd_bus_message_append(m, "s", "something has happened") >= 0);
                sg_client_send(c, m);
        }
}

/* All in one go, as when an array is submitted: what was sent so far may be all that it gets. */
static void test_signals_to_nobody(void **state)
{
        struct fixture *f = *state;
        sd_bus *bus = open_reader_no_more(f);
        size_t before = mallinfo2().uordblks;
        struct sg_client *c = last_client(f);
        uint64_t queued = 0;

        send_signals(c, 100000);
        assert_int_equal(f->disconnected, 0); /* never within a call of its own */
        assert_true(sd_bus_get_n_queued_write(c->bus, &queued) >= 0);
        assert_in_range(queued, 1, 512);
        assert_true(mallinfo2().uordblks < before + 4 * MIB);
        wait_until(f, f->disconnected == 1);
        close_client(bus);
        assert_others_are_served(f);
}

static void test_bursts_to_one_who_reads(void **state)
{
        struct fixture *f = *state;
        sd_bus *bus = open_client(f);

        echo(f, bus, "x");
        for (int i = 0; i < 50; i++) {
                send_signals(last_client(f), 500);
                drain(f);
        }
        assert_int_equal(f->disconnected, 0);
        echo(f, bus, "y");
        close_client(bus);
}

/* What one doesn't read keeps another of its user waiting only until it is given up. */
static void test_unread_answers_of_another(void **state)
{
        struct fixture *f = *state;
        sd_bus *bus = open_reader_no_more(f), *other;
        uint64_t begin = sg_now_monotonic_usec();
        uint32_t size = MIB / 2;

        sg_ledger_bound(f->ledger, SG_CHARGE_ANSWERS, MIB, MIB);
        for (unsigned i = 0; i < 3; i++)
                assert_true(sd_bus_call_method_async(bus, NULL, NULL, PATH, INTERFACE, "Page",
                                                     on_reply, f, "u", size) >= 0);
        wait_until(f, f->calls >= 3); /* the echo, and two pages */
        other = open_client(f);
        echo(f, other, "x");
        assert_true(sg_now_monotonic_usec() - begin >= 4900000);
        assert_int_equal(f->disconnected, 1);
        assert_int_equal(f->calls, 4);
        echo(f, other, "y");
        close_client(other);
        close_client(bus);
}

#define CALLS 200U
#define IN_A_ROW 16 /* at most, before others have their turn */

struct another {
        struct fixture *fixture;
        unsigned calls; /* that were answered before it had its turn; 0: it hasn't */
};

static int on_another(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        struct another *a = userdata;

        (void)fd;
        (void)revents;
        a->calls = a->fixture->calls;
        return sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

/* Who has asked for much keeps nothing else in the loop waiting for the end of it. */
static void test_others_in_the_loop(void **state)
{
        struct fixture *f = *state;
        struct another a = {.fixture = f};
        sd_bus *bus = open_reader_no_more(f);
        sd_event_source *source;
        unsigned before;
        int ready[2];

        for (unsigned i = 0; i < CALLS; i++)
                assert_true(sd_bus_call_method_async(bus, NULL, NULL, PATH, INTERFACE, "Echo",
                                                     on_reply, f, "s", "x") >= 0);
        wait_until(f, f->calls > 1); /* that of open_reader_no_more(), and some of these */
        before = f->calls;
        assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
        assert_true(sd_event_add_io(f->event, &source, ready[0], EPOLLIN, on_another, &a) >= 0);
        (void)sg_close(ready[1]);
        wait_until(f, a.calls > 0);
        assert_in_range(a.calls, before, before + IN_A_ROW);
        wait_until(f, f->calls == 1 + CALLS);
        sd_event_source_disable_unref(source);
        (void)sg_close(ready[0]);
        close_client(bus);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_does_not_read),
                TEST(test_large_replies_are_bounded),
                TEST(test_large_reply_to_a_slow_one),
                TEST(test_signals_to_nobody),
                TEST(test_bursts_to_one_who_reads),
                TEST(test_unread_answers_of_another),
                TEST(test_others_in_the_loop),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
