/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What CPUs have in common, as sysfs says. */

#include "core/place/topology.h"

#define SG_SYSFS_SYSTEM "/sys/devices/system"

/* Of these CPUs. A level on which it doesn't say the same of all of them, or something that can't
 * be, is as if nothing were known of it. */
void sg_topology_read(struct sg_topology *ret, const char *sysfs, const struct sg_cpuset *cpus);
