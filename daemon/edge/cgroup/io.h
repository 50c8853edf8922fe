/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* How much a group reads and writes, disk by disk. */

#include "edge/cgroup/cgroup.h"

struct sg_disk {
        unsigned major, minor;
        char node[64]; /* "/dev/sda" */
};

/* Every whole disk: what has hardware behind it, so that a byte is counted once. In order of the
 * numbers; the list is the caller's. */
int sg_disks_find(const char *sys_block, struct sg_disk **ret, size_t *ret_n);
int sg_disks(struct sg_disk **ret, size_t *ret_n);

/* kind: one whose knob has a v2_key. Writes the disks that differ, and reads back. */
int sg_io_apply(const char *group, bool v2, enum sg_limit_kind kind, uint64_t value, char **why);
/* v2: the lowest of all disks' limits there. */
uint64_t sg_io_lowest(const char *group, enum sg_limit_kind kind);
/* Whether all disks have that limit there. */
bool sg_io_stands(const char *group, bool v2, enum sg_limit_kind kind, uint64_t value);
