/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * A stock that no node has, beside those that are: seats. The queue counts what it is given a row
 * for; jobs say how many seats they want in the place of tasks.
 */

#include "core/queue/stock.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SEATS SG_N_STOCKS

static inline uint64_t seats_need(const struct sg_job *j)
{
        return j->limits.tasks_max;
}

static inline uint64_t seats_reserve(const struct sg_settings *s)
{
        (void)s;
        return 0;
}

static inline char *seats_format(char buf[SG_FORMAT_MAX], uint64_t n)
{
        (void)snprintf(buf, SG_FORMAT_MAX, "%" PRIu64, n);
        return buf;
}

static inline void types_with_seats(struct sg_stock_type types[SG_STOCKS_MAX])
{
        memcpy(types, sg_stock_types, sizeof(sg_stock_types));
        types[SEATS] = (struct sg_stock_type){"seats", seats_need, seats_reserve, seats_format};
}
