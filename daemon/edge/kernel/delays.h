/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * How long processes waited: for a CPU, for block I/O, for swapped-out pages (delay accounting by
 * taskstats, libnl-genl).
 *
 * Needs AF_NETLINK and CAP_NET_ADMIN. Waits for I/O and swap are counted only with the sysctl
 * kernel.task_delayacct=1, and only of processes that were started after that.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sg_taskstats;

/*
 * Positive: not available here, and *ret_why (static) says why and what to do; *ret is NULL then,
 * which all functions here take, and know nothing.
 */
int sg_taskstats_new(struct sg_taskstats **ret, const char **ret_why);
struct sg_taskstats *sg_taskstats_free(struct sg_taskstats *t);

/* Whether waits for I/O and swap are counted at this moment; if not, *ret_why says so. */
bool sg_taskstats_counts_io(struct sg_taskstats *t, const char **ret_why);

struct sg_delays_usec {
        uint64_t cpu, io, swap;
};

/* What a group of processes has waited in sum, all of their threads, also of those that have ended
 * since: but for what they waited between the last update and their end. */
struct sg_delays {
        uint64_t cpu_usec, io_usec, swap_usec; /* SG_UNLIMITED = not known */
        /* the rest is not for others */
        struct sg_delays_usec sums;
        struct sg_delays_process *known; /* owned; sorted by pid */
        size_t n_known, n_room;
};

void sg_delays_init(struct sg_delays *d);
void sg_delays_deinit(struct sg_delays *d);

/*
 * Adds what these processes (thread groups) have waited since the last update. A new one counts
 * from its start. Allocates only when there are more of them than ever before. Never blocks.
 * A process that is gone is no error.
 */
int sg_delays_update(struct sg_delays *d, struct sg_taskstats *t, const pid_t *tgids, size_t n);
