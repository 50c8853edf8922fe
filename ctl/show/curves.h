/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A job's series (schedgov.series/1, org.schedgov1(5)) as columns of numbers. */

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

enum sg_curve {
        SG_CURVE_TIME, /* seconds since the epoch */
        SG_CURVE_EVAL,
        SG_CURVE_STEP,
        SG_CURVE_CPU,
        SG_CURVE_SHARE,
        SG_CURVE_MEMORY,
        _SG_CURVE_MAX,
};

struct sg_curves {
        size_t n;
        double *v[_SG_CURVE_MAX]; /* n of each; NaN = not known, but for the time */
};

/* -EBADMSG where it isn't such a document; -ENOMEM. */
int sg_curves_init(struct sg_curves *c, const json_t *series);
void sg_curves_deinit(struct sg_curves *c);

/* A heading, and a line for each point; what isn't known is left empty. */
void sg_curves_print_csv(const struct sg_curves *c, FILE *f);
