/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Scales of charts: round ticks, where a value lies, and what is written beside a tick. Pure. */

#include <stdbool.h>
#include <stddef.h>

enum sg_scale {
        SG_SCALE_NUMBER,
        SG_SCALE_LOG,     /* of positive numbers */
        SG_SCALE_PERCENT, /* 0.25 is "25%" */
        SG_SCALE_BYTES,
        SG_SCALE_SECONDS, /* its ends stay as they are */
};

struct sg_axis {
        enum sg_scale scale;
        double lo, hi; /* of SG_SCALE_LOG: decimal logarithms, as step */
        double step;
};

/* Widens lo … hi, which are finite, to round numbers, with at most max_ticks (≥ 2) ticks. */
void sg_axis_fit(struct sg_axis *a, enum sg_scale scale, double lo, double hi, unsigned max_ticks);

/* The value of the i-th tick, upwards; false when there are no more. */
bool sg_axis_tick(const struct sg_axis *a, unsigned i, double *ret);

/* 0 (the lower end) … 1. */
double sg_axis_place(const struct sg_axis *a, double v);

/* Of a tick. Returns buf. */
const char *sg_axis_label(const struct sg_axis *a, double v, char *buf, size_t size);
