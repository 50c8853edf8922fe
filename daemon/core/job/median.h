/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Medians: of a few numbers that may include wild ones. */

#include <stddef.h>

/* Reorders v, which holds no NaN. Of an even number the mean of the two in the middle;
 * of none NaN. */
double sg_median(double *v, size_t n);
