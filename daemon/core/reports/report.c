/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/reports/report.h"
#include <math.h>

static double finite_eval(const struct sg_report *r)
{
        return r->has & SG_REPORT_EVAL && isfinite(r->eval) ? r->eval : (double)NAN;
}

double sg_report_least(const struct sg_report *r)
{
        return r->has & SG_REPORT_RANGE ? r->least : finite_eval(r);
}

double sg_report_most(const struct sg_report *r)
{
        return r->has & SG_REPORT_RANGE ? r->most : finite_eval(r);
}

/* NaN isn't less or more than anything. */
static void merge_range(struct sg_report *into, const struct sg_report *from)
{
        if (!((into->has | from->has) & SG_REPORT_RANGE) && !(into->has & SG_REPORT_EVAL))
                return; /* of one value */
        into->least = fmin(sg_report_least(into), sg_report_least(from));
        into->most = fmax(sg_report_most(into), sg_report_most(from));
        into->has |= SG_REPORT_RANGE;
}

void sg_report_merge(struct sg_report *into, const struct sg_report *from)
{
        if (from->has & SG_REPORT_EVAL) {
                merge_range(into, from);
                into->eval = from->eval;
        }
        if (from->has & SG_REPORT_STEP)
                into->step = from->step;
        if (from->has & SG_REPORT_TOTAL)
                into->total = from->total;
        if (from->has & SG_REPORT_EPOCH)
                into->epoch = from->epoch;
        if (from->has & SG_REPORT_EPOCHS)
                into->epochs = from->epochs;
        into->has |= from->has;
}
