/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/bus/listen.h"
#include "edge/bus/server-internal.h"
#include "edge/common/log.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>

#define AUTH_USEC (5 * SG_USEC_PER_SEC)
#define PAUSE_USEC (100 * SG_USEC_PER_MSEC)
/* In a row: whoever connects again and again, to be refused, is in front of others in the queue. */
#define ACCEPTED_MAX 32U

void sg_peer_drop(struct sg_peer *p)
{
        struct sg_bus_server *s = p->server;
        sd_bus *bus = p->client.bus;

        s->ops->disconnected(&p->client, s->userdata);
        sg_places_give(&s->places, &p->client);
        sd_event_source_disable_unref(p->auth_timer);
        sg_turns_remove(p);
        sg_outbox_remove(p);
        sg_intake_free(p->intake);
        sg_client_deinit(&p->client);
        free(p);
        sd_bus_close_unref(bus);
}

static void drop(struct sg_client *c)
{
        sg_peer_drop((struct sg_peer *)c);
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        (void)m;
        (void)error;
        sg_peer_drop(userdata);
        return 0;
}

/* Disconnected comes this way too, and must reach on_disconnected(). */
static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct sg_peer *p = userdata;

        (void)error;
        if (sd_bus_message_is_signal(m, "org.freedesktop.DBus.Local", "Disconnected") > 0)
                return 0;
        if (p->auth_timer) /* whoever calls has authenticated */
                p->auth_timer = sd_event_source_disable_unref(p->auth_timer);
        p->n_heard++;
        p->client.called_usec = sg_now_monotonic_usec();
        return sg_client_reads(&p->client) ? 0 : 1;
}

static int on_auth_timeout(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_peer *p = userdata;

        (void)source;
        (void)usec;
        if (sd_bus_is_ready(p->client.bus) > 0)
                p->auth_timer = sd_event_source_disable_unref(p->auth_timer);
        else
                sg_peer_drop(p);
        return 0;
}

static int peer_start(struct sg_peer *p, int accepted)
{
        _cleanup_close_ int fd = accepted, in = -1;
        struct sg_bus_server *s = p->server;
        struct sg_client *c = &p->client;
        int r;

        c->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* sd-bus closes its own */
        if (c->fd < 0)
                return -errno;
        r = sg_intake_new(&p->intake, s->ledger, c->caller.uid, c->fd, &in);
        if (r >= 0)
                r = sd_bus_new(&c->bus);
        if (r >= 0)
                r = sd_bus_set_fd(c->bus, in, fd);
        if (r < 0)
                return r;
        (void)TAKE_FD(in);
        (void)TAKE_FD(fd);
        r = sd_bus_set_server(c->bus, 1, s->id);
        if (r >= 0) /* who it is has been said by the socket; `in` is one of ours */
                r = sd_bus_set_anonymous(c->bus, 1);
        if (r >= 0)
                r = sd_bus_negotiate_fds(c->bus, 1);
        if (r >= 0)
                r = sd_bus_start(c->bus);
        if (r >= 0)
                r = sd_bus_match_signal_async(
                        c->bus, NULL, "org.freedesktop.DBus.Local", "/org/freedesktop/DBus/Local",
                        "org.freedesktop.DBus.Local", "Disconnected", on_disconnected, NULL, p);
        if (r >= 0)
                r = sd_bus_add_filter(c->bus, NULL, on_message, p);
        if (r >= 0)
                r = sg_turns_add(p);
        if (r >= 0)
                r = sd_event_add_time_relative(s->event, &p->auth_timer, CLOCK_MONOTONIC, AUTH_USEC,
                                               0, on_auth_timeout, p);
        return r < 0 ? r : s->ops->connected(c, s->userdata);
}

static int peer_new(struct sg_bus_server *s, int accepted)
{
        _cleanup_close_ int fd = accepted;
        struct sg_peer *p;
        int r;

        p = calloc(1, sizeof(*p));
        if (!p)
                return -ENOMEM;
        p->server = s;
        sg_client_init(&p->client);
        p->client.drop = drop;
        p->client.ledger = s->ledger;
        p->client.told = &s->complaints;
        r = sg_caller_from_socket(&p->client.caller, fd);
        if (r >= 0)
                r = sg_places_take(&s->places, &p->client);
        if (r < 0) {
                sg_client_deinit(&p->client);
                free(p);
                return r;
        }
        r = peer_start(p, TAKE_FD(fd));
        if (r < 0)
                sg_peer_drop(p);
        return r;
}

