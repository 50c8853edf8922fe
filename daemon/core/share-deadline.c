/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * deadline: as many jobs as possible end before their deadlines. The earliest goes first; what
 * can't be met any more makes way for the others (deadline.h), and runs last. A job of which
 * nothing is known yet is probed as soon as nobody is late by that. Jobs without a deadline have
 * what the others can spare: if there are any, those that have one get just the part of the node
 * with which they all make it, and a margin.
 */

#include "core/caps.h"
#include "core/deadline.h"
#include "core/guard.h"
#include "core/share-policies.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WEIGHT_MAX 10000
#define PATIENCE .02     /* sizes are estimates: a job isn't given up for less than that */
#define RETURN .05       /* … and one that was is taken back only if there is that much room */
#define MARGIN 1.25      /* more than the least part: sizes are estimates */
#define CAPACITY_MIN .05 /* whatever those beside the turns have */
#define LITTLE 1e-9

enum { TAG_DROPPED = 1 };

struct state {
        const struct sg_share_settings *settings;
        uint64_t *dropped; /* keys, at the last step; ascending */
        size_t n_dropped;
};

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
        double capacity; /* of the node, for those with a deadline */
        double left;     /* of what nobody has yet */
};

static void deadline_destroy(void *state)
{
        struct state *d = state;

        if (d)
                free(d->dropped);
        free(d);
}

static int deadline_create(void **ret, const struct sg_share_settings *settings)
{
        struct state *d = calloc(1, sizeof(*d));

        if (!d)
                return -ENOMEM;
        d->settings = settings;
        *ret = d;
        return 0;
}

static int compare_keys(const void *a, const void *b)
{
        const uint64_t *x = a, *y = b;

        return *x < *y ? -1 : *x > *y;
}

static bool was_dropped(const struct state *d, uint64_t key)
{
        return d->n_dropped > 0 &&
               bsearch(&key, d->dropped, d->n_dropped, sizeof(key), compare_keys);
}

/* Lining up */

static void step_deinit(struct step *p)
{
        free(p->shares);
        free(p->jobs);
        free(p->order);
}

static int step_init(struct step *p, const struct sg_share_settings *settings,
                     const struct sg_share_snapshot *s)
{
        size_t n = s->n_jobs + 1;

        *p = (struct step){.s = s, .settings = settings, .capacity = 1, .left = 1};
        p->shares = calloc(4 * n, sizeof(double));
        p->jobs = calloc(n, sizeof(*p->jobs));
        p->order = calloc(n, sizeof(const struct sg_deadline_job *));
        if (!p->shares || !p->jobs || !p->order)
                return -ENOMEM;
        p->weights = p->shares + n;
        p->rooms = p->weights + n;
        p->parts = p->rooms + n;
        return sg_guard_fair(s, p->shares);
}

static bool takes_turns(const struct sg_share_job *j)
{
        return !j->held && !j->aside && !isinf(j->deadline);
}

static bool is_free(const struct sg_share_job *j)
{
        return !j->held && !j->aside && isinf(j->deadline);
}

/* What everybody has whoever's turn it is. */
static void keep_back(struct step *p)
{
        for (size_t i = 0; i < p->s->n_jobs; i++) {
                const struct sg_share_job *j = &p->s->jobs[i];
                double fair = p->shares[i];

                if (!j->held && !j->aside)
                        p->shares[i] = fair * p->settings->floor;
                if (is_free(j)) {
                        p->weights[p->n_free] = fair;
                        p->rooms[p->n_free++] = j->width - p->shares[i];
                }
                p->left = fmax(p->left - p->shares[i], 0);
                if (!takes_turns(j))
                        p->capacity = fmax(p->capacity - p->shares[i], CAPACITY_MIN);
        }
}

/* Of a job that has said nothing only the probe is known to be work. As if the part of the node
 * that is left were the whole. */
static struct sg_deadline_job candidate(const struct state *d, const struct step *p, size_t origin)
{
        const struct sg_share_job *j = &p->s->jobs[origin];
        double left = fmax(j->deadline - p->s->now, 0), remaining = j->estimate.remaining;

