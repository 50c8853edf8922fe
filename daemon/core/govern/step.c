/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One step: the node is divided among the domains by their classes' weights, each domain's policy
 * divides its part among the jobs, and the result is put as cgroups want it: a weight for each
 * class, and in each class one for each job.
 */

#include "core/govern/diff.h"
#include "core/govern/internal.h"
#include "core/share/policies.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME_SHARE 1e-3
#define EXPONENT_MIN .05 /* of a job in a plan, at least */
#define SEVERAL 1.2      /* CPUs: a job that can use fewer has only one thread */
#define RETURN_SEC 300   /* jobs that ran when we were restarted are found again by then */
#define NEW_TICKS 3      /* ticks until the use of a new job has been counted */
#define MOSTLY_IDLE .5

static int make_room(struct sg_governor *g)
{
        size_t room = g->jobs_room > 0 ? g->jobs_room : 1; /* policies get arrays, not NULL */
        const struct sg_decision **grown;

        if (g->room == 0 || g->room < g->n_jobs) {
                grown = reallocarray(g->decisions, room, sizeof(struct sg_decision *));
                if (!grown)
                        return -ENOMEM;
                g->decisions = grown;
                g->room = room;
        }
        g->seen = calloc(room, sizeof(*g->seen));
        g->outs = calloc(room, sizeof(*g->outs));
        return g->seen && g->outs ? 0 : -ENOMEM;
}

/* The arrays are large, and steps with many jobs are rare: they aren't kept. */
static void drop_room(struct sg_governor *g)
{
        free(g->seen);
        free(g->outs);
        g->seen = NULL;
        g->outs = NULL;
}

/* The part of the node that a job can use: as measured, as it said, or one CPU; within its bounds.
 */
static double width_of(const struct sg_governor *g, const struct sg_governed *j)
{
        double width = sg_learner_width(j->learner);
        double said = (j->cpus > 0 ? j->cpus : 1) / g->cpus;

        if (isnan(width) || j->elastic)
                width = said;
        else if (j->follows) /* each of its processes may have so many threads */
                width = fmax(width, said);
        else if (j->cpus > 0)
                width = fmin(width, said);
        width = fmin(width, j->cpus_max / g->cpus);
        return fmin(fmax(width, 1e-3), 1);
}

static unsigned wants_of(const struct sg_share_policy *p)
{
        return (p->wants_milestones ? SG_ESTIMATE_MILESTONES : 0U) |
               (p->wants_efficiency ? SG_ESTIMATE_EFFICIENCY : 0U);
}

static double scales_by(const struct sg_speedup *s, double cpus)
{
        return cpus > SEVERAL ? fmax(sg_speedup_exponent(s, cpus), EXPONENT_MIN) : 1;
}

static void look_at(struct sg_governor *g, struct sg_governed *j)
{
        const struct sg_domain *d = j->domain;
        struct sg_decision *n = &j->decision;

        n->key = j->key;
        n->class = j->class;
        n->width = width_of(g, j);
        n->used = j->cpu / g->cpus;
        sg_learner_estimate(j->learner, &g->classes[j->class].history, g->now, j->cpu,
                            wants_of(d->policy), d->settings.resource, &n->estimate);
        if (sg_governor_is_whole(g, d))
                n->estimate.exponent = scales_by(&n->estimate.speedup, n->width * g->cpus);
}

static void count_active(struct sg_governor *g)
{
        for (size_t c = 0; c < g->n_classes; c++) {
                g->classes[c].n_active = 0;
                g->classes[c].share = 0;
        }
        for (size_t i = 0; i < g->n_jobs; i++)
                if (!g->jobs[i]->held)
                        g->classes[g->jobs[i]->class].n_active++;
}

/* What each domain gets of the node: by the weights of its classes that have jobs, up to what those
 * can use. */
static int divide(struct sg_governor *g)
{
        size_t n = g->n_domains;
        _cleanup_free_ double *numbers = calloc(3 * n, sizeof(double));
        double *weights, *widths, *shares;

        if (!numbers)
                return -ENOMEM;
        weights = numbers;
        widths = numbers + n;
        shares = numbers + 2 * n;
        for (size_t k = 0; k < n; k++) {
                for (size_t c = 0; c < g->n_classes; c++)
                        if (g->classes[c].domain == g->domains[k] && g->classes[c].n_active > 0)
                                weights[k] += g->classes[c].weight;
                for (size_t i = 0; i < g->n_jobs; i++)
                        if (g->jobs[i]->domain == g->domains[k] && !g->jobs[i]->held)
                                widths[k] += g->jobs[i]->decision.width;
                widths[k] = fmin(widths[k], 1);
        }
        sg_share_by_weight(weights, widths, n, shares);
        for (size_t k = 0; k < n; k++)
                g->domains[k]->capacity = n == 1 || !(shares[k] > 0) ? 1 : shares[k];
        return 0;
}