static int on_pause_over(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_bus_server *s = userdata;

        (void)source;
        (void)usec;
        (void)sd_event_source_set_enabled(s->listener, SD_EVENT_ON);
        return 0;
}

/* While there are no descriptors to be had, new connections wait to be accepted. */
static void pause_listening(struct sg_bus_server *s, int error)
{
        if (!s->complained)
                sg_log(LOG_WARNING, "cannot accept a connection on %s: %s; trying again", s->path,
                       strerror(error));
        s->complained = true;
        s->pause = sd_event_source_disable_unref(s->pause);
        if (sd_event_add_time_relative(s->event, &s->pause, CLOCK_MONOTONIC, PAUSE_USEC, 0,
                                       on_pause_over, s) >= 0)
                (void)sd_event_source_set_enabled(s->listener, SD_EVENT_OFF);
}

/* false: nobody waits to be accepted, or nobody can be now. */
static bool accept_one(struct sg_bus_server *s, int fd)
{
        int client, r;

        client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (client < 0) {
                if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                        pause_listening(s, errno);
                return false;
        }
        s->complained = false;
        r = peer_new(s, client);
        if (r < 0)
                sg_log(LOG_DEBUG, "dropped a connection on %s: %s", s->path, strerror(-r));
        return true;
}

static int on_connection(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        (void)source;
        (void)revents;
        for (unsigned i = 0; i < ACCEPTED_MAX && accept_one(userdata, fd); i++)
                ;
        return 0;
}

int sg_bus_server_new(struct sg_bus_server **ret, const struct sg_bus_host *host, const char *path,
                      const struct sg_bus_server_ops *ops)
{
        struct sg_bus_server *s;
        int fd = -1, r;

        s = calloc(1, sizeof(*s));
        if (!s)
                return -ENOMEM;
        sg_places_init(&s->places, host->ledger, SG_CHARGE_CONNECTIONS);
        s->ledger = host->ledger;
        s->event = sd_event_ref(host->event);
        s->ops = ops;
        s->userdata = host->userdata;
        s->path = strdup(path);
        s->kept = true; /* as long as the socket at the path isn't ours */
        r = s->path ? sd_id128_randomize(&s->id) : -ENOMEM;
        if (r >= 0)
                r = sg_turns_init(s);
        if (r >= 0)
                fd = r = sg_bus_listen(path, &s->kept);
        if (r < 0) {
                sg_bus_server_free(s);
                return r;
        }
        r = sd_event_add_io(s->event, &s->listener, fd, EPOLLIN, on_connection, s);
        if (r < 0) {
                (void)sg_close(fd);
                sg_bus_server_free(s);
                return r;
        }
        (void)sd_event_source_set_io_fd_own(s->listener, 1);
        r = sd_event_source_set_prepare(s->listener, sg_outbox_prepare);
        if (r < 0) {
                sg_bus_server_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

struct sg_bus_server *sg_bus_server_free(struct sg_bus_server *s)
{
        struct sg_client *c, *next;

        if (!s)
                return NULL;
        sg_list_foreach_safe (c, next, &s->places.clients, link)
                sg_peer_drop((struct sg_peer *)c);
        if (!s->kept)
                (void)unlink(s->path);
        sd_event_source_disable_unref(s->listener);
        sd_event_source_disable_unref(s->pause);
        sg_turns_deinit(s);
        sd_event_unref(s->event);
        free(s->path);
        free(s);
        return NULL;
}

struct sg_client *sg_bus_server_find(struct sg_bus_server *s, sd_bus *bus)
{
        struct sg_client *c;

        sg_list_foreach (c, &s->places.clients, link)
                if (c->bus == bus)
                        return c;
        return NULL;
}

struct sg_list *sg_bus_server_clients(struct sg_bus_server *s)
{
        return &s->places.clients;
}
