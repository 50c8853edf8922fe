/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Which CPUs a pinned job gets. */

#include "base/parse.h"
#include <stdint.h>

/* The n CPUs of `allowed` with the fewest pinned jobs, lower numbers first; all of them if there
 * are fewer. */
void sg_cpus_pick(const uint32_t pinned[SG_CPUS_MAX], const struct sg_cpuset *allowed, uint64_t n,
                  struct sg_cpuset *ret);
/* So that it has n: who has more keeps the best of them, who has fewer keeps all and gets others.
 * Its own count in `pinned`, too. */
void sg_cpus_resize(const uint32_t pinned[SG_CPUS_MAX], const struct sg_cpuset *allowed, uint64_t n,
                    struct sg_cpuset *set);
