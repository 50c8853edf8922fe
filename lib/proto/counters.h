/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What the kernel counted for one job: read from its `job` groups, the same way by the shim at the
 * end and by the daemon in between. A figure that no present hierarchy offers is SG_UNLIMITED ("not
 * known").
 */

#include "proto/spec.h"
#include <stdint.h>

struct sg_counters {
        uint64_t cpu_usec;
        uint64_t memory_bytes, memory_peak_bytes;
        uint64_t oom_kills;
        uint64_t io_read_bytes, io_write_bytes;
        uint64_t pids;
};

void sg_counters_read(const struct sg_group_dir *dirs, size_t n_dirs, struct sg_counters *ret);
/* memory_bytes alone. */
uint64_t sg_counters_read_memory(const struct sg_group_dir *dirs, size_t n_dirs);
/* Of the groups themselves, not of `job` below them: those of others. */
void sg_counters_read_whole(const struct sg_group_dir *dirs, size_t n_dirs,
                            struct sg_counters *ret);
