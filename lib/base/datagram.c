/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/datagram.h"
#include "base/cleanup.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#define FDS_MAX 8 /* more are cut off, and closed by the kernel */

static int address_of(const char *path, struct sockaddr_un *ret)
{
        if (strlen(path) >= sizeof(ret->sun_path))
                return -ENAMETOOLONG;
        *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
        strcpy(ret->sun_path, path);
        return 0;
}

int sg_socket_bind(int fd, const char *path)
{
        struct sockaddr_un sa;
        int r = address_of(path, &sa);

        if (r < 0)
                return r;
        if (unlink(path) < 0 && errno != ENOENT)
                return -errno;
        return bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ? -errno : 0;
}

int sg_socket_connect(const char *path)
{
        _cleanup_close_ int fd = -1;
        struct sockaddr_un sa;
        int r = address_of(path, &sa);

        if (r < 0)
                return r;
        fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
                return -errno;
        return TAKE_FD(fd);
}

int sg_datagram_send(int socket, const void *data, size_t size, int fd)
{
        struct iovec iov = {.iov_base = (void *)data, .iov_len = size};
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(int))];
        } control = {0};
        struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

        if (fd >= 0) {
                msg.msg_control = &control;
                msg.msg_controllen = sizeof(control);
                control.header.cmsg_level = SOL_SOCKET;
                control.header.cmsg_type = SCM_RIGHTS;
                control.header.cmsg_len = CMSG_LEN(sizeof(int));
                memcpy(CMSG_DATA(&control.header), &fd, sizeof(int));
        }
        for (;;) {
                if (sendmsg(socket, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
                        return 0;
                if (errno != EINTR)
                        return -errno;
        }
}

static void take_fds(struct sg_datagram *d, const struct cmsghdr *c)
{
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        for (size_t i = 0; i < n; i++) {
                int fd;

                memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
                if (d->n_fds++ == 0)
                        d->fd = fd;
                else
                        (void)sg_close(fd);
        }
}

static void take_control(struct sg_datagram *d, struct msghdr *msg)
{
        for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
                if (c->cmsg_level != SOL_SOCKET)
                        continue;
                if (c->cmsg_type == SCM_RIGHTS) {
                        take_fds(d, c);
                } else if (c->cmsg_type == SCM_CREDENTIALS) {
                        struct ucred sender;

                        memcpy(&sender, CMSG_DATA(c), sizeof(sender));
                        d->sender = sender.pid;
                        d->uid = sender.uid;
                }
        }
        if (msg->msg_flags & MSG_CTRUNC)
                d->n_fds++;
}

static int receive(int socket, void *buf, size_t size, void *control, size_t control_size,
                   struct sg_datagram *ret)
{
        struct iovec iov = {.iov_base = buf, .iov_len = size};
        struct msghdr msg = {
                .msg_iov = &iov,
                .msg_iovlen = 1,
                .msg_control = control,
                .msg_controllen = (socklen_t)control_size, /* what musl has there */
        };
        struct sg_datagram d = {.fd = -1, .uid = (uid_t)-1};
        ssize_t n;

        do
                n = recvmsg(socket, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        take_control(&d, &msg);
        d.size = (size_t)n;
        d.cut = msg.msg_flags & MSG_TRUNC;
        *ret = d;
        return n > 0 || d.n_fds > 0;
}

int sg_datagram_receive(int socket, void *buf, size_t size, struct sg_datagram *ret)
{
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(FDS_MAX * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
        } control;

        return receive(socket, buf, size, &control, sizeof(control), ret);
}

/* The room for ancillary data is as large as the sender's credentials, which the kernel puts first:
 * no descriptor fits behind them. */
int sg_datagram_receive_no_fds(int socket, void *buf, size_t size, struct sg_datagram *ret)
{
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(struct ucred))];
        } control;

        return receive(socket, buf, size, &control, sizeof(control), ret);
}
