/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The policies of share-table.c, each a file of its own, and what they share. */

#include "core/share.h"
#include <math.h>

extern const struct sg_share_policy sg_share_growth, sg_share_flowcon, sg_share_fair, sg_share_srpt,
        sg_share_las, sg_share_slaq, sg_share_deadline, sg_share_hesrpt;

/* A reason, and none of its numbers yet. */
static inline struct sg_share_why sg_share_because(enum sg_share_reason reason)
{
        return (struct sg_share_why){
                .reason = reason, .index = NAN, .virtual_finish = NAN, .due = NAN, .slack = NAN};
}
