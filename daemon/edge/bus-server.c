/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/bus-server.h"
#include "base/cleanup.h"
#include "edge/log.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>

#define CLIENTS_MAX 512U
#define CLIENTS_PER_USER_MAX 128U
#define AUTH_USEC (5ULL * 1000000)
/* Messages waiting for a client that doesn't read, beyond what the socket holds: 8 MiB, which
 * sd-bus asks for and root gets, else net.core.wmem_max. Most are small and come in bursts, as the
 * 10,000 signals of an array, which a client that reads must survive. A page of job documents is
 * half a megabyte, though: with this many messages unread no more of those are made. */
#define QUEUED_WRITES_MAX 512U
#define QUEUED_REPLIES_MAX 32U
#define BACKLOG 512

struct sg_bus_server {
        sd_event *event;
        sd_event_source *listener;
        sd_id128_t id;
        char *path;
        struct sg_list clients;
        unsigned n_clients;
        const struct sg_bus_server_ops *ops;
        void *userdata;
};

static void client_drop(struct sg_client *c)
{
        struct sg_bus_server *s = c->server;

        s->ops->disconnected(c, s->userdata);
        sg_list_remove(&c->link);
        s->n_clients--;
        sd_event_source_disable_unref(c->auth_timer);
        sd_bus_close_unref(c->bus);
        sg_caller_deinit(&c->caller);
        free(c);
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        (void)m;
        (void)error;
        client_drop(userdata);
        return 0;
}

/* Shuts down the socket of a client whose replies pile up; sd-bus then reports it as disconnected,
 * outside of whatever call of its is being handled now. */
static bool client_reads(struct sg_client *c)
{
        uint64_t queued = 0;

        if (c->stuck)
                return false;
        if (sd_bus_get_n_queued_write(c->bus, &queued) < 0 || queued < QUEUED_WRITES_MAX)
                return true;
        sg_log(LOG_NOTICE, "dropping a client of uid %u (pid %d) that doesn't read", c->caller.uid,
               (int)c->caller.pid);
        c->stuck = true;
        (void)shutdown(sd_bus_get_fd(c->bus), SHUT_RDWR);
        return false;
}

/* Disconnected comes this way too, and must reach on_disconnected(). */
static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        (void)error;
        if (sd_bus_message_is_signal(m, "org.freedesktop.DBus.Local", "Disconnected") > 0)
                return 0;
        return client_reads(userdata) ? 0 : 1;
}

static int on_auth_timeout(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_client *c = userdata;

        (void)source;
        (void)usec;
        if (sd_bus_is_ready(c->bus) > 0)
                c->auth_timer = sd_event_source_disable_unref(c->auth_timer);
        else
                client_drop(c);
        return 0;
}

static unsigned count_of_user(struct sg_bus_server *s, uid_t uid)
{
        struct sg_client *c;
        unsigned n = 0;

        sg_list_foreach (c, &s->clients, link)
                n += c->caller.uid == uid;
        return n;
}

static int client_start(struct sg_client *c, int fd)
{
        struct sg_bus_server *s = c->server;
        int r;

        r = sd_bus_new(&c->bus);
        if (r < 0) {
                (void)sg_close(fd);
                return r;
        }
        r = sd_bus_set_fd(c->bus, fd, fd);
        if (r < 0) {
                (void)sg_close(fd);
                return r;
        }
        r = sd_bus_set_server(c->bus, 1, s->id);
        if (r >= 0)
                r = sd_bus_negotiate_fds(c->bus, 1);
        if (r >= 0)
                r = sd_bus_start(c->bus);
        if (r >= 0)
                r = sd_bus_match_signal_async(
                        c->bus, NULL, "org.freedesktop.DBus.Local", "/org/freedesktop/DBus/Local",
                        "org.freedesktop.DBus.Local", "Disconnected", on_disconnected, NULL, c);
        if (r >= 0)
                r = sd_bus_add_filter(c->bus, NULL, on_message, c);
        if (r >= 0)
                r = sd_bus_attach_event(c->bus, s->event, SD_EVENT_PRIORITY_NORMAL);
        if (r >= 0)
                r = sd_event_add_time_relative(s->event, &c->auth_timer, CLOCK_MONOTONIC, AUTH_USEC,
                                               0, on_auth_timeout, c);
        return r < 0 ? r : s->ops->connected(c, s->userdata);
}

