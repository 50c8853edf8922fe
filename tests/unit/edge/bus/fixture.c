/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See fixture.h. */
#include "tests/unit/edge/bus/fixture.h"

static struct fixture *fixture; /* of the test that runs */

static int on_echo(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        const char *text;
        int r;

        (void)userdata;
        (void)error;
        fixture->calls++;
        r = sd_bus_message_read(m, "s", &text);
        return r < 0 ? r : sd_bus_reply_method_return(m, "s", text);
}

static int on_page(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _cleanup_free_ char *text = NULL;
        struct sg_client *c = userdata;
        uint32_t size;
        int r;

        (void)error;
        fixture->calls++;
        r = sd_bus_message_read(m, "u", &size);
        if (r < 0)
                return r;
        text = calloc(1, size + 1);
        if (!text)
                return -ENOMEM;
        memset(text, 'x', size);
        r = sd_bus_message_new_method_return(m, &reply);
        if (r >= 0)
                r = sd_bus_message_append(reply, "s", text);
        if (r >= 0)
                r = sg_client_reply(c, reply, size);
        if (r == -EBUSY)
                fixture->busy++;
        return r < 0 ? r : 1;
}

static const sd_bus_vtable vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Echo", "s", "s", on_echo, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Page", "u", "s", on_page, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static int on_connected(struct sg_client *c, void *userdata)
{
        struct fixture *f = userdata;

        f->connected++;
        if (f->refuse)
                return -EPERM;
        return sd_bus_add_object_vtable(c->bus, NULL, PATH, INTERFACE, vtable, c);
}

static void on_disconnected(struct sg_client *c, void *userdata)
{
        struct fixture *f = userdata;

        (void)c;
        f->disconnected++;
}

const struct sg_bus_server_ops ops = {on_connected, on_disconnected};

int new_server(struct fixture *f, const char *path, struct sg_bus_server **ret)
{
        return sg_bus_server_new(ret, &(struct sg_bus_host){f->event, f->ledger, f}, path, &ops);
}

int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        assert_non_null(f);
        strcpy(f->dir, "/tmp/sg-bus-XXXXXX");
        assert_non_null(mkdtemp(f->dir));
        assert_int_equal(chmod(f->dir, 0711), 0);
        (void)snprintf(f->path, sizeof(f->path), "%s/bus", f->dir);
        assert_int_equal(sd_event_new(&f->event), 0);
        assert_int_equal(sg_ledger_new(&f->ledger), 0);
        assert_int_equal(new_server(f, f->path, &f->server), 0);
        sg_log_set_level(LOG_ERR);
        fixture = f;
        *state = f;
        return 0;
}

int teardown(void **state)
{
        struct fixture *f = *state;

        sg_bus_server_free(f->server);
        sg_ledger_free(f->ledger);
        assert_int_equal(f->connected, f->disconnected);
        sd_event_unref(f->event);
        assert_int_equal(rmdir(f->dir), 0); /* its socket has gone with the server */
        free(f);
        return 0;
}

unsigned n_clients(struct fixture *f)
{
        struct sg_list *it, *head = sg_bus_server_clients(f->server);
        unsigned n = 0;

        for (it = head->next; it != head; it = it->next)
                n++;
        return n;
}

struct sg_client *last_client(struct fixture *f)
{
        assert_false(sg_list_empty(sg_bus_server_clients(f->server)));
        return sg_list_entry(sg_bus_server_clients(f->server)->prev, struct sg_client, link);
}

void drain(struct fixture *f)
{
        while (sd_event_run(f->event, 0) > 0)
                ;
}

sd_bus *open_client(struct fixture *f)
{
        char address[96];
        sd_bus *bus;

        (void)snprintf(address, sizeof(address), "unix:path=%s", f->path);
        assert_int_equal(sd_bus_new(&bus), 0);
        assert_true(sd_bus_set_address(bus, address) >= 0);
        assert_true(sd_bus_start(bus) >= 0);
        assert_true(sd_bus_attach_event(bus, f->event, SD_EVENT_PRIORITY_NORMAL) >= 0);
        return bus;
}

void close_client(sd_bus *bus)
{
        sd_bus_detach_event(bus);
        sd_bus_close_unref(bus);
}

int on_reply(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct fixture *f = userdata;
        const char *text;

        (void)error;
        assert_false(sd_bus_message_is_method_error(m, NULL));
        assert_true(sd_bus_message_read(m, "s", &text) > 0);
        (void)snprintf(f->reply, sizeof(f->reply), "%s", text);
        f->replies++;
        return 0;
}

void echo(struct fixture *f, sd_bus *bus, const char *text)
{
        unsigned before = f->replies;

        assert_true(sd_bus_call_method_async(bus, NULL, NULL, PATH, INTERFACE, "Echo", on_reply, f,
                                             "s", text) >= 0);
        wait_until(f, f->replies > before);
        assert_string_equal(f->reply, text);
}

void assert_others_are_served(struct fixture *f)
{
        sd_bus *bus = open_client(f);
        unsigned before = f->disconnected;

        echo(f, bus, "hello");
        close_client(bus);
        wait_until(f, f->disconnected > before);
}
