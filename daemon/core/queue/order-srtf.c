/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * srtf: the job that is expected to have least left first. What attempts before have done counts as
 * done: they go on where those were stopped, or nobody knows better.
 */
#include "core/queue/order-policies.h"
#include <math.h>

#define LEFT_MIN .01 /* of the whole: it hasn't ended yet */

static double left_of(const struct sg_queue_entry *e)
{
        return fmax(e->size - e->used, LEFT_MIN * e->size);
}

static int compare(const struct sg_queue_entry *a, const struct sg_queue_entry *b)
{
        return sg_order_compare_known(left_of(a), left_of(b));
}

const struct sg_order_policy sg_order_srtf = {
        .name = "srtf",
        .summary = "the least work left first, as far as it is known, then the oldest",
        .compare = compare,
};
