/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/gpu/gpu.h"
#include "base/list.h"
#include "edge/common/frames.h"
#include "edge/gpu/spawn.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* What waits of a worker is taken in by so much at a time, so that one which talks without end
 * doesn't keep the loop. */
#define RECEIVE_BYTES (64U * 1024)

struct process {
        struct sg_list link; /* of those that were let go */
        struct sg_gpu_client *client;
        sd_event_source *io;  /* its socket, which the source owns; NULL: a child that was let go */
        sd_event_source *end; /* a child's pidfd, which the source owns */
        pid_t child;          /* 0: systemd's */
        struct sg_inbox in;
        bool let_go;
};

struct sg_gpu_client {
        struct sg_gpu_client_options o;
        char *program, *socket;
        struct process *process; /* the one that runs */
        struct sg_list leaving;
};

static void process_free(struct process *p)
{
        sg_list_remove(&p->link);
        sd_event_source_disable_unref(p->io);
        sd_event_source_disable_unref(p->end);
        sg_inbox_deinit(&p->in);
        free(p);
}

static void process_gone(struct process *p)
{
        struct sg_gpu_client *c = p->client;

        if (p->child > 0)
                (void)waitpid(p->child, NULL, WNOHANG);
        if (c->process == p)
                c->process = NULL;
        process_free(p);
        c->o.ops->gone(c->o.userdata);
}

/* --- letting go */

/* Closed for writing only: our end is hung up when the last one has closed the other, which is when
 * the process has gone. */
static void hang_up(struct process *p)
{
        if (p->child > 0) {
                p->io = sd_event_source_disable_unref(p->io);
                (void)kill(p->child, SIGTERM);
        } else {
                (void)shutdown(sd_event_source_get_io_fd(p->io), SHUT_WR);
        }
        sg_inbox_deinit(&p->in);
}

void sg_gpu_client_let_go(struct sg_gpu_client *c)
{
        struct process *p = TAKE_PTR(c->process);

        if (!p)
                return;
        p->let_go = true;
        hang_up(p);
        sg_list_append(&c->leaving, &p->link);
}

static void fail(struct process *p, int error)
{
        struct sg_gpu_client *c = p->client;

        sg_gpu_client_let_go(c);
        c->o.ops->failed(error, c->o.userdata);
}

/* --- what it says */

/* 1: there may be more; 0: no whole frame is there, or it was let go by who heard it. */
static int take_frame(struct process *p)
{
        struct sg_gpu_client *c = p->client;
        struct sg_gpu_inventory inventory;
        const uint8_t *data;
        size_t size;
        int r;

        r = sg_inbox_take(&p->in, &data, &size);
        if (r <= 0)
                return r;
        r = sg_gpu_take_inventory(data, size, &inventory);
        if (r < 0)
                return r;
        c->o.ops->looked(&inventory, c->o.userdata);
        return c->process == p;
}

static int hear(struct process *p, int fd)
{
        ssize_t n = sg_inbox_receive(&p->in, fd, MSG_DONTWAIT);
        int r;

        if (n == -EAGAIN)
                return 0;
        if (n <= 0)
                return n < 0 ? (int)n : -EPIPE;
        do
                r = take_frame(p);
        while (r > 0);
        return r;
}

/* What it still says is of no use: read, so that it doesn't wait for us. */
static bool has_hung_up(int fd)
{
        char rest[4096];
        ssize_t n;

        do
                n = recv(fd, rest, sizeof(rest), MSG_DONTWAIT);
        while (n < 0 && errno == EINTR);
        return n == 0 || (n < 0 && errno != EAGAIN);
}

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        struct process *p = userdata;
        int r;

        (void)source;
        (void)revents;
        if (p->let_go) {
                if (has_hung_up(fd))
                        process_gone(p);
                return 0;
        }
        r = hear(p, fd);
        if (r < 0)
                fail(p, r);
        return 0;
}

