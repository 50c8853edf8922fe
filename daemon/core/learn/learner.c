/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Takes in what is heard of a job, and says how much is left: by the job's reports, if they are
 * believed; else by those jobs of its class that took more than it has by now; else as much
 * again as it has used.
 */

#include "base/cleanup.h"
#include "core/learn/internal.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_UNKNOWN 130.0 /* CPU-seconds, of the first job of a class: a few minutes */
#define SIZE_MOST 1e10     /* CPU-seconds: larger claims say nothing, and sums stay exact */
#define CLAIM_FROM 0.1     /* part done: earlier claims are too rough to correct other jobs by */
#define LEFT_MIN 0.01      /* of the whole: the end comes when it comes */
#define PASSED 0.002       /* of the whole: a milestone that is so near is worth nothing any more */
#define SINGLE 1.2         /* CPUs */

int sg_learner_new(struct sg_learner **ret, const struct sg_learner_job *j)
{
        struct sg_learner *l = calloc(1, sizeof(*l));

        if (!l)
                return -ENOMEM;
        l->job = *j;
        sg_demand_init(&l->demand);
        *ret = l;
        return 0;
}

void sg_learner_configure(struct sg_learner *l, const struct sg_learner_job *j)
{
        double before = l->job.exponent;

        bool whole = l->job.whole;

        l->job = *j;
        if (!l->claims ||
            (whole == j->whole && (before == j->exponent || (isnan(before) && isnan(j->exponent)))))
                return;
        sg_scaling_give(&l->claims->scaling, j->exponent);
        l->claims->scaling.whole = false;
        if (j->whole)
                sg_scaling_use_whole(&l->claims->scaling, j->usual);
        sg_work_forget(&l->claims->work, SG_WORK_SPEED);
        l->claims->fresh[SG_WORK_SPEED] = false;
}

struct sg_learner *sg_learner_free(struct sg_learner *l)
{
        if (l) {
                free(l->counters);
                free(l->claims);
                free(l->evals);
        }
        free(l);
        return NULL;
}

/* --- what comes in ---------------------------------------------------------------------------- */

int sg_learner_make_counters(struct sg_learner *l)
{
        if (l->counters)
                return 0;
        l->counters = calloc(1, sizeof(*l->counters));
        if (!l->counters)
                return -ENOMEM;
        sg_fraction_init(l->counters, l->job.steps);
        return 0;
}

static void init_scaling(struct sg_learner *l)
{
        sg_scaling_init(&l->claims->scaling, l->job.exponent);
        if (l->job.whole)
                sg_scaling_use_whole(&l->claims->scaling, l->job.usual);
}

int sg_learner_make_claims(struct sg_learner *l)
{
        if (l->claims)
                return 0;
        l->claims = calloc(1, sizeof(*l->claims));
        if (!l->claims)
                return -ENOMEM;
        sg_work_init(&l->claims->work, !l->job.restarted);
        sg_trust_init(&l->claims->trust);
        init_scaling(l);
        return 0;
}

int sg_learner_make_evals(struct sg_learner *l)
{
        if (l->evals)
                return 0;
        l->evals = calloc(1, sizeof(*l->evals));
        if (!l->evals)
                return -ENOMEM;
        sg_efficiency_init(&l->evals->efficiency);
        sg_curve_init(&l->evals->curve);
        return 0;
}

double sg_learner_cost(const struct sg_learner *l, enum sg_work_measure measure)
{
        struct sg_claims *c = l->claims;

        if (!c->fresh[measure]) {
                c->cost[measure] = sg_work_cost(&c->work, measure);
                c->fresh[measure] = true;
        }
        return c->cost[measure];
}

static double cpus_used(const struct sg_learner *l)
{
        double cpus = sg_learner_width(l) * l->job.cpus;

        return isnan(cpus) ? 1 : cpus;
}

