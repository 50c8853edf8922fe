/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What comes in, and the answer to how much is left. That is, in this order of preference: what the
 * job's reports say, if they are believed; what others of its class took that took more than it has
 * by now; as much again as it has used.
 */

#include "base/cleanup.h"
#include "core/learner-internal.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_UNKNOWN 130.0 /* CPU-seconds, of the first job of a class: a few minutes */
#define LEFT_MIN 0.01      /* of the whole: the end comes when it comes */

SG_DEFINE_CLEANUP(struct sg_learner *, sg_learner_free)

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

struct sg_learner *sg_learner_free(struct sg_learner *l)
{
        if (l)
                free(l->claims);
        free(l);
        return NULL;
}

/* --- what comes in ---------------------------------------------------------------------------- */

int sg_learner_make_claims(struct sg_learner *l)
{
        if (l->claims)
                return 0;
        l->claims = calloc(1, sizeof(*l->claims));
        if (!l->claims)
                return -ENOMEM;
        sg_way_init(&l->claims->way, !l->job.restarted, (double)NAN);
        sg_trust_init(&l->claims->trust);
        return 0;
}

double sg_learner_cost(const struct sg_learner *l, enum sg_way_measure measure)
{
        struct sg_claims *c = l->claims;

        if (!c->fresh[measure]) {
                c->cost[measure] = sg_way_cost(&c->way, measure, l->job.cpus, 1);
                c->fresh[measure] = true;
        }
        return c->cost[measure];
}

static void claim(struct sg_learner *l, const struct sg_way_point *p)
{
        struct sg_claims *c = l->claims;
        double left;

        memset(c->fresh, 0, sizeof(c->fresh));
        left = (1 - p->x) * sg_learner_cost(l, SG_WAY_CPU);
        if (isnan(left))
                return;
        sg_trust_claim(&c->trust, p->x, p->cpu, left);
        if (p->x < .5 || !(c->half > 0))
                c->half = p->cpu + left;
}

static void move(struct sg_learner *l, const struct sg_way_point *p)
{
        struct sg_claims *c = l->claims;

        sg_trust_move(&c->trust, &c->way, p, sg_learner_cost(l, SG_WAY_CPU));
        if (sg_way_add(&c->way, p) != SG_WAY_SAME)
                claim(l, p);
}

int sg_learner_report(struct sg_learner *l, const struct sg_learner_report *r)
{
        struct sg_way_point p = {
                .x = fmin(r->fraction, 1),
                .cpu = r->cpu,
                .time = r->now - l->demand.stood,
        };
        int k;

        l->cpu = fmax(l->cpu, r->cpu);
        l->n_reports++;
        if (!(r->fraction >= 0) || !isfinite(r->cpu))
                return 0;
        k = sg_learner_make_claims(l);
        if (k < 0)
                return k;
        move(l, &p);
        return 0;
}

void sg_learner_use(struct sg_learner *l, const struct sg_learner_use *u)
{
        struct sg_demand_count count = {
                .now = u->now, .cpu = u->cpu, .delay = u->delay, .held = u->held};

        l->cpu = fmax(l->cpu, u->cpu);
        sg_demand_count(&l->demand, &count);
}

/* --- how much is left ------------------------------------------------------------------------- */

static enum sg_doubt doubt(const struct sg_learner *l, double cpu)
{
        return l->claims ? sg_trust_doubt(&l->claims->trust, cpu) : SG_DOUBT_NONE;
}

/* Of a job that says nothing, or nothing that is believed. CPU-seconds. */
static double guess(const struct sg_class_history *h, double cpu, bool *ret_known)
{
        double size = h ? sg_history_size(h, cpu) : (double)NAN;

        *ret_known = !isnan(size);
        if (*ret_known)
                return size;
        return h && h->n_cpu > 0 ? 2 * cpu : fmax(SIZE_UNKNOWN, 2 * cpu);
}

/* CPU-seconds; of a job whose pace isn't set by the CPU, seconds by what it can use. NaN. */
static double left_by_claims(const struct sg_learner *l, double now, double cpu)
{
        const struct sg_way_point *last = l->claims ? sg_way_last(&l->claims->way) : NULL;

        (void)now;
        if (!last)
                return (double)NAN;
        return (1 - last->x) * sg_learner_cost(l, SG_WAY_CPU) - (cpu - last->cpu);
}

static void estimate_size(const struct sg_learner *l, const struct sg_class_history *h, double now,
                          double cpu, struct sg_estimate *ret)
{
        double left = left_by_claims(l, now, cpu), total;
        bool known;

        if (doubt(l, cpu) != SG_DOUBT_NONE) {
                total = fmax(guess(h, cpu, &known), 2 * cpu);
                ret->source = SG_SIZE_DISTRUST;
        } else if (!isnan(left)) {
                total = (cpu + fmax(left, 0)) * (h ? sg_history_correction(h) : 1);
                ret->source = SG_SIZE_REPORTS;
        } else {
                total = guess(h, cpu, &known);
                ret->source = known ? SG_SIZE_HISTORY : SG_SIZE_UNKNOWN;
        }
        left = fmax(total - cpu, LEFT_MIN * fmax(total, cpu));
        ret->remaining = left / l->job.cpus;
        ret->total = (cpu + left) / l->job.cpus;
}

void sg_learner_estimate(const struct sg_learner *l, const struct sg_class_history *h, double now,
                         double cpu, unsigned want, enum sg_resource driving,
                         struct sg_estimate *ret)
{
        const double unknown = (double)NAN;

        (void)want;
        (void)driving;
        cpu = fmax(cpu, l->cpu);
        *ret = (struct sg_estimate){
                .to = {unknown, unknown, unknown, unknown},
                .exponent = 1,
                .efficiency = unknown,
                .loss_rate = unknown,
                .n_reports = l->n_reports,
                .wants_probe = l->n_reports == 0 && cpu < l->job.probe,
        };
        estimate_size(l, h, now, cpu, ret);
        ret->to[SG_MILESTONE_DONE] = ret->remaining;
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

void sg_learner_mark(struct sg_learner *l, double now)
{
        (void)l;
        (void)now;
}

double sg_learner_claimed(const struct sg_learner *l)
{
        if (!l->claims || !(l->claims->half > 0) || doubt(l, l->cpu) != SG_DOUBT_NONE)
                return (double)NAN;
        return l->claims->half;
}
