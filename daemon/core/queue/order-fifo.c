/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fifo: the oldest first. */
#include "core/queue/order-policies.h"

static int compare(const struct sg_queue_entry *a, const struct sg_queue_entry *b)
{
        (void)a;
        (void)b;
        return 0;
}

const struct sg_order_policy sg_order_fifo = {
        .name = "fifo",
        .summary = "the oldest first",
        .compare = compare,
};
