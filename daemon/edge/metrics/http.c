/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See http.h. The pages themselves are in http-page.c. */

#include "edge/metrics/http.h"
#include "base/list.h"
#include "base/time-util.h"
#include "core/measure/openmetrics-accept.h"
#include "edge/metrics/http-page.h"
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define CONNECTIONS_MAX 64U
#define CONNECTION_BYTES ((size_t)8192)
#define CONNECTION_SEC 10U
/* A connection has so long however many wait for a place: that is what a scraper takes, whose
 * request comes with its connection. With 64 places a thousand who say nothing are dealt with in a
 * second, at no more than 1,280 a second. */
#define CONNECTION_GRANTED_USEC (50 * SG_USEC_PER_MSEC)
/* It has its turn among all else, and in one turn so many places are given to somebody else at
 * most: who keeps the daemon busy in other ways keeps nobody from its metrics, nor the other way
 * round. */
#define TURN_MAX 8U

#ifndef IPV6_FREEBIND
#define IPV6_FREEBIND 78
#endif

struct sg_http {
        const struct sg_microhttpd *mhd;
        struct MHD_Daemon *daemon;
        int listener; /* the daemon's */
        sd_event_source *io, *timer;
        sd_event_source *crowd;     /* while all places are taken: somebody waits for one */
        struct sg_list connections; /* the oldest first */
        unsigned n;
        bool closed; /* a connection was closed since this was reset */
        struct sg_http_pages pages;
};

struct connection {
        struct sg_list link;
        int fd;
        uint64_t begun_usec;             /* monotonic */
        bool cut, asked;                 /* asked: its request has come */
        const struct sg_http_page *page; /* that it is reading */
};

/* Connections */

/* libmicrohttpd finds the connection closed, and closes its own end. */
static void cut(struct connection *c)
{
        c->cut = true;
        (void)shutdown(c->fd, SHUT_RDWR);
}

static uint64_t end_of(const struct connection *c)
{
        return c->begun_usec + CONNECTION_SEC * SG_USEC_PER_SEC;
}

static void cut_late(struct sg_http *h, uint64_t now)
{
        struct connection *c;

        sg_list_foreach (c, &h->connections, link)
                if (!c->cut && end_of(c) <= now)
                        cut(c);
}

static void cut_readers(struct sg_http *h, const struct sg_http_page *page)
{
        struct connection *c;

        sg_list_foreach (c, &h->connections, link)
                if (!c->cut && c->page == page)
                        cut(c);
}

/* Whether all that will ever come has been read. */
static bool has_ended(int fd)
{
        struct pollfd p = {.fd = fd, .events = POLLRDHUP};
        int unread;

        return poll(&p, 1, 0) > 0 && ioctl(fd, FIONREAD, &unread) == 0 && unread == 0;
}

/* libmicrohttpd (0.9.75) doesn't see the end of a connection if it came together with the first
 * part of a request: with epoll it takes a short read for the last one. */
static void cut_ended(struct sg_http *h)
{
        struct connection *c;

        sg_list_foreach (c, &h->connections, link)
                if (!c->cut && !c->asked && has_ended(c->fd))
                        cut(c);
}

static struct connection *oldest(const struct sg_http *h)
{
        struct connection *c;

        sg_list_foreach (c, &h->connections, link)
                if (!c->cut)
                        return c;
        return NULL;
}

/* All places are taken, and somebody waits for one. */
static bool is_crowded(const struct sg_http *h)
{
        struct pollfd p = {.fd = h->listener, .events = POLLIN};

        return h->n >= CONNECTIONS_MAX && poll(&p, 1, 0) > 0;
}

/* When all places are taken, the oldest connection goes before it is done. */
static bool make_place(struct sg_http *h, uint64_t now)
{
        struct connection *c = oldest(h);

        if (!c || c->begun_usec + CONNECTION_GRANTED_USEC > now || !is_crowded(h))
                return false;
        cut(c);
        return true;
}

static struct connection *connection_new(struct sg_http *h, struct MHD_Connection *mhd)
{
        const union MHD_ConnectionInfo *info =
                h->mhd->get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
        struct connection *c = info ? calloc(1, sizeof(*c)) : NULL;

        if (!c) {
                if (info)
                        (void)shutdown(info->connect_fd, SHUT_RDWR);
                return NULL;
        }
        c->fd = info->connect_fd;
        c->begun_usec = sg_now_monotonic_usec();
        sg_list_append(&h->connections, &c->link);
        h->n++;
        return c;
}

