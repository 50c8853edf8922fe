/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What jobs take from start to end besides a slot. A stock is a kind in core/measure/node.h and a
 * row of the table in stock.c: all that the queue knows of it. How much of it the node has, and how
 * much is in use, is in the snapshot that decisions are made from.
 */

#include "base/format.h"
#include "core/job/job.h"
#include "core/measure/node.h"
#include "core/settings/settings.h"

struct sg_stock_type {
        const char *name; /* as reasons to wait begin */
        /* The most that the job may take, as declared: 0 = it wants none; SG_UNLIMITED = it doesn't
         * say, and takes what it uses. */
        uint64_t (*need_of)(const struct sg_job *j);
        uint64_t (*reserve_pm)(const struct sg_settings *s); /* 1/10000 of all that stay free */
        char *(*format)(char buf[SG_FORMAT_MAX], uint64_t amount);
};

extern const struct sg_stock_type sg_stock_types[SG_N_STOCKS];
