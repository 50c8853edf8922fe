/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Network bytes of groups, counted by one pair of programs that is attached to a common ancestor of
 * all of them: IP packets with their headers, as systemd's IP accounting counts them, loopback
 * included. A group's line in the one map is made by its first packet, so that it costs nothing to
 * make a group. A socket counts for the group in which it was made, and all groups below a counted
 * one count for that.
 *
 * The programs and their map live as long as the ancestor, not as long as we: who opens it again
 * goes on with the counts that there are. Needs CAP_BPF and CAP_NET_ADMIN, and CAP_SYS_ADMIN for
 * that going on (root on cgroupfs has them; under systemd PID 1 counts, and nothing of this runs).
 */

#include <stddef.h>
#include <stdint.h>

struct sg_net_bpf;

struct sg_net_count {
        uint64_t rx_bytes, tx_bytes;
};

/* base: directory of the ancestor in a v2 tree; those `below` levels below it are counted (2:
 * base/x/GROUP). Positive: the kernel doesn't let us, and *ret_why (heap, may be NULL) says why;
 * *ret is NULL then. */
int sg_net_bpf_open(struct sg_net_bpf **ret, const char *base, unsigned below, char **ret_why);
/* Drops the object only. */
struct sg_net_bpf *sg_net_bpf_free(struct sg_net_bpf *n);

/* The name by which a group is counted; -errno. */
int sg_net_bpf_id(const char *group, uint64_t *ret);

/* All zero for a group that has not sent or received anything. */
int sg_net_bpf_read(struct sg_net_bpf *n, uint64_t id, struct sg_net_count *ret);

/* All that have a line, in few system calls, into buffers that are kept: valid until the next call
 * here. Takes Linux 5.6. */
int sg_net_bpf_read_all(struct sg_net_bpf *n, const uint64_t **ret_ids,
                        const struct sg_net_count **ret_counts, size_t *ret_n);

/* The group is gone, and its line. A socket that outlives it can make a new one, which goes in turn
 * with one of the next calls. */
void sg_net_bpf_forget(struct sg_net_bpf *n, uint64_t id);