static void on_connection(void *userdata, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
        struct connection *c = *context;

        if (what == MHD_CONNECTION_NOTIFY_STARTED) {
                *context = connection_new(userdata, mhd);
        } else if (c) {
                ((struct sg_http *)userdata)->closed = true;
                ((struct sg_http *)userdata)->n--;
                sg_list_remove(&c->link);
                free(c);
                *context = NULL;
        }
}

/* Requests */

static enum MHD_Result refuse(struct sg_http *h, struct MHD_Connection *mhd, unsigned status,
                              const char *text)
{
        /* (it is neither changed nor freed) */
        struct MHD_Response *response = h->mhd->create_response_from_buffer(
                strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);
        enum MHD_Result r = MHD_NO;

        if (response &&
            h->mhd->add_response_header(response, "Content-Type", "text/plain") == MHD_YES &&
            h->mhd->add_response_header(response, "Connection", "close") == MHD_YES &&
            (status != MHD_HTTP_METHOD_NOT_ALLOWED ||
             h->mhd->add_response_header(response, "Allow", "GET, HEAD") == MHD_YES))
                r = h->mhd->queue_response(mhd, status, response);
        if (response)
                h->mhd->destroy_response(response);
        return r;
}

static enum MHD_Result answer(struct sg_http *h, struct MHD_Connection *mhd, struct connection *c)
{
        const char *accept = h->mhd->lookup_connection_value(mhd, MHD_HEADER_KIND, "Accept");
        struct sg_http_page *page, *victim;
        int r;

        r = sg_http_pages_get(&h->pages, sg_openmetrics_choose(accept), sg_now_monotonic_usec(),
                              &page);
        if (r == -EBUSY)
                return refuse(h, mhd, MHD_HTTP_SERVICE_UNAVAILABLE, "try again in a second\n");
        if (r < 0)
                return refuse(h, mhd, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
        c->page = page;
        victim = sg_http_pages_victim(&h->pages);
        if (victim)
                cut_readers(h, victim);
        return h->mhd->queue_response(mhd, MHD_HTTP_OK, page->response);
}

/* Called when the head of the request is complete; what body it has is of no interest. */
static enum MHD_Result on_request(void *userdata, struct MHD_Connection *mhd, const char *url,
                                  const char *method, const char *version, const char *body,
                                  size_t *body_size, void **context)
{
        struct sg_http *h = userdata;
        const union MHD_ConnectionInfo *info =
                h->mhd->get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
        struct connection *c = info ? info->socket_context : NULL;

        (void)version;
        (void)body;
        (void)body_size;
        (void)context;
        if (!c)
                return MHD_NO;
        c->asked = true;
        if (strcmp(url, "/metrics") != 0)
                return refuse(h, mhd, MHD_HTTP_NOT_FOUND, "there is /metrics only\n");
        if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
                return refuse(h, mhd, MHD_HTTP_METHOD_NOT_ALLOWED, "GET or HEAD only\n");
        return answer(h, mhd, c);
}

/* The event loop */

/* UINT64_MAX: nothing is due. */
static uint64_t next_usec(struct sg_http *h, uint64_t now, bool crowded)
{
        const struct connection *first = oldest(h);
        uint64_t next = UINT64_MAX;
        MHD_UNSIGNED_LONG_LONG msec;

        if (h->mhd->get_timeout(h->daemon, &msec) == MHD_YES)
                next = now + msec * SG_USEC_PER_MSEC;
        if (first && end_of(first) < next)
                next = end_of(first);
        if (first && crowded && first->begun_usec + CONNECTION_GRANTED_USEC < next)
                next = first->begun_usec + CONNECTION_GRANTED_USEC;
        return next;
}

/* When to look again without being asked to: at once, if there is more to be done. */
static int wait_for_next(struct sg_http *h, uint64_t now, bool more)
{
        bool full = h->n >= CONNECTIONS_MAX, crowded = is_crowded(h);
        uint64_t next = more ? now : next_usec(h, now, crowded);

        (void)sd_event_source_set_enabled(h->crowd,
                                          full && !crowded ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
        if (next == UINT64_MAX)
                return sd_event_source_set_enabled(h->timer, SD_EVENT_OFF);
        (void)sd_event_source_set_time(h->timer, next);
        return sd_event_source_set_enabled(h->timer, SD_EVENT_ONESHOT);
}

static int run(struct sg_http *h)
{
        uint64_t now = sg_now_monotonic_usec();
        bool more = true;

        cut_late(h, now);
        /* At its limit it stops to listen, and begins again only when it is run with room for one
         * (0.9.75; nothing else wakes it up for that). */
        for (unsigned i = 0; more && i < TURN_MAX; i++) {
                h->closed = false;
                (void)h->mhd->run(h->daemon);
                more = h->closed || make_place(h, now);
        }
        cut_ended(h);
        return wait_for_next(h, now, more);
}

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        (void)source;
        (void)fd;
        (void)revents;
        return run(userdata);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
        (void)source;
        (void)usec;
        return run(userdata);
}

static int add_sources(struct sg_http *h, sd_event *event)
{
        const union MHD_DaemonInfo *info =
                h->mhd->get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
        int r;

        if (!info || info->epoll_fd < 0)
                return -ENOTSUP;
        r = sd_event_add_io(event, &h->io, info->epoll_fd, EPOLLIN, on_io, h);
        if (r >= 0)
                r = sd_event_add_io(event, &h->crowd, h->listener, EPOLLIN, on_io, h);
        if (r >= 0)
                r = sd_event_add_time(event, &h->timer, CLOCK_MONOTONIC, 0, SG_USEC_PER_MSEC,
                                      on_timer, h);
        if (r >= 0)
                r = sd_event_source_set_enabled(h->crowd, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_source_set_enabled(h->timer, SD_EVENT_OFF);
        return r;
}

/* The object */

static socklen_t to_sockaddr(const struct sg_address *a, struct sockaddr_storage *ret)
{
        struct sockaddr_in *four = (struct sockaddr_in *)ret;
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)ret;

        memset(ret, 0, sizeof(*ret));
        if (a->version == 4) {
                four->sin_family = AF_INET;
                four->sin_port = htons(a->port);
                memcpy(&four->sin_addr, a->bytes, sizeof(four->sin_addr));
                return sizeof(*four);
        }
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(a->port);
        memcpy(&six->sin6_addr, a->bytes, sizeof(six->sin6_addr));
        return sizeof(*six);
}

/* An address may be one that the host gets later, as the network comes up. */
static int listen_on(const struct sg_address *where)
{
        const int one = 1, level = where->version == 6 ? IPPROTO_IPV6 : IPPROTO_IP;
        struct sockaddr_storage address;
        socklen_t size = to_sockaddr(where, &address);
        _cleanup_close_ int fd =
                socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0)
                return -errno;
        if (where->version == 6 && setsockopt(fd, level, IPV6_V6ONLY, &one, sizeof(one)) < 0)
                return -errno;
        (void)setsockopt(fd, level, where->version == 6 ? IPV6_FREEBIND : IP_FREEBIND, &one,
                         sizeof(one));
        if (bind(fd, (struct sockaddr *)&address, size) < 0 || listen(fd, SOMAXCONN) < 0)
                return -errno;
        return TAKE_FD(fd);
}

