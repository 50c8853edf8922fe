/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What jobs of a class took that have ended well: the prior for those that say nothing, and how far
 * claims were off. The newest N of each class.
 */

#include "base/record.h"
#include <stdbool.h>
#include <stddef.h>

#define SG_HISTORY_JOBS 64

/* All zero: empty. */
struct sg_class_history {
        float cpu[SG_HISTORY_JOBS];   /* CPU-seconds; oldest is overwritten first */
        float ratio[SG_HISTORY_JOBS]; /* actual ÷ claimed, of those that claimed */
        float order[SG_HISTORY_JOBS]; /* cpu, ascending */
        unsigned n_cpu, n_ratio;      /* ever put; the last N count */
        float correction;             /* median of ratio; 0 = too few */
};

/* From the bytes of one that was kept somewhere; -EBADMSG. */
int sg_history_load(struct sg_class_history *ret, const void *data, size_t size);
/* claimed NaN: it didn't say. */
void sg_history_add(struct sg_class_history *h, double cpu, double claimed);
/* Median of those larger than `used`; NaN: none. */
double sg_history_size(const struct sg_class_history *h, double used);
/* What claims of this class are to be multiplied by; 1 until 5 were seen. */
double sg_history_correction(const struct sg_class_history *h);
