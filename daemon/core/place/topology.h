/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What CPUs have in common: a core (SMT siblings), a last cache, a NUMA node, a package. Each of
 * these is named by one of its CPUs, so that CPUs of the same name are together. Which contains
 * which isn't assumed: there are nodes with several caches, and caches across nodes.
 */

#include "base/parse.h"
#include <stdbool.h>
#include <stdint.h>

enum sg_level {
        SG_LEVEL_CORE,
        SG_LEVEL_CACHE, /* L3 */
        SG_LEVEL_NODE,
        SG_LEVEL_PACKAGE,
        _SG_LEVEL_MAX,
};

struct sg_topology {
        uint16_t of[_SG_LEVEL_MAX][SG_CPUS_MAX];
};

/* Nothing is known: each CPU is a core, and they have all the rest in common. */
void sg_topology_init(struct sg_topology *t);
/* Says that these CPUs have a core (cache, …) in common, which is named by the lowest of them. */
void sg_topology_join(struct sg_topology *t, enum sg_level level, const struct sg_cpuset *cpus);

static inline bool sg_topology_shares(const struct sg_topology *t, enum sg_level level, unsigned a,
                                      unsigned b)
{
        return t->of[level][a] == t->of[level][b];
}

/* How many cores these CPUs are, whole or in part. */
unsigned sg_topology_cores(const struct sg_topology *t, const struct sg_cpuset *cpus);
