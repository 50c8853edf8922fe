/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* edf: the earliest deadline first; jobs without one come after all that have one. */
#include "core/queue/order-policies.h"

static int compare(const struct sg_queue_entry *a, const struct sg_queue_entry *b)
{
        return sg_order_compare_known((double)a->deadline_usec, (double)b->deadline_usec);
}

const struct sg_order_policy sg_order_edf = {
        .name = "edf",
        .summary = "the earliest deadline first, then the oldest",
        .compare = compare,
};
