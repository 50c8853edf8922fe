/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What a node gives jobs that want all they can get, under limits and widths.
 */

#include "core/settings/share.h"
#include <stddef.h>

/* Max-min by weights: nobody gets more than its limit, and nothing of `capacity` is left that
 * somebody could have. Those of weight 0 get nothing. Arrays of n; weights NULL: all the same;
 * shares may be one of the others. */
void sg_max_min_level(const double *weights, const double *limits, size_t n, double capacity,
                      double *shares);

/* limits: 0 … 1, as flowcon gives them. Soft: by limits at equal weights, and what is left to all
 * in proportion to what they have, up to their widths; hard: what is left is lost; weight: limits
 * are mere weights. shares: neither of the others. */
void sg_max_min_shares(const double *limits, const double *widths, size_t n,
                       enum sg_flowcon_mode mode, double *shares);
