/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/learn/efficiency.h"
#include "core/job/median.h"
#include <math.h>
#include <string.h>

#define USE_MIN 0.001   /* part of the node: a job that uses nothing isn't infinitely efficient */
#define TIME_MIN 1.0    /* seconds: a shorter time is mostly noise */
#define SCALE_FROM 3    /* values, for the scale to be judged by the range */
#define FAR 10.0        /* ranges from the usual: not believed at once */
#define EVAL_MAX 1e30   /* what is further from 0 is no evaluation: differences must be finite */
#define GROWTH_MAX 1e12 /* of one that began at nearly nothing; sums of many must be finite */

double sg_efficiency(double prev, double now, double reference, double dt, double use,
                     double *ret_progress)
{
        double progress = fabs(now - prev) / reference / dt;

        if (ret_progress)
                *ret_progress = progress;
        return progress / fmax(use, USE_MIN);
}

void sg_efficiency_init(struct sg_efficiency *e)
{
        *e = (struct sg_efficiency){.last_growth = (double)NAN};
}

/* --- what is taken for a value ---------------------------------------------------------------- */

static size_t n_last(const struct sg_efficiency *e)
{
        return e->n < SG_EFFICIENCY_LAST ? (size_t)e->n : SG_EFFICIENCY_LAST;
}

/* > 0: it is far above the last few, < 0: below; 0: as usual, or there is no usual yet. */
static int far_off(const struct sg_efficiency *e, double eval)
{
        double recent[SG_EFFICIENCY_LAST], range = FAR * (e->most - e->least), usual;

        if (e->n < SG_EFFICIENCY_LAST || !(range > 0))
                return 0;
        for (size_t i = 0; i < SG_EFFICIENCY_LAST; i++)
                recent[i] = e->last[i].eval;
        usual = sg_median(recent, SG_EFFICIENCY_LAST);
        return (eval > usual + range) - (eval < usual - range);
}

static void refer(struct sg_efficiency *e)
{
        double scale = fabs(e->least - e->first);

        if (e->frozen)
                return;
        e->reference = fabs(e->first);
        if (e->n < SCALE_FROM || !(scale > 0))
                return;
        if (e->maximised || fabs(e->first) < e->most - e->least) {
                e->reference = scale;
                e->frozen = true;
        }
}

static void take(struct sg_efficiency *e, const struct sg_eval_point *p)
{
        size_t n = n_last(e);

        if (e->n == 0) {
                e->first = e->least = e->most = p->eval;
        } else {
                e->least = fmin(e->least, p->eval);
                e->most = fmax(e->most, p->eval);
        }
        if (n == SG_EFFICIENCY_LAST) {
                memmove(&e->last[0], &e->last[1], (n - 1) * sizeof(*p));
                n--;
        }
        e->last[n] = *p;
        e->n++;
        refer(e);
}

/* Whether p is held back. Points that were held back and turn out to be right are taken before it.
 */
static bool hold_back(struct sg_efficiency *e, const struct sg_eval_point *p,
                      struct sg_eval_point *taken, size_t *n)
{
        int off = far_off(e, p->eval);

        if (off == 0) {
                e->n_rejected += e->n_held;
                e->n_held = 0;
                return false;
        }
        if (e->n_held > 0 && far_off(e, e->held[0].eval) != off) {
                e->n_rejected += e->n_held;
                e->n_held = 0;
        }
        if (e->n_held < SG_EFFICIENCY_HELD) {
                e->held[e->n_held++] = *p;
                return true;
        }
        memcpy(taken, e->held, sizeof(e->held));
        *n = SG_EFFICIENCY_HELD;
        e->n_held = 0;
        return false;
}

size_t sg_efficiency_report(struct sg_efficiency *e, enum sg_goal goal, double now,
                            const struct sg_eval_point *p, struct sg_eval_point *taken)
{
        struct sg_eval_point value = {goal == SG_GOAL_MAX ? -p->eval : p->eval, p->cpu};
        size_t n = 0;

        if (!(fabs(p->eval) <= EVAL_MAX)) {
                e->n_rejected++;
                return 0;
        }
        e->maximised = goal == SG_GOAL_MAX;
        if (hold_back(e, &value, taken, &n))
                return 0;
        taken[n++] = value;
        if (e->n == 0) {
                e->mark_time = now;
                e->mark_eval = value.eval;
                e->mark_cpu = value.cpu;
        } else {
                e->n_new += n;
        }
        for (size_t i = 0; i < n; i++)
                take(e, &taken[i]);
        return n;
}

/* --- what it comes to ------------------------------------------------------------------------- */

void sg_efficiency_use(struct sg_efficiency *e, double seconds, const double *use)
{
        for (size_t i = 0; i < SG_N_RESOURCES; i++)
                if (use[i] > 0)
                        e->use[i] += use[i] * seconds;
}

double sg_efficiency_growth(const struct sg_efficiency *e, double now, double cpu, double cpus,
                            enum sg_resource driving, bool *ret_measured)
{
        double dt = now - e->mark_time;
        double used = driving == SG_RESOURCE_CPU ? (cpu - e->mark_cpu) / cpus : e->use[driving];

        *ret_measured = e->n > 0 && e->n_new > 0 && dt >= TIME_MIN && e->reference > 0;
        if (!*ret_measured)
                return e->last_growth;
        return fmin(sg_efficiency(e->mark_eval, e->last[n_last(e) - 1].eval, e->reference, dt,
                                  used / dt, NULL),
                    GROWTH_MAX);
}

void sg_efficiency_mark(struct sg_efficiency *e, double now, double cpu, double cpus,
                        enum sg_resource driving)
{
        bool measured;
        double growth = sg_efficiency_growth(e, now, cpu, cpus, driving, &measured);

        if (!measured)
                return;
        e->last_growth = growth;
        e->mark_time = now;
        e->mark_eval = e->last[n_last(e) - 1].eval;
        e->mark_cpu = cpu;
        memset(e->use, 0, sizeof(e->use));
        e->n_new = 0;
}

double sg_efficiency_rate(const struct sg_efficiency *e)
{
        size_t n = n_last(e);
        double range = e->most - e->least, used;

        if (n < 2)
                return (double)NAN;
        used = e->last[n - 1].cpu - e->last[0].cpu;
        if (!(used > 0) || !(range > 0))
                return (double)NAN;
        return fabs(e->last[n - 1].eval - e->last[0].eval) / range / used;
}
