/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fair: no governing. Every job keeps the weight that it was submitted with, and its share is what
 * the kernel makes of that. The others are measured against it.
 */

#include "core/share/max-min.h"
#include "core/share/policies.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* The jobs of one class divide what it has. numbers: room for three of each job. */
static void divide_class(const struct sg_share_snapshot *s, uint32_t class, double capacity,
                         double *numbers, double *shares)
{
        double *weights = numbers, *limits = weights + s->n_jobs, *parts = limits + s->n_jobs;
        size_t n = 0;

        for (size_t i = 0; i < s->n_jobs; i++) {
                if (s->jobs[i].class != class || s->jobs[i].held)
                        continue;
                weights[n] = s->jobs[i].weight;
                limits[n++] = s->jobs[i].width;
        }
        sg_max_min_level(weights, limits, n, capacity, parts);
        n = 0;
        for (size_t i = 0; i < s->n_jobs; i++)
                if (s->jobs[i].class == class)
                        shares[i] = s->jobs[i].held ? 0 : parts[n++];
}

/* By the weights of classes, and in each by those of its jobs. */
static int divide(const struct sg_share_snapshot *s, double *shares)
{
        size_t n = s->n_classes;
        _cleanup_free_ double *classes = calloc(3 * n + 1, sizeof(double));
        _cleanup_free_ double *jobs = calloc(3 * s->n_jobs + 1, sizeof(double));
        double *weights, *widths, *parts;

        if (!classes || !jobs)
                return -ENOMEM;
        weights = classes;
        widths = weights + n;
        parts = widths + n;
        for (size_t i = 0; i < s->n_jobs; i++)
                if (!s->jobs[i].held) {
                        weights[s->jobs[i].class] = s->classes[s->jobs[i].class].weight;
                        widths[s->jobs[i].class] += s->jobs[i].width;
                }
        sg_share_by_weight(weights, widths, n, parts);
        for (uint32_t c = 0; c < n; c++)
                divide_class(s, c, parts[c], jobs, shares);
        return 0;
}

static int fair_step(void *state, const struct sg_share_snapshot *s, struct sg_share_out *out,
                     double *ret_next)
{
        _cleanup_free_ double *shares = calloc(s->n_jobs + 1, sizeof(double));
        int r;

        (void)state;
        if (!shares)
                return -ENOMEM;
        r = divide(s, shares);
        if (r < 0)
                return r;
        for (size_t i = 0; i < s->n_jobs; i++)
                out[i] = (struct sg_share_out){
                        .share = shares[i],
                        .weight = sg_share_round_weight(s->jobs[i].weight),
                        .cap = INFINITY,
                        .why = sg_share_because(s->n_jobs == 1 ? SG_REASON_ALONE : SG_REASON_FAIR),
                };
        *ret_next = INFINITY;
        return 0;
}

const struct sg_share_policy sg_share_fair = {
        .name = "fair",
        .summary = "no governing: equal parts, by the weights of the jobs",
        .step = fair_step,
};
