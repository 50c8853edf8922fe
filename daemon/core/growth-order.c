/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See growth.h: who goes first. Strictly one after the other is best for jobs that scale linearly;
 * the guard only bounds how far that may go at the cost of one of them.
 */

#include "core/growth.h"
#include <math.h>
#include <stdlib.h>

#define WEIGHT_WHOLE 10000U
/* Less than of those that fit whole, so that it takes nothing from them: at equal weights a promise
 * was missed by up to 29 s. */
#define WEIGHT_LAST 1000U
#define FULL (1 - 1e-9)

static const double value_tables[][SG_N_MILESTONES] = {
        [SG_OBJECTIVE_JCT] = {0, 0, 0, 1},
        [SG_OBJECTIVE_BALANCED] = {1, 1, 1, 2},
        [SG_OBJECTIVE_QUALITY] = {1, 1, 1, 1},
};

double sg_growth_index(const double *seconds, const double *values, size_t n)
{
        double best = 0, gained = 0;

        for (size_t i = 0; i < n; i++) {
                if (isnan(seconds[i]))
                        continue;
                gained += values[i];
                if (gained > 0)
                        best = fmax(best, gained / seconds[i]);
        }
        return best;
}

void sg_growth_value(struct sg_growth_job *j, const struct sg_estimate *e,
                     enum sg_objective objective)
{
        const double *values = value_tables[objective];
        double gained = 0;

        j->index = 0;
        j->passes = INFINITY;
        for (size_t i = 0; i < SG_N_MILESTONES; i++) {
                double seconds = i == SG_MILESTONE_DONE ? e->remaining : e->to[i];

                if (isnan(seconds) || !(values[i] > 0))
                        continue;
                gained += values[i];
                if (i != SG_MILESTONE_DONE)
                        j->passes = fmin(j->passes, seconds);
                if (gained / seconds <= j->index)
                        continue;
                j->index = gained / seconds;
                j->seconds = seconds;
        }
}

double sg_growth_due(double arrival, double virtual_finish, double no_harm)
{
        if (isinf(no_harm) || isinf(virtual_finish))
                return INFINITY;
        return arrival + (virtual_finish - arrival) * (1 + no_harm);
}

static int earlier(const struct sg_growth_job *a, const struct sg_growth_job *b)
{
        if (a->arrival < b->arrival || a->arrival > b->arrival)
                return a->arrival < b->arrival ? -1 : 1;
        return a->key < b->key ? -1 : a->key > b->key;
}

static int compare_due(const void *left, const void *right)
{
        const struct sg_growth_job *a = *(struct sg_growth_job *const *)left,
                                   *b = *(struct sg_growth_job *const *)right;

        if (a->due < b->due || a->due > b->due)
                return a->due < b->due ? -1 : 1;
        return earlier(a, b);
}

/* Probes first, the shortest way to a first report before the others. */
static int compare_index(const struct sg_growth_job *a, const struct sg_growth_job *b)
{
        if (a->index > b->index || a->index < b->index)
                return a->index > b->index ? -1 : 1;
        if (isinf(a->index) && (a->used < b->used || a->used > b->used))
                return a->used < b->used ? -1 : 1;
        return earlier(a, b);
}

static int compare_turn(const void *left, const void *right)
{
        const struct sg_growth_job *a = *(struct sg_growth_job *const *)left,
                                   *b = *(struct sg_growth_job *const *)right;

        if (a->turn != b->turn)
                return a->turn < b->turn ? -1 : 1;
        return compare_index(a, b);
}

size_t sg_growth_slack(struct sg_growth_job *jobs, size_t n, const struct sg_growth_node *node,
                       struct sg_growth_job **by_due)
{
        size_t first = n;
        double work = 0;

        for (size_t i = 0; i < n; i++)
                by_due[i] = &jobs[i];
        qsort(by_due, n, sizeof(*by_due), compare_due);
        for (size_t i = 0; i < n; i++) {
                struct sg_growth_job *j = by_due[i];

                work += j->remaining / node->capacity;
                j->slack = j->due - node->now - work;
                j->own_slack = j->due - node->now - j->remaining / fmin(j->width, node->capacity);
                if (first == n && j->slack <= node->tick)
                        first = i;
        }
        return first;
}

/* first: in by_due, of the one whose slack is used up; n = none. */
static void choose(struct sg_growth_job **by_due, size_t n, size_t first)
{
        struct sg_growth_job *best = by_due[0];

        for (size_t i = 1; i < n && i <= first; i++)
                if (compare_index(by_due[i], best) < 0)
                        best = by_due[i];
        best->turn = SG_TURN_CHOSEN;
        best->reason = SG_REASON_INDEX;
        if (first == n)
                return;
        best->reason = SG_REASON_SLACK;
        best->other = by_due[first]->key;
}

static void number(struct sg_growth_job **order, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                struct sg_growth_job *j = order[i];

                if (j->turn == SG_TURN_REST)
                        j->other = i > 0 ? order[i - 1]->key : 0;
                if (isinf(j->index) && j->reason != SG_REASON_SLACK)
                        j->reason = SG_REASON_PROBE;
        }
}

void sg_growth_order(struct sg_growth_job *jobs, size_t n, const struct sg_growth_node *node,
                     struct sg_growth_job **order)
{
        size_t first = sg_growth_slack(jobs, n, node, order);

        if (n == 0)
                return;
        for (size_t i = 0; i < n; i++) {
                jobs[i].turn = SG_TURN_REST;
                jobs[i].reason = SG_REASON_RANK;
                jobs[i].other = 0;
        }
        choose(order, n, first);
        for (size_t i = 0; i < n; i++) {
                struct sg_growth_job *j = &jobs[i];

                if (j->width >= FULL * node->capacity || j->own_slack > node->tick)
                        continue;
                j->turn = SG_TURN_OWN_SLACK;
                j->reason = SG_REASON_OWN_SLACK;
                j->other = 0;
        }
        qsort(order, n, sizeof(*order), compare_turn);
        number(order, n);
}

size_t sg_growth_run_set(struct sg_growth_job **order, size_t n, double capacity)
{
        double left = capacity;
        size_t in = 0;

        for (size_t i = 0; i < n; i++) {
                struct sg_growth_job *j = order[i];
                bool fits = j->width <= left * (1 + 1e-9);

                j->share = fits ? j->width : left;
                j->weight = !(left > 0) ? 1 : fits ? WEIGHT_WHOLE : WEIGHT_LAST;
                j->list = !(left > 0)       ? SG_LIST_WAIT
                          : isinf(j->index) ? SG_LIST_PROBE
                          : fits            ? SG_LIST_RUN
                                            : SG_LIST_LAST;
                in += left > 0;
                left = left - j->share > 1e-9 ? left - j->share : 0;
        }
        return in;
}
