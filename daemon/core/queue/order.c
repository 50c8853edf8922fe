/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/queue/order-policies.h"
#include <math.h>

#define ENTRY(kind, name) [SG_ORDER_##kind] = &sg_order_##name,
const struct sg_order_policy *const sg_order_policies[_SG_ORDER_MAX] = {SG_ORDERS(ENTRY)};

bool sg_order_before(enum sg_order order, const struct sg_queue_entry *a,
                     const struct sg_queue_entry *b)
{
        int r = sg_order_policies[order]->compare(a, b);

        return r != 0 ? r < 0 : a->n < b->n;
}

int sg_order_compare_known(double a, double b)
{
        bool known_a = a > 0, known_b = b > 0;

        if (known_a != known_b)
                return known_a ? -1 : 1;
        if (!known_a)
                return 0;
        return a < b ? -1 : a > b;
}

/* What is expected of a job in CPU-seconds: what its class's jobs took, else all that its time
 * limit lets it use; 0 = nothing is known. h NULL: no history. */
static double size_of(const struct sg_job *j, const struct sg_class_history *h)
{
        double size = h ? sg_history_size(h, 0) : NAN;

        if (size > 0)
                return size;
        if (j->limits.time_limit_usec == SG_UNLIMITED)
                return 0;
        return (double)j->limits.time_limit_usec / 1e6 * (double)(j->limits.cpus ?: 1);
}

void sg_order_describe(struct sg_queue_entry *e, const struct sg_job *j,
                       const struct sg_class_history *h)
{
        e->priority = j->priority;
        e->memory = j->limits.memory_max;
        e->size = size_of(j, h);
        e->used = j->cpu_usec == SG_UNLIMITED ? 0 : (double)j->cpu_usec / 1e6;
        e->deadline_usec = j->deadline_usec;
        e->limit_usec = j->limits.time_limit_usec == SG_UNLIMITED ? 0 : j->limits.time_limit_usec;
}
