/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Who asks: always the word of the socket (SO_PEERCRED, SO_PEERGROUPS, SO_PEERPIDFD) or of the
 * message bus, never a name in a message.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

struct sg_caller {
        uid_t uid;
        gid_t gid;
        pid_t pid;
        int pidfd; /* −1 if the process had gone already */
        gid_t *groups;
        size_t n_groups;
};

int sg_caller_from_socket(struct sg_caller *ret, int fd);
/* From the bus's answer to GetConnectionCredentials. -ESRCH if the process has gone, as its group
 * isn't known then; -EBADMSG if its own word and the bus's don't agree. */
int sg_caller_from_credentials(struct sg_caller *ret, sd_bus_message *reply);
void sg_caller_deinit(struct sg_caller *c);
bool sg_caller_in_group(const struct sg_caller *c, gid_t gid);
/* Whether pidfd names the very process that opened the socket. */
bool sg_caller_is_process(const struct sg_caller *c, int pidfd);
/* The resource limits of that process, by resource; -ESRCH once it has gone. */
int sg_caller_rlimits(const struct sg_caller *c, struct rlimit ret[RLIM_NLIMITS]);
/* When that process started, in clock ticks since boot; -ESRCH once it has gone. */
int sg_caller_start_ticks(const struct sg_caller *c, uint64_t *ret);