static int start(struct sg_http *h, const struct sg_address *where)
{
        int fd = listen_on(where);

        if (fd < 0)
                return fd;
        h->daemon = h->mhd->start_daemon(
                MHD_USE_EPOLL, 0, NULL, NULL, on_request, h, MHD_OPTION_LISTEN_SOCKET, fd,
                MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_CONNECTION_LIMIT,
                CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES,
                MHD_OPTION_CONNECTION_TIMEOUT, CONNECTION_SEC, MHD_OPTION_STRICT_FOR_CLIENT, 1,
                MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
        if (h->daemon) {
                h->listener = fd; /* its own now */
                return 0;
        }
        (void)sg_close(fd);
        return -ENOMEM;
}

int sg_http_new(struct sg_http **ret, sd_event *event, const struct sg_address *where,
                sg_http_render render, void *userdata, char **ret_why)
{
        _cleanup_(sg_http_freep) struct sg_http *h = calloc(1, sizeof(*h));
        char text[SG_ADDRESS_MAX];
        int r;

        if (!h)
                return -ENOMEM;
        sg_list_init(&h->connections);
        r = sg_microhttpd_load(&h->mhd, ret_why);
        if (r < 0)
                return r;
        h->pages = (struct sg_http_pages){.mhd = h->mhd, .render = render, .userdata = userdata};
        r = start(h, where);
        if (r >= 0)
                r = add_sources(h, event);
        if (r < 0) {
                if (asprintf(ret_why, "cannot listen on %s: %s", sg_format_address(text, where),
                             strerror(-r)) < 0)
                        *ret_why = NULL;
                return r;
        }
        *ret = TAKE_PTR(h);
        return 0;
}

struct sg_http *sg_http_free(struct sg_http *h)
{
        if (!h)
                return NULL;
        sd_event_source_disable_unref(h->io);
        sd_event_source_disable_unref(h->crowd);
        sd_event_source_disable_unref(h->timer);
        if (h->daemon)
                h->mhd->stop_daemon(h->daemon);
        if (h->mhd)
                sg_http_pages_deinit(&h->pages);
        free(h);
        return NULL;
}
