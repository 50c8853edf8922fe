/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/learn/fraction.h"
#include <math.h>

#define BELIEVED 3U
#define INNER 2U /* restarts: one may be another phase, or a checkpoint that it went on from */

void sg_fraction_init(struct sg_fraction *f, uint64_t declared_steps)
{
        *f = (struct sg_fraction){
                .declared = declared_steps, .x = (double)NAN, .done = (double)NAN};
}

static void read_total(struct sg_fraction *f, uint64_t total)
{
        if (f->total == 0)
                f->readings = BELIEVED;
        else if (total != f->total)
                f->readings = 0;
        f->total = total;
        if (f->readings < BELIEVED)
                f->readings++;
}

bool sg_fraction_is_inner(const struct sg_fraction *f)
{
        return !f->by_epochs && f->restarts >= INNER;
}

/* Beyond a total nothing is known. */
static double part(double done, uint64_t total)
{
        return total > 0 && done <= (double)total ? done / (double)total : (double)NAN;
}

static bool has_steps(const struct sg_report *r)
{
        return (r->has & SG_REPORT_STEP) && (r->has & SG_REPORT_TOTAL) && r->total > 0;
}

/* The part of the epoch under way that its steps say is done; < 0: the steps are of something else
 * that is done in between. */
static double within_epoch(const struct sg_fraction *f, const struct sg_report *r)
{
        if (r->total != f->steps)
                return -1;
        return r->step < r->total ? (double)r->step / (double)r->total : 1;
}

static void enter_epoch(struct sg_fraction *f, const struct sg_report *r)
{
        if (f->by_epochs && r->epoch == f->epoch)
                return;
        if (has_steps(r))
                f->steps = r->total;
        if (!f->by_epochs)
                f->total = 0; /* the old total was one of steps */
        f->by_epochs = true;
        f->epoch = r->epoch;
}

/* Epochs done. Where steps are told too, an epoch that is named without them has just begun; else
 * it has just ended. */
static double epochs_done(const struct sg_fraction *f, const struct sg_report *r)
{
        double before = f->epoch > 0 ? (double)(f->epoch - 1) : 0, inner;

        if (!has_steps(r))
                return f->steps > 0 ? before : (double)f->epoch;
        inner = within_epoch(f, r);
        return inner < 0 ? -1 : before + inner;
}

static double feed_epochs(struct sg_fraction *f, const struct sg_report *r)
{
        double done;

        if (r->has & SG_REPORT_EPOCH)
                enter_epoch(f, r);
        /* If two counters appear within an epoch, the one with more steps is training's, the other
         * validation's. */
        if (has_steps(r) && r->total > f->steps)
                f->steps = r->total;
        done = epochs_done(f, r);
        if (done < 0)
                return f->x;
        f->done = done;
        if (f->declared > 0)
                return part(f->steps > 0 ? done * (double)f->steps : done, f->declared);
        if (r->has & SG_REPORT_EPOCHS)
                read_total(f, r->epochs);
        return f->readings >= BELIEVED ? part(done, f->total) : (double)NAN;
}

static double feed_steps(struct sg_fraction *f, const struct sg_report *r)
{
        uint64_t step = f->step;

        f->step = r->step;
        if (r->step < step && r->step <= step / 2)
                f->restarts++;
        f->done = sg_fraction_is_inner(f) ? (double)NAN : (double)r->step;
        if (isnan(f->done))
                return f->done;
        if (f->declared > 0)
                return part((double)r->step, f->declared);
        if (r->has & SG_REPORT_TOTAL)
                read_total(f, r->total);
        return f->readings >= BELIEVED ? part((double)r->step, f->total) : (double)NAN;
}

double sg_fraction_feed(struct sg_fraction *f, const struct sg_report *r)
{
        if ((r->has & SG_REPORT_EPOCH) || (f->by_epochs && has_steps(r)))
                f->x = feed_epochs(f, r);
        else if (r->has & SG_REPORT_STEP)
                f->x = feed_steps(f, r);
        return f->x;
}
