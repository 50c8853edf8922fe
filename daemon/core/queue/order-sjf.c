/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sjf: the job that is expected to take least in all first. */
#include "core/queue/order-policies.h"

static int compare(const struct sg_queue_entry *a, const struct sg_queue_entry *b)
{
        return sg_order_compare_known(a->size, b->size);
}

const struct sg_order_policy sg_order_sjf = {
        .name = "sjf",
        .summary = "the shortest job first, as far as it is known, then the oldest",
        .compare = compare,
};
