/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/common/bus-connection.h"
#include "base/cleanup.h"
#include "core/measure/cadence.h"
#include "edge/common/log.h"
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <syslog.h>

#define SYSTEM_BUS "unix:path=/run/dbus/system_bus_socket"
/* A bus that restarts is back at once; one that isn't there costs a connect() now and then. */
#define PAUSE_MIN_USEC (250ULL * 1000)
#define PAUSE_MAX_USEC (15ULL * 1000000)

struct sg_bus_connection {
        sd_event *event;
        sd_event_source *timer;
        sd_bus *bus;
        char *address;
        struct sg_cadence pause;
        const struct sg_bus_connection_ops *ops;
        void *userdata;
        bool user, up, complained;
};

/* As the D-Bus specification wants values of addresses. */
static char *address_of_path(const char *path)
{
        static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                    "0123456789-_/.\\*";
        size_t size = sizeof("unix:path=") + 3 * strlen(path), n;
        char *address = malloc(size);

        if (!address)
                return NULL;
        n = (size_t)snprintf(address, size, "unix:path=");
        for (; *path; path++)
                n += (size_t)snprintf(address + n, size - n, strchr(plain, *path) ? "%c" : "%%%02x",
                                      (unsigned char)*path);
        return address;
}

static int find_address(bool user, char **ret)
{
        const char *set = getenv(user ? "DBUS_SESSION_BUS_ADDRESS" : "DBUS_SYSTEM_BUS_ADDRESS");
        const char *runtime = getenv("XDG_RUNTIME_DIR");
        _cleanup_free_ char *path = NULL;

        if (set && *set) {
                *ret = strdup(set);
        } else if (!user) {
                *ret = strdup(SYSTEM_BUS);
        } else {
                if (!runtime || !*runtime)
                        return -ENXIO;
                if (asprintf(&path, "%s/bus", runtime) < 0)
                        return -ENOMEM;
                *ret = address_of_path(path);
        }
        return *ret ? 0 : -ENOMEM;
}

static int on_pause_over(sd_event_source *source, uint64_t usec, void *userdata);

/* Each pause is twice the last, until the bus has been there long enough for a word of its own. */
static void open_later(struct sg_bus_connection *c)
{
        uint64_t pause = c->pause.interval_usec;
        int r;

        c->timer = sd_event_source_disable_unref(c->timer);
        r = sd_event_add_time_relative(c->event, &c->timer, CLOCK_MONOTONIC, pause, pause / 4,
                                       on_pause_over, c);
        if (r < 0)
                sg_log(LOG_ERR, "cannot try the bus again, going on without: %s", strerror(-r));
        (void)sg_cadence_next(&c->pause, false);
}

static void complain(struct sg_bus_connection *c, const char *what, int error)
{
        if (!c->complained)
                sg_log(LOG_NOTICE, "%s %s bus (%s)%s%s: no %s until it is there", what,
                       c->user ? "user" : "system", c->address, error < 0 ? ": " : "",
                       error < 0 ? strerror(-error) : "", c->ops->purpose);
        c->complained = true;
}

static void let_go(struct sg_bus_connection *c)
{
        if (c->up) {
                c->up = false;
                c->ops->down(c->bus, c->userdata);
        }
        c->bus = sd_bus_close_unref(c->bus);
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct sg_bus_connection *c = userdata;

        (void)m;
        (void)error;
        complain(c, c->up ? "lost the" : "cannot connect to the", 0);
        let_go(c);
        open_later(c);
        return 0;
}

static int on_connected(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct sg_bus_connection *c = userdata;
        int r;

        (void)m;
        (void)error;
        c->up = true;
        r = c->ops->up(c->bus, c->userdata);
        if (r < 0) {
                complain(c, "cannot use the", r);
                let_go(c);
                open_later(c);
                return 0;
        }
        if (c->complained)
                sg_log(LOG_INFO, "the %s bus is there", c->user ? "user" : "system");
        c->complained = false;
        (void)sg_cadence_reset(&c->pause);
        return 0;
}

static int match_local(sd_bus *bus, const char *member, sd_bus_message_handler_t handler,
                       struct sg_bus_connection *c)
{
        return sd_bus_match_signal_async(bus, NULL, "org.freedesktop.DBus.Local",
                                         "/org/freedesktop/DBus/Local",
                                         "org.freedesktop.DBus.Local", member, handler, NULL, c);
}

static int start(struct sg_bus_connection *c)
{
        int r;

        r = sd_bus_new(&c->bus);
        if (r >= 0)
                r = sd_bus_set_address(c->bus, c->address);
        if (r >= 0)
                r = sd_bus_set_bus_client(c->bus, 1);
        if (r >= 0)
                r = sd_bus_negotiate_fds(c->bus, 1);
        if (r >= 0)
                r = sd_bus_set_exit_on_disconnect(c->bus, 0);
        if (r >= 0)
                r = sd_bus_set_connected_signal(c->bus, 1);
        if (r >= 0)
                r = match_local(c->bus, "Connected", on_connected, c);
        if (r >= 0)
                r = match_local(c->bus, "Disconnected", on_disconnected, c);
        if (r >= 0)
                r = sd_bus_start(c->bus);
        if (r >= 0)
                r = sd_bus_attach_event(c->bus, c->event, SD_EVENT_PRIORITY_NORMAL);
        return r;
}

static int on_pause_over(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_bus_connection *c = userdata;
        int r;

        (void)source;
        (void)usec;
        c->timer = sd_event_source_disable_unref(c->timer);
        r = start(c);
        if (r < 0) {
                complain(c, "cannot connect to the", r);
                let_go(c);
                open_later(c);
        }
        return 0;
}

int sg_bus_connection_new(struct sg_bus_connection **ret, sd_event *event, bool user,
                          const struct sg_bus_connection_ops *ops, void *userdata)
{
        struct sg_bus_connection *c = calloc(1, sizeof(*c));
        int r;

        if (!c)
                return -ENOMEM;
        *c = (struct sg_bus_connection){
                .event = sd_event_ref(event), .user = user, .ops = ops, .userdata = userdata};
        sg_cadence_init(&c->pause, PAUSE_MIN_USEC, PAUSE_MAX_USEC);
        r = find_address(user, &c->address);
        if (r >= 0)
                r = sd_event_add_time_relative(event, &c->timer, CLOCK_MONOTONIC, 0, 0,
                                               on_pause_over, c);
        if (r < 0) {
                sg_bus_connection_free(c);
                return r;
        }
        *ret = c;
        return 0;
}

struct sg_bus_connection *sg_bus_connection_free(struct sg_bus_connection *c)
{
        if (!c)
                return NULL;
        let_go(c);
        sd_event_source_disable_unref(c->timer);
        sd_event_unref(c->event);
        free(c->address);
        free(c);
        return NULL;
}

sd_bus *sg_bus_connection_get(struct sg_bus_connection *c)
{
        return c && c->up && sd_bus_is_open(c->bus) > 0 ? c->bus : NULL;
}