static double in_domain(const struct sg_domain *d, const struct sg_governor *g, double t)
{
        return isinf(t) ? t : d->clock + (t - g->now) * d->capacity;
}

static void fill_job(const struct sg_governor *g, const struct sg_governed *j,
                     struct sg_share_job *to)
{
        const struct sg_domain *d = j->domain;

        *to = (struct sg_share_job){
                .key = j->key,
                .class = g->classes[j->class].index,
                .uid = j->uid,
                .arrival = j->domain_arrival,
                .used = j->decision.used,
                .weight = j->weight,
                .width = fmin(j->decision.width / d->capacity, 1),
                .deadline = in_domain(d, g, j->deadline),
                .held = j->held,
                .aside = j->aside,
                .cpu_bound = sg_learner_cpu_bound(j->learner),
                .estimate = j->decision.estimate,
        };
}

static struct sg_share_snapshot fill(struct sg_governor *g, const struct sg_domain *d)
{
        struct sg_share_snapshot s = {
                .now = d->clock, .classes = g->share_classes, .jobs = g->seen};

        /* Beside other domains its part of the node isn't a whole number of CPUs, and threads of
         * their jobs come and go. */
        if (sg_governor_is_whole(g, d))
                s.cpus = fmax(d->capacity * g->cpus, 1);
        for (size_t c = 0; c < g->n_classes; c++) {
                if (g->classes[c].domain != d)
                        continue;
                g->classes[c].index = (uint32_t)s.n_classes;
                g->share_classes[s.n_classes++] = (struct sg_share_class){
                        .name = g->classes[c].name,
                        .weight = g->classes[c].weight,
                        .settings = &d->settings,
                };
        }
        for (size_t i = 0; i < g->n_jobs; i++)
                if (g->jobs[i]->domain == d)
                        fill_job(g, g->jobs[i], &g->seen[s.n_jobs++]);
        return s;
}

/* Takes over what the policy said of its jobs; whether it is news. */
static bool take(struct sg_governor *g, const struct sg_domain *d)
{
        bool news = false;
        size_t n = 0;

        for (size_t i = 0; i < g->n_jobs; i++) {
                struct sg_governed *j = g->jobs[i];
                struct sg_share_out out;

                if (j->domain != d)
                        continue;
                out = g->outs[n++];
                out.share *= d->capacity;
                out.cap *= d->capacity;
                out.weight = sg_share_round_weight(out.weight);
                news |= fabs(out.share - j->decision.out.share) > SAME_SHARE ||
                        out.list != j->decision.out.list;
                j->decision.out = out;
                sg_learner_give(j->learner, g->now, j->cpu, out.cpus);
        }
        return news;
}

static int step_domain(struct sg_governor *g, struct sg_domain *d)
{
        struct sg_share_snapshot s = fill(g, d);
        double next = INFINITY;
        int r;

        memset(g->outs, 0, s.n_jobs * sizeof(*g->outs));
        r = d->policy->step(d->state, &s, g->outs, &next);
        if (r < 0)
                return r;
        for (size_t i = 0; r > 0 && i < g->n_jobs; i++)
                if (g->jobs[i]->domain == d)
                        sg_learner_mark(g->jobs[i]->learner, g->now, d->settings.resource);
        d->next = next;
        if (take(g, d))
                d->interval = d->settings.tick;
        else
                d->interval = fmin(2 * d->interval, d->settings.max_interval);
        return 0;
}

/* On a node that is mostly idle, jobs that have just begun don't count: most of them hardly use it.
 */
bool sg_governor_is_calm(const struct sg_governor *g)
{
        double wanted = 0, perhaps = 0;

        for (size_t i = 0; i < g->n_jobs; i++) {
                const struct sg_governed *j = g->jobs[i];

                if (j->held)
                        continue;
                if (isnan(sg_learner_width(j->learner)) &&
                    g->now < j->arrival + NEW_TICKS * j->domain->settings.tick)
                        perhaps += width_of(g, j);
                else
                        wanted += width_of(g, j);
        }
        return wanted + (wanted > MOSTLY_IDLE ? perhaps : 0) <= 1 + SAME_SHARE;
}

/* The kernel can't tell weights apart that hardly differ: then the one in force stays. */
static uint32_t steady(double weight, uint32_t before)
{
        uint32_t now = sg_share_round_weight(weight);

        return fabs((double)now - (double)before) < SG_DIFF_WEIGHT_STEP * before ? before : now;
}

