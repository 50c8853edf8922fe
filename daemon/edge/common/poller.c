/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/common/poller.h"
#include "base/cleanup.h"
#include "base/file.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

struct sg_poller {
        int epoll;
        sd_event_source *source;
        sg_poller_cb ready;
};

/* Takes one event at a time: in its callback what the others point to may go. */
static int on_ready(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        struct sg_poller *p = userdata;
        struct epoll_event e;

        (void)source;
        (void)revents;
        if (epoll_wait(fd, &e, 1, 0) == 1)
                p->ready(e.data.ptr);
        return 0;
}

int sg_poller_new(struct sg_poller **ret, sd_event *event, sg_poller_cb ready)
{
        struct sg_poller *p = calloc(1, sizeof(*p));
        int r;

        if (!p)
                return -ENOMEM;
        p->ready = ready;
        p->epoll = epoll_create1(EPOLL_CLOEXEC);
        r = p->epoll < 0 ? -errno
                         : sd_event_add_io(event, &p->source, p->epoll, EPOLLIN, on_ready, p);
        if (r < 0) {
                (void)sg_poller_free(p);
                return r;
        }
        *ret = p;
        return 0;
}

struct sg_poller *sg_poller_free(struct sg_poller *p)
{
        if (!p)
                return NULL;
        sd_event_source_disable_unref(p->source);
        (void)sg_close(p->epoll);
        free(p);
        return NULL;
}

int sg_poller_restrain(struct sg_poller *p, uint64_t usec, unsigned times)
{
        return sd_event_source_set_ratelimit(p->source, usec, times);
}

static int add(struct sg_poller *p, int fd, uint32_t events, void *userdata)
{
        struct epoll_event e = {.events = events, .data.ptr = userdata};

        return epoll_ctl(p->epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

int sg_poller_add(struct sg_poller *p, int fd, void *userdata)
{
        return add(p, fd, EPOLLIN, userdata);
}

int sg_poller_add_notified(struct sg_poller *p, int fd, void *userdata)
{
        return add(p, fd, EPOLLPRI | EPOLLET, userdata);
}

void sg_poller_remove(struct sg_poller *p, int fd)
{
        if (fd >= 0)
                (void)epoll_ctl(p->epoll, EPOLL_CTL_DEL, fd, NULL);
}
