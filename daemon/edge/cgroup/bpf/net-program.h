/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What net.h runs for each packet. */

#include "edge/cgroup/bpf/bpf.h"

struct sg_net_program {
        enum bpf_attach_type type;
        const char *name;   /* at most 15 characters */
        uint64_t base_id;   /* of the ancestor */
        int32_t base_level; /* at least: a cgroup namespace may hide some */
        int32_t below;      /* levels to the groups that are counted */
        int map;            /* id to count */
        int16_t offset;     /* of the 64-bit figure in the map's value, which is 16 bytes */
};

/* An fd. */
int sg_net_program_load(const struct sg_net_program *p);