static void claim(struct sg_learner *l, const struct sg_work_point *p)
{
        struct sg_claims *c = l->claims;
        double left;

        memset(c->fresh, 0, sizeof(c->fresh));
        left = (1 - p->x) * sg_learner_cost(l, SG_WORK_CPU);
        if (isnan(left))
                return;
        sg_trust_claim(&c->trust, p->x, p->at[SG_WORK_CPU], left, cpus_used(l));
        if (p->x >= CLAIM_FROM && (p->x < .5 || !(c->half > 0)))
                c->half = p->at[SG_WORK_CPU] + left;
}

static struct sg_scaling_count count_of(const struct sg_learner *l, double now, double cpu)
{
        return (struct sg_scaling_count){now, cpu, l->job.cpus, sg_learner_width(l), l->own};
}

/* A job that uses one CPU waits for nothing but the CPU, so that it scales linearly. It may look
 * otherwise on a node that others disturb. */
static bool is_linear(const struct sg_learner *l)
{
        return !(l->job.exponent > 0) && !l->owned && sg_learner_width(l) * l->job.cpus < SINGLE;
}

static struct sg_speedup speedup_of(const struct sg_learner *l)
{
        if (l->job.whole && l->claims)
                return l->claims->scaling.pace.curve;
        if (l->job.whole && !(l->job.exponent > 0))
                return l->job.usual->speedup;
        return sg_speedup_of(l->job.exponent > 0 ? l->job.exponent : 1);
}

static double exponent_of(const struct sg_learner *l)
{
        double width = sg_learner_width(l);
        struct sg_speedup curve;

        if (is_linear(l))
                return 1;
        if (l->job.whole) {
                curve = speedup_of(l);
                return sg_speedup_exponent(&curve, l->job.cpus * (isnan(width) ? 1 : width));
        }
        return l->claims ? l->claims->scaling.exponent : l->job.exponent > 0 ? l->job.exponent : 1;
}

static void scale(struct sg_learner *l, double x, const struct sg_scaling_count *count)
{
        struct sg_claims *c = l->claims;

        if (is_linear(l) || !sg_scaling_report(&c->scaling, x, count))
                return;
        sg_work_forget(&c->work, SG_WORK_SPEED);
        c->fresh[SG_WORK_SPEED] = false;
}

/* Accounts for the time before the first report, of which only the job's use is known. */
static void begin(struct sg_learner *l, double cpu)
{
        struct sg_scaling *s = &l->claims->scaling;

        if (!isnan(s->now))
                return;
        if (l->demand.observed > 0)
                s->now = l->demand.now - l->demand.observed;
        else
                s->done = cpu;
}

static void move(struct sg_learner *l, const struct sg_learner_report *r)
{
        struct sg_claims *c = l->claims;
        struct sg_scaling_count count = count_of(l, r->now, r->cpu);
        struct sg_work_point p = {.x = fmin(r->fraction, 1)};

        begin(l, r->cpu);
        sg_scaling_advance(&c->scaling, &count);
        p.at[SG_WORK_CPU] = r->cpu;
        p.at[SG_WORK_TIME] = r->now - l->demand.stood;
        p.at[SG_WORK_SPEED] = c->scaling.done;
        sg_trust_move(&c->trust, &c->work, &p, sg_learner_cost(l, SG_WORK_CPU));
        if (sg_work_add(&c->work, &p) == SG_WORK_SAME)
                return;
        claim(l, &p);
        scale(l, p.x, &count);
}

/* A job that doesn't say how many steps or epochs there are still shows by its speed in them how it
 * scales. */
static int move_by_steps(struct sg_learner *l, const struct sg_learner_report *r)
{
        struct sg_scaling_count count = count_of(l, r->now, r->cpu);
        bool tells = l->job.whole && r->counters && !isnan(l->counters->done);
        int k;

        if (!tells || (l->claims && !l->claims->by_steps))
                return 0;
        k = sg_learner_make_claims(l);
        if (k < 0)
                return k;
        l->claims->by_steps = true;
        begin(l, r->cpu);
        sg_scaling_advance(&l->claims->scaling, &count);
        scale(l, l->counters->done, &count);
        return 0;
}

