/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The limits that a job can have, a row each. What is asked for and how, [Limits] of policy files,
 * records and columns, documents, `status`, --help and completion, what units of others are found
 * to have and what the kernel and systemd are told: all of it follows from these rows. By hand are
 * the column in stores that are there already (edge/store/writer/schema.c), the manual, and in
 * edge/cgroup how a limit is held that is more than a number in a file.
 *
 * A row is X(kind, field, tag, unit, option, request, document, class_key, label, help,
 *            controller, v1_file, v2_file, v2_key, most, property):
 *
 *   kind        its SG_LIMIT_…
 *   field       in struct sg_limits, which is its column, too
 *   tag         in records of jobs: the next number behind those of core/job/job.c, for ever
 *   unit        its SG_UNIT_…: how it is written and shown, and within which bounds
 *   option      of schedctl, and the same on the bus: request
 *   document    its key in documents, by which it is called where it isn't enforced
 *   class_key   in [Limits]: what jobs get that don't ask; and with "Max" before it what they may
 *               ask for
 *   label, help in the output of `status` and of --help
 *   controller  of the kernel, SG_CONTROLLER_…, that holds it
 *   v1_file     NULL: v1 has nothing like it
 *   v2_file     with a line for each disk if there is a v2_key, which stands in that line
 *   most        that the kernel can hold: more is no limit
 *   property    of systemd's units
 */

#include "base/parse.h"
#include "proto/names.h"

/* In the order in which lists say what isn't enforced: a new one goes behind the last of its kind,
 * before SG_LIMIT_DEVICES. */
enum sg_limit_kind {
        SG_LIMIT_CPU_WEIGHT,
        SG_LIMIT_CPU_QUOTA,
        SG_LIMIT_CPUSET, /* no row: the set is chosen, --cpus says how many and --pin whether */
        SG_LIMIT_MEMORY_HIGH,
        SG_LIMIT_MEMORY_MAX,
        SG_LIMIT_TASKS,
        SG_LIMIT_IO_WEIGHT,
        SG_LIMIT_SWAP,
        SG_LIMIT_IO_READ,
        SG_LIMIT_IO_WRITE,
        SG_LIMIT_IO_READ_IOPS,
        SG_LIMIT_IO_WRITE_IOPS,
        SG_LIMIT_DEVICES, /* no row, nor has the next: what the kernel holds besides */
        SG_LIMIT_FREEZE,
        _SG_LIMIT_MAX,
        SG_LIMIT_TIME = _SG_LIMIT_MAX, /* ours to hold */
        _SG_LIMIT_ROW_MAX,
};

enum sg_limit_unit {
        SG_UNIT_WEIGHT,
        SG_UNIT_PERCENT, /* of one CPU, kept as permyriad */
        SG_UNIT_BYTES,
        SG_UNIT_SWAP, /* bytes, and 0 is none at all */
        SG_UNIT_RATE, /* bytes per second */
        SG_UNIT_COUNT,
        SG_UNIT_TIME, /* microseconds */
        _SG_UNIT_MAX,
};

/* The least that can be asked for. */
#define SG_LEAST_WEIGHT 1
#define SG_LEAST_PERCENT SG_CPU_QUOTA_MIN
#define SG_LEAST_BYTES (1 << 20)
#define SG_LEAST_SWAP 0
/* Below, and a process that has asked for a megabyte can't be killed for half a minute. */
#define SG_LEAST_RATE (64 << 10)
#define SG_LEAST_COUNT 1
#define SG_LEAST_TIME 1
#define SG_UNIT_MOST(unit) ((unit) == SG_UNIT_WEIGHT ? SG_WEIGHT_MAX : SG_UNLIMITED)
/* The value of a job that isn't limited. */
#define SG_UNIT_UNSET(unit) ((unit) == SG_UNIT_WEIGHT ? 100 : SG_UNLIMITED)

/* clang-format off */
#define SG_CPU_LIMITS(X)                                                                           \
        X(CPU_WEIGHT, cpu_weight, 29, WEIGHT, "cpu-weight", "cpu_weight", "cpu_weight",            \
          "CPUWeight", "CPU weight", "share of the CPUs among neighbours (100)",                   \
          CPU, "cpu.shares", "cpu.weight", NULL, SG_UNLIMITED, "CPUWeight"),                       \
        X(CPU_QUOTA, cpu_quota_pm, 30, PERCENT, "cpu-quota", "cpu_quota", "cpu_quota",             \
          "CPUQuota", "CPU quota", "at most this much of one CPU, such as 20% or 150%",            \
          CPU, "cpu.cfs_quota_us", "cpu.max", NULL, SG_UNLIMITED, "CPUQuotaPerSecUSec")
