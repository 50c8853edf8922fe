/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A job's limits as values, and the rows of proto/limits.h for code that is about all of them. */

#include "base/format.h"
#include "proto/limits.h"
#include <stddef.h>
#include <stdint.h>

/* Full explicit values; what isn't limited is SG_UNLIMITED, and of a weight 100. */
struct sg_limits {
#define FIELD(kind, field, ...) field
        uint64_t SG_LIMITS(FIELD);
#undef FIELD
        uint64_t cpus;     /* how many CPUs it can use; 0 = not said */
        uint64_t cpus_max; /* for elastic jobs; = cpus otherwise */
        uint64_t pin;      /* bool: `cpus` as a CPU set of its own */
        uint64_t threads;  /* enum sg_threads */
};

/* In the order of documents. The two values of --cpus are rows as well, of SG_LIMIT_CPUSET. */
struct sg_limit {
        enum sg_limit_kind kind;
        enum sg_limit_unit unit;
        size_t offset;  /* in struct sg_limits */
        uint64_t unset; /* the value where there is no limit */
        const char *option, *class_key;
        const char *document; /* NULL: documents don't show it */
};
extern const struct sg_limit sg_limit_table[];
extern const size_t sg_n_limits;

static inline uint64_t *sg_limit_at(struct sg_limits *l, const struct sg_limit *k)
{
        return (uint64_t *)((char *)l + k->offset);
}

static inline uint64_t sg_limit_of(const struct sg_limits *l, const struct sg_limit *k)
{
        return *(const uint64_t *)((const char *)l + k->offset);
}

void sg_limits_default(struct sg_limits *l); /* unlimited in every way */
/* What the kernel has to hold: a bit per enum sg_limit_kind, below _SG_LIMIT_MAX. */
uint32_t sg_limits_asked(const struct sg_limits *l);
/* As people write it. */
char *sg_limit_format(char buf[SG_FORMAT_MAX], enum sg_limit_unit unit, uint64_t value);
const char *sg_limit_kind_to_string(enum sg_limit_kind kind); /* "cpu_weight" … as in documents */