/* Forgets where the job said it was: it has turned out to have counted something else. */
static void forget_claims(struct sg_learner *l)
{
        free(l->claims);
        l->claims = NULL;
        if (l->evals)
                sg_curve_init(&l->evals->curve);
}

static int hear_counters(struct sg_learner *l, struct sg_learner_report *r)
{
        struct sg_fraction before;
        int k;

        if (!r->counters)
                return 0;
        k = sg_learner_make_counters(l);
        if (k < 0)
                return k;
        before = *l->counters;
        r->fraction = sg_fraction_feed(l->counters, r->counters);
        if (before.by_epochs != l->counters->by_epochs ||
            sg_fraction_is_inner(&before) != sg_fraction_is_inner(l->counters))
                forget_claims(l);
        return 0;
}

static int hear_fraction(struct sg_learner *l, const struct sg_learner_report *r)
{
        int k;

        if (!(r->fraction >= 0))
                return move_by_steps(l, r);
        k = sg_learner_make_claims(l);
        if (k < 0)
                return k;
        if (l->claims->by_steps) {
                init_scaling(l);
                l->claims->by_steps = false;
        }
        move(l, r);
        return 0;
}

/* Values that were held back are put where the job is now: they are too few to matter for the
 * curve. */
static int hear_eval(struct sg_learner *l, const struct sg_learner_report *r)
{
        struct sg_eval_point p = {r->eval, r->cpu}, taken[SG_EFFICIENCY_HELD + 1];
        size_t n;
        int k;

        if (isnan(r->eval))
                return 0;
        k = sg_learner_make_evals(l);
        if (k < 0)
                return k;
        n = sg_efficiency_report(&l->evals->efficiency, l->job.goal, r->now, &p, taken);
        for (size_t i = 0; i < n; i++)
                if (r->fraction >= 0)
                        sg_curve_add(&l->evals->curve, fmin(r->fraction, 1), taken[i].eval);
        return 0;
}

int sg_learner_report(struct sg_learner *l, const struct sg_learner_report *report)
{
        struct sg_learner_report r = *report;
        int k = hear_counters(l, &r);

        if (k == 0)
                k = hear_fraction(l, &r);
        if (k == 0)
                k = hear_eval(l, &r);
        if (k < 0)
                return k;
        l->cpu = fmax(l->cpu, r.cpu);
        l->n_reports++;
        return 0;
}

void sg_learner_use(struct sg_learner *l, const struct sg_learner_use *u)
{
        const struct sg_scaling_count scaling = count_of(l, u->now, u->cpu);
        const struct sg_demand_count demand = {.now = u->now,
                                               .cpu = u->cpu,
                                               .delay = u->delay,
                                               .pressure = u->pressure,
                                               .cpus = l->job.cpus,
                                               .held = u->held,
                                               .spare = u->spare};

        if (l->claims)
                sg_scaling_advance(&l->claims->scaling, &scaling);
        if (l->evals && u->now > l->demand.now)
                sg_efficiency_use(&l->evals->efficiency, u->now - l->demand.now, u->use);
        l->cpu = fmax(l->cpu, u->cpu);
        sg_demand_count(&l->demand, &demand);
}

void sg_learner_give(struct sg_learner *l, double now, double cpu, double own)
{
        const struct sg_scaling_count before = count_of(l, now, fmax(cpu, l->cpu));

        if (own == l->own)
                return;
        if (l->claims)
                sg_scaling_advance(&l->claims->scaling, &before);
        l->own = own;
        l->owned = l->owned || own > 0;
}

/* --- how much is left ------------------------------------------------------------------------- */

static enum sg_doubt doubt(const struct sg_learner *l, double cpu)
{
        return l->claims ? sg_trust_doubt(&l->claims->trust, cpu) : SG_DOUBT_NONE;
}

