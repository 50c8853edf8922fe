/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The worker's life: orders from the daemon, looks at the GPUs, inventories to the daemon.
 *
 * It holds one inventory, and one frame that the daemon hasn't taken yet: while that isn't taken
 * there are no more looks. When the daemon closes its end, or on SIGTERM, the driver is closed
 * in an orderly way: programs that were killed within it have frozen GPUs. A driver that isn't
 * there, or fails as a whole, is told, and the worker ends: nobody waits where there is no driver.
 */

#include "edge/gpu/worker/driver.h"
#include <stdio.h>

/* fd: a stream socket to the daemon; signals: a signalfd of SIGTERM. Returns 0 at the end, as
 * orderly as the driver lets it, or -errno: nonsense from the other end (-EBADMSG, -EPROTO), or no
 * memory. */
int sg_gpu_serve(int fd, int signals, const struct sg_gpu_driver_kind *kind);

/* One look, for people. */
int sg_gpu_print_once(FILE *out, const struct sg_gpu_driver_kind *kind,
                      const struct sg_gpu_order *order);