        if (j->estimate.wants_probe)
                remaining = fmin(remaining, left * j->width / 2);
        if (was_dropped(d, j->key))
                remaining *= 1 + RETURN;
        return (struct sg_deadline_job){
                .key = j->key,
                .remaining = fmax(remaining, LITTLE) / p->capacity,
                .width = fmin(j->width / p->capacity, 1),
                .due = j->deadline,
                .origin = origin,
        };
}

/* Turns */

enum turn { TURN_URGENT, TURN_PROBE, TURN_DUE, TURN_DROPPED, N_TURNS };

static enum turn turn_of(const struct step *p, const struct sg_deadline_job *j, bool may_probe)
{
        if (j->dropped)
                return TURN_DROPPED;
        if (j->width < 1 && sg_deadline_own_slack(j, p->s->now) <= p->settings->tick)
                return TURN_URGENT;
        if (may_probe && p->s->jobs[j->origin].estimate.wants_probe)
                return TURN_PROBE;
        return TURN_DUE;
}

static void line_up(const struct state *d, struct step *p)
{
        double slack = INFINITY;
        size_t n = 0;

        for (size_t i = 0; i < p->s->n_jobs; i++)
                if (takes_turns(&p->s->jobs[i]))
                        p->jobs[p->n++] = candidate(d, p, i);
        p->n_kept = sg_deadline_plan(p->jobs, p->n, p->s->now, PATIENCE);
        for (size_t i = 0; i < p->n_kept; i++)
                slack = fmin(slack, p->jobs[i].slack);
        for (int turn = 0; turn < N_TURNS; turn++)
                for (size_t i = 0; i < p->n; i++)
                        if ((int)turn_of(p, &p->jobs[i], slack > p->settings->probe) == turn)
                                p->order[n++] = &p->jobs[i];
}

/* To those in order[from … to) in turn, so far as `amount` reaches. */
static void give(struct step *p, size_t from, size_t to, double amount)
{
        amount = fmin(amount, p->left);
        for (size_t i = from; i < to && amount > LITTLE; i++) {
                size_t origin = p->order[i]->origin;
                double share = fmin(p->s->jobs[origin].width - p->shares[origin], amount);

                p->shares[origin] += share;
                p->left -= share;
                amount -= share;
        }
}

static void give_free(struct step *p)
{
        sg_caps_level(p->weights, p->rooms, p->n_free, p->left, p->parts);
        for (size_t i = 0, k = 0; i < p->s->n_jobs; i++)
                if (is_free(&p->s->jobs[i])) {
                        p->shares[i] += p->parts[k];
                        p->left = fmax(p->left - p->parts[k++], 0);
                }
}

static void divide(struct step *p)
{
        double floors = 0, rate = sg_deadline_rate(p->jobs, p->n_kept, p->s->now);

        for (size_t i = 0; i < p->n_kept; i++)
                floors += p->shares[p->jobs[i].origin];
        if (p->n_free > 0)
                give(p, 0, p->n_kept, fmin(rate * MARGIN, 1) * p->capacity - floors);
        else
                give(p, 0, p->n_kept, 1);
        give_free(p);
        give(p, 0, p->n, 1);
}

/* Telling */

static enum sg_share_list list_of(const struct sg_share_job *j, double share)
{
        return share >= .999 * j->width ? SG_LIST_RUN
               : share > LITTLE         ? SG_LIST_LAST
                                        : SG_LIST_WAIT;
}

static struct sg_share_out out_of(const struct step *p, size_t i)
{
        const struct sg_share_job *j = &p->s->jobs[i];
        struct sg_share_out o = {
                .share = p->shares[i],
                .weight = (uint32_t)lround(fmin(fmax(p->shares[i] * WEIGHT_MAX, 1), WEIGHT_MAX)),
                .cap = INFINITY,
                .list = j->held    ? SG_LIST_NONE
                        : j->aside ? SG_LIST_ASIDE
                                   : list_of(j, p->shares[i]),
                .why = sg_share_because(j->held    ? SG_REASON_NONE
                                        : j->aside ? SG_REASON_ASIDE
                                                   : SG_REASON_SPARE),
        };

