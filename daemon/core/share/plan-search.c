/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each candidate is walked from end to end of a job. A walk is given up as soon as it can't be the
 * best any more, which most are early: the first candidates are those that are best most often.
 */

#include "core/share/plan-search.h"
#include "base/cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TARDY_AFTER 1.0 /* s: a promise that is missed by less is kept */
#define SAME_TARDINESS 1e-6
#define EXACT_JOBS 48U /* so many or fewer: each end is a step of its own */
#define FEW_JOBS 128U  /* more: every third exponent has to do */
#define RUN_PART .999  /* of its width: it runs as fast as it can */
#define WAIT_PART .01

static const double exponents[] = {.98, .9, .8, .7, .6, .45, .3, .15, 0};
static const double objective_values[][SG_N_MILESTONES] = {
        [SG_OBJECTIVE_JCT] = {0, 0, 0, 1},
        [SG_OBJECTIVE_BALANCED] = {1, 1, 1, 2},
        [SG_OBJECTIVE_QUALITY] = {1, 1, 1, 1},
};

struct ranked {
        double key;
        uint32_t job;
};

/* One way through to the end; the arrays are by job, but `alive` and `powers`. */
struct walk {
        const struct sg_search_job *jobs;
        const double *values;
        double now, capacity;
        uint32_t *alive; /* those that haven't ended, in the plan's order */
        size_t n_alive;
        double *left, *share, *rate, *finish, *powers;
        uint8_t *milestone; /* the next */
        bool *capped;       /* has its width */
        double scale;       /* of the shares of the others */
        double t, tardiness, value;
        double owed; /* by how much value grows per second, at least until the next end */
};

