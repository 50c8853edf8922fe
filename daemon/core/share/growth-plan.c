/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Turns are wrong for jobs that scale badly: what the first gets last is worth little to it. For
 * them the whole way to the end is planned (plan-search.h), with everybody's promise in it, and
 * each gets its part of the plan.
 */

#include "core/share/growth.h"
#include "core/share/plan-search.h"
#include <errno.h>
#include <stdlib.h>

/* Of those that are known; who has not been seen at two shares is taken for one of them. */
static double usual_exponent(const struct sg_growth_line *l)
{
        double sum = 0;
        size_t n = 0;

        for (size_t i = 0; i < l->n; i++)
                if (l->jobs[i].exponent < 1) {
                        sum += l->jobs[i].exponent;
                        n++;
                }
        return n > 0 ? sum / (double)n : 1;
}

static void fill(const struct sg_growth_line *l, struct sg_search_job *jobs)
{
        double usual = usual_exponent(l);

        for (size_t i = 0; i < l->n; i++) {
                const struct sg_growth_job *j = &l->jobs[i];

                jobs[i] = (struct sg_search_job){.remaining = j->remaining,
                                                 .width = j->width,
                                                 .exponent = j->exponent < 1 ? j->exponent : usual,
                                                 .weight = j->importance,
                                                 .index = j->index,
                                                 .due = j->due};
                for (size_t m = 0; m < SG_N_MILESTONES; m++)
                        jobs[i].to[m] = j->estimate->to[m];
        }
}

static void take(struct sg_growth_line *l, const struct sg_search_job *jobs)
{
        for (size_t i = 0; i < l->n; i++) {
                struct sg_growth_job *j = &l->jobs[i];

                j->share = jobs[i].share;
                j->weight = 1;
                j->list = jobs[i].list;
                j->reason = SG_REASON_PLAN;
                j->other = 0;
                l->order[jobs[i].rank - 1] = j;
        }
}

int sg_growth_plan(struct sg_growth_line *l, enum sg_objective objective, double capacity)
{
        _cleanup_free_ struct sg_search_job *jobs = calloc(l->n + 1, sizeof(*jobs));
        struct sg_search_plan plan;
        int r;

        if (!jobs)
                return -ENOMEM;
        fill(l, jobs);
        r = sg_plan_search(jobs, l->n, l->now, capacity, objective, &plan);
        if (r < 0)
                return r;
        take(l, jobs);
        return 0;
}
