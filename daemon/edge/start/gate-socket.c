/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/start/gate-socket.h"
#include "base/cleanup.h"
#include "base/datagram.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define BACKLOG 128

/* 800 a second: what connects here may be a flood, and each is looked for among all jobs. */
#define ROUND_MAX 8
#define ROUNDS 5
#define ROUNDS_USEC 50000

struct sg_gate_socket {
        int fd;
        sd_event_source *source;
        sg_gate_socket_cb cb;
        void *userdata;
        char *path; /* absolute; NULL: it isn't there */
};

static void take(struct sg_gate_socket *s, int connection)
{
        _cleanup_close_ int fd = connection;
        struct ucred peer;
        socklen_t size = sizeof(peer);

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
            s->cb(fd, peer.pid, peer.uid, s->userdata))
                (void)TAKE_FD(fd);
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
        (void)source;
        (void)events;
        for (unsigned i = 0; i < ROUND_MAX; i++) {
                int connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

                if (connection < 0) /* its shim has gone; or we have no descriptor: it tries
                                       again */
                        break;
                take(userdata, connection);
        }
        return 0;
}

/* By its absolute path, as jobs have working directories of their own. */
static int make(struct sg_gate_socket *s, const char *dir)
{
        _cleanup_free_ char *absolute = realpath(dir, NULL), *path = NULL;
        _cleanup_close_ int fd = -1;
        int r;

        if (!absolute)
                return -errno;
        fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;
        if (asprintf(&path, "%s/gate", absolute) < 0)
                return -ENOMEM;
        r = sg_socket_bind(fd, path);
        if (r < 0)
                return r;
        if (chmod(path, 0666) < 0 || listen(fd, BACKLOG) < 0)
                return -errno;
        s->path = TAKE_PTR(path);
        s->fd = TAKE_FD(fd);
        return 0;
}

static int watch(struct sg_gate_socket *s, sd_event *event)
{
        int r = sd_event_add_io(event, &s->source, s->fd, EPOLLIN, on_readable, s);

        return r < 0 ? r : sd_event_source_set_ratelimit(s->source, ROUNDS_USEC, ROUNDS);
}

struct sg_gate_socket *sg_gate_socket_free(struct sg_gate_socket *s)
{
        if (!s)
                return NULL;
        sd_event_source_disable_unref(s->source);
        if (s->fd >= 0) {
                (void)unlink(s->path);
                (void)sg_close(s->fd);
        }
        free(s->path);
        free(s);
        return NULL;
}

SG_DEFINE_CLEANUP(struct sg_gate_socket *, sg_gate_socket_free)

int sg_gate_socket_new(struct sg_gate_socket **ret, sd_event *event, const char *dir,
                       sg_gate_socket_cb cb, void *userdata)
{
        _cleanup_(sg_gate_socket_freep) struct sg_gate_socket *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return -ENOMEM;
        s->fd = -1;
        s->cb = cb;
        s->userdata = userdata;
        r = make(s, dir);
        if (r >= 0)
                r = watch(s, event);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(s);
        return 0;
}

const char *sg_gate_socket_path(const struct sg_gate_socket *s)
{
        return s->path;
}
