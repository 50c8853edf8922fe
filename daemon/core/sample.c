/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/sample.h"
#include "base/cleanup.h"
#include <stddef.h>
#include <string.h>

/* Less is the noise of a process that waits: timers, page tables, a heartbeat. */
#define ACTIVE_CPU 0.01
#define ACTIVE_MEMORY_PARTS 100

void sg_sample_init(struct sg_sample *s)
{
        memset(s, 0xff, sizeof(*s)); /* SG_UNLIMITED everywhere */
}

/* Counters lose nothing by being read less often, and CPU time is what shares are decided by. */
uint32_t sg_sample_due(uint64_t round, size_t place, size_t n)
{
        static const uint8_t turns[] = {
                SG_SAMPLE_MEMORY | SG_SAMPLE_PIDS,
                SG_SAMPLE_PSI,
                SG_SAMPLE_IO,
                0,
                SG_SAMPLE_MEMORY | SG_SAMPLE_WORKING_SET,
                0,
                0,
                0,
                SG_SAMPLE_MEMORY | SG_SAMPLE_PIDS,
                SG_SAMPLE_PSI,
                SG_SAMPLE_IO,
                0,
                SG_SAMPLE_MEMORY | SG_SAMPLE_EVENTS,
                0,
                0,
                0,
        };
        uint64_t turn = round + place;

        if (n <= SG_SAMPLE_FEW)
                return SG_SAMPLE_ALL;
        return SG_SAMPLE_CPU | (turn % 2 == 0 ? turns[turn / 2 % SG_ELEMENTSOF(turns)] : 0);
}

bool sg_sample_rate(uint64_t before, uint64_t after, uint64_t usec, double *ret)
{
        if (before == SG_UNLIMITED || after == SG_UNLIMITED || after < before || usec == 0)
                return false;
        *ret = (double)(after - before) * 1e6 / (double)usec;
        return true;
}

#define COUNTER(name, bits)                                                                        \
        {                                                                                          \
                offsetof(struct sg_sample, name), bits                                             \
        }

/* Peaks aren't among them: newer kernels let anybody who may write there set them back. */
static const struct {
        size_t offset;
        uint32_t bits;
} counters[] = {
        COUNTER(cpu_usec, SG_SAMPLE_CPU),
        COUNTER(n_periods, SG_SAMPLE_EVENTS),
        COUNTER(n_throttled, SG_SAMPLE_EVENTS),
        COUNTER(throttled_usec, SG_SAMPLE_EVENTS),
        COUNTER(oom_kills, SG_SAMPLE_EVENTS),
        COUNTER(memory_high_events, SG_SAMPLE_EVENTS),
        COUNTER(memory_max_events, SG_SAMPLE_EVENTS),
        COUNTER(io_read_bytes, SG_SAMPLE_IO),
        COUNTER(io_write_bytes, SG_SAMPLE_IO),
        COUNTER(io_read_ops, SG_SAMPLE_IO),
        COUNTER(io_write_ops, SG_SAMPLE_IO),
        COUNTER(psi_cpu_some_usec, SG_SAMPLE_PSI),
        COUNTER(psi_memory_some_usec, SG_SAMPLE_PSI),
        COUNTER(psi_memory_full_usec, SG_SAMPLE_PSI),
        COUNTER(psi_io_some_usec, SG_SAMPLE_PSI),
        COUNTER(psi_io_full_usec, SG_SAMPLE_PSI),
};

static uint64_t figure(const struct sg_sample *s, size_t offset)
{
        return *(const uint64_t *)((const char *)s + offset);
}

uint32_t sg_sample_backwards(const struct sg_sample *before, const struct sg_sample *after)
{
        uint32_t bits = 0;

        for (size_t i = 0; i < SG_ELEMENTSOF(counters); i++) {
                uint64_t old = figure(before, counters[i].offset);

                if (old != SG_UNLIMITED && figure(after, counters[i].offset) < old)
                        bits |= counters[i].bits;
        }
        return bits;
}

static bool memory_moved(uint64_t before, uint64_t after)
{
        uint64_t by = after > before ? after - before : before - after;

        return before != SG_UNLIMITED && after != SG_UNLIMITED && by > before / ACTIVE_MEMORY_PARTS;
}

bool sg_sample_active(const struct sg_sample *before, const struct sg_sample *after)
{
        double cpus;

        return (sg_sample_rate(before->cpu_usec, after->cpu_usec,
                               after->now_usec - before->now_usec, &cpus) &&
                cpus / 1e6 >= ACTIVE_CPU) ||
               before->io_read_bytes != after->io_read_bytes ||
               before->io_write_bytes != after->io_write_bytes || before->pids != after->pids ||
               memory_moved(before->memory_bytes, after->memory_bytes);
}
