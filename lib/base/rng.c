/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See rng.h. */

#include "base/rng.h"
#include <math.h>

void sg_rng_init(struct sg_rng *rng, uint64_t seed, uint64_t stream)
{
        rng->state = 0;
        rng->increment = stream << 1 | 1; /* odd, so that the period is 2^64 */
        (void)sg_rng_u32(rng);
        rng->state += seed;
        (void)sg_rng_u32(rng);
}

uint32_t sg_rng_u32(struct sg_rng *rng)
{
        uint64_t old = rng->state;
        uint32_t shifted = (uint32_t)((old >> 18 ^ old) >> 27), by = (uint32_t)(old >> 59);

        rng->state = old * UINT64_C(6364136223846793005) + rng->increment;
        return shifted >> by | shifted << (-by & 31);
}

/* The first 2^32 mod n are thrown away, as the rest is a multiple of n. */
uint32_t sg_rng_below(struct sg_rng *rng, uint32_t n)
{
        uint32_t least = -n % n, v;

        do
                v = sg_rng_u32(rng);
        while (v < least);
        return v % n;
}

double sg_rng_double(struct sg_rng *rng)
{
        uint64_t high = sg_rng_u32(rng) >> 5, low = sg_rng_u32(rng) >> 6;

        return (double)(high << 26 | low) * 0x1p-53;
}

double sg_rng_between(struct sg_rng *rng, double lo, double hi)
{
        return lo + (hi - lo) * sg_rng_double(rng);
}

/* Box and Muller's, of which the second number is thrown away: so nothing is kept from call to
 * call. */
double sg_rng_normal(struct sg_rng *rng)
{
        double radius = sqrt(-2 * log(1 - sg_rng_double(rng)));

        return radius * cos(2 * M_PI * sg_rng_double(rng));
}
