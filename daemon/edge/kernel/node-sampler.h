/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The node's own counters: CPU time, run queue, memory, swap and pressure, from files of /proc that
 * stay open. Each figure stands alone: what a kernel doesn't offer, or a file that can't be made
 * sense of, is SG_UNLIMITED ("not known"), never a guess.
 */

#include <stdint.h>

struct sg_node_sampler;

/* Since boot. full of cpu: there from Linux 5.13 on, and 0. */
struct sg_node_psi {
        uint64_t some_usec, full_usec;
};

struct sg_node_sample {
        uint64_t now_usec; /* monotonic */
        /* Since boot, of all CPUs together. total: idle, iowait and steal included, each
         * microsecond once. The kernel's iowait may step back a little. */
        uint64_t cpu_total_usec, cpu_idle_usec, cpu_iowait_usec;
        uint64_t procs_running, procs_blocked; /* at this moment */
        uint64_t load_pm;                      /* of one minute, in 1/10000 */
        uint64_t memory_total, memory_available, swap_total, swap_free; /* bytes */
        uint64_t swap_in_bytes, swap_out_bytes;                         /* since boot */
        struct sg_node_psi cpu, memory, io;
};

int sg_node_sampler_new(struct sg_node_sampler **ret);
struct sg_node_sampler *sg_node_sampler_free(struct sg_node_sampler *s);

/* Allocates nothing, once its buffer is as large as /proc/stat. Takes some tens of microseconds. */
void sg_node_sampler_read(struct sg_node_sampler *s, struct sg_node_sample *ret);
/* The CPUs' time and the run queue only, which is one file of seven; all else is not known. */
void sg_node_sampler_read_cpus(struct sg_node_sampler *s, struct sg_node_sample *ret);

/* A line for the log for each file that can no longer be read or is garbled, once per file: call
 * until it gives NULL. Valid until the next call. Files that never were there are no trouble. */
const char *sg_node_sampler_trouble(struct sg_node_sampler *s);
