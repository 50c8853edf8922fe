/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Order policies: which of the waiting jobs of a lane (queue.h) starts next. A policy is one file
 * and one line in SG_ORDERS (settings.h); it compares two entries by what doesn't change while they
 * wait. What is unknown comes last, and ties go to the older job.
 */

#include "core/queue/queue.h"

struct sg_order_policy {
        const char *name, *summary; /* "sjf"; one line for `schedctl policy list` */
        /* < 0: a goes before b; 0: they are equal, and the older one does */
        int (*compare)(const struct sg_queue_entry *a, const struct sg_queue_entry *b);
        bool by_priority; /* also between lanes of one user */
};

extern const struct sg_order_policy *const sg_order_policies[_SG_ORDER_MAX]; /* by enum sg_order */

/* Whether a starts before b: what is to start at once goes first, whatever the policy says. */
bool sg_order_before(enum sg_order order, const struct sg_queue_entry *a,
                     const struct sg_queue_entry *b);

/* Smaller first, unknown (0) last: for policies by a size. */
int sg_order_compare_known(double a, double b);
