/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The policies of table.c, each a file of its own, and what they share. */

#include "core/share/share.h"
#include "proto/names.h"
#include <math.h>

#define SG_SHARE_DECLARE(kind, name) extern const struct sg_share_policy sg_share_##name;
SG_SHARE_POLICIES(SG_SHARE_DECLARE)
#undef SG_SHARE_DECLARE

/* The nearest weight that there is. */
static inline uint32_t sg_share_round_weight(double weight)
{
        return (uint32_t)lround(fmin(fmax(weight, 1), SG_WEIGHT_MAX));
}

/* Weights in proportion to shares that fill the node make the kernel give these shares, and what
 * one doesn't use to the others. */
static inline uint32_t sg_share_weight(double share)
{
        return sg_share_round_weight(share * SG_WEIGHT_MAX);
}

/* A reason, and none of its numbers yet. */
static inline struct sg_share_why sg_share_because(enum sg_share_reason reason)
{
        return (struct sg_share_why){
                .reason = reason, .index = NAN, .virtual_finish = NAN, .due = NAN, .slack = NAN};
}

/* What a job gets by its share alone. The list and the reason are for those that take part; who is
 * held or aside has its own. */
static inline struct sg_share_out sg_share_plain(const struct sg_share_job *j, double share,
                                                 enum sg_share_list list,
                                                 enum sg_share_reason reason)
{
        return (struct sg_share_out){
                .share = share,
                .weight = sg_share_weight(share),
                .cap = INFINITY,
                .list = j->held    ? SG_LIST_NONE
                        : j->aside ? SG_LIST_ASIDE
                                   : list,
                .why = sg_share_because(j->held    ? SG_REASON_NONE
                                        : j->aside ? SG_REASON_ASIDE
                                                   : reason),
        };
}
