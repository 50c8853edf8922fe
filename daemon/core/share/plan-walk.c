/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/share/plan-walk.h"
#include <math.h>
#include <string.h>

#define TARDY_AFTER 1.0 /* s: a promise that is missed by less is kept */
#define SAME_TARDINESS 1e-6
#define EXACT_JOBS 48U /* so many or fewer: each end is a step of its own */
#define WHOLE .25      /* with no more than this missing, a CPU is worth having to oneself */

static double time_left(const struct sg_walk *w, uint32_t i)
{
        return w->left[i] / w->rate[i];
}

/* Seconds until the next job ends; of many jobs, until several have ended. */
static double next_step(const struct sg_walk *w)
{
        double soonest[1 + EXACT_JOBS] = {INFINITY};
        size_t n = 0, wanted = 1;

        if (w->n_alive > EXACT_JOBS && !(w->cpus > 0))
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

static void pass(struct sg_walk *w, uint32_t i, int m, double seconds)
{
        double worth = w->jobs[i].weight * w->values[m];

        w->value += worth * (w->t + seconds - w->now);
        w->owed -= worth;
}

/* Counts the milestones that job i passes within so many seconds. */
static void pass_milestones(struct sg_walk *w, uint32_t i, double seconds)
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

static void end_job(struct sg_walk *w, uint32_t i)
{
        double seconds = time_left(w, i);

        w->finish[i] = w->t + seconds;
        for (; w->milestone[i] < SG_MILESTONE_DONE; w->milestone[i]++)
                if (!isnan(w->jobs[i].to[w->milestone[i]]))
                        pass(w, i, w->milestone[i], seconds);
        pass(w, i, SG_MILESTONE_DONE, seconds);
        w->tardiness += fmax(0, w->finish[i] - w->jobs[i].due - TARDY_AFTER);
}

static void go_on(struct sg_walk *w, double seconds)
{
        size_t kept = 0;

        for (size_t p = 0; p < w->n_alive; p++) {
                uint32_t i = w->alive[p];
                bool ends = time_left(w, i) <= seconds * (1 + 1e-12);

                pass_milestones(w, i, fmin(seconds, time_left(w, i)));
                if (ends) {
                        end_job(w, i);
                        w->free += w->own[i];
                        continue;
                }
                w->left[i] -= w->rate[i] * seconds;
                w->alive[kept++] = i;
        }
        w->n_alive = kept;
        w->t += seconds;
}

/* CPUs to give out; less than one is one that others have a part of. */
static uint32_t units(const struct sg_walk *w)
{
        return (uint32_t)fmax(floor(w->capacity * w->cpus + WHOLE), 1);
}

static void give(struct sg_walk *w)
{
        if (w->cpus > 0)
                sg_walk_give(w);
        else
                sg_walk_share(w);
}

void sg_walk_begin(struct sg_walk *w, const uint32_t *order)
{
        w->t = w->now;
        w->tardiness = w->value = w->owed = 0;
        w->order = order;
        w->n_alive = w->cpus > 0 ? 0 : w->n;
        w->next = 0;
        w->free = units(w);
        memset(w->milestone, 0, w->n * sizeof(*w->milestone));
        for (size_t p = 0; p < w->n; p++) {
                uint32_t i = order[p];
                const struct sg_search_job *j = &w->jobs[i];

                w->alive[p] = i;
                w->own[i] = 0;
                w->share[i] = 0;
                w->left[i] = j->remaining;
                for (int m = 0; m < SG_N_MILESTONES; m++)
                        if (m == SG_MILESTONE_DONE || !isnan(j->to[m]))
                                w->owed += j->weight * w->values[m];
        }
        give(w);
}

/* Whether it is worse than the best already, or can't become better. */
static bool hopeless(const struct sg_walk *w, const struct sg_search_plan *best)
{
        if (w->tardiness > best->tardiness + SAME_TARDINESS)
                return true;
        return w->tardiness >= best->tardiness - SAME_TARDINESS &&
               w->value + w->owed * (w->t - w->now) >= best->value;
}

bool sg_walk_through(struct sg_walk *w, const uint32_t *order, const struct sg_search_plan *best)
{
        sg_walk_begin(w, order);
        while (w->n_alive > 0) {
                go_on(w, next_step(w));
                if (best && hopeless(w, best))
                        return false;
                give(w);
        }
        return true;
}
