/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Turns are wrong for jobs that scale badly: what the first gets last is worth little to it. For
 * them the whole way to the end is planned (plan-search.h), with everybody's promise in it, and
 * each gets its part of the plan. Where parts are whole CPUs, those that are to be probed get one
 * each beforehand: no plan can be made for them yet.
 */

#include "core/share/growth.h"
#include "core/share/plan-search.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define WHOLE .25   /* a CPU of which no more than this is missing counts as one */
#define SEVERAL 1.2 /* CPUs: a job that can use fewer has only one thread */

#define SLIGHT .05
#define STAY 1.1 /* another job has to be so many times shorter to take a job's CPUs */

/* Those that take part in a plan. */
struct planned {
        struct sg_search_job *jobs;
        struct sg_growth_job **of;
        size_t n;
};

/* The usual exponent of the jobs of which it is known. A job that hasn't been seen at two shares is
 * taken to have it. */
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

static void planned_deinit(struct planned *p)
{
        free(p->jobs);
        free(p->of);
}

static int planned_init(struct planned *p, size_t room)
{
        p->jobs = calloc(room + 1, sizeof(*p->jobs));
        p->of = calloc(room + 1, sizeof(struct sg_growth_job *));
        return p->jobs && p->of ? 0 : -ENOMEM;
}

static void add(struct planned *p, struct sg_growth_job *j, double usual)
{
        struct sg_search_job *to = &p->jobs[p->n];

        *to = (struct sg_search_job){
                .remaining = j->remaining / (j->stays ? STAY : 1),
                .width = j->width,
                .exponent = j->exponent < 1 ? j->exponent : usual,
                .speedup = &j->estimate->speedup,
                .weight = j->importance,
                .index = isinf(j->index) ? 1 / j->remaining : j->index,
                .due = j->due,
        };
        for (size_t m = 0; m < SG_N_MILESTONES; m++)
                to->to[m] = j->estimate->to[m];
        p->of[p->n++] = j;
}

/* Gives jobs that are to be probed one CPU each, as long as there are any, and puts them first in
 * the order. Returns how many. */
static size_t set_probes(struct sg_growth_line *l, double cpus, double *left)
{
        size_t n = 0;

        while (n < l->n && isinf(l->order[n]->index) && *left * cpus >= 1 - WHOLE) {
                struct sg_growth_job *j = l->order[n++];

                j->share = fmin(fmin(1 / cpus, j->width), *left);
                j->weight = 1;
                j->list = SG_LIST_PROBE;
                *left = fmax(*left - 1 / cpus, 0);
        }
        return n;
}

/* Gives the job on trial its CPUs, if there are no probes. */
static bool set_trial(struct sg_growth_line *l, const struct sg_growth_tried *tried, size_t at,
                      double cpus, double *left)
{
        struct sg_growth_job *j = tried->job;

        if (!j || at > 0 || tried->cpus > *left * cpus + SLIGHT)
                return false;
        j->cpus = tried->cpus;
        j->share = fmin(tried->cpus / cpus, *left);
        j->weight = 1;
        j->list = SG_LIST_RUN;
        j->reason = SG_REASON_TRIAL;
        j->other = 0;
        *left = fmax(*left - tried->cpus / cpus, 0);
        l->order[at] = j;
        return true;
}

static void take(struct sg_growth_line *l, size_t first, const struct planned *p, double cpus)
{
        for (size_t i = 0; i < p->n; i++) {
                struct sg_growth_job *j = p->of[i];

                j->share = fmin(p->jobs[i].share, j->width);
                j->cpus = j->width * cpus > SEVERAL ? p->jobs[i].cpus : 0;
                j->weight = 1;
                j->list = p->jobs[i].list;
                j->reason = SG_REASON_PLAN;
                j->other = 0;
                l->order[first + p->jobs[i].rank - 1] = j;
        }
}

/* For when there is no CPU for any of the planned jobs. */
static void make_wait(const struct planned *p)
{
        for (size_t i = 0; i < p->n; i++) {
                p->jobs[i].rank = (uint32_t)i + 1;
                p->jobs[i].list = SG_LIST_WAIT;
        }
}

int sg_growth_plan(struct sg_growth_line *l, enum sg_objective objective, double capacity,
                   double cpus, const struct sg_growth_tried *tried)
{
        _cleanup_(planned_deinit) struct planned p = {};
        struct sg_search_node node = {.now = l->now, .capacity = capacity, .cpus = cpus};
        struct sg_search_plan plan;
        size_t probes = cpus > 0 ? set_probes(l, cpus, &node.capacity) : 0;
        bool trial = cpus > 0 && set_trial(l, tried, probes, cpus, &node.capacity);
        double usual = usual_exponent(l);
        size_t first = probes + trial;
        int r = planned_init(&p, l->n);

        if (r < 0)
                return r;
        for (size_t i = 0; i < l->n; i++)
                if (l->jobs[i].list != SG_LIST_PROBE && !(trial && &l->jobs[i] == tried->job))
                        add(&p, &l->jobs[i], usual);
        if (first > 0 && node.capacity * cpus < 1 - WHOLE)
                make_wait(&p);
        else
                r = sg_plan_search(p.jobs, p.n, &node, objective, &plan);
        if (r < 0)
                return r;
        take(l, first, &p, cpus);
        return 0;
}
