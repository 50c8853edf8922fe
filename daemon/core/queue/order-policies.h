/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The policies of order.c, each a file of its own. */

#include "base/cleanup.h"
#include "core/queue/order.h"

extern const struct sg_order_policy sg_order_fifo, sg_order_priority, sg_order_sjf, sg_order_srtf,
        sg_order_edf, sg_order_las;
