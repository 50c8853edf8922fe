/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The simulator's node: see sim.h. Between two events every job goes at a constant rate, so that an
 * event's time is exact: a job comes, says something or is done, or a step of the governor is due.
 *
 * When there is a step, and which part of its plan is written to a job's group, is asked of those
 * whom the daemon asks (core/govern/pulse.h, want.h and diff.h). At each event the node is shared
 * anew by what is in force, as the kernel does it.
 */

#include "core/sim/sim.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "core/govern/pulse.h"
#include "core/govern/want.h"
#include "core/sim/internal.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define CLASS "default"
#define WEIGHT 100
#define ONE_CPU_PM 1e4
#define NEAR 1e-9 /* of a job's work: it is there */
/* Of its speed, what a job with far more threads than CPUs loses as they wait for each other. */
#define SPIN .35

SG_DEFINE_CLEANUP(struct sg_governor *, sg_governor_free)

struct node {
        const struct sg_sim_options *o;
        const struct sg_trace_job *jobs;
        size_t n;
        struct sg_sim_result *result;
        struct sg_governor *governor; /* NULL: a reference */
        struct sg_sim_run *active;    /* by arrival */
        size_t n_active, arrived;
        double now;
        struct sg_pulse pulse; /* of the governor's steps */
        uint32_t most;         /* the largest weight of its last plan */
        double *weights, *widths, *shares;
        struct sg_sim_share *shown;
};

void sg_sim_options_init(struct sg_sim_options *o)
{
        *o = (struct sg_sim_options){
                .cpus = 1, .claims = .1, .speedup = 1, .prior = 130, .seed = 1};
        sg_share_settings_init(&o->settings);
        o->settings.floor = 0;
}

static int make_governor(struct node *n)
{
        const struct sg_sim_options *o = n->o;
        struct sg_governor_class class = {.name = CLASS, .weight = WEIGHT, .settings = o->settings};
        _cleanup_(sg_governor_freep) struct sg_governor *g = NULL;
        int r;

        if (o->reference != SG_SIM_GOVERNED)
                return 0;
        r = sg_governor_new(&g, o->cpus);
        if (r < 0)
                return r;
        sg_governor_plan_cpus(g, o->whole && !o->stubborn);
        r = sg_governor_configure(g, o->cpus, &class, 1);
        if (r < 0)
                return r;
        for (unsigned i = 0; i < SG_HISTORY_JOBS; i++)
                sg_governor_remember(g, CLASS, o->prior * o->cpus, (double)NAN);
        n->governor = TAKE_PTR(g);
        return 0;
}

static int node_init(struct node *n)
{
        sg_pulse_init(&n->pulse);
        n->active = calloc(n->n, sizeof(*n->active));
        n->weights = calloc(3 * n->n, sizeof(*n->weights));
        n->shown = calloc(n->n, sizeof(*n->shown));
        if (!n->active || !n->weights || !n->shown)
                return -ENOMEM;
        n->widths = n->weights + n->n;
        n->shares = n->widths + n->n;
        return make_governor(n);
}

static void node_deinit(struct node *n)
{
        sg_governor_free(n->governor);
        free(n->active);
        free(n->weights);
        free(n->shown);
}

/* --- time ------------------------------------------------------------------------------------- */

static double next_event(const struct node *n)
{
        double t = n->pulse.due;

        if (n->arrived < n->n)
                t = fmin(t, n->jobs[n->arrived].arrival);
        for (size_t i = 0; i < n->n_active; i++) {
                const struct sg_sim_run *run = &n->active[i];

                if (run->rate > 0)
                        t = fmin(t, n->now + (sg_sim_next(run) - run->done) / run->rate);
        }
        return fmax(t, n->now);
}

static void show(const struct node *n, double to)
{
        if (!n->o->watch || !(to > n->now))
                return;
        for (size_t i = 0; i < n->n_active; i++)
                n->shown[i] = (struct sg_sim_share){
                        .job = n->active[i].index,
                        .share = n->active[i].share,
                        .rate = n->active[i].rate,
                        .cpus = n->active[i].applied.cpus,
                };
        n->o->watch(n->o->userdata, n->now, to, n->shown, n->n_active);
}

static void reach(struct sg_sim_run *run, double from, double before)
{
        for (size_t i = 0; i < SG_SIM_N_QUALITIES; i++)
                if (isnan(run->out->reached[i]) && run->milestones[i] <= run->done)
                        run->out->reached[i] = from + (run->milestones[i] - before) / run->rate;
}

