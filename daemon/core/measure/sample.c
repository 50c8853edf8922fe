/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/measure/sample.h"
#include "base/cleanup.h"
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
                SG_SAMPLE_MEMORY | SG_SAMPLE_PIDS,
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
