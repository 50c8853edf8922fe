/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report.h"

void sg_report_merge(struct sg_report *into, const struct sg_report *from)
{
        if (from->has & SG_REPORT_EVAL)
                into->eval = from->eval;
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