static int on_end(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        struct process *p = userdata;

        (void)source;
        (void)fd;
        (void)revents;
        if (!p->let_go)
                fail(p, -EPIPE);
        process_gone(p);
        return 0;
}

/* --- its start */

static int watch_child(struct process *p, int pidfd)
{
        int r = sd_event_add_io(p->client->o.event, &p->end, pidfd, EPOLLIN, on_end, p);

        if (r >= 0)
                r = sd_event_source_set_io_fd_own(p->end, 1);
        /* What it said last is heard before its end is seen. */
        return r < 0 ? r : sd_event_source_set_priority(p->end, SD_EVENT_PRIORITY_NORMAL + 1);
}

static int open_process(struct process *p)
{
        struct sg_gpu_client *c = p->client;
        _cleanup_close_ int fd = -1, pidfd = -1;
        int r;

        if (c->socket)
                r = sg_gpu_connect(c->socket, &fd);
        else
                r = sg_gpu_spawn(c->program, &fd, &p->child, &pidfd);
        if (r < 0)
                return r;
        r = sd_event_add_io(c->o.event, &p->io, fd, EPOLLIN, on_io, p);
        if (r < 0)
                return r;
        (void)sd_event_source_set_io_fd_own(p->io, 1);
        TAKE_FD(fd);
        (void)sd_event_source_set_description(p->io, "schedgov-gpu");
        if (pidfd < 0)
                return 0;
        r = watch_child(p, pidfd);
        TAKE_FD(pidfd);
        return r;
}

int sg_gpu_client_start(struct sg_gpu_client *c, const struct sg_gpu_order *order)
{
        struct process *p;
        int r;

        if (c->process)
                return -EBUSY;
        p = calloc(1, sizeof(*p));
        if (!p)
                return -ENOMEM;
        sg_list_init(&p->link);
        p->client = c;
        p->in.max = SG_GPU_FRAME_MAX;
        p->in.usual = RECEIVE_BYTES;
        r = open_process(p);
        if (r < 0) {
                process_free(p);
                return r;
        }
        c->process = p;
        (void)sg_gpu_client_order(c, order); /* one that can't be talked to is found out soon */
        return 0;
}

int sg_gpu_client_order(struct sg_gpu_client *c, const struct sg_gpu_order *order)
{
        _cleanup_(sg_record_deinitp) struct sg_record out = {0};
        size_t mark = sg_frame_open(&out);
        ssize_t n;
        int r;

        if (!c->process)
                return -ENOTCONN;
        sg_gpu_put_order(&out, order);
        r = sg_frame_close(&out, mark, SG_GPU_FRAME_MAX);
        if (r < 0)
                return r;
        n = send(sd_event_source_get_io_fd(c->process->io), out.data, out.size,
                 MSG_DONTWAIT | MSG_NOSIGNAL);
        return n < 0 ? -errno : 0;
}

bool sg_gpu_client_runs(const struct sg_gpu_client *c)
{
        return c->process != NULL;
}

/* --- the object */

int sg_gpu_client_new(struct sg_gpu_client **ret, const struct sg_gpu_client_options *o)
{
        _cleanup_(sg_gpu_client_freep) struct sg_gpu_client *c = calloc(1, sizeof(*c));

        if (!c)
                return -ENOMEM;
        sg_list_init(&c->leaving);
        c->o = *o;
        c->o.event = sd_event_ref(o->event);
        c->program = o->program ? strdup(o->program) : NULL;
        c->socket = o->socket ? strdup(o->socket) : NULL;
        if ((o->program && !c->program) || (o->socket && !c->socket))
                return -ENOMEM;
        *ret = TAKE_PTR(c);
        return 0;
}

struct sg_gpu_client *sg_gpu_client_free(struct sg_gpu_client *c)
{
        struct process *p, *next;

        if (!c)
                return NULL;
        sg_gpu_client_let_go(c);
        sg_list_foreach_safe (p, next, &c->leaving, link)
                process_free(p);
        sd_event_unref(c->o.event);
        free(c->program);
        free(c->socket);
        free(c);
        return NULL;
}
