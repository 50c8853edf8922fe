/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A node with three GPUs, the last of which is cut into instances, and a card for the screen. What
 * the driver counts (index), its minors and the order on the bus are all different. */

#include "core/gpu/nodes.h"
#include "tests/unit/test.h"

struct node {
        struct sg_gpu_devices devices;
        struct sg_gpu_inventory inventory;
};

/* /proc/devices of a driver before 550; what is put in front of block devices. */
#define DRIVERS(more)                                                                              \
        "Character devices:\n  1 mem\n  4 /dev/vc/0\n  4 tty\n 10 misc\n136 pts\n" more            \
        "226 drm\n\nBlock devices:\n  7 loop\n195 fake\n"
#define NVIDIA(uvm, caps)                                                                          \
        "195 nvidia-frontend\n" uvm " nvidia-uvm\n" caps " nvidia-caps\n511 nvidia-nvswitch\n"

void node_init(struct node *n);
void node_deinit(struct node *n);
void node_take_drivers(struct node *n, const char *text);
struct sg_device_guard *node_guard(struct node *n, struct sg_device_guard *before);
/* Whether a list lets its job open a character device, as the kernel is told. */
bool node_opens(const struct sg_device_list *d, int32_t major, int32_t minor);
