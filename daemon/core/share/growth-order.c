/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See growth.h: which job goes first, and how the node is divided by that. Strictly one after
 * the other is best for jobs that scale linearly; the guard only bounds what that may cost any
 * of them.
 */

#include "core/share/growth.h"
#include "proto/names.h"
#include <math.h>
#include <stdlib.h>

/* Less than of those that fit whole, so that it takes nothing from them: at equal weights a promise
 * was missed by up to 29 s. */
#define WEIGHT_LAST 1000U

static const double value_tables[][SG_N_MILESTONES] = {
        [SG_OBJECTIVE_JCT] = {0, 0, 0, 1},
        [SG_OBJECTIVE_BALANCED] = {1, 1, 1, 2},
        [SG_OBJECTIVE_QUALITY] = {1, 1, 1, 1},
};

double sg_growth_index(const double *seconds, const double *values, size_t n, double *ret_seconds)
{
        double best = 0, gained = 0;

        for (size_t i = 0; i < n; i++) {
                if (isnan(seconds[i]) || !(values[i] > 0))
                        continue;
                gained += values[i];
                if (gained / seconds[i] <= best)
                        continue;
                best = gained / seconds[i];
                *ret_seconds = seconds[i];
        }
        return best;
}

void sg_growth_value(struct sg_growth_job *j, const struct sg_estimate *e,
                     enum sg_objective objective)
{
        const double *values = value_tables[objective];
        double seconds[SG_N_MILESTONES];

        j->passes = INFINITY;
        for (size_t i = 0; i < SG_N_MILESTONES; i++) {
                seconds[i] = i == SG_MILESTONE_DONE ? e->remaining : e->to[i];
                if (i != SG_MILESTONE_DONE && values[i] > 0)
                        j->passes = fmin(j->passes, seconds[i]); /* NaN: no milestone there */
        }
        j->index = sg_growth_index(seconds, values, SG_N_MILESTONES, &j->seconds);
}

/* Probes first, the shortest way to a first report before the others. */
static int compare_index(const struct sg_growth_job *a, const struct sg_growth_job *b)
{
        if (a->index > b->index || a->index < b->index)
                return a->index > b->index ? -1 : 1;
        if (isinf(a->index) && (a->used < b->used || a->used > b->used))
                return a->used < b->used ? -1 : 1;
        if (a->arrival < b->arrival || a->arrival > b->arrival)
                return a->arrival < b->arrival ? -1 : 1;
        return a->key < b->key ? -1 : a->key > b->key;
}

static int compare_turn(const void *left, const void *right)
{
        const struct sg_growth_job *a = *(struct sg_growth_job *const *)left,
                                   *b = *(struct sg_growth_job *const *)right;

        if (a->turn != b->turn)
                return a->turn < b->turn ? -1 : 1;
        return compare_index(a, b);
}

static void assign(const struct sg_growth_line *l, struct sg_growth_job *j)
{
        const struct sg_growth_job *stake = l->at_stake < l->n ? l->by_due[l->at_stake] : NULL;

        j->reason = SG_REASON_RANK;
        j->turn = SG_TURN_REST;
        j->other = 0;
        /* Of narrow jobs alone the start is before the due time. */
        if (j->start < j->due && j->own_slack <= l->tick) {
                j->turn = SG_TURN_OWN_SLACK;
                j->reason = SG_REASON_OWN_SLACK;
        } else if (stake && (j->due <= stake->due || j->start < stake->due)) {
                j->turn = SG_TURN_HELPS;
                j->reason = SG_REASON_SLACK;
                j->other = stake->key;
        }
}

static void say_why(struct sg_growth_line *l)
{
        for (size_t i = 0; i < l->n; i++) {
                struct sg_growth_job *j = l->order[i];

                if (j->turn == SG_TURN_OWN_SLACK)
                        continue;
                if (!l->chosen) {
                        l->chosen = j;
                        if (j->turn == SG_TURN_REST)
                                j->reason = SG_REASON_INDEX;
                } else if (j->turn == SG_TURN_REST) {
                        j->other = l->order[i - 1]->key;
                }
                if (isinf(j->index) && j->turn == SG_TURN_REST)
                        j->reason = SG_REASON_PROBE;
        }
}

void sg_growth_order(struct sg_growth_line *l)
{
        sg_growth_guard(l);
        for (size_t i = 0; i < l->n; i++) {
                assign(l, &l->jobs[i]);
                l->order[i] = &l->jobs[i];
        }
        qsort(l->order, l->n, sizeof(*l->order), compare_turn);
        l->chosen = NULL;
        say_why(l);
}

size_t sg_growth_run_set(struct sg_growth_line *l, double capacity)
{
        double left = capacity;
        size_t in = 0;

        for (size_t i = 0; i < l->n; i++) {
                struct sg_growth_job *j = l->order[i];
                bool fits = j->width <= left * (1 + 1e-9);

                j->share = fits ? j->width : left;
                j->weight = !(left > 0) ? 1 : fits ? SG_WEIGHT_MAX : WEIGHT_LAST;
                j->list = !(left > 0)       ? SG_LIST_WAIT
                          : isinf(j->index) ? SG_LIST_PROBE
                          : fits            ? SG_LIST_RUN
                                            : SG_LIST_LAST;
                in += left > 0;
                left = left - j->share > 1e-9 ? left - j->share : 0;
        }
        return in;
}
