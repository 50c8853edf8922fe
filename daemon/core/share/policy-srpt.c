/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * srpt: the job with the least work left goes first, which ends jobs soonest on average if sizes
 * are right and all scale linearly. It promises nothing to the others, and remembers nothing.
 */

#include "core/share/in-order.h"
#include "core/share/policies.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* When a job that gets on faster will have less left than the one before it. by_rank: room. */
static double overtaking(const struct sg_share_snapshot *s, const struct sg_share_out *out,
                         size_t *by_rank)
{
        double next = INFINITY;
        size_t n = 0;

        for (size_t i = 0; i < s->n_jobs; i++)
                if (out[i].why.rank > 0) {
                        by_rank[out[i].why.rank - 1] = i;
                        n++;
                }
        for (size_t k = 1; k < n; k++) {
                size_t a = by_rank[k - 1], b = by_rank[k];
                double gap = s->jobs[b].estimate.remaining - s->jobs[a].estimate.remaining;
                double speed = out[b].share - out[a].share;

                if (speed > 0 && gap > 0)
                        next = fmin(next, s->now + gap / speed);
        }
        return next;
}

static int srpt_step(void *state, const struct sg_share_snapshot *s, struct sg_share_out *out,
                     double *ret_next)
{
        _cleanup_free_ double *ranks = calloc(s->n_jobs + 1, sizeof(*ranks));
        _cleanup_free_ size_t *by_rank = calloc(s->n_jobs + 1, sizeof(*by_rank));
        int r;

        (void)state;
        if (!ranks || !by_rank)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_jobs; i++)
                ranks[i] = s->jobs[i].estimate.remaining;
        r = sg_share_in_order(s, ranks, SG_REASON_SHORTEST, out);
        if (r < 0)
                return r;
        *ret_next = overtaking(s, out, by_rank);
        return 0;
}

const struct sg_share_policy sg_share_srpt = {
        .name = "srpt",
        .summary = "the least work left first",
        .step = srpt_step,
};
