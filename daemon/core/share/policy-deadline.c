/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * deadline: as many jobs as possible end before their deadlines. The earliest goes first; what
 * can't be met any more makes way for the others (deadline.h), and runs last. Jobs of which nothing
 * is known yet are probed when it comes to matter who makes way, if nobody is late by that. Jobs
 * without a deadline have what the others can spare: if there are any, those that have one get just
 * the part of the node with which they all make it, and a margin. It remembers nothing.
 */

#include "core/share/deadline.h"
#include "core/share/max-min.h"
#include "core/share/policies.h"
#include "core/share/promise.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define PATIENCE .1      /* sizes are estimates: nobody makes way for less than that part of them */
#define PROBES_MAX 5     /* times ProbeCpu= without a report: then it isn't waited for any more */
#define MARGIN 1.25      /* more than the least part: sizes are estimates */
#define CAPACITY_MIN .05 /* least part of the node for turns, whatever the other jobs have */
#define LITTLE 1e-9

enum turn { TURN_URGENT, TURN_PROBE, TURN_DUE, TURN_DROPPED, N_TURNS };

/* Of one step. */
struct step {
        const struct sg_share_snapshot *s;
        const struct sg_share_settings *settings;
        double *shares; /* of all jobs: first what they have in any case, in the end all of it */
        double *weights, *rooms, *parts; /* of those without a deadline, one after the other */
        size_t n_free;
        struct sg_deadline_job *jobs;         /* those with one, as planned */
        const struct sg_deadline_job **order; /* … as they run, the kept ones first */
        size_t n, n_kept;
        size_t begin[N_TURNS + 1]; /* of each kind, in order[] */
        double capacity;           /* of the node, for those with a deadline */
        double left;               /* of what nobody has yet */
};

/* Lining up */

static void step_deinit(struct step *p)
{
        free(p->shares);
        free(p->jobs);
        free(p->order);
}

static int step_init(struct step *p, const struct sg_share_snapshot *s)
{
        size_t n = s->n_jobs + 1;

        *p = (struct step){.s = s, .settings = s->classes[0].settings, .capacity = 1, .left = 1};
        p->shares = calloc(4 * n, sizeof(double));
        p->jobs = calloc(n, sizeof(*p->jobs));
        p->order = calloc(n, sizeof(const struct sg_deadline_job *));
        if (!p->shares || !p->jobs || !p->order)
                return -ENOMEM;
        p->weights = p->shares + n;
        p->rooms = p->weights + n;
        p->parts = p->rooms + n;
        return sg_promise_fair(s, p->shares);
}

static bool takes_turns(const struct sg_share_job *j)
{
        return sg_share_takes_part(j) && !isinf(j->deadline);
}

static bool is_free(const struct sg_share_job *j)
{
        return sg_share_takes_part(j) && isinf(j->deadline);
}

static bool is_unbound(const struct sg_share_job *j)
{
        return is_free(j) && !j->cpu_bound;
}

/* What everybody has whoever's turn it is. */
static void give_floors(struct step *p)
{
        for (size_t i = 0; i < p->s->n_jobs; i++) {
                const struct sg_share_job *j = &p->s->jobs[i];

                if (is_free(j))
                        p->weights[p->n_free++] = p->shares[i];
                if (sg_share_takes_part(j))
                        p->shares[i] *= p->settings->floor;
                p->left = fmax(p->left - p->shares[i], 0);
        }
}

/* What more CPU doesn't make faster has what it uses, as far as floors leave it. */
static void give_unbound(struct step *p)
{
        double part = sg_share_part_of_unbound(p->s, is_unbound, p->left, p->shares);

        for (size_t i = 0; i < p->s->n_jobs; i++) {
                double more = part * (p->s->jobs[i].width - p->shares[i]);

                if (!is_unbound(&p->s->jobs[i]))
                        continue;
                p->shares[i] += more;
                p->left = fmax(p->left - more, 0);
        }
}

static void keep_back(struct step *p)
{
        size_t n = 0;

        give_floors(p);
        give_unbound(p);
        for (size_t i = 0; i < p->s->n_jobs; i++) {
                const struct sg_share_job *j = &p->s->jobs[i];

                if (is_free(j))
                        p->rooms[n++] = j->width - p->shares[i];
                if (!takes_turns(j))
                        p->capacity = fmax(p->capacity - p->shares[i], CAPACITY_MIN);
        }
}

/* The job has reported nothing yet, but may still do so. */
static bool is_unknown(const struct step *p, const struct sg_share_job *j)
{
        return j->estimate.n_reports == 0 && j->used < PROBES_MAX * p->settings->probe;
}

/* A job as the planner wants it, as if the part of the node that is left were the whole. For a job
 * that has reported nothing only the probe counts as work. */
static struct sg_deadline_job candidate(const struct step *p, size_t origin)
{
        const struct sg_share_job *j = &p->s->jobs[origin];
        double left = fmax(j->deadline - p->s->now, 0), remaining = j->estimate.remaining;

        if (is_unknown(p, j))
                remaining = fmin(remaining, left * j->width / 2);
        return (struct sg_deadline_job){
                .key = j->key,
                .remaining = fmax(remaining, LITTLE) / p->capacity,
                .width = fmin(j->width / p->capacity, 1),
                .due = j->deadline,
                .origin = origin,
        };
}

/* Turns */

/* Whether jobs may be probed. It is worth it if a dropped job would otherwise be next, as then the
 * size of the others matters; and a probe must not make any job late. */
