/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the governor told the job by its environment, read once, and the socket. NOTIFY_SOCKET alone
 * means nothing: a service of systemd's has one, too.
 *
 * The socket isn't connected: a governor that restarts makes a new one at the same path.
 */
#include "client/client-internal.h"
#include "client/follow.h"
#include "client/notify-address.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool governed;
static char *allocation;
static struct sockaddr_un address;
static socklen_t address_size; /* 0: there is no socket */
static _Atomic int sock = -1;

static void read_environment(void)
{
        const char *path = getenv("SCHEDGOV_ALLOCATION"), *s = getenv("NOTIFY_SOCKET");

        governed = path || getenv("SCHEDGOV_JOB_ID");
        if (!governed)
                return;
        if (path && path[0] == '/')
                allocation = strdup(path);
        if (s)
                address_size = sgc_notify_address(s, &address);
}

static void look(void)
{
        (void)pthread_once(&once, read_environment);
}

SGC_API int schedgov_governed(void)
{
        look();
        return governed;
}

const char *sgc_allocation_path(void)
{
        look();
        return allocation;
}

bool sgc_has_socket(void)
{
        look();
        return address_size > 0;
}

bool sgc_is_other_process(pid_t owner)
{
        return owner != 0 && owner != getpid();
}

/* Two threads may make a socket at the same time: one of the two stays, the other is closed. */
static int new_socket(void)
{
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), none = -1;

        if (fd < 0)
                return -errno;
        fd = sgc_move_high(fd);
        if (atomic_compare_exchange_strong(&sock, &none, fd))
                return fd;
        (void)close(fd);
        return none;
}

static int try_send(int fd, const struct msghdr *m)
{
        if (sendmsg(fd, m, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
                return 0;
        return -errno;
}

/* The program may have closed the descriptor, which isn't its own, or have put something else in
 * its place; then it isn't ours to close. */
static bool is_lost(int error)
{
        return error == -EBADF || error == -ENOTSOCK || error == -EPROTOTYPE || error == -EISCONN ||
               error == -EAFNOSUPPORT || error == -EINVAL;
}

static int send_message(const struct msghdr *m)
{
        int fd = atomic_load(&sock), r;

        if (fd < 0)
                fd = new_socket();
        if (fd < 0)
                return fd;
        r = try_send(fd, m);
        if (!is_lost(r))
                return r;
        (void)atomic_compare_exchange_strong(&sock, &fd, -1);
        fd = new_socket();
        return fd < 0 ? fd : try_send(fd, m);
}

int sgc_send(const char *text, size_t n, int fd)
{
        struct iovec iov = {.iov_base = (void *)text, .iov_len = n};
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(int))];
        } control = {0};
        struct msghdr m = {.msg_name = &address,
                           .msg_namelen = address_size,
                           .msg_iov = &iov,
                           .msg_iovlen = 1};
        int saved = errno, r;

        if (!sgc_has_socket())
                return -ENOTCONN;
        if (fd >= 0) {
                m.msg_control = &control;
                m.msg_controllen = sizeof(control);
                control.header.cmsg_level = SOL_SOCKET;
                control.header.cmsg_type = SCM_RIGHTS;
                control.header.cmsg_len = CMSG_LEN(sizeof(int));
                memcpy(CMSG_DATA(&control.header), &fd, sizeof(int));
        }
        r = send_message(&m);
        errno = saved;
        return r;
}
