/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/place/cpus.h"

void sg_cpus_pick(const uint32_t pinned[SG_CPUS_MAX], const struct sg_cpuset *allowed, uint64_t n,
                  struct sg_cpuset *ret)
{
        struct sg_cpuset picked = {0};

        for (; n > 0; n--) {
                int best = -1;

                for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++)
                        if (sg_cpuset_has(allowed, cpu) && !sg_cpuset_has(&picked, cpu) &&
                            (best < 0 || pinned[cpu] < pinned[best]))
                                best = (int)cpu;
                if (best < 0)
                        break;
                sg_cpuset_add(&picked, (unsigned)best);
        }
        *ret = picked;
}

void sg_cpus_resize(const uint32_t pinned[SG_CPUS_MAX], const struct sg_cpuset *allowed, uint64_t n,
                    struct sg_cpuset *set)
{
        struct sg_cpuset others = {0};
        unsigned have = sg_cpuset_count(set);

        if (n <= have) {
                sg_cpus_pick(pinned, set, n, set);
                return;
        }
        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++)
                if (sg_cpuset_has(allowed, cpu) && !sg_cpuset_has(set, cpu))
                        sg_cpuset_add(&others, cpu);
        sg_cpus_pick(pinned, &others, n - have, &others);
        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++)
                if (sg_cpuset_has(&others, cpu))
                        sg_cpuset_add(set, cpu);
}
