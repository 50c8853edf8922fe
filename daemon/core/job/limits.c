/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/job/limits.h"
#include "base/cleanup.h"
#include <inttypes.h>
#include <stdio.h>

#define AT(field) offsetof(struct sg_limits, field)
#define ROW(kind, field, tag, unit, option, request, document, class_key, ...)                     \
        {                                                                                          \
                SG_LIMIT_##kind, SG_UNIT_##unit, AT(field), SG_UNIT_UNSET(SG_UNIT_##unit), option, \
                        class_key, document                                                        \
        }

const struct sg_limit sg_limit_table[] = {
        SG_CPU_LIMITS(ROW),
        {SG_LIMIT_CPUSET, SG_UNIT_COUNT, AT(cpus), 0, "cpus", "CPUs", "cpus"},
        {SG_LIMIT_CPUSET, SG_UNIT_COUNT, AT(cpus_max), 0, "cpus", "CPUs", NULL},
        SG_MORE_LIMITS(ROW),
};
const size_t sg_n_limits = SG_ELEMENTSOF(sg_limit_table);

void sg_limits_default(struct sg_limits *l)
{
        *l = (struct sg_limits){0};
        for (size_t i = 0; i < sg_n_limits; i++)
                *sg_limit_at(l, &sg_limit_table[i]) = sg_limit_table[i].unset;
}

uint32_t sg_limits_asked(const struct sg_limits *l)
{
        uint32_t bits = l->pin ? 1U << SG_LIMIT_CPUSET : 0;

        for (size_t i = 0; i < sg_n_limits; i++) {
                const struct sg_limit *k = &sg_limit_table[i];

                if (k->kind < _SG_LIMIT_MAX && k->kind != SG_LIMIT_CPUSET &&
                    sg_limit_of(l, k) != k->unset)
                        bits |= 1U << k->kind;
        }
        return bits;
}

char *sg_limit_format(char buf[SG_FORMAT_MAX], enum sg_limit_unit unit, uint64_t value)
{
        switch (unit) {
        case SG_UNIT_PERCENT:
                return sg_format_percent(buf, value);
        case SG_UNIT_BYTES:
        case SG_UNIT_SWAP:
        case SG_UNIT_RATE:
                return sg_format_bytes(buf, value);
        case SG_UNIT_TIME:
                return sg_format_usec(buf, value);
        case SG_UNIT_WEIGHT:
        case SG_UNIT_COUNT:
        case _SG_UNIT_MAX:
                break;
        }
        (void)snprintf(buf, SG_FORMAT_MAX, "%" PRIu64, value);
        return buf;
}

const char *sg_limit_kind_to_string(enum sg_limit_kind kind)
{
        for (size_t i = 0; i < sg_n_limits; i++)
                if (sg_limit_table[i].kind == kind)
                        return sg_limit_table[i].document;
        return kind == SG_LIMIT_DEVICES ? "devices" : kind == SG_LIMIT_FREEZE ? "freeze" : NULL;
}
