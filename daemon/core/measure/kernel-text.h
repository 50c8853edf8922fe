/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The text files of /proc and of cgroups, strictly: what the caller asks for is there and is a
 * number that ends where its line ends, or the answer is -EBADMSG and nothing was set. Lines, keys
 * and fields that nobody asked for are passed over, as kernels add some. The text needs no NUL. All
 * return 0 or -EBADMSG where nothing else is said; numbers beyond 64 bits are -EBADMSG too.
 */

#include "base/parse.h"
#include <stddef.h>
#include <stdint.h>

/* "123\n", the whole file. */
int sg_kernel_number(const char *text, size_t n, uint64_t *ret);

/* "key 123" lines: cpu.stat, memory.stat, memory.events, /proc/vmstat, v1's files. Sets *value of
 * each key that is there, and returns how many are; a key twice is garbled. */
struct sg_kernel_key {
        const char *key;
        uint64_t *value;
};
int sg_kernel_keyed(const char *text, size_t n, const struct sg_kernel_key *keys, size_t n_keys);

/* "MemTotal:    123 kB" lines, values in bytes; else like sg_kernel_keyed(). At most 32 keys, as
 * there. */
int sg_kernel_meminfo(const char *text, size_t n, const struct sg_kernel_key *keys, size_t n_keys);

/* *.pressure and /proc/pressure: stall times so far, and the share of the last 10 s. Without a line
 * "full" (cpu, on older kernels) those are SG_UNLIMITED. */
struct sg_kernel_psi {
        uint64_t some_usec, full_usec;
        uint64_t some_avg10_pm, full_avg10_pm; /* permyriad */
};
int sg_kernel_psi(const char *text, size_t n, struct sg_kernel_psi *ret);

/* All devices together. No line at all means that there was no I/O. */
struct sg_kernel_io {
        uint64_t read_bytes, write_bytes, read_ops, write_ops;
};
int sg_kernel_io_stat(const char *text, size_t n, struct sg_kernel_io *ret);
/* v1's blkio.*: "8:0 Read 123" lines. */
int sg_kernel_blkio(const char *text, size_t n, uint64_t *ret_read, uint64_t *ret_write);

/* /proc/stat: clock ticks of all CPUs together since boot; total includes idle and iowait. */
struct sg_kernel_stat {
        uint64_t total, idle, iowait, steal;
        uint64_t procs_running, procs_blocked;
};
int sg_kernel_stat(const char *text, size_t n, struct sg_kernel_stat *ret);

/* /proc/loadavg: load in permyriad (1.00 = 10000), tasks that run or wait for a CPU, all tasks. */
struct sg_kernel_load {
        uint64_t load1_pm, load5_pm, load15_pm;
        uint64_t running, tasks;
};
int sg_kernel_loadavg(const char *text, size_t n, struct sg_kernel_load *ret);