        return o;
}

static void tell(const struct step *p, struct sg_share_out *out)
{
        for (size_t i = 0; i < p->s->n_jobs; i++)
                out[i] = out_of(p, i);
        for (size_t k = 0; k < p->n; k++) {
                const struct sg_deadline_job *j = p->order[k];
                struct sg_share_out *o = &out[j->origin];
                bool probe = p->s->jobs[j->origin].estimate.wants_probe && o->share > LITTLE;

                o->list = j->dropped ? SG_LIST_DROPPED : probe ? SG_LIST_PROBE : o->list;
                o->why.reason = j->dropped ? SG_REASON_DROPPED
                                : probe    ? SG_REASON_PROBE
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

        for (size_t k = 0; k < p->n_kept; k++) {
                const struct sg_deadline_job *j = p->order[k];
                const struct sg_share_job *job = &p->s->jobs[j->origin];
                double slack = sg_deadline_own_slack(j, p->s->now) - p->settings->tick;
                double idle = 1 - p->shares[j->origin] / job->width;

                if (job->estimate.wants_probe)
                        next = fmin(next, p->settings->tick);
                if (j->width < 1 && slack > 0 && idle > LITTLE)
                        next = fmin(next, fmax(slack / idle, p->settings->tick));
        }
        return p->s->now + next;
}

/* -ENOMEM leaves the ones of before. */
static int remember_dropped(struct state *d, const struct step *p)
{
        size_t n = p->n - p->n_kept;
        uint64_t *keys = NULL;

        if (n > 0) {
                keys = calloc(n, sizeof(*keys));
                if (!keys)
                        return -ENOMEM;
                for (size_t i = 0; i < n; i++)
                        keys[i] = p->jobs[p->n_kept + i].key;
                qsort(keys, n, sizeof(*keys), compare_keys);
        }
        free(d->dropped);
        d->dropped = keys;
        d->n_dropped = n;
        return 0;
}

static int deadline_step(void *state, const struct sg_share_snapshot *s, struct sg_share_out *out,
                         double *ret_next)
{
        struct state *d = state;
        _cleanup_(step_deinit) struct step p = {0};
        int r;

        r = step_init(&p, d->settings, s);
        if (r < 0)
                return r;
        keep_back(&p);
        line_up(d, &p);
        divide(&p);
        r = remember_dropped(d, &p);
        if (r < 0)
                return r;
        tell(&p, out);
        *ret_next = next_of(&p);
        return 0;
}

/* Over a restart */

static void deadline_save(const void *state, struct sg_record *r)
{
        const struct state *d = state;

        for (size_t i = 0; i < d->n_dropped; i++)
                sg_record_put_u64(r, TAG_DROPPED, d->dropped[i]);
}

static int deadline_load(void *state, const void *data, size_t size)
{
        struct state *d = state;
        struct sg_reader reader = sg_reader_init(data, size);
        _cleanup_free_ uint64_t *keys = calloc(size + 1, sizeof(*keys));
        struct sg_field field;
        size_t n = 0;
        int r;

        if (!keys)
                return -ENOMEM;
        while ((r = sg_reader_next(&reader, &field)) > 0) {
                if (field.tag != TAG_DROPPED)
                        continue;
                r = sg_field_u64(&field, &keys[n++]);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;
        qsort(keys, n, sizeof(*keys), compare_keys);
        free(d->dropped);
        d->dropped = TAKE_PTR(keys);
        d->n_dropped = n;
        return 0;
}

const struct sg_share_policy sg_share_deadline = {
        .name = "deadline",
        .summary = "the earliest deadline first; what can't be met makes way",
        .create = deadline_create,
        .destroy = deadline_destroy,
        .step = deadline_step,
        .save = deadline_save,
        .load = deadline_load,
};
