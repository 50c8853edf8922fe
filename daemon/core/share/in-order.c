/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See in-order.h. Weights are the shares: with them the kernel gives each the share that it is
 * meant to have, and whatever one of them doesn't use, to the others.
 */

#include "core/share/in-order.h"
#include "core/share/policies.h"
#include "core/share/promise.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define BEFORE_ALL (-1e300)
#define LITTLE 1e-9 /* of the node: nothing */

/* What each job has whatever the order is; returns the sum. fair: in, out. */
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

struct turn {
        double rank, arrival;
        uint64_t key;
        size_t origin; /* in the snapshot */
};

static int compare(const void *left, const void *right)
{
        const struct turn *a = left, *b = right;

        if (a->rank < b->rank || a->rank > b->rank)
                return a->rank < b->rank ? -1 : 1;
        if (a->arrival < b->arrival || a->arrival > b->arrival)
                return a->arrival < b->arrival ? -1 : 1;
        return a->key < b->key ? -1 : a->key > b->key;
}

/* Those that take turns, in their order. */
static size_t line_up(const struct sg_share_snapshot *s, const double *ranks, struct turn *turns)
{
        size_t n = 0;

        for (size_t i = 0; i < s->n_jobs; i++) {
                const struct sg_share_job *j = &s->jobs[i];

                if (sg_share_takes_part(j))
                        turns[n++] = (struct turn){
                                .rank = j->cpu_bound ? ranks[i] : BEFORE_ALL,
                                .arrival = j->arrival,
                                .key = j->key,
                                .origin = i,
                        };
        }
        qsort(turns, n, sizeof(*turns), compare);
        return n;
}

/* What a job has before turns are given. */
static struct sg_share_out out_of(const struct sg_share_job *j, double share,
                                  enum sg_share_reason reason, double rank)
{
        struct sg_share_out out = {
                .share = share,
                .weight = sg_share_weight(share),
                .cap = INFINITY,
                .list = j->held ? SG_LIST_NONE : SG_LIST_ASIDE,
                .why = sg_share_because(j->held         ? SG_REASON_NONE
                                        : j->aside      ? SG_REASON_ASIDE
                                        : !j->cpu_bound ? SG_REASON_UNBOUND
                                                        : reason),
        };

        if (sg_share_takes_part(j) && j->cpu_bound)
                out.why.index = rank;
        return out;
}

/* `left`: of the node, for turns. */
static void give_turns(const struct sg_share_snapshot *s, const struct turn *turns, size_t n,
                       double left, struct sg_share_out *out)
{
        for (size_t i = 0; i < n; i++) {
                struct sg_share_out *o = &out[turns[i].origin];
                double wants = fmax(s->jobs[turns[i].origin].width - o->share, 0);
                bool fits = wants <= left + LITTLE;

                o->list = left <= LITTLE ? SG_LIST_WAIT : fits ? SG_LIST_RUN : SG_LIST_LAST;
                o->share += fmin(wants, left);
                o->weight = sg_share_weight(o->share);
                o->why.rank = (uint32_t)i + 1;
                left = fmax(left - wants, 0);
        }
}

int sg_share_in_order(const struct sg_share_snapshot *s, const double *ranks,
                      enum sg_share_reason reason, struct sg_share_out *out)
{
        double floor = s->n_classes > 0 ? s->classes[0].settings->floor : 0, kept;
        _cleanup_free_ double *base = calloc(s->n_jobs + 1, sizeof(*base));
        _cleanup_free_ struct turn *turns = calloc(s->n_jobs + 1, sizeof(*turns));
        size_t n;
        int r;

        if (!base || !turns)
                return -ENOMEM;
        r = sg_promise_fair(s, base);
        if (r < 0)
                return r;
        kept = keep_back(s, floor, base);
        n = line_up(s, ranks, turns);
        for (size_t i = 0; i < s->n_jobs; i++)
                out[i] = out_of(&s->jobs[i], base[i], n == 1 ? SG_REASON_ALONE : reason, ranks[i]);
        give_turns(s, turns, n, fmax(1 - kept, 0), out);
        return 0;
}
