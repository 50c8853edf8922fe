/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What a job said about how far it is: one line of its output, one datagram, one event of
 * TensorBoard's. `has` tells which fields were said; the others are 0.
 *
 *   eval    as printed: NaN and infinities too; of several the last
 *   range   of several finite ones the least and the most, since one in between may be the best
 *   epoch   counts from 1, and is the one that is under way or has just been reported
 *   step    of the epoch if the same report has an epoch, else of the whole run
 *   total   steps per epoch if the same report has an epoch, else of the whole run
 */

#include <stdint.h>

enum {
        SG_REPORT_EVAL = 1,
        SG_REPORT_STEP = 2,
        SG_REPORT_TOTAL = 4,
        SG_REPORT_EPOCH = 8,
        SG_REPORT_EPOCHS = 16,
        SG_REPORT_RANGE = 32,
};

enum sg_goal { SG_GOAL_MIN, SG_GOAL_MAX }; /* whether a smaller or a larger eval is the better */

struct sg_report {
        uint32_t has;
        double eval;
        uint64_t step, total;
        uint64_t epoch, epochs;
        double least, most; /* the range */
};

/* Field by field, `from` wins where it has one. */
void sg_report_merge(struct sg_report *into, const struct sg_report *from);
/* With SG_REPORT_EVAL: of what was said; NaN if nothing of it is finite. */
double sg_report_least(const struct sg_report *r);
double sg_report_most(const struct sg_report *r);
