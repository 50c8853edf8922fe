/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Which CPUs a job gets for its own.
 *
 *  1. None that another job has, while there is one that nobody has.
 *  2. None on a core of which another job has a sibling, while there is a core that nobody has.
 *  3. What it has it keeps, unless 1 or 2 speak against that: nobody moves to be a bit nearer.
 *  4. It grows where its memory is: cores of the same cache, then of the same NUMA node, then the
 *     siblings of its own cores there, and only then cores of other nodes of the package, and of
 *     other packages. Two CPUs of one core aren't two, so siblings come late; but a CPU whose
 *     memory is far away is worth no more.
 *  5. It shrinks the other way round, so that it has what it had before it grew.
 *
 * It begins where as many cores are free in one cache, or one node, as it gets; and of those where
 * the most are free, so that it can grow. All this depends on nothing but its input.
 */

#include "core/place/topology.h"

struct sg_own_cpus {
        struct sg_cpuset cpus; /* none: it shares all */
        uint16_t home;         /* the first that it got: its memory is near */
};

struct sg_cpus_place {
        const struct sg_topology *topology;
        const struct sg_cpuset *allowed;
        const uint32_t *jobs; /* [SG_CPUS_MAX]: that have each CPU, the one that it is about, too */
        bool stays;           /* whoever else is there: 3 before 1 and 2, and also if not allowed */
};

/* Chooses n CPUs, or all, if there are fewer. */
void sg_cpus_pick(const struct sg_cpus_place *p, uint64_t n, struct sg_own_cpus *ret);
/* Gives to `own` or takes from it until it has n. If it has n already, better CPUs may take their
 * place. */
void sg_cpus_resize(const struct sg_cpus_place *p, uint64_t n, struct sg_own_cpus *own);
/* Where a job with these CPUs is at home, if nobody knows where it began. */
uint16_t sg_cpus_home(const struct sg_topology *t, const struct sg_cpuset *cpus);
