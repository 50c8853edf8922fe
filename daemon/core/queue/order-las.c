/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * las: the job that has had the least first. As in Tiresias what it has had counts in few steps, so
 * that jobs of one step go on one after the other instead of all by turns.
 */
#include "core/queue/order-policies.h"

static const double steps[] = {60, 600, 6000}; /* CPU-seconds: a minute, ten, a hundred */

static int step_of(const struct sg_queue_entry *e)
{
        int step = 0;

        while (step < (int)SG_ELEMENTSOF(steps) && e->used >= steps[step])
                step++;
        return step;
}

static int compare(const struct sg_queue_entry *a, const struct sg_queue_entry *b)
{
        return step_of(a) - step_of(b);
}

const struct sg_order_policy sg_order_las = {
        .name = "las",
        .summary = "what has had the least CPU so far first, in steps, then the oldest",
        .compare = compare,
};
