/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What a job's speeds with different numbers of CPUs say of its speed-up. A speed is how much of
 * its work it does per second, by its reports; what it uses meanwhile says nothing, as threads that
 * wait for each other use as much. Work and seconds are summed by octaves of CPUs: many programs
 * report every twentieth step only, and what one interval has too much of, the next has too little.
 * Between two octaves the measured exponent and what is usual are weighed by how sure each is.
 */

#include "core/job/speedup.h"
#include <stdbool.h>
#include <stdint.h>

#define SG_PACE_LEVELS (SG_SPEEDUP_OCTAVES + 1) /* about 1, 2, 4 … CPUs */

struct sg_usual {
        struct sg_speedup speedup;
        double error[SG_SPEEDUP_OCTAVES]; /* of each exponent, standard */
};

struct sg_pace {
        struct sg_pace_level {
                double n;             /* intervals; older ones fade */
                double cpus;          /* Σ log2, of CPUs from one up */
                double work, seconds; /* Σ; of less than one CPU what one would have done */
                double square;        /* Σ work² ÷ seconds */
        } levels[SG_PACE_LEVELS];
        struct sg_usual usual; /* as it is thought to be without any of that */
        struct sg_speedup curve;
        double sure[SG_SPEEDUP_OCTAVES]; /* standard error of each exponent */
};

void sg_pace_init(struct sg_pace *p, const struct sg_usual *usual);
/* With so many CPUs it did so much of its work in so long. True: the curve has changed. */
bool sg_pace_take(struct sg_pace *p, double cpus, double work, double seconds);
/* What its speeds alone say; error NaN: nothing of that octave. */
void sg_pace_measured(const struct sg_pace *p, struct sg_usual *ret);
/* Bit o: its speed on about 2^o CPUs is known. */
uint32_t sg_pace_known(const struct sg_pace *p);
/* Of its work per second, on one CPU; NaN: not known. */
double sg_pace_on_one(const struct sg_pace *p);