/* What is left of a job that says nothing, or nothing that is believed. CPU-seconds. */
static double guess(const struct sg_class_history *h, double cpu, bool *ret_known)
{
        double size = h ? sg_history_size(h, cpu) : (double)NAN;

        *ret_known = !isnan(size);
        if (*ret_known)
                return size;
        return h && h->n_cpu > 0 ? 2 * cpu : fmax(SIZE_UNKNOWN, 2 * cpu);
}

/* CPU-seconds for all of x. Earlier points don't count when the curve of speeds has just changed;
 * then it is computed from these speeds. */
static double cost_of(const struct sg_learner *l, enum sg_work_measure measure)
{
        double cost = sg_learner_cost(l, measure);

        if (isnan(cost) && measure == SG_WORK_SPEED && l->job.whole && !l->claims->by_steps)
                cost = 1 / sg_pace_on_one(&l->claims->scaling.pace);
        return cost;
}

/* Where it is on its way, and what all of it takes, in CPU-seconds; of a job whose pace isn't set
 * by the CPU, seconds by what it uses. cost NaN: not known. */
struct place {
        double x, cost;
        double spent; /* of that, in this attempt */
};

static enum sg_work_measure measure_of(const struct sg_learner *l)
{
        if (!sg_learner_cpu_bound(l))
                return SG_WORK_TIME;
        return exponent_of(l) < SG_EXPONENT_LINEAR ? SG_WORK_SPEED : SG_WORK_CPU;
}

static double since(const struct sg_learner *l, enum sg_work_measure measure, double now,
                    double cpu)
{
        const struct sg_work_point *last = sg_work_last(&l->claims->work);
        struct sg_scaling_count count = count_of(l, now, cpu);

        if (measure == SG_WORK_TIME)
                return now - l->demand.stood - last->at[SG_WORK_TIME];
        if (measure == SG_WORK_SPEED)
                return sg_scaling_done(&l->claims->scaling, &count) - last->at[SG_WORK_SPEED];
        return cpu - last->at[SG_WORK_CPU];
}

static struct place place_of(const struct sg_learner *l, double now, double cpu)
{
        struct sg_scaling_count count = count_of(l, now, cpu);
        struct place p = {.cost = (double)NAN, .spent = cpu};
        enum sg_work_measure measure;

        if (!l->claims || l->claims->work.n == 0)
                return p;
        measure = measure_of(l);
        if (isnan(cost_of(l, measure)))
                measure = SG_WORK_CPU;
        p.cost = cost_of(l, measure);
        p.x = sg_work_last(&l->claims->work)->x;
        if (p.cost > 0)
                p.x += fmax(since(l, measure, now, cpu), 0) / p.cost;
        if (measure == SG_WORK_SPEED)
                p.spent = sg_scaling_done(&l->claims->scaling, &count);
        if (measure == SG_WORK_TIME)
                p.cost *= sg_learner_width(l) * l->job.cpus;
        return p;
}

static void estimate_size(const struct sg_learner *l, const struct sg_class_history *h, double cpu,
                          const struct place *place, struct sg_estimate *ret)
{
        double left = (1 - place->x) * place->cost, total;
        bool known;

        if (doubt(l, cpu) != SG_DOUBT_NONE) {
                total = fmax(guess(h, cpu, &known), 2 * cpu);
                ret->source = SG_SIZE_DISTRUST;
        } else if (cpu + left > 0) { /* not before any of its CPU time has been counted */
                total = (cpu + fmax(left, 0)) * (h ? sg_history_correction(h) : 1);
                ret->source = SG_SIZE_REPORTS;
        } else {
                total = guess(h, cpu, &known);
                ret->source = known ? SG_SIZE_HISTORY : SG_SIZE_UNKNOWN;
        }
        total = fmin(total, SIZE_MOST);
        left = fmax(total - cpu, LEFT_MIN * fmax(total, cpu));
        ret->remaining = left / l->job.cpus;
        ret->total = ((ret->source == SG_SIZE_REPORTS ? place->spent : cpu) + left) / l->job.cpus;
}

