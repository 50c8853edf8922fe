/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What CPUs have in common, as sysfs says. */

#include "core/place/topology.h"

#define SG_SYSFS_SYSTEM "/sys/devices/system"

/* What these CPUs have in common. A level on which sysfs doesn't say the same of all of them, or
 * says what can't be, counts as not known. */
void sg_topology_read(struct sg_topology *ret, const char *sysfs, const struct sg_cpuset *cpus);
