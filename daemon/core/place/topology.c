/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/place/topology.h"

void sg_topology_init(struct sg_topology *t)
{
        *t = (struct sg_topology){0};
        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++)
                t->of[SG_LEVEL_CORE][cpu] = (uint16_t)cpu;
}

void sg_topology_join(struct sg_topology *t, enum sg_level level, const struct sg_cpuset *cpus)
{
        unsigned name = SG_CPUS_MAX;

        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++) {
                if (!sg_cpuset_has(cpus, cpu))
                        continue;
                if (name == SG_CPUS_MAX)
                        name = cpu;
                t->of[level][cpu] = (uint16_t)name;
        }
}

unsigned sg_topology_cores(const struct sg_topology *t, const struct sg_cpuset *cpus)
{
        struct sg_cpuset cores = {0};

        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++)
                if (sg_cpuset_has(cpus, cpu))
                        sg_cpuset_add(&cores, t->of[SG_LEVEL_CORE][cpu]);
        return sg_cpuset_count(&cores);
}
