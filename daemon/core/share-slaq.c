/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slaq: the CPU goes where an evaluation gets better fastest, per CPU-second and as a part of its
 * own range (after SLAQ, Zhang, Stafman, Or, Freedman, SoCC 2017). A job that has said nothing yet
 * goes before the others for a moment; one that never says how good it is counts like the mean of
 * those that do. It remembers nothing.
 */

#include "core/share-order.h"
#include "core/share-policies.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

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
                const struct sg_estimate *e = &s->jobs[i].estimate;

                if (isfinite(e->loss_rate))
                        ranks[i] = -e->loss_rate;
                else
                        ranks[i] = e->wants_probe ? -INFINITY : -mean;
        }
        r = sg_share_in_order(s, ranks, SG_REASON_GAIN, out);
        if (r < 0)
                return r;
        for (size_t i = 0; i < s->n_jobs; i++)
                if (out[i].why.rank > 0)
                        out[i].why.index = -out[i].why.index;
        *ret_next = INFINITY;
        return 0;
}

const struct sg_share_policy sg_share_slaq = {
        .name = "slaq",
        .summary = "whose evaluation gets better fastest per CPU-second first",
        .step = slaq_step,
};
