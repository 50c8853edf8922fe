/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each candidate is walked from end to end of a job (plan-walk.h). A walk is given up as soon as it
 * can't be the best any more, which most are early: the first candidates are those that are best
 * most often.
 */

#include "core/share/plan-search.h"
#include "base/cleanup.h"
#include "core/share/plan-walk.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define FEW_JOBS 128U /* with more, only every second or third exponent is tried */
#define RUN_PART .999 /* of its width: it runs as fast as it can */
#define WAIT_PART .01

static const double exponents[] = {.98, .9, .8, .7, .6, .45, .3, .15, 0};
static const double eagernesses[] = {.6, .3, 1, 2, 8, 0};
static const double objective_values[][SG_N_MILESTONES] = {
        [SG_OBJECTIVE_JCT] = {0, 0, 0, 1},
        [SG_OBJECTIVE_BALANCED] = {1, 1, 1, 2},
        [SG_OBJECTIVE_QUALITY] = {1, 1, 1, 1},
};

struct ranked {
        double key;
        uint32_t job;
};

struct scratch {
        uint32_t *orders[SG_SEARCH_N_ORDERS];
        struct sg_walk walk;
};

static int compare_ranked(const void *a, const void *b)
{
        const struct ranked *x = a, *y = b;

        if (x->key != y->key)
                return x->key < y->key ? -1 : 1;
        return x->job < y->job ? -1 : 1;
}

static double key_of(const struct sg_search_job *j, enum sg_search_order order)
{
        switch (order) {
        case SG_SEARCH_INDEX:
                return -j->index;
        case SG_SEARCH_DUE:
                return j->due;
        default:
                return j->remaining;
        }
}

static void scratch_deinit(struct scratch *s)
{
        for (int o = 0; o < SG_SEARCH_N_ORDERS; o++)
                free(s->orders[o]);
        free(s->walk.left);
        free(s->walk.alive);
        free(s->walk.milestone);
        free(s->walk.capped);
}

static int walk_init(struct sg_walk *w, size_t n)
{
        w->n = n;
        w->alive = calloc(2 * n, sizeof(*w->alive));
        w->milestone = calloc(n, sizeof(*w->milestone));
        w->capped = calloc(n, sizeof(*w->capped));
        w->left = calloc(7 * n + 1, sizeof(double));
        if (!w->alive || !w->milestone || !w->capped || !w->left)
                return -ENOMEM;
        w->own = w->alive + n;
        w->share = w->left + n;
        w->rate = w->share + n;
        w->finish = w->rate + n;
        w->worth = w->finish + n;
        w->gain = w->worth + n;
        w->powers = w->gain + n;
        return 0;
}

static int scratch_init(struct scratch *s, const struct sg_search_job *jobs, size_t n)
{
        _cleanup_free_ struct ranked *ranked = calloc(n, sizeof(*ranked));
        int r = walk_init(&s->walk, n);

        if (r < 0 || !ranked)
                return -ENOMEM;
        for (int o = 0; o < SG_SEARCH_N_ORDERS; o++) {
                s->orders[o] = calloc(n, sizeof(*s->orders[o]));
                if (!s->orders[o])
                        return -ENOMEM;
                for (uint32_t i = 0; i < n; i++)
                        ranked[i] = (struct ranked){key_of(&jobs[i], (enum sg_search_order)o), i};
                qsort(ranked, n, sizeof(*ranked), compare_ranked);
                for (uint32_t p = 0; p < n; p++)
                        s->orders[o][p] = ranked[p].job;
        }
        return 0;
}

static enum sg_share_list list_of(const struct sg_search_job *j)
{
        if (j->cpus > 0 || j->share >= RUN_PART * j->width)
                return SG_LIST_RUN;
        return j->share >= WAIT_PART * j->width ? SG_LIST_LAST : SG_LIST_WAIT;
}

static void prefer(struct sg_walk *w, const uint32_t *order, double exponent)
{
        if (w->cpus > 0)
                sg_walk_prefer_whole(w, order, exponent);
        else
                sg_walk_prefer_shares(w, exponent);
}

static void fill(struct scratch *s, struct sg_search_job *jobs, const struct sg_search_plan *plan)
{
        const uint32_t *order = s->orders[plan->order];
        struct sg_walk *w = &s->walk;

        prefer(w, order, plan->exponent);
        (void)sg_walk_through(w, order, NULL);
        for (size_t i = 0; i < w->n; i++)
                jobs[i].finish = w->finish[i];
        sg_walk_begin(w, order);
        for (size_t p = 0; p < w->n; p++) {
                struct sg_search_job *j = &jobs[order[p]];

                j->rank = (uint32_t)p + 1;
                j->share = w->share[order[p]];
                j->cpus = w->own[order[p]];
                j->list = list_of(j);
        }
}

static void consider(struct scratch *s, enum sg_search_order order, double exponent,
                     struct sg_search_plan *best)
{
        if (s->walk.cpus > 0)
                sg_walk_prefer_whole(&s->walk, s->orders[order], exponent);
        if (sg_walk_through(&s->walk, s->orders[order], best))
                *best = (struct sg_search_plan){
                        .order = order,
                        .exponent = exponent,
                        .tardiness = s->walk.tardiness,
                        .value = s->walk.value,
                };
}

static void search(struct scratch *s, struct sg_search_plan *best)
{
        bool whole = s->walk.cpus > 0;
        const double *candidates = whole ? eagernesses : exponents;
        size_t n = whole ? SG_ELEMENTSOF(eagernesses) : SG_ELEMENTSOF(exponents);
        size_t stride = s->walk.n <= FEW_JOBS ? 1 : whole ? 2 : 3;

        *best = (struct sg_search_plan){.tardiness = INFINITY, .value = INFINITY};
        for (size_t e = 0; e < n; e += stride) {
                if (!whole)
                        sg_walk_prefer_shares(&s->walk, candidates[e]);
                for (int o = 0; o < SG_SEARCH_N_ORDERS; o++)
                        consider(s, (enum sg_search_order)o, candidates[e], best);
        }
}

int sg_plan_search(struct sg_search_job *jobs, size_t n, const struct sg_search_node *node,
                   enum sg_objective objective, struct sg_search_plan *ret)
{
        _cleanup_(scratch_deinit) struct scratch s = {
                .walk = {.jobs = jobs,
                         .values = objective_values[objective],
                         .now = node->now,
                         .capacity = node->capacity,
                         .cpus = node->cpus},
        };
        struct sg_search_plan best;
        int r;

        if (n == 0) {
                *ret = (struct sg_search_plan){0};
                return 0;
        }
        r = scratch_init(&s, jobs, n);
        if (r < 0)
                return r;
        search(&s, &best);
        fill(&s, jobs, &best);
        *ret = best;
        return 0;
}
