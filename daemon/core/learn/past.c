/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/learn/past.h"
#include <errno.h>
#include <math.h>

#define FADE .9         /* with each job: about the last ten */
#define TELLS .2        /* an exponent that is no surer than that says nothing of others */
#define ERROR .3        /* standard error of the exponent of an unknown program */
#define OWN_ERROR .05   /* … of an exponent that a job has shown, about */
#define CAUTION .75     /* standard errors below the mean: promises rely on speed-ups */
#define EXPONENT_MOST 1 /* in proportion */

struct sg_usual sg_usual_of_all(void)
{
        struct sg_usual u = {.speedup = sg_speedup_of(SG_SPEEDUP_PRIOR)};

        for (int o = 0; o < SG_SPEEDUP_OCTAVES; o++)
                u.error[o] = ERROR;
        return u;
}

bool sg_past_add(struct sg_past *p, const struct sg_pace *shown)
{
        struct sg_usual measured;
        bool any = false;

        sg_pace_measured(shown, &measured);
        for (int o = 0; o < SG_SPEEDUP_OCTAVES; o++) {
                double exponent = fmin(measured.speedup.exponent[o], EXPONENT_MOST);

                if (!(measured.error[o] <= TELLS))
                        continue;
                p->n[o] = p->n[o] * FADE + 1;
                p->sum[o] = p->sum[o] * FADE + exponent;
                p->square[o] = p->square[o] * FADE + exponent * exponent;
                any = true;
        }
        return any;
}

/* What is said of a kind is below its mean by CAUTION errors. The same was taken off for the wider
 * kind, so that is added again before the two are combined. */
static void narrow(const struct sg_past *p, int o, double differ, struct sg_usual *u)
{
        double before = u->speedup.exponent[o] + CAUTION * u->error[o], prior, spread, precision;

        if (!(p->n[o] > 0))
                return;
        prior = 1 / (u->error[o] * u->error[o]);
        spread = p->square[o] / p->n[o] - p->sum[o] / p->n[o] * (p->sum[o] / p->n[o]);
        spread = fmax(spread, differ * differ);
        precision = p->n[o] / (spread + OWN_ERROR * OWN_ERROR) + prior;
        before = (p->sum[o] / (spread + OWN_ERROR * OWN_ERROR) + before * prior) / precision;
        u->error[o] = fmin(u->error[o], sqrt(1 / precision + spread));
        u->speedup.exponent[o] = fmin(before - CAUTION * u->error[o], EXPONENT_MOST);
}

struct sg_usual sg_past_usual(const struct sg_past *p, const struct sg_usual *wider, double differ)
{
        struct sg_usual u = *wider;

        for (int o = 0; o < SG_SPEEDUP_OCTAVES; o++)
                narrow(p, o, differ, &u);
        sg_speedup_make_concave(&u.speedup);
        return u;
}

void sg_past_code(struct sg_past *p, struct sg_record_codec *c)
{
        sg_record_codec_doubles(c, p->n, SG_SPEEDUP_OCTAVES);
        sg_record_codec_doubles(c, p->sum, SG_SPEEDUP_OCTAVES);
        sg_record_codec_doubles(c, p->square, SG_SPEEDUP_OCTAVES);
        for (int o = 0; o < SG_SPEEDUP_OCTAVES; o++)
                if (!isfinite(p->n[o]) || !isfinite(p->sum[o]) || !isfinite(p->square[o]))
                        c->error = -EBADMSG;
}
