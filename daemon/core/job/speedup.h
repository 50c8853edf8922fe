/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * How many times as fast a job is on k CPUs as on one: a concave curve, 1 at 1. On a part of a CPU
 * it is that part as fast, as it has no more threads than fit.
 */

#define SG_SPEEDUP_OCTAVES 8

struct sg_speedup {
        /* Log2 of how many times as fast it is on 2 CPUs as on 1, on 4 as on 2 …, up to 1; beyond
         * the last as in that. Between them it is a straight line. Some get slower: below 0. */
        double exponent[SG_SPEEDUP_OCTAVES];
};

/* Of programs with threads of which nothing is known: less than half of those published, as what
 * relies on more isn't kept where it isn't so. */
#define SG_SPEEDUP_PRIOR .35

struct sg_speedup sg_speedup_of(double exponent);
/* The largest that comes after `before` in a concave curve. */
double sg_speedup_next_exponent(double before);
/* What grows faster than that is lowered to it. */
void sg_speedup_make_concave(struct sg_speedup *s);
double sg_speedup_at(const struct sg_speedup *s, double cpus);
/* The one exponent that comes to the same at so many CPUs; 1 up to one. */
double sg_speedup_exponent(const struct sg_speedup *s, double cpus);
