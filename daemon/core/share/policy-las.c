/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * las: least attained service first, for jobs of which nothing is known. What a job has used puts
 * it into a queue, each for twice as much as the one before; lower queues go first, and in a queue
 * the older job does, so that two of the same age don't change places all the time (after Tiresias,
 * Gu et al., NSDI 2019). It remembers nothing.
 */

#include "core/share/in-order.h"
#include "core/share/policies.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define FIRST_QUEUE 10.0 /* seconds alone on the node */
#define LAST_QUEUE 20
/* A job at the very end of a queue is in the next: the clock can't be set finer. */
#define ROUNDING 1e-6

static int queue_of(double used)
{
        int queue = 0;

        while (queue < LAST_QUEUE && used + ROUNDING >= FIRST_QUEUE * (double)(1U << queue))
                queue++;
        return queue;
}

static int las_step(void *state, const struct sg_share_snapshot *s, struct sg_share_out *out,
                    double *ret_next)
{
        _cleanup_free_ double *queues = calloc(s->n_jobs + 1, sizeof(*queues));
        double next = INFINITY;
        int r;

        (void)state;
        if (!queues)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_jobs; i++)
                queues[i] = queue_of(s->jobs[i].used);
        r = sg_share_in_order(s, queues, SG_REASON_LEAST_USED, out);
        if (r < 0)
                return r;
        for (size_t i = 0; i < s->n_jobs; i++) {
                double end = FIRST_QUEUE * exp2(queues[i]);

                if (out[i].share > 0 && queues[i] < LAST_QUEUE)
                        next = fmin(next, s->now + (end - s->jobs[i].used) / out[i].share);
        }
        *ret_next = next;
        return 0;
}

const struct sg_share_policy sg_share_las = {
        .name = "las",
        .summary = "the least CPU time used first, in queues that double",
        .step = las_step,
};