#define SG_MEMORY_HIGH_LIMIT(X)                                                                    \
        X(MEMORY_HIGH, memory_high, 34, BYTES, "mem-high", "mem_high", "memory_high",              \
          "MemoryHigh", "memory high", "memory above which it is slowed down",                     \
          MEMORY, NULL, "memory.high", NULL, SG_UNLIMITED, "MemoryHigh")
#define SG_MEMORY_MAX_LIMIT(X)                                                                     \
        X(MEMORY_MAX, memory_max, 35, BYTES, "mem", "mem", "memory_max",                           \
          "MemoryMax", "memory", "memory limit, such as 4G",                                       \
          MEMORY, "memory.limit_in_bytes", "memory.max", NULL, SG_UNLIMITED, "MemoryMax")
#define SG_OTHER_LIMITS(X)                                                                         \
        X(SWAP, memory_swap_max, 49, SWAP, "mem-swap", "mem_swap", "memory_swap_max",              \
          "MemorySwapMax", "swap", "swap that it can use besides; 0 for none",                     \
          MEMORY, "memory.memsw.limit_in_bytes", "memory.swap.max", NULL, SG_UNLIMITED,            \
          "MemorySwapMax"),                                                                        \
        X(TASKS, tasks_max, 36, COUNT, "tasks", "tasks", "tasks_max",                              \
          "TasksMax", "tasks", "processes and threads",                                            \
          PIDS, "pids.max", "pids.max", NULL, 4 << 20 /* PID_MAX_LIMIT */, "TasksMax"),            \
        X(IO_WEIGHT, io_weight, 37, WEIGHT, "io-weight", "io_weight", "io_weight",                 \
          "IOWeight", "IO weight", "share of the disks (100)",                                     \
          IO, "blkio.bfq.weight", "io.bfq.weight", NULL, SG_UNLIMITED, "IOWeight"),                \
        X(IO_READ, io_read_max, 50, RATE, "io-read-max", "io_read_max", "io_read_max",             \
          "IOReadBandwidthMax", "reading", "at most this much per second read from each disk",     \
          IO, "blkio.throttle.read_bps_device", "io.max", "rbps", SG_UNLIMITED,                    \
          "IOReadBandwidthMax"),                                                                   \
        X(IO_WRITE, io_write_max, 51, RATE, "io-write-max", "io_write_max", "io_write_max",        \
          "IOWriteBandwidthMax", "writing", "at most this much per second written to each disk",   \
          IO, "blkio.throttle.write_bps_device", "io.max", "wbps", SG_UNLIMITED,                   \
          "IOWriteBandwidthMax"),                                                                  \
        X(IO_READ_IOPS, io_read_iops, 65, COUNT, "io-read-iops", "io_read_iops", "io_read_iops",   \
          "IOReadIOPSMax", "reads/s", "at most this many reads per second from each disk",         \
          IO, "blkio.throttle.read_iops_device", "io.max", "riops", UINT32_MAX - 1,                \
          "IOReadIOPSMax"),                                                                        \
        X(IO_WRITE_IOPS, io_write_iops, 66, COUNT, "io-write-iops", "io_write_iops",               \
          "io_write_iops", "IOWriteIOPSMax", "writes/s",                                           \
          "at most this many writes per second to each disk",                                      \
          IO, "blkio.throttle.write_iops_device", "io.max", "wiops", UINT32_MAX - 1,               \
          "IOWriteIOPSMax")
#define SG_TIME_LIMIT(X)                                                                           \
        X(TIME, time_limit_usec, 38, TIME, "time-limit", "time_limit", "time_limit_sec",           \
          "TimeLimit", "time", "end it after this time, such as 2h",                               \
          NONE, NULL, NULL, NULL, SG_UNLIMITED, NULL)
/* clang-format on */

/* Where limits are listed, --cpus comes behind those of the CPU. */
#define SG_MORE_LIMITS(X)                                                                          \
        SG_MEMORY_HIGH_LIMIT(X), SG_MEMORY_MAX_LIMIT(X), SG_OTHER_LIMITS(X), SG_TIME_LIMIT(X)
#define SG_LIMITS(X) SG_CPU_LIMITS(X), SG_MORE_LIMITS(X)
/* What the kernel holds. */
#define SG_KERNEL_LIMITS(X)                                                                        \
        SG_CPU_LIMITS(X), SG_MEMORY_HIGH_LIMIT(X), SG_MEMORY_MAX_LIMIT(X), SG_OTHER_LIMITS(X)
