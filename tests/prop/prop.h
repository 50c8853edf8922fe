/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Properties: what has to hold whatever the numbers. Each is tried on random instances, a seed for
 * each, and a failure names the seed: SG_PROP_SEED=N tries that one alone, SG_PROP_INSTANCES=N as
 * many as asked for. Sanitized builds, which are slow, try fewer.
 */

#include "base/parse.h"
#include "base/rng.h"
#include "tests/unit/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static uint64_t prop_seed;

#define prop_check(condition)                                                                      \
        do {                                                                                       \
                if (!(condition))                                                                  \
                        fail_msg("SG_PROP_SEED=%" PRIu64 ": %s", prop_seed, #condition);           \
        } while (0)

/* a ≈ b, relative to the larger, or absolutely below 1. */
#define prop_near(a, b, tolerance)                                                                 \
        do {                                                                                       \
                double _a = (a), _b = (b);                                                         \
                if (!(fabs(_a - _b) <= (tolerance)*fmax(1, fmax(fabs(_a), fabs(_b)))))             \
                        fail_msg("SG_PROP_SEED=%" PRIu64 ": %s = %.17g is not %s = %.17g",         \
                                 prop_seed, #a, _a, #b, _b);                                       \
        } while (0)

static inline uint64_t prop_number(const char *name, uint64_t otherwise)
{
        const char *value = getenv(name);
        uint64_t n;

        return value && sg_parse_u64(value, &n) == 0 ? n : otherwise;
}

/* Tries `one` on n instances, each with a generator of its own. */
static inline void prop_each(uint64_t n, void (*one)(struct sg_rng *rng))
{
        uint64_t only = prop_number("SG_PROP_SEED", 0), first = only ? only : 1;
        uint64_t last = only ? only : prop_number("SG_PROP_INSTANCES", n / TEST_SLOW);

        for (prop_seed = first; prop_seed <= last; prop_seed++) {
                struct sg_rng rng;

                sg_rng_init(&rng, prop_seed, 1);
                one(&rng);
        }
        print_message("# %" PRIu64 " instances, seeds %" PRIu64 " to %" PRIu64 "\n",
                      last - first + 1, first, last);
}
