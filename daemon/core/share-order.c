/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See share-order.h. Weights are the shares: with them the kernel gives each the share that it is
 * meant to have, and whatever one of them doesn't use, to the others.
 */

#include "core/share-order.h"
#include "core/growth.h"
#include "core/share-policies.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define WEIGHT_MAX 10000
#define BEFORE_ALL (-1e300)

/* What everybody has whatever the order; returns their sum. fair: in, out. */
static double keep_back(const struct sg_share_snapshot *s, double floor, double *fair)
{
        double sum = 0;

        for (size_t i = 0; i < s->n_jobs; i++) {
                if (!s->jobs[i].aside)
                        fair[i] *= floor;
                sum += fair[i];
        }
        return sum;
}

static int compare(const void *left, const void *right)
{
        const struct sg_growth_job *a = *(struct sg_growth_job *const *)left,
                                   *b = *(struct sg_growth_job *const *)right;

        if (a->index < b->index || a->index > b->index)
                return a->index < b->index ? -1 : 1;
        if (a->arrival < b->arrival || a->arrival > b->arrival)
                return a->arrival < b->arrival ? -1 : 1;
        return a->key < b->key ? -1 : a->key > b->key;
}

/* Those that take turns, in their order. */
static size_t line_up(const struct sg_share_snapshot *s, const double *ranks, const double *base,
                      struct sg_growth_job *jobs, struct sg_growth_job **order)
{
        size_t n = 0;

        for (size_t i = 0; i < s->n_jobs; i++) {
                const struct sg_share_job *j = &s->jobs[i];

                if (j->held || j->aside)
                        continue;
                jobs[n] = (struct sg_growth_job){
                        .key = j->key,
                        .arrival = j->arrival,
                        .width = fmax(j->width - base[i], 0),
                        .index = j->cpu_bound ? ranks[i] : BEFORE_ALL,
                        .origin = i,
                };
                order[n] = &jobs[n];
                n++;
        }
        qsort(order, n, sizeof(*order), compare);
        return n;
}

static void give(const struct sg_share_snapshot *s, const double *base, struct sg_share_out *out)
{
        for (size_t i = 0; i < s->n_jobs; i++) {
                const struct sg_share_job *j = &s->jobs[i];
                bool aside = j->aside && !j->held;

                out[i] = (struct sg_share_out){
                        .share = base[i],
                        .weight = (uint32_t)lround(fmax(base[i] * WEIGHT_MAX, 1)),
                        .cap = INFINITY,
                        .list = aside ? SG_LIST_ASIDE : SG_LIST_NONE,
                        .why = sg_share_because(aside ? SG_REASON_ASIDE : SG_REASON_NONE),
                };
        }
}

static void give_turns(struct sg_growth_job *const *order, size_t n, enum sg_share_reason reason,
                       const double *ranks, struct sg_share_out *out)
{
        for (size_t i = 0; i < n; i++) {
                struct sg_share_out *o = &out[order[i]->origin];

                o->share += order[i]->share;
                o->weight = (uint32_t)lround(fmax(o->share * WEIGHT_MAX, 1));
                o->list = order[i]->list;
                o->why = sg_share_because(n == 1 ? SG_REASON_ALONE : reason);
                o->why.rank = (uint32_t)i + 1;
                o->why.index = ranks[order[i]->origin];
        }
}

int sg_share_in_order(const struct sg_share_snapshot *s, const double *ranks,
                      enum sg_share_reason reason, struct sg_share_out *out)
{
        double floor = s->n_classes > 0 ? s->classes[0].settings->floor : 0;
        _cleanup_free_ double *base = calloc(s->n_jobs + 1, sizeof(*base));
        _cleanup_free_ struct sg_growth_job *jobs = calloc(s->n_jobs + 1, sizeof(*jobs));
        _cleanup_free_ struct sg_growth_job **order =
                calloc(s->n_jobs + 1, sizeof(struct sg_growth_job *));
        double kept;
        size_t n;
        int r;

        if (!base || !jobs || !order)
                return -ENOMEM;
        r = sg_share_fairly(s, base);
        if (r < 0)
                return r;
        kept = keep_back(s, floor, base);
        n = line_up(s, ranks, base, jobs, order);
        sg_growth_run_set(order, n, fmax(1 - kept, 0));
        give(s, base, out);
        give_turns(order, n, reason, ranks, out);
        return 0;
}
