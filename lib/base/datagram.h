/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Sockets of this host by their paths; and datagrams that bring a descriptor along, between our own
 * processes. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Binds fd to that path, in place of a socket that was left there. -ENAMETOOLONG … */
int sg_socket_bind(int fd, const char *path);
/* Connects to the socket of that path: a SOCK_SEQPACKET descriptor that never blocks; negative
 * errno. */
int sg_socket_connect(const char *path);

struct sg_datagram {
        size_t size;
        bool cut;       /* it was larger than the buffer */
        int fd;         /* yours to close: the first that came, or -1 */
        unsigned n_fds; /* how many came; those after the first are closed */
        pid_t sender;   /* where the socket has SO_PASSCRED, else 0 … */
        uid_t uid;      /* … and its user, else -1 */
};

/* fd may be -1. Never blocks, never raises SIGPIPE. */
int sg_datagram_send(int socket, const void *data, size_t size, int fd);
/* 1, 0 at the end of the connection, -EAGAIN. Never blocks. */
int sg_datagram_receive(int socket, void *buf, size_t size, struct sg_datagram *ret);
/* The same from a sender that isn't trusted: the kernel drops descriptors, which never become ours.
 * Closing one would wait for its file system (FUSE) for as long as that likes. */
int sg_datagram_receive_no_fds(int socket, void *buf, size_t size, struct sg_datagram *ret);
