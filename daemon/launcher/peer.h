/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Who is at the other end: it has to be the governor's own service, and nobody else of root's. */

#include <stdbool.h>
#include <sys/types.h>

struct sg_peer {
        pid_t pid;
        int pidfd;
};

/* Looks at who connected: our own uid, main group of `unit`. -EPERM, -ESRCH when it has gone. */
int sg_peer_init(struct sg_peer *ret, int socket, const char *unit);
void sg_peer_deinit(struct sg_peer *p);
/* Is `sender`, as the kernel tells for a datagram, still that process? Only a listener that had
 * SO_PASSCRED from the beginning leaves no moment in which it doesn't. */
bool sg_peer_is(const struct sg_peer *p, pid_t sender);

/* Does a /proc/PID/cgroup say that the process is of this unit of the system's? */
bool sg_peer_cgroup_is(const char *cgroup, const char *unit);
