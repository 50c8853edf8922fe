/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the queue goes by of this host. */

#include <stdint.h>

/* A stock is a resource of which the node has a certain amount: jobs say how much they take, and
 * what is promised to one isn't promised to another. Each has a row in core/queue/stock.c. */
enum sg_stock_kind { SG_STOCK_MEMORY, SG_N_STOCKS };
#define SG_STOCKS_MAX (SG_N_STOCKS + 1) /* tests make one up */

struct sg_stock {
        uint64_t total, available;
        uint64_t declared_used; /* of what is in use: the part of running jobs that declare it */
};

struct sg_gpu_pool; /* core/gpu/place.h */

/* The node at one moment. */
struct sg_node_snapshot {
        uint64_t now_usec; /* of a clock that nobody sets */
        uint64_t cpus;
        struct sg_stock stocks[SG_STOCKS_MAX]; /* by enum sg_stock_kind */
        const struct sg_gpu_pool *gpus;        /* NULL: none are given out */
};
