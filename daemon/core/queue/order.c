/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/queue/order-policies.h"

#define ENTRY(kind, name) [SG_ORDER_##kind] = &sg_order_##name,
const struct sg_order_policy *const sg_order_policies[_SG_ORDER_MAX] = {SG_ORDERS(ENTRY)};

bool sg_order_before(enum sg_order order, const struct sg_queue_entry *a,
                     const struct sg_queue_entry *b)
{
        int r;

        if (a->at_once != b->at_once)
                return a->at_once;
        r = sg_order_policies[order]->compare(a, b);
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
