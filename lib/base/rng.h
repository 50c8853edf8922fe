/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Random numbers that are the same on every machine, for simulations and tests: PCG-XSH-RR 64/32
 * (O'Neill 2014). The state is the caller's; streams of one seed have nothing to do with each
 * other. Nothing that has to be secret may come from here.
 */

#include <stdint.h>

struct sg_rng {
        uint64_t state, increment;
};

void sg_rng_init(struct sg_rng *rng, uint64_t seed, uint64_t stream);
uint32_t sg_rng_u32(struct sg_rng *rng);
uint32_t sg_rng_below(struct sg_rng *rng, uint32_t n); /* 0 … n − 1, each as likely; n > 0 */
double sg_rng_double(struct sg_rng *rng);              /* [0, 1) */
double sg_rng_between(struct sg_rng *rng, double lo, double hi);
double sg_rng_normal(struct sg_rng *rng); /* mean 0, variance 1 */
