/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * From what a job should have to what is written: only what differs enough to matter, and not too
 * often. A plan that was applied and is planned again is empty.
 */

#include <stdbool.h>
#include <stdint.h>

/* Weights of 100 and 104 can't be told apart in a second of scheduling. */
#define SG_DIFF_WEIGHT_STEP .05

struct sg_applied {
        uint32_t weight; /* cpu.weight, 0 = none was applied yet */
        uint64_t cap_pm; /* cpu.max in permyriad of one CPU, SG_UNLIMITED = none */
        uint32_t threads;
        uint32_t cpus; /* so many of its own, 0 = it shares all */
};

/* When a job's were last written. */
struct sg_changed {
        double any;        /* anything */
        double allocation; /* threads, CPUs */
};

struct sg_planned {
        struct sg_applied want;
        bool moved;      /* it is in another list of its policy: small changes are written, too */
        bool misplaced;  /* it is to have other CPUs, also if not more or fewer */
        double now;      /* s */
        double interval; /* s: a mere adjustment waits until so long after the last change */
        uint32_t most; /* the largest weight of all: a weight that is slight beside it waits longer
                        */
};

enum {
        SG_WRITE_WEIGHT = 1,
        SG_WRITE_CAP = 2,
        SG_WRITE_THREADS = 4,
        SG_WRITE_CPUS = 8,
        SG_WRITE_ALLOCATION = SG_WRITE_THREADS | SG_WRITE_CPUS,
};

/* What to write now, SG_WRITE_*. *ret_due: when the rest may be written; INFINITY: there is no
 * rest. */
unsigned sg_diff_writes(const struct sg_applied *have, const struct sg_changed *changed,
                        const struct sg_planned *p, double *ret_due);
/* What is in force once `write` is written. */
struct sg_applied sg_diff_applied(const struct sg_applied *have, const struct sg_applied *want,
                                  unsigned write);
