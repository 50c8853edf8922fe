/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* priority: what its owner finds most urgent first. */
#include "core/queue/order-policies.h"

static int compare(const struct sg_queue_entry *a, const struct sg_queue_entry *b)
{
        return a->priority > b->priority ? -1 : a->priority < b->priority;
}

const struct sg_order_policy sg_order_priority = {
        .name = "priority",
        .summary = "the highest priority first, then the oldest",
        .compare = compare,
        .by_priority = true,
};