/* The weight of a class. If its domain has several classes and is governed, it is by the sum of the
 * shares that the class's jobs are to have; else, and among domains, by the files. */
static double class_value(const struct sg_governor *g, const struct sg_governed_class *class,
                          bool *ret_governed)
{
        const struct sg_domain *d = class->domain;
        double weights = 0, shares = 0;
        size_t n = 0;

        for (size_t c = 0; c < g->n_classes; c++) {
                if (g->classes[c].domain != d || g->classes[c].n_active == 0)
                        continue;
                weights += g->classes[c].weight;
                shares += g->classes[c].share;
                n++;
        }
        if (d->settings.share == SG_SHARE_FAIR || n == 1 || !(shares > 0))
                return class->weight;
        *ret_governed = true;
        return weights * class->share / shares;
}

static void weigh_classes(struct sg_governor *g, bool calm)
{
        double most = 0;
        bool governed = false;

        for (size_t i = 0; i < g->n_jobs; i++)
                if (!g->jobs[i]->held)
                        g->classes[g->jobs[i]->class].share += g->jobs[i]->decision.out.share;
        for (size_t c = 0; c < g->n_classes; c++)
                if (g->classes[c].n_active > 0)
                        most = fmax(most, class_value(g, &g->classes[c], &governed));
        for (size_t c = 0; c < g->n_classes; c++) {
                struct sg_governed_class *class = &g->classes[c];
                double value = class_value(g, class, &governed);

                if (class->n_active == 0)
                        class->granted = 0;
                else if (calm || !governed)
                        class->granted = (uint32_t)lround(class->weight);
                else /* finer than the files' */
                        class->granted = steady(value / most * SG_WEIGHT_MAX, class->granted);
                g->class_decisions[c] = (struct sg_class_decision){
                        .name = class->name,
                        .weight = class->granted,
                };
        }
}

uint32_t sg_governor_class_weight(const struct sg_governor *g, const char *class)
{
        for (size_t c = 0; c < g->n_classes; c++)
                if (strcmp(g->classes[c].name, class) == 0)
                        return g->classes[c].granted;
        return 0;
}

static double next_of(const struct sg_governor *g)
{
        double next = INFINITY;

        for (size_t k = 0; k < g->n_domains; k++) {
                const struct sg_domain *d = g->domains[k];
                bool any = false;

                for (size_t i = 0; i < g->n_jobs && !any; i++)
                        any = g->jobs[i]->domain == d && !g->jobs[i]->held;
                if (any)
                        next = fmin(next,
                                    g->now + fmin((d->next - d->clock) / d->capacity, d->interval));
        }
        return next;
}

static int decide(struct sg_governor *g)
{
        int r = make_room(g);

        for (size_t i = 0; r == 0 && i < g->n_jobs; i++)
                look_at(g, g->jobs[i]);
        if (r == 0) {
                count_active(g);
                r = divide(g);
        }
        for (size_t k = 0; r == 0 && k < g->n_domains; k++)
                r = step_domain(g, g->domains[k]);
        drop_room(g);
        return r;
}

/* Remembered jobs that haven't come back have ended while no daemon ran. */
static void forget_the_gone(struct sg_governor *g)
{
        if (g->n_remembered == 0)
                return;
        if (!(g->forget_at > 0))
                g->forget_at = g->now + RETURN_SEC;
        if (g->now >= g->forget_at)
                sg_governor_forget(g);
}

int sg_governor_step(struct sg_governor *g, double now, struct sg_governor_plan *ret)
{
        bool calm;
        int r;

        sg_governor_advance(g, now);
        forget_the_gone(g);
        r = decide(g);
        if (r < 0)
                return r;
        calm = sg_governor_is_calm(g);
        weigh_classes(g, calm);
        for (size_t i = 0; i < g->n_jobs; i++) {
                if (calm)
                        g->jobs[i]->decision.out.weight = (uint32_t)lround(g->jobs[i]->weight);
                g->decisions[i] = &g->jobs[i]->decision;
        }
        *ret = (struct sg_governor_plan){
                .jobs = g->decisions,
                .n_jobs = g->n_jobs,
                .classes = g->class_decisions,
                .n_classes = g->n_classes,
                .next = next_of(g),
                .calm = calm,
        };
        return 0;
}

const struct sg_decision *sg_governor_decision(const struct sg_governor *g, uint64_t key)
{
        const struct sg_governed *j = sg_governor_find(g, key);

        return j && j->decision.key ? &j->decision : NULL;
}

int sg_governor_new(struct sg_governor **ret, double cpus)
{
        struct sg_governor *g = calloc(1, sizeof(*g));

        if (!g)
                return -ENOMEM;
        g->cpus = cpus;
        *ret = g;
        return 0;
}