static void advance(struct node *n, double to)
{
        show(n, to);
        for (size_t i = 0; i < n->n_active; i++) {
                struct sg_sim_run *run = &n->active[i];
                double before = run->done, next = sg_sim_next(run);

                if (!(run->rate > 0))
                        continue;
                run->done += run->rate * (to - n->now);
                if (run->done > next - NEAR * run->spec->work)
                        run->done = next;
                run->used += run->share * (to - n->now);
                reach(run, n->now, before);
        }
        n->now = to;
}

/* --- events ----------------------------------------------------------------------------------- */

/* Its groups are made with what the daemon's are made with, until the first step on it. */
static void begin(struct node *n, struct sg_sim_run *run)
{
        const struct sg_want_job job = {.own_weight = WEIGHT};

        run->applied = sg_want_to_begin(&job, NULL, n->o->cpus, n->most);
        run->changed = (struct sg_changed){-INFINITY, -INFINITY};
        if (n->governor)
                sg_pulse_event(&n->pulse, n->now);
}

static int arrive(struct node *n)
{
        struct sg_sim_run *run = &n->active[n->n_active];
        const struct sg_trace_job *spec = &n->jobs[n->arrived];
        struct sg_governor_job job = {
                .key = n->arrived + 1,
                .class = CLASS,
                .now = n->now,
                .arrival = n->now,
                .cpus = sg_sim_width(spec, n->o) * n->o->cpus,
                .cpus_max = (double)INFINITY,
                .weight = WEIGHT,
                .deadline = spec->deadline,
                .goal = spec->last > spec->first ? SG_GOAL_MAX : SG_GOAL_MIN,
        };

        sg_sim_run_init(run, spec, n->arrived, n->o);
        run->out = &n->result->jobs[n->arrived];
        *run->out = (struct sg_sim_job){.reached = {(double)NAN, (double)NAN, (double)NAN},
                                        .lies = run->lies};
        begin(n, run);
        n->n_active++;
        n->arrived++;
        return n->governor ? sg_governor_add(n->governor, &job) : 0;
}

static void finish(struct node *n, size_t i)
{
        struct sg_sim_run *run = &n->active[i];

        run->out->finish = n->now;
        run->out->cpu = run->used;
        for (size_t k = 0; k < SG_SIM_N_QUALITIES; k++)
                if (isnan(run->out->reached[k]))
                        run->out->reached[k] = n->now;
        if (n->governor) {
                sg_governor_end(n->governor, run->index + 1, n->now, run->used * n->o->cpus,
                                SG_ENDED_WELL);
                sg_pulse_event(&n->pulse, n->now);
        }
        n->n_active--;
        memmove(run, run + 1, (n->n_active - i) * sizeof(*run));
}

static int report(struct node *n, struct sg_sim_run *run)
{
        struct sg_learner_report r = sg_sim_report(run, n->o, n->now);

        if (!n->governor)
                return 0;
        sg_pulse_report(&n->pulse, n->now, n->o->settings.tick);
        return sg_governor_report(n->governor, run->index + 1, &r);
}

/* All that is due now. */
static int happen(struct node *n)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < n->n_active;) {
                struct sg_sim_run *run = &n->active[i];

                if (run->done >= run->spec->work) {
                        finish(n, i);
                        continue;
                }
                if (run->done >= sg_sim_next(run))
                        r = report(n, run);
                i++;
        }
        while (r == 0 && n->arrived < n->n && n->jobs[n->arrived].arrival <= n->now)
                r = arrive(n);
        return r;
}

/* --- decisions -------------------------------------------------------------------------------- */

static void tell_use(struct node *n, struct sg_sim_run *run)
{
        double seconds = n->now - run->since;
        struct sg_learner_use use = {
                .now = n->now,
                .cpu = run->used * n->o->cpus,
                .delay = (double)NAN,
                .pressure = (double)NAN,
                .use = {(double)NAN, (double)NAN, (double)NAN, (double)NAN},
        };

        if (!(seconds > 0))
                return;
        use.use[SG_RESOURCE_CPU] = (run->used - run->used_then) / seconds;
        run->since = n->now;
        run->used_then = run->used;
        sg_governor_use(n->governor, run->index + 1, &use);
}

double sg_sim_width(const struct sg_trace_job *spec, const struct sg_sim_options *o)
{
        return o->one_thread ? fmin(spec->width, 1 / o->cpus) : spec->width;
}

/* Of what it would do with all that it can use; its threads are as many as its CPUs, or more. */
static double speed_on(const struct sg_trace_job *spec, const struct sg_sim_options *o, double cpus)
{
        double most = fmax(spec->width * o->cpus, 1e-9);
        double threads = spec->threads > 0 ? spec->threads : ceil(most);
        double speed = sg_speedup_at(&spec->speedup, fmin(cpus, most));

        if (o->stubborn && threads > 1 && threads > cpus)
                speed *= 1 - SPIN * (1 - cpus / threads);
        return speed / sg_speedup_at(&spec->speedup, most);
}