struct scratch {
        struct ranked *orders[SG_SEARCH_N_ORDERS];
        struct walk walk;
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

static int scratch_init(struct scratch *s, const struct sg_search_job *jobs, size_t n)
{
        struct walk *w = &s->walk;

        w->alive = calloc(n, sizeof(*w->alive));
        w->milestone = calloc(n, sizeof(*w->milestone));
        w->capped = calloc(n, sizeof(*w->capped));
        w->left = calloc(5 * n + 1, sizeof(double));
        if (!w->alive || !w->milestone || !w->capped || !w->left)
                return -ENOMEM;
        w->share = w->left + n;
        w->rate = w->share + n;
        w->finish = w->rate + n;
        w->powers = w->finish + n;
        for (int o = 0; o < SG_SEARCH_N_ORDERS; o++) {
                s->orders[o] = calloc(n, sizeof(struct ranked));
                if (!s->orders[o])
                        return -ENOMEM;
                for (uint32_t i = 0; i < n; i++)
                        s->orders[o][i] =
                                (struct ranked){key_of(&jobs[i], (enum sg_search_order)o), i};
                qsort(s->orders[o], n, sizeof(struct ranked), compare_ranked);
        }
        return 0;
}

/* Shares */

/* Shares in proportion to what is in share[], but nobody above its width; those in capped[] have
 * theirs. Whether more had to be capped, after which those before them may get more, too. The sums
 * are of what comes after, smallest first: shares are of very different magnitudes. */
static bool cut_to_widths(struct walk *w)
{
        double *after = w->rate, sum = 0, before = 0, left = w->capacity;
        bool cut = false;

        for (size_t p = w->n_alive; p-- > 0;) {
                uint32_t i = w->alive[p];

                if (w->capped[i])
                        left -= w->jobs[i].width;
                else
                        sum += w->share[i];
                after[i] = sum;
        }
        for (size_t p = 0; p < w->n_alive; p++) {
                uint32_t i = w->alive[p];

                if (w->capped[i])
                        continue;
                if (w->share[i] * left < w->jobs[i].width * (before + after[i])) {
                        before += w->share[i];
                        continue;
                }
                w->capped[i] = cut = true;
                left -= w->jobs[i].width;
        }
        w->scale = before > 0 ? fmax(left, 0) / before : 1;
        return cut;
}

static void set_shares(struct walk *w)
{
        double scale = w->capacity / w->powers[w->n_alive];
        bool cut = false;

        for (size_t p = 0; p < w->n_alive; p++) {
                uint32_t i = w->alive[p];
                size_t rank = w->n_alive - p;

                w->capped[i] = false;
                w->share[i] = scale * (w->powers[rank] - w->powers[rank - 1]);
                cut |= w->share[i] > w->jobs[i].width;
        }
        if (!cut)
                return;
        while (cut_to_widths(w))
                ;
        for (size_t p = 0; p < w->n_alive; p++) {
                uint32_t i = w->alive[p];

                w->share[i] = w->capped[i] ? w->jobs[i].width : w->share[i] * w->scale;
        }
}

/* k^c, of which the shares of any number of jobs are made (hesrpt.h). */
static void set_powers(struct walk *w, size_t n, double exponent)
{
        for (size_t k = 0; k <= n; k++)
                w->powers[k] = pow((double)k, 1 / (1 - exponent));
}

static void set_rates(struct walk *w)
{
        for (size_t p = 0; p < w->n_alive; p++) {
                const struct sg_search_job *j = &w->jobs[w->alive[p]];
                double share = w->share[w->alive[p]];

                w->rate[w->alive[p]] = j->exponent >= 1 || share >= j->width
                                               ? share
                                               : j->width * pow(share / j->width, j->exponent);
        }
}

/* Going on */

static double time_left(const struct walk *w, uint32_t i)
{
        return w->left[i] / w->rate[i];
}

/* Until the next end; of many jobs, until several have ended. */
static double next_step(const struct walk *w)
{
        double soonest[1 + EXACT_JOBS] = {INFINITY};
        size_t n = 0, wanted = 1;

        if (w->n_alive > EXACT_JOBS)
                wanted += w->n_alive / 12 < EXACT_JOBS ? w->n_alive / 12 : EXACT_JOBS;
        for (size_t p = 0; p < w->n_alive; p++) {
                double t = time_left(w, w->alive[p]);
                size_t k;

                if (n == wanted && t >= soonest[n - 1])
                        continue;
                for (k = n < wanted ? n++ : n - 1; k > 0 && soonest[k - 1] > t; k--)
                        soonest[k] = soonest[k - 1];
                soonest[k] = t;
        }
        return soonest[n > 0 ? n - 1 : 0];
}

static void pass(struct walk *w, uint32_t i, int m, double seconds)
{
        double worth = w->jobs[i].weight * w->values[m];

        w->value += worth * (w->t + seconds - w->now);
        w->owed -= worth;
}

/* The milestones that job i comes by in so many seconds. */
static void pass_milestones(struct walk *w, uint32_t i, double seconds)
{
        const struct sg_search_job *j = &w->jobs[i];
        double done = j->remaining - w->left[i], after = done + w->rate[i] * seconds;

        for (; w->milestone[i] < SG_MILESTONE_DONE; w->milestone[i]++) {
                double at = j->to[w->milestone[i]];

                if (at > after)
                        return;
                if (!isnan(at))
                        pass(w, i, w->milestone[i], fmax((at - done) / w->rate[i], 0));
        }
}

static void end_job(struct walk *w, uint32_t i)
{
        double seconds = time_left(w, i);

        w->finish[i] = w->t + seconds;
        for (; w->milestone[i] < SG_MILESTONE_DONE; w->milestone[i]++)
                if (!isnan(w->jobs[i].to[w->milestone[i]]))
                        pass(w, i, w->milestone[i], seconds);
        pass(w, i, SG_MILESTONE_DONE, seconds);
        w->tardiness += fmax(0, w->finish[i] - w->jobs[i].due - TARDY_AFTER);
}

static void go_on(struct walk *w, double seconds)
{
        size_t kept = 0;

        for (size_t p = 0; p < w->n_alive; p++) {
                uint32_t i = w->alive[p];
                bool ends = time_left(w, i) <= seconds * (1 + 1e-12);

                pass_milestones(w, i, fmin(seconds, time_left(w, i)));
                if (ends) {
                        end_job(w, i);
                        continue;
                }
                w->left[i] -= w->rate[i] * seconds;
                w->alive[kept++] = i;
        }
        w->n_alive = kept;
        w->t += seconds;
}

static void begin(struct walk *w, const struct ranked *order, size_t n)
{
        w->t = w->now;
        w->tardiness = w->value = w->owed = 0;
        w->n_alive = n;
        memset(w->milestone, 0, n * sizeof(*w->milestone));
        for (size_t p = 0; p < n; p++) {
                uint32_t i = order[p].job;
                const struct sg_search_job *j = &w->jobs[i];

                w->alive[p] = i;
                w->left[i] = j->remaining;
                for (int m = 0; m < SG_N_MILESTONES; m++)
                        if (m == SG_MILESTONE_DONE || !isnan(j->to[m]))
                                w->owed += j->weight * w->values[m];
        }
}

/* Whether it is worse than the best already, or can't become better. */
static bool hopeless(const struct walk *w, const struct sg_search_plan *best)
{
        if (w->tardiness > best->tardiness + SAME_TARDINESS)
                return true;
        return w->tardiness >= best->tardiness - SAME_TARDINESS &&
               w->value + w->owed * (w->t - w->now) >= best->value;
}

/* best NULL: to the end in any case. */
static bool walk_through(struct walk *w, const struct ranked *order, size_t n,
                         const struct sg_search_plan *best)
{
        begin(w, order, n);
        while (w->n_alive > 0) {
                set_shares(w);
                set_rates(w);
                go_on(w, next_step(w));
                if (best && hopeless(w, best))
                        return false;
        }
        return true;
}

/* The plan */

static void fill(struct walk *w, struct sg_search_job *jobs, const struct ranked *order, size_t n,
                 double exponent)
{
        set_powers(w, n, exponent);
        (void)walk_through(w, order, n, NULL);
        for (size_t i = 0; i < n; i++)
                jobs[i].finish = w->finish[i];
        begin(w, order, n);
        set_shares(w);
        for (size_t p = 0; p < n; p++) {
                struct sg_search_job *j = &jobs[order[p].job];

                j->rank = (uint32_t)p + 1;
                j->share = w->share[order[p].job];
                j->list = j->share >= RUN_PART * j->width    ? SG_LIST_RUN
                          : j->share >= WAIT_PART * j->width ? SG_LIST_LAST
                                                             : SG_LIST_WAIT;
        }
}

static void search(struct scratch *s, size_t n, struct sg_search_plan *best)
{
        size_t stride = n > FEW_JOBS ? 3 : 1;

        *best = (struct sg_search_plan){.tardiness = INFINITY, .value = INFINITY};
        for (size_t e = 0; e < SG_ELEMENTSOF(exponents); e += stride) {
                set_powers(&s->walk, n, exponents[e]);
                for (int o = 0; o < SG_SEARCH_N_ORDERS; o++) {
                        if (!walk_through(&s->walk, s->orders[o], n, best))
                                continue;
                        *best = (struct sg_search_plan){
                                .order = (enum sg_search_order)o,
                                .exponent = exponents[e],
                                .tardiness = s->walk.tardiness,
                                .value = s->walk.value,
                        };
                }
        }
}

int sg_plan_search(struct sg_search_job *jobs, size_t n, double now, double capacity,
                   enum sg_objective objective, struct sg_search_plan *ret)
{
        _cleanup_(scratch_deinit) struct scratch s = {
                .walk = {.jobs = jobs,
                         .values = objective_values[objective],
                         .now = now,
                         .capacity = capacity},
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
        search(&s, n, &best);
        fill(&s.walk, jobs, s.orders[best.order], n, best.exponent);
        *ret = best;
        return 0;
}
