/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slaq: the CPU goes where an evaluation gets better fastest, per CPU-second and as a part of its
 * own range (after SLAQ, Zhang, Stafman, Or, Freedman, SoCC 2017). A job that has said nothing yet
 * goes before the others for a moment; one that never says how good it is counts like the mean of
 * those that do. It remembers nothing.
 */

#include "core/share/in-order.h"
#include "core/share/policies.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define SOON .1       /* of all its work */
#define SOON_MAX 15.0 /* seconds: whatever it claims to be in all */

/* Rates are known from a few reports: two within a factor of two are the same, else jobs would
 * change places with every report. */
static double step_of(double rate)
{
        return rate > 0 ? exp2((double)lround(log2(rate))) : 0;
}

static double mean_rate(const struct sg_share_snapshot *s)
{
        double sum = 0;
        size_t n = 0;

        for (size_t i = 0; i < s->n_jobs; i++)
                if (!s->jobs[i].held && isfinite(s->jobs[i].estimate.loss_rate)) {
                        sum += s->jobs[i].estimate.loss_rate;
                        n++;
                }
        return n > 0 ? sum / (double)n : 0;
}

/* Whether the job will soon show how fast it gets better: two reports make a rate, and the second
 * one is near, unless it never comes. */
static bool tells_soon(const struct sg_share_job *j)
{
        const struct sg_estimate *e = &j->estimate;

        return e->wants_probe || (e->n_reports == 1 && j->used < fmin(SOON * e->total, SOON_MAX));
}

static int slaq_step(void *state, const struct sg_share_snapshot *s, struct sg_share_out *out,
                     double *ret_next)
{
        _cleanup_free_ double *ranks = calloc(s->n_jobs + 1, sizeof(*ranks));
        double mean = mean_rate(s);
        int r;

        (void)state;
        if (!ranks)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_jobs; i++) {
                const struct sg_share_job *j = &s->jobs[i];

                if (isfinite(j->estimate.loss_rate))
                        ranks[i] = -step_of(j->estimate.loss_rate);
                else
                        ranks[i] = tells_soon(j) ? -INFINITY : -step_of(mean);
        }
        r = sg_share_in_order(s, ranks, SG_REASON_GAIN, out);
        if (r < 0)
                return r;
        for (size_t i = 0; i < s->n_jobs; i++)
                if (isfinite(out[i].why.index))
                        out[i].why.index = s->jobs[i].estimate.loss_rate;
        *ret_next = INFINITY;
        return 0;
}

const struct sg_share_policy sg_share_slaq = {
        .name = "slaq",
        .summary = "the fastest improvement per CPU-second first",
        .wants_efficiency = true,
        .step = slaq_step,
};
