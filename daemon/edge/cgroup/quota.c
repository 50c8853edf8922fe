/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much of the CPUs all jobs together may use: the least of the quotas of our root and of what
 * it is in, as far as we see that; a container's own often. */
#include "edge/cgroup/fs.h"
#include "edge/cgroup/group.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double quota_of(const char *group, bool v2)
{
        uint64_t quota = SG_UNLIMITED, period = 0;
        char line[64], *rest;

        if (!v2) {
                if (sg_group_read_u64(group, "cpu.cfs_quota_us", &quota) < 0 ||
                    sg_group_read_u64(group, "cpu.cfs_period_us", &period) < 0)
                        return INFINITY;
        } else {
                if (sg_group_read(group, "cpu.max", line, sizeof(line)) < 0 ||
                    strncmp(line, "max", 3) == 0)
                        return INFINITY;
                quota = strtoull(line, &rest, 10);
                period = strtoull(rest, NULL, 10);
        }
        return quota == SG_UNLIMITED || quota == 0 || period == 0 ? INFINITY
                                                                  : (double)quota / (double)period;
}

double sg_backend_cpu_quota(const struct sg_backend *b)
{
        enum sg_hier h = b->systemd ? SG_HIER_UNIFIED : sg_fs_hier_of(b, SG_LIMIT_CPU_QUOTA);
        const struct sg_hierarchy *x = h < SG_HIER_MAX ? &b->hier[h] : NULL;
        double least = INFINITY;
        char group[PATH_MAX];

        if (!x || !x->base || !x->mount || strlen(x->base) >= sizeof(group))
                return INFINITY;
        for (strcpy(group, x->base); strlen(group) >= strlen(x->mount);) {
                least = fmin(least, quota_of(group, h == SG_HIER_UNIFIED));
                *strrchr(group, '/') = '\0';
        }
        return least;
}
