/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The rows of proto/limits.h as backends use them: which file or property tells the kernel. */

#include "edge/cgroup/backend.h"

struct sg_knob {
        enum sg_limit_kind kind;
        enum sg_limit_unit unit;
        size_t offset; /* in struct sg_limits */
        enum sg_controller controller;
        const char *v1_file; /* NULL: v1 has nothing like it */
        const char *v2_file;
        const char *v2_key; /* of each disk's line in that file; NULL: the file is one number */
        uint64_t most;      /* more is no limit */
        const char *property;
};
extern const struct sg_knob sg_knobs[];
extern const size_t sg_n_knobs;

const struct sg_knob *sg_knob_of(enum sg_limit_kind kind); /* NULL: its value isn't a number */

static inline uint64_t *sg_knob_at(struct sg_limits *l, const struct sg_knob *k)
{
        return (uint64_t *)((char *)l + k->offset);
}

static inline uint64_t sg_knob_value(const struct sg_limits *l, const struct sg_knob *k)
{
        return *(const uint64_t *)((const char *)l + k->offset);
}

static inline bool sg_knob_is_asked(const struct sg_knob *k, uint64_t value)
{
        return value != SG_UNIT_UNSET(k->unit);
}

/* What the kernel makes of it. */
static inline uint64_t sg_knob_held(const struct sg_knob *k, uint64_t value)
{
        return value > k->most ? SG_UNLIMITED : value;
}
