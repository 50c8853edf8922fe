/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits: asked for, or the class's. */
#include "api/internal.h"
#include "base/format.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct limit_key {
        const char *name;
        uint64_t ask;
        size_t offset;
        char *(*format)(char *, uint64_t);
};

static char *format_count(char *buf, uint64_t v)
{
        (void)snprintf(buf, SG_FORMAT_MAX, "%" PRIu64, v);
        return buf;
}

static uint64_t *limit_of(struct sg_limits *l, const struct limit_key *k)
{
        return (uint64_t *)((char *)l + k->offset);
}

static const struct limit_key limits[] = {
        {"cpu-weight", SG_ASK_CPU_WEIGHT, offsetof(struct sg_limits, cpu_weight), format_count},
        {"cpu-quota", SG_ASK_CPU_QUOTA, offsetof(struct sg_limits, cpu_quota_pm),
         sg_format_percent},
        {"cpus", SG_ASK_CPUS, offsetof(struct sg_limits, cpus), format_count},
        {"cpus", SG_ASK_CPUS, offsetof(struct sg_limits, cpus_max), format_count},
        {"mem-high", SG_ASK_MEMORY_HIGH, offsetof(struct sg_limits, memory_high), sg_format_bytes},
        {"mem", SG_ASK_MEMORY_MAX, offsetof(struct sg_limits, memory_max), sg_format_bytes},
        {"mem-swap", SG_ASK_SWAP_MAX, offsetof(struct sg_limits, memory_swap_max), sg_format_bytes},
        {"tasks", SG_ASK_TASKS, offsetof(struct sg_limits, tasks_max), format_count},
        {"io-weight", SG_ASK_IO_WEIGHT, offsetof(struct sg_limits, io_weight), format_count},
        {"io-read-max", SG_ASK_IO_READ, offsetof(struct sg_limits, io_read_max), sg_format_bytes},
        {"io-write-max", SG_ASK_IO_WRITE, offsetof(struct sg_limits, io_write_max),
         sg_format_bytes},
        {"time-limit", SG_ASK_TIME_LIMIT, offsetof(struct sg_limits, time_limit_usec),
         sg_format_usec},
};

int sg_limits_check(struct sg_limits *l, uint64_t asked, const struct sg_class *class,
                    const struct sg_settings *settings, const struct sg_node *node,
                    struct sg_answer *a)
{
        uint64_t usable =
                node->memory_total - node->memory_total / 10000 * settings->memory_reserve_pm;
        char given[SG_FORMAT_MAX], most[SG_FORMAT_MAX];

        for (size_t i = 0; i < SG_ELEMENTSOF(limits); i++) {
                const struct limit_key *k = &limits[i];
                uint64_t value = *limit_of(l, k),
                         max = *limit_of((struct sg_limits *)&class->limits_max, k);

                if ((asked & k->ask) && max != SG_UNLIMITED && value > max)
                        return sg_refuse(a, SG_ANSWER_INVALID, k->name,
                                         "%s: %s is more than the %s that class '%s' allows",
                                         k->name, k->format(given, value), k->format(most, max),
                                         class->name);
        }
        if (l->memory_max != SG_UNLIMITED && l->memory_max > usable)
                return sg_refuse(a, SG_ANSWER_INVALID, "mem",
                                 "mem: %s can never be had here: this node can promise %s in all",
                                 sg_format_bytes(given, l->memory_max),
                                 sg_format_bytes(most, usable));
        if (l->cpus > node->n_cpus)
                return sg_refuse(a, SG_ANSWER_INVALID, "cpus",
                                 "cpus: this node has %" PRIu64 ", not %" PRIu64, node->n_cpus,
                                 l->cpus);
        if (l->cpus_max < l->cpus)
                l->cpus_max = l->cpus;
        return 0;
}

void sg_limits_complete(struct sg_limits *l, uint64_t asked, const struct sg_class *class)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(limits); i++)
                if (!(asked & limits[i].ask))
                        *limit_of(l, &limits[i]) =
                                *limit_of((struct sg_limits *)&class->limits, &limits[i]);
        if (!(asked & SG_ASK_THREADS))
                l->threads = class->limits.threads;
}
