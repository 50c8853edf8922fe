/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * For policies that are nothing but an order: the first gets all that it can use, what it leaves is
 * the second's, and so on. Everybody has Floor= of its fair share first, those aside all of it.
 */

#include "core/share/share.h"

/* By ranks[], the least first; ties by arrival, then key. Jobs that more CPU doesn't make faster
 * come before the others: they take little, and waiting would cost them as much as anybody.
 * out[].why: `reason`, the place in the order, and the rank as its index. -ENOMEM */
int sg_share_in_order(const struct sg_share_snapshot *s, const double *ranks,
                      enum sg_share_reason reason, struct sg_share_out *out);
