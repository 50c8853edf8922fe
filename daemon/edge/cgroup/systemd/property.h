/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Limits as properties of units, and as what the kernel has made of these. */

#include "edge/cgroup/systemd/internal.h"

/* Appends (sv) of all limits, or of those only that differ from the scope's. */
int sg_property_append_limits(sd_bus_message *m, const struct sg_scope *s, bool all,
                              const struct sg_limits *l, const struct sg_cpuset *cpus);
int sg_property_append_cpus(sd_bus_message *m, const struct sg_cpuset *cpus);
/* replace: in place of others. */
int sg_property_append_devices(sd_bus_message *m, const struct sg_device_list *d, bool replace);
/* Compares the kernel's values with the scope's limits and notes what did not arrive. */
void sg_property_read_back(struct sg_scope *s);