/* Sets the way to each milestone. None is further away than the end, which may come sooner than the
 * job says. x: how far the job is; cost: CPU-seconds for all of it, 0 if its lines came all at
 * once. */
static void set_milestones(const struct sg_learner *l, const double *at, double x, double cost,
                           struct sg_estimate *ret)
{
        for (size_t i = 0; i < SG_MILESTONE_DONE && cost > 0; i++)
                if (at[i] - x > PASSED)
                        ret->to[i] = fmin((at[i] - x) * cost / l->job.cpus, ret->remaining);
}

static void estimate_milestones(const struct sg_learner *l, const struct place *place,
                                struct sg_estimate *ret)
{
        if (l->n_reports == 0)
                set_milestones(l, sg_curve_unknown, 1 - ret->remaining / ret->total,
                               ret->total * l->job.cpus, ret);
        else if (l->evals && ret->source == SG_SIZE_REPORTS)
                set_milestones(l, sg_curve_milestones(&l->evals->curve), place->x, place->cost,
                               ret);
}

static void estimate_efficiency(const struct sg_learner *l, double now, double cpu,
                                enum sg_resource driving, struct sg_estimate *ret)
{
        const struct sg_efficiency *e;

        if (!l->evals)
                return;
        e = &l->evals->efficiency;
        ret->efficiency = sg_efficiency_growth(e, now, cpu, l->job.cpus, driving, &ret->measured);
        ret->loss_rate = sg_efficiency_rate(e) * l->job.cpus;
}

void sg_learner_estimate(const struct sg_learner *l, const struct sg_class_history *h, double now,
                         double cpu, unsigned want, enum sg_resource driving,
                         struct sg_estimate *ret)
{
        const struct sg_pace *pace = sg_learner_pace(l);
        const double unknown = (double)NAN;
        struct place place;

        cpu = fmax(cpu, l->cpu);
        place = place_of(l, now, cpu);
        *ret = (struct sg_estimate){
                .to = {unknown, unknown, unknown, unknown},
                .exponent = exponent_of(l),
                .speedup = speedup_of(l),
                .whole = l->job.whole,
                .known = pace ? sg_pace_known(pace) : 0,
                .every = pace ? l->claims->scaling.every : 0,
                .efficiency = unknown,
                .loss_rate = unknown,
                .n_reports = l->n_reports,
                .wants_probe = l->n_reports == 0 && cpu < l->job.probe,
        };
        estimate_size(l, h, cpu, &place, ret);
        ret->to[SG_MILESTONE_DONE] = ret->remaining;
        if (want & SG_ESTIMATE_MILESTONES)
                estimate_milestones(l, &place, ret);
        if (want & SG_ESTIMATE_EFFICIENCY)
                estimate_efficiency(l, now, cpu, driving, ret);
}

double sg_learner_width(const struct sg_learner *l)
{
        double cpus = sg_demand_cpus(&l->demand);

        return isnan(cpus) ? cpus : fmin(cpus / l->job.cpus, 1);
}

bool sg_learner_cpu_bound(const struct sg_learner *l)
{
        return !l->demand.idle;
}

bool sg_learner_seems_idle(const struct sg_learner *l)
{
        return sg_demand_seems_idle(&l->demand);
}

bool sg_learner_waits_known(const struct sg_learner *l)
{
        return sg_demand_waits_known(&l->demand);
}

void sg_learner_mark(struct sg_learner *l, double now, enum sg_resource driving)
{
        if (l->evals)
                sg_efficiency_mark(&l->evals->efficiency, now, l->cpu, l->job.cpus, driving);
}

const struct sg_pace *sg_learner_pace(const struct sg_learner *l)
{
        return l->claims && l->claims->scaling.whole && !l->claims->scaling.given
                       ? &l->claims->scaling.pace
                       : NULL;
}

double sg_learner_claimed(const struct sg_learner *l)
{
        if (!l->claims || !(l->claims->half > 0) || doubt(l, l->cpu) != SG_DOUBT_NONE)
                return (double)NAN;
        return l->claims->half;
}
