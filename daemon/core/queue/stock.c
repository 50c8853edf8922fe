/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of stocks, and what of each the queue can promise. */
#include "core/queue/stock.h"
#include "core/queue/decide-internal.h"

static uint64_t memory_need(const struct sg_job *j)
{
        return j->limits.memory_max;
}

static uint64_t memory_reserve(const struct sg_settings *s)
{
        return s->memory_reserve_pm;
}

const struct sg_stock_type sg_stock_types[SG_N_STOCKS] = {
        [SG_STOCK_MEMORY] = {"memory", memory_need, memory_reserve, sg_format_bytes},
};

uint64_t sg_stock_usable(const struct sg_queue *q, const struct sg_node_snapshot *node, size_t k)
{
        uint64_t whole = node->stocks[k].total / 10000, rest = node->stocks[k].total % 10000;

        return node->stocks[k].total - whole * q->accounts[k].reserve_pm -
               (rest * q->accounts[k].reserve_pm + 9999) / 10000;
}

uint64_t sg_stock_taken(const struct sg_queue *q, const struct sg_node_snapshot *node, size_t k)
{
        const struct sg_stock *s = &node->stocks[k];
        uint64_t used = s->total > s->available ? s->total - s->available : 0;

        return q->accounts[k].declared + (used > s->declared_used ? used - s->declared_used : 0);
}

uint64_t sg_stock_left(const struct sg_queue *q, const struct sg_node_snapshot *node, size_t k)
{
        uint64_t usable = sg_stock_usable(q, node, k), taken = sg_stock_taken(q, node, k);

        return usable > taken ? usable - taken : 0;
}

bool sg_stock_lasts(const struct sg_queue *q, const struct sg_node_snapshot *node, size_t k,
                    const struct sg_queue_entry *e)
{
        return sg_queue_least(e, k) <= sg_stock_left(q, node, k);
}

bool sg_queue_fits(const struct sg_queue *q, const struct sg_node_snapshot *node,
                   const struct sg_queue_entry *e)
{
        for (size_t k = 0; k < q->n_stocks; k++)
                if (!sg_stock_lasts(q, node, k, e))
                        return false;
        return sg_queue_has_gpus(q, node, e);
}
