/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A group that somebody else made, as a scope that can be looked at but not written to; and what
 * its processes tell of it. */

#include "edge/cgroup-watch.h"

/* Its own group stands for both of a scope's: counters, populated and frozen work, and whatever
 * would write is -EOPNOTSUPP. The counters read last stay after its end. */
int sg_scope_observe(struct sg_scope **ret, const struct sg_watched *g);

/* What tells this group from a later one of its name: systemd's InvocationID where the group bears
 * it, else its inode. */
void sg_watched_identity(const struct sg_watched *g, char ret[SG_INVOCATION_ID_MAX]);

struct sg_member {
        pid_t pid;
        uid_t uid; /* real ids */
        gid_t gid;
        uint64_t started_usec; /* realtime */
        char command[512];     /* as /proc has it: words, each with its NUL */
        size_t command_size;
};
/* Its process with the smallest pid. -ESRCH: it has none. */
int sg_watched_member(const struct sg_watched *g, struct sg_member *ret);
