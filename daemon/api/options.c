/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits: asked for, or the class's. */
#include "api/internal.h"
#include "base/format.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

int sg_limits_check(struct sg_limits *l, uint64_t asked, const struct sg_class *class,
                    const struct sg_settings *settings, const struct sg_node *node,
                    struct sg_answer *a)
{
        uint64_t usable =
                node->memory_total - node->memory_total / 10000 * settings->memory_reserve_pm;
        char given[SG_FORMAT_MAX], most[SG_FORMAT_MAX];

        for (size_t i = 0; i < sg_n_limits; i++) {
                const struct sg_limit *k = &sg_limit_table[i];
                uint64_t value = sg_limit_of(l, k), max = sg_limit_of(&class->limits_max, k);

                if ((asked & SG_ASK(k->kind)) && max != SG_UNLIMITED && value > max)
                        return sg_refuse(a, SG_ANSWER_INVALID, k->option,
                                         "%s: %s is more than the %s that class '%s' allows",
                                         k->option, sg_limit_format(given, k->unit, value),
                                         sg_limit_format(most, k->unit, max), class->name);
        }
        if (l->memory_max != SG_UNLIMITED && l->memory_max > usable)
                return sg_refuse(a, SG_ANSWER_INVALID, "mem",
                                 "mem: %s is more than this node can ever give a job: %s",
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
        for (size_t i = 0; i < sg_n_limits; i++) {
                const struct sg_limit *k = &sg_limit_table[i];

                if (!(asked & SG_ASK(k->kind)))
                        *sg_limit_at(l, k) = sg_limit_of(&class->limits, k);
        }
        if (!(asked & SG_ASK_THREADS))
                l->threads = class->limits.threads;
}
