/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Pictures like handwritten digits: strokes of a seven-segment display, moved, slanted and bent. */

#include "base/rng.h"
#include <stddef.h>

#define IMAGE_SIDE 16
#define IMAGE_SIZE (IMAGE_SIDE * IMAGE_SIDE)

/* Fills x[IMAGE_SIZE] with 0 … 1; which digit it is. */
size_t image_draw(struct sg_rng *rng, double *x);
