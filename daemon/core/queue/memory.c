/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What memory the queue can promise. */
#include "core/queue/internal.h"

/* All that jobs may ever be promised: everything but the reserve. */
uint64_t sg_queue_memory_usable(const struct sg_queue *q, const struct sg_node_snapshot *node)
{
        uint64_t whole = node->memory_total / 10000, rest = node->memory_total % 10000;

        return node->memory_total - whole * q->memory_reserve_pm -
               (rest * q->memory_reserve_pm + 9999) / 10000;
}

/* What is declared, and what the rest uses; it may be more than what is usable. */
uint64_t sg_queue_memory_taken(const struct sg_queue *q, const struct sg_node_snapshot *node)
{
        uint64_t used = 0;

        if (node->memory_total > node->memory_available)
                used = node->memory_total - node->memory_available;
        return q->declared + (used > node->declared_used ? used - node->declared_used : 0);
}

/* What one could still be promised. */
uint64_t sg_queue_memory_free(const struct sg_queue *q, const struct sg_node_snapshot *node)
{
        uint64_t usable = sg_queue_memory_usable(q, node), taken = sg_queue_memory_taken(q, node);

        return usable > taken ? usable - taken : 0;
}

bool sg_queue_fits(const struct sg_queue *q, const struct sg_node_snapshot *node,
                   const struct sg_queue_entry *e)
{
        uint64_t left = sg_queue_memory_free(q, node);

        return e->memory == SG_UNLIMITED ? left > 0 : e->memory <= left;
}