/* However many there are, root gets in: to see who it is that takes all the places. */
static bool has_room(struct sg_bus_server *s, uid_t uid)
{
        return uid == 0 ||
               (s->n_clients < CLIENTS_MAX && count_of_user(s, uid) < CLIENTS_PER_USER_MAX);
}

static int client_new(struct sg_bus_server *s, int accepted)
{
        _cleanup_close_ int fd = accepted;
        struct sg_client *c;
        int r;

        c = calloc(1, sizeof(*c));
        if (!c)
                return -ENOMEM;
        c->server = s;
        sg_list_init(&c->waiters);
        sg_list_init(&c->link);
        r = sg_caller_from_socket(&c->caller, fd);
        if (r < 0) {
                free(c);
                return r;
        }
        if (!has_room(s, c->caller.uid)) {
                sg_caller_deinit(&c->caller);
                free(c);
                return -EUSERS;
        }
        sg_list_append(&s->clients, &c->link);
        s->n_clients++;
        r = client_start(c, TAKE_FD(fd));
        if (r < 0)
                client_drop(c);
        return r;
}

static int on_connection(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        struct sg_bus_server *s = userdata;
        int client, r;

        (void)source;
        (void)revents;
        client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (client < 0) {
                if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                        sg_log(LOG_WARNING, "cannot accept a connection on %s: %m", s->path);
                return 0;
        }
        r = client_new(s, client);
        if (r < 0)
                sg_log(LOG_DEBUG, "dropped a connection on %s: %s", s->path, strerror(-r));
        return 0;
}

static int listen_on(const char *path, int *ret)
{
        struct sockaddr_un sa = {.sun_family = AF_UNIX};
        _cleanup_close_ int fd = -1;

        if (strlen(path) >= sizeof(sa.sun_path))
                return -ENAMETOOLONG;
        strcpy(sa.sun_path, path);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;
        if (unlink(path) < 0 && errno != ENOENT)
                return -errno;
        if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
                return -errno;
        if (chmod(path, 0666) < 0)
                return -errno;
        if (listen(fd, BACKLOG) < 0)
                return -errno;
        *ret = TAKE_FD(fd);
        return 0;
}

int sg_bus_server_new(struct sg_bus_server **ret, sd_event *event, const char *path,
                      const struct sg_bus_server_ops *ops, void *userdata)
{
        struct sg_bus_server *s;
        int fd = -1, r;

        s = calloc(1, sizeof(*s));
        if (!s)
                return -ENOMEM;
        sg_list_init(&s->clients);
        s->event = sd_event_ref(event);
        s->ops = ops;
        s->userdata = userdata;
        s->path = strdup(path);
        r = s->path ? sd_id128_randomize(&s->id) : -ENOMEM;
        if (r >= 0)
                r = listen_on(path, &fd);
        if (r < 0) {
                free(s->path);
                s->path = NULL;
                sg_bus_server_free(s);
                return r;
        }
        r = sd_event_add_io(event, &s->listener, fd, EPOLLIN, on_connection, s);
        if (r < 0) {
                (void)sg_close(fd);
                sg_bus_server_free(s);
                return r;
        }
        (void)sd_event_source_set_io_fd_own(s->listener, 1);
        *ret = s;
        return 0;
}

struct sg_bus_server *sg_bus_server_free(struct sg_bus_server *s)
{
        struct sg_client *c, *next;

        if (!s)
                return NULL;
        sg_list_foreach_safe (c, next, &s->clients, link)
                client_drop(c);
        if (s->path)
                (void)unlink(s->path);
        sd_event_source_disable_unref(s->listener);
        sd_event_unref(s->event);
        free(s->path);
        free(s);
        return NULL;
}

struct sg_list *sg_bus_server_clients(struct sg_bus_server *s)
{
        return &s->clients;
}

void sg_client_send(struct sg_client *c, sd_bus_message *m)
{
        if (client_reads(c))
                (void)sd_bus_send(c->bus, m, NULL);
}

int sg_client_reply(struct sg_client *c, sd_bus_message *m)
{
        uint64_t queued = 0;

        if (sd_bus_get_n_queued_write(c->bus, &queued) >= 0 && queued >= QUEUED_REPLIES_MAX)
                return -EBUSY;
        return sd_bus_send(c->bus, m, NULL);
}
