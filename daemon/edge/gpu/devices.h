/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the kernel says of device nodes of GPUs: /proc/devices, minors of MIG instances, graphics
 * nodes in sysfs. Short reads of the kernel's own files, which don't go through a driver. */

#include "core/gpu/nodes.h"

/* root: where the driver is (DriverRoot=). What isn't below it is looked for below /. *ret is the
 * caller's, and untouched on failure: what it said before is still the best that is known. -errno.
 */
int sg_gpu_devices_read(struct sg_gpu_devices *ret, const char *root);
