/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* This host: what doesn't change while we run, its CPUs, and how much memory is free at the moment.
 */

#include "base/parse.h"
#include "core/measure/node.h"
#include "core/place/topology.h"
#include "proto/names.h"

struct sg_node {
        char name[SG_NODE_NAME_MAX];
        char boot_id[SG_BOOT_ID_MAX];
        struct sg_cpuset cpus; /* those we may run on, of those that are on line */
        struct sg_topology topology;
        uint64_t n_cpus;
        uint64_t memory_total;
        int meminfo_fd;
};

int sg_node_init(struct sg_node *n, const char *name); /* name: NULL = the host's */
void sg_node_deinit(struct sg_node *n);
/* Whether other CPUs are there than when it was last looked: n has them then. One system call. */
bool sg_node_look_at_cpus(struct sg_node *n);
/* Fills in all but declared_used, which is the caller's. */
int sg_node_snapshot(const struct sg_node *n, struct sg_node_snapshot *ret);