static bool may_probe(const struct step *p)
{
        double slack = INFINITY, due = INFINITY;

        for (size_t i = 0; i < p->n_kept; i++) {
                slack = fmin(slack, p->jobs[i].slack);
                due = fmin(due, p->jobs[i].due);
        }
        for (size_t i = p->n_kept; i < p->n; i++)
                if (p->jobs[i].due < due && sg_deadline_own_slack(&p->jobs[i], p->s->now) > 0)
                        return slack > p->settings->probe;
        return false;
}

static enum turn turn_of(const struct step *p, const struct sg_deadline_job *j, bool probe)
{
        if (!j->dropped && j->width < 1 && sg_deadline_own_slack(j, p->s->now) <= p->settings->tick)
                return TURN_URGENT;
        if (probe && is_unknown(p, &p->s->jobs[j->origin]))
                return TURN_PROBE;
        return j->dropped ? TURN_DROPPED : TURN_DUE;
}

static void line_up(struct step *p)
{
        size_t n = 0;
        bool probe;

        for (size_t i = 0; i < p->s->n_jobs; i++)
                if (takes_turns(&p->s->jobs[i]))
                        p->jobs[p->n++] = candidate(p, i);
        p->n_kept = sg_deadline_plan(p->jobs, p->n, p->s->now, PATIENCE);
        probe = may_probe(p);
        for (int turn = 0; turn < N_TURNS; turn++) {
                p->begin[turn] = n;
                for (size_t i = 0; i < p->n; i++)
                        if ((int)turn_of(p, &p->jobs[i], probe) == turn)
                                p->order[n++] = &p->jobs[i];
        }
        p->begin[N_TURNS] = n;
}

/* Gives to the first n jobs in turn, as far as `amount` reaches. */
static void give(struct step *p, size_t n, double amount)
{
        amount = fmin(amount, p->left);
        for (size_t i = 0; i < n && amount > LITTLE; i++) {
                size_t origin = p->order[i]->origin;
                double share = fmin(p->s->jobs[origin].width - p->shares[origin], amount);

                p->shares[origin] += share;
                p->left -= share;
                amount -= share;
        }
}

static void give_free(struct step *p)
{
        sg_max_min_level(p->weights, p->rooms, p->n_free, p->left, p->parts);
        for (size_t i = 0, k = 0; i < p->s->n_jobs; i++)
                if (is_free(&p->s->jobs[i])) {
                        p->shares[i] += p->parts[k];
                        p->left = fmax(p->left - p->parts[k++], 0);
                }
}

static void divide(struct step *p)
{
        double floors = 0, rate = sg_deadline_rate(p->jobs, p->n_kept, p->s->now);

        for (size_t i = 0; i < p->begin[TURN_DROPPED]; i++)
                floors += p->shares[p->order[i]->origin];
        if (p->n_free > 0)
                give(p, p->begin[TURN_DROPPED], fmin(rate * MARGIN, 1) * p->capacity - floors);
        else
                give(p, p->begin[TURN_DROPPED], 1);
        give_free(p);
        give(p, p->n, 1);
}

/* Telling */

static enum sg_share_list list_of(const struct sg_share_job *j, double share)
{
        return share >= .999 * j->width ? SG_LIST_RUN
               : share > LITTLE         ? SG_LIST_LAST
                                        : SG_LIST_WAIT;
}

static bool is_probe(const struct step *p, size_t place)
{
        return place >= p->begin[TURN_PROBE] && place < p->begin[TURN_PROBE + 1];
}

static void tell(const struct step *p, struct sg_share_out *out)
{
        for (size_t i = 0; i < p->s->n_jobs; i++)
                out[i] = sg_share_plain(&p->s->jobs[i], p->shares[i],
                                        list_of(&p->s->jobs[i], p->shares[i]), SG_REASON_SPARE);
        for (size_t k = 0; k < p->n; k++) {
                const struct sg_deadline_job *j = p->order[k];
                struct sg_share_out *o = &out[j->origin];
                bool probe = is_probe(p, k) && o->share > LITTLE;

                o->list = probe ? SG_LIST_PROBE : j->dropped ? SG_LIST_DROPPED : o->list;
                o->why.reason = probe        ? SG_REASON_PROBE
                                : j->dropped ? SG_REASON_DROPPED
                                             : SG_REASON_DEADLINE;
                o->why.rank = (uint32_t)k + 1;
                o->why.due = j->due;
                o->why.slack = j->dropped ? NAN : j->slack;
        }
}

/* When a narrow job has to go on by itself, or a probe may be over. */
static double next_of(const struct step *p)
{
        double next = INFINITY;

        for (size_t k = 0; k < p->begin[TURN_DROPPED]; k++) {
                const struct sg_deadline_job *j = p->order[k];
                const struct sg_share_job *job = &p->s->jobs[j->origin];
                double slack = sg_deadline_own_slack(j, p->s->now) - p->settings->tick;
                double idle = 1 - p->shares[j->origin] / job->width;

                if (is_probe(p, k))
                        next = fmin(next, p->settings->tick);
                if (j->width < 1 && slack > 0 && idle > LITTLE)
                        next = fmin(next, fmax(slack / idle, p->settings->tick));
        }
        return p->s->now + next;
}

static int deadline_step(void *state, const struct sg_share_snapshot *s, struct sg_share_out *out,
                         double *ret_next)
{
        _cleanup_(step_deinit) struct step p = {0};
        int r;

        (void)state;
        *ret_next = INFINITY;
        if (s->n_jobs == 0)
                return 0;
        r = step_init(&p, s);
        if (r < 0)
                return r;
        keep_back(&p);
        line_up(&p);
        divide(&p);
        tell(&p, out);
        *ret_next = next_of(&p);
        return 0;
}

const struct sg_share_policy sg_share_deadline = {
        .name = "deadline",
        .summary = "the earliest deadline first; jobs that can't meet theirs make way",
        .step = deadline_step,
};