static double rate_of(const struct sg_trace_job *spec, const struct sg_sim_options *o, double share)
{
        double part = fmin(share / spec->width, 1);

        if (o->whole)
                return spec->width * speed_on(spec, o, share * o->cpus);
        return o->speedup < 1 ? spec->width * pow(part, o->speedup) : share;
}

static void set_share(struct node *n, struct sg_sim_run *run, double share)
{
        double part = fmin(share / run->spec->width, 1);
        bool large = part > .5;

        if (run->large && !large)
                n->result->switches++;
        run->large = large;
        run->share = share;
        run->rate = rate_of(run->spec, n->o, share);
}

/* What of a decision is written to its group now. */
static void apply(struct node *n, struct sg_sim_run *run, const struct sg_decision *d)
{
        const struct sg_want_job job = {.own_weight = WEIGHT, .confinable = true};
        const struct sg_planned planned = {
                .want = sg_want(&job, &d->out, n->o->cpus),
                .moved = d->out.list != run->list,
                .now = n->now,
                .interval = n->o->settings.tick,
                .most = n->most,
        };
        double due;
        unsigned write = sg_diff_writes(&run->applied, &run->changed, &planned, &due);

        run->list = d->out.list;
        sg_pulse_by(&n->pulse, due);
        if (write == 0)
                return;
        run->applied = sg_diff_applied(&run->applied, &planned.want, write);
        run->changed.any = n->now;
        if (write & SG_WRITE_ALLOCATION)
                run->changed.allocation = n->now;
}

static int apply_plan(struct node *n, const struct sg_governor_plan *plan)
{
        n->most = 0;
        for (size_t k = 0; k < plan->n_jobs; k++)
                if (plan->jobs[k]->out.weight > n->most)
                        n->most = plan->jobs[k]->out.weight;
        for (size_t i = 0, k = 0; i < n->n_active; i++) {
                while (k < plan->n_jobs && plan->jobs[k]->key < n->active[i].index + 1)
                        k++;
                if (k == plan->n_jobs || plan->jobs[k]->key != n->active[i].index + 1)
                        return -ENOENT;
                apply(n, &n->active[i], plan->jobs[k]);
        }
        return 0;
}

static int govern(struct node *n)
{
        struct sg_governor_plan plan;
        int r;

        for (size_t i = 0; i < n->n_active; i++)
                tell_use(n, &n->active[i]);
        r = sg_governor_step(n->governor, n->now, &plan);
        if (r < 0)
                return r;
        n->result->steps++;
        sg_pulse_stepped(&n->pulse, n->now, plan.next, plan.calm);
        return apply_plan(n, &plan);
}

/* As the kernel would, by what is in force. */
static void share_by_groups(struct node *n)
{
        for (size_t i = 0; i < n->n_active; i++) {
                const struct sg_applied *a = &n->active[i].applied;

                n->weights[i] = a->weight;
                n->widths[i] = sg_sim_width(n->active[i].spec, n->o);
                if (a->cap_pm != SG_UNLIMITED)
                        n->widths[i] =
                                fmin(n->widths[i], (double)a->cap_pm / ONE_CPU_PM / n->o->cpus);
                if (a->cpus > 0)
                        n->widths[i] = fmin(n->widths[i], a->cpus / n->o->cpus);
        }
        sg_share_by_weight(n->weights, n->widths, n->n_active, n->shares);
}

static int share_by_reference(struct node *n)
{
        n->result->steps++;
        return sg_sim_share(n->active, n->n_active, n->o, n->now, n->shares);
}

static int decide(struct node *n)
{
        int r = 0;

        if (!n->governor)
                r = share_by_reference(n);
        else if (n->now >= n->pulse.due)
                r = govern(n);
        if (n->governor)
                share_by_groups(n);
        for (size_t i = 0; r == 0 && i < n->n_active; i++)
                set_share(n, &n->active[i], n->shares[i]);
        return r;
}

static int run(struct node *n)
{
        while (n->arrived < n->n || n->n_active > 0) {
                double t = next_event(n);
                int r;

                if (isinf(t))
                        return -EDEADLK;
                advance(n, t);
                r = happen(n);
                if (r == 0)
                        r = decide(n);
                if (r < 0)
                        return r;
        }
        return 0;
}

int sg_sim_run(const struct sg_trace_job *jobs, size_t n, const struct sg_sim_options *o,
               struct sg_sim_result *ret)
{
        _cleanup_(node_deinit) struct node node = {.o = o, .jobs = jobs, .n = n, .result = ret};
        int r = node_init(&node);

        if (r < 0)
                return r;
        ret->steps = ret->switches = 0;
        return run(&node);
}
