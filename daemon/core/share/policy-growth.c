/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * growth: the default. Jobs run one after the other, so far as they fill the node, in the order of
 * what a second of the node gains with each; but none later than it would have been if all had
 * shared fairly, but for a small part (promise.h). A job that has said nothing yet is probed.
 * Beside that order are jobs that somebody waits for, which keep their fair share, and jobs that
 * don't wait for the CPU, from which it is never taken; what they use is missing to the others.
 *
 * It never caps anybody: what one job doesn't use another gets.
 */

#include "core/share/growth-probe.h"
#include "core/share/growth-trial.h"
#include "core/share/growth.h"
#include "core/share/policies.h"
#include "core/share/promise.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STAY 1.2 /* another job has to be so many times better to take the turn */
#define PLAN_NO_HARM                                                                               \
        .23 /* plans need more room to be worth it; sizes are wrong by the rest of .25 */
#define CAPACITY_MIN .05 /* of the node, or what is fair if that is less */
#define WIDTH_MIN 1e-6   /* least width of a job whose floor is all that it can use */

struct growth {
        const struct sg_share_settings *settings;
        struct sg_promise *promise;
        struct sg_probes probes;
        uint64_t first; /* key of the one that was chosen last */
        struct sg_growth_trial trial;
        uint64_t *confined; /* keys of those that had CPUs of their own then, ascending */
        size_t n_confined;
};

/* Of one step. */
struct step {
        const struct sg_share_snapshot *s;
        struct sg_growth_line line;
        double *finish, *fair; /* of each job of the snapshot: VF, and its fair share now */
        bool many_users;
        bool planned; /* some jobs scale badly, so there is a plan */
};

static void growth_destroy(void *state)
{
        struct growth *g = state;

        if (!g)
                return;
        sg_promise_free(g->promise);
        sg_probes_deinit(&g->probes);
        free(g->confined);
        free(g);
}

static void destroyp(struct growth **g)
{
        growth_destroy(*g);
}

static int growth_create(void **ret, const struct sg_share_settings *settings)
{
        _cleanup_(destroyp) struct growth *g = calloc(1, sizeof(*g));
        int r;

        if (!g)
                return -ENOMEM;
        g->settings = settings;
        r = sg_promise_new(&g->promise);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(g);
        return 0;
}

static void step_deinit(struct step *p)
{
        sg_growth_line_deinit(&p->line);
        free(p->finish);
}

static int step_init(struct step *p, const struct sg_share_snapshot *s, double tick)
{
        int r;

        r = sg_growth_line_init(&p->line, s->n_jobs);
        if (r < 0)
                return r;
        p->finish = calloc(2 * (s->n_jobs + 1), sizeof(*p->finish));
        if (!p->finish)
                return -ENOMEM;
        p->fair = p->finish + s->n_jobs + 1;
        p->line.now = s->now;
        p->line.tick = tick;
        p->s = s;
        return 0;
}

static int by_key(const void *a, const void *b)
{
        const uint64_t *x = a, *y = b;

        return *x < *y ? -1 : *x > *y;
}

static bool takes_turns(const struct sg_share_job *j)
{
        return sg_share_takes_part(j) && j->cpu_bound;
}

/* Computes fair shares only if some job needs them: they cost as much as promises. */
static int look_around(struct step *p, double floor)
{
        bool needed = floor > 0;

        for (size_t i = 0; i < p->s->n_jobs; i++) {
                const struct sg_share_job *j = &p->s->jobs[i];

                needed = needed || (j->aside && !j->held);
                p->many_users = p->many_users || j->uid != p->s->jobs[0].uid;
                p->planned = p->planned || (takes_turns(j) && sg_promise_exponent(j) < 1);
        }
        return needed ? sg_promise_fair(p->s, p->fair) : 0;
}

/* The part of the node that is kept for jobs in the order, whatever the jobs beside it use. */
static double reserved(const struct step *p, double floor)
{
        double fair = 0;
        bool any = false;

        for (size_t i = 0; i < p->s->n_jobs; i++)
                if (takes_turns(&p->s->jobs[i])) {
                        fair += p->fair[i];
                        any = true;
                }
        if (!any)
                return 0;
        return fmax(floor * fair, fair > 0 ? fmin(fair, CAPACITY_MIN) : CAPACITY_MIN);
}

/* Their share, of those beside the order; what is left is everybody else's. */
static void set_aside(struct step *p, double floor, struct sg_share_out *out)
{
        double left = 1 - reserved(p, floor), part, taken = 0;

        for (size_t i = 0; i < p->s->n_jobs; i++)
                if (p->s->jobs[i].aside && !p->s->jobs[i].held)
                        left -= p->fair[i];
        part = sg_share_part_of_unbound(p->s, sg_share_is_unbound, left, NULL);
        for (size_t i = 0; i < p->s->n_jobs; i++) {
                const struct sg_share_job *j = &p->s->jobs[i];

                if (j->held || takes_turns(j))
                        continue;
                out[i].share = j->aside ? p->fair[i] : part * j->width;
                out[i].list = SG_LIST_ASIDE;
                out[i].why = sg_share_because(j->aside ? SG_REASON_ASIDE : SG_REASON_UNBOUND);
                taken += out[i].share;
        }
        p->line.capacity = fmax(1 - taken, WIDTH_MIN);
}

static bool is_confined(const struct growth *g, uint64_t key)
{
        return g->n_confined > 0 && bsearch(&key, g->confined, g->n_confined, sizeof(key), by_key);
}

static struct sg_growth_job candidate(const struct growth *g, const struct step *p, size_t origin)
{
        const struct sg_share_job *j = &p->s->jobs[origin];
        double no_harm = g->settings->no_harm;
        struct sg_growth_job c = {
                .origin = origin,
                .key = j->key,
                .arrival = j->arrival,
                .remaining = j->estimate.remaining,
                .width = fmin(j->width, p->line.capacity),
                .used = j->used,
                .due = sg_growth_due(j->arrival, p->finish[origin],
                                     p->planned ? fmax(no_harm, PLAN_NO_HARM) : no_harm),
                .importance = p->s->classes[j->class].weight,
                .exponent = sg_promise_exponent(j),
                .stays = is_confined(g, j->key),
                .estimate = &j->estimate,
        };

        sg_growth_value(&c, &j->estimate, g->settings->objective);
        c.index *= c.importance * (j->key == g->first ? STAY : 1);
        if (j->estimate.source == SG_SIZE_DISTRUST)
                c.index = 0; /* a lie must not pay: it has what it was promised, and what is left */
        if (j->estimate.wants_probe && (!p->many_users || sg_probes_may(&g->probes, j->uid)))
                c.index = INFINITY;
        return c;
}

static void line_up(const struct growth *g, struct step *p)
{
        for (size_t i = 0; i < p->s->n_jobs; i++)
                if (takes_turns(&p->s->jobs[i]))
                        p->line.jobs[p->line.n++] = candidate(g, p, i);
        sg_growth_order(&p->line);
}

/* Probes are too short to be planned for. */
static int share_out(struct growth *g, struct step *p, double capacity)
{
        struct sg_growth_tried tried = {};

        if (p->planned && p->s->cpus > 0) {
                tried.job = sg_growth_try(&g->trial, &p->line, p->s->cpus);
                tried.cpus = g->trial.cpus;
                return sg_growth_plan(&p->line, g->settings->objective, p->line.capacity,
                                      p->s->cpus, &tried);
        }
        p->planned = p->planned && p->line.chosen && !isinf(p->line.chosen->index);
        if (p->planned)
                return sg_growth_plan(&p->line, g->settings->objective, capacity, 0, &tried);
        (void)sg_growth_run_set(&p->line, capacity);
        return 0;
}

/* Everybody's floor first, then turns at what is left. */
static int give(struct growth *g, struct step *p)
{
        double floor = g->settings->floor, left = p->line.capacity;
        int r;

        for (size_t i = 0; i < p->line.n; i++)
                left -= floor * p->fair[p->line.jobs[i].origin];
        left = fmax(left, WIDTH_MIN);
        for (size_t i = 0; i < p->line.n; i++) {
                struct sg_growth_job *j = &p->line.jobs[i];

                j->width = fmin(fmax(WIDTH_MIN, j->width - floor * p->fair[j->origin]), left);
        }
        r = share_out(g, p, left);
        if (r < 0)
                return r;
        for (size_t i = 0; i < p->line.n; i++) {
                struct sg_growth_job *j = &p->line.jobs[i];

                j->width = fmin(p->s->jobs[j->origin].width, p->line.capacity);
                j->share += floor * p->fair[j->origin];
        }
        return 0;
}

/* What a unit of weight gets: shares beside the run set are as the weights of that have to leave
 * them; without one the largest share has the largest weight. */
static double level_of(const struct step *p, const struct sg_share_out *out)
{
        double level = 0, most = 0;

        for (size_t i = 0; i < p->line.n; i++) {
                const struct sg_growth_job *j = &p->line.jobs[i];

                if (j->weight > 1)
                        level = fmax(level, j->share / j->weight);
                most = fmax(most, j->share);
        }
        for (size_t i = 0; i < p->s->n_jobs; i++)
                most = fmax(most, out[i].share);
        return level > 0 ? level : most / SG_WEIGHT_MAX;
}

static uint32_t weight_of(double share, double level)
{
        return sg_share_round_weight(level > 0 ? share / level : 1);
}

static void tell(const struct step *p, struct sg_share_out *out)
{
        double level = level_of(p, out);

        for (size_t i = 0; i < p->s->n_jobs; i++) {
                const struct sg_share_job *j = &p->s->jobs[i];

                out[i].cap = INFINITY;
                out[i].weight = j->held                  ? 1
                                : sg_share_is_unbound(j) ? SG_WEIGHT_MAX
                                                         : weight_of(out[i].share, level);
                if (j->held)
                        out[i].why = sg_share_because(SG_REASON_NONE);
        }
        for (size_t i = 0; i < p->line.n; i++) {
                const struct sg_growth_job *j = p->line.order[i];
                struct sg_share_out *o = &out[j->origin];

                o->share = j->share;
                o->cpus = j->cpus;
                o->weight = j->weight > 1 ? j->weight : weight_of(j->share, level);
                o->list = j->list;
                o->why = (struct sg_share_why){
                        .reason = p->s->n_jobs == 1 ? SG_REASON_ALONE : j->reason,
                        .rank = (uint32_t)i + 1,
                        .other = j->other,
                        .index = isinf(j->index) ? NAN : j->index,
                        .virtual_finish = p->finish[j->origin],
                        .due = isinf(j->due) ? NAN : j->due,
                        .slack = isinf(j->slack)                ? NAN
                                 : j->turn == SG_TURN_OWN_SLACK ? j->own_slack
                                                                : j->slack,
                };
        }
}

static int remember_confined(struct growth *g, const struct step *p)
{
        uint64_t *keys = reallocarray(g->confined, p->line.n + 1, sizeof(*keys));

        if (!keys)
                return -ENOMEM;
        g->confined = keys;
        g->n_confined = 0;
        for (size_t i = 0; i < p->line.n; i++) /* as in the snapshot: by key */
                if (p->line.jobs[i].cpus > 0)
                        keys[g->n_confined++] = p->line.jobs[i].key;
        return 0;
}

/* Keeps what the next step has to know. -ENOMEM */
static int remember(struct growth *g, const struct step *p)
{
        sg_probes_stop(&g->probes);
        if (p->line.chosen)
                g->first = p->line.chosen->key;
        for (size_t i = 0; i < p->line.n; i++) {
                const struct sg_growth_job *j = p->line.order[i];
                int r;

                if (j->list != SG_LIST_PROBE)
                        continue;
                r = sg_probes_run(&g->probes, p->s->jobs[j->origin].uid, j->share);
                if (r < 0)
                        return r;
        }
        return remember_confined(g, p);
}

/* Others' parts follow when a probe or a trial is over. */
static double next_of_plan(const struct growth *g, const struct step *p)
{
        bool probes = p->line.n > 0 && p->line.order[0]->list == SG_LIST_PROBE;

        return fmin(probes ? p->s->now + p->line.tick : INFINITY,
                    g->trial.key != 0 ? g->trial.until : INFINITY);
}

static int growth_step(void *state, const struct sg_share_snapshot *s, struct sg_share_out *out,
                       double *ret_next)
{
        _cleanup_(step_deinit) struct step p = {};
        struct growth *g = state;
        int r;

        memset(out, 0, s->n_jobs * sizeof(*out));
        r = step_init(&p, s, g->settings->tick);
        if (r == 0)
                r = look_around(&p, g->settings->floor);
        if (r == 0)
                r = sg_promise_step(g->promise, s, p.finish);
        if (r < 0)
                return r;
        sg_probes_advance(&g->probes, s->now);
        set_aside(&p, g->settings->floor, out);
        line_up(g, &p);
        r = give(g, &p);
        if (r == 0)
                r = remember(g, &p);
        if (r < 0)
                return r;
        tell(&p, out);
        *ret_next = fmin(p.planned ? next_of_plan(g, &p) : sg_growth_next(&p.line),
                         p.many_users ? sg_probes_next(&g->probes) : INFINITY);
        return 0;
}

static void growth_finished(void *state, uint64_t key, double used, double now)
{
        struct growth *g = state;

        (void)now;
        sg_promise_finished(g->promise, key, used);
}

enum { TAG_FIRST = 1, TAG_PROMISE = 2, TAG_PROBES = 3, TAG_CONFINED = 4, TAG_TRIAL = 5 };

static void growth_save(const void *state, struct sg_record *r)
{
        const struct growth *g = state;
        size_t promise;

        sg_record_put_u64(r, TAG_FIRST, g->first);
        promise = sg_record_open(r, TAG_PROMISE);
        sg_promise_save(g->promise, r);
        sg_record_close(r, promise);
        sg_probes_save(&g->probes, r, TAG_PROBES);
        if (g->n_confined > 0)
                sg_record_put(r, TAG_CONFINED, g->confined, g->n_confined * sizeof(*g->confined));
        sg_growth_trial_save(&g->trial, r, TAG_TRIAL);
}

static int load_confined(struct growth *g, const struct sg_field *f)
{
        size_t n = f->size / sizeof(*g->confined);
        uint64_t *keys;

        if (n == 0 || f->size % sizeof(*keys) != 0)
                return -EBADMSG;
        keys = malloc(f->size);
        if (!keys)
                return -ENOMEM;
        memcpy(keys, f->data, f->size);
        free(g->confined);
        g->confined = keys;
        g->n_confined = 0;
        for (; g->n_confined < n; g->n_confined++)
                if (g->n_confined > 0 && keys[g->n_confined] <= keys[g->n_confined - 1])
                        return -EBADMSG;
        return 0;
}

static int load_field(struct growth *g, const struct sg_field *f)
{
        switch (f->tag) {
        case TAG_FIRST:
                return sg_field_u64(f, &g->first);
        case TAG_PROMISE:
                return sg_promise_load(g->promise, f->data, f->size);
        case TAG_PROBES:
                return sg_probes_load(&g->probes, f->data, f->size);
        case TAG_CONFINED:
                return load_confined(g, f);
        case TAG_TRIAL:
                return sg_growth_trial_load(&g->trial, f);
        default:
                return 0;
        }
}

static int growth_load(void *state, const void *data, size_t size)
{
        struct sg_reader reader = sg_reader_init(data, size);
        struct growth *g = state;
        struct sg_field f;
        int r;

        while ((r = sg_reader_next(&reader, &f)) > 0) {
                r = load_field(g, &f);
                if (r < 0)
                        break;
        }
        if (r == 0)
                return 0;
        g->first = 0;
        g->n_confined = 0;
        g->trial = (struct sg_growth_trial){};
        (void)sg_promise_load(g->promise, NULL, 0);
        sg_probes_deinit(&g->probes);
        return r;
}

const struct sg_share_policy sg_share_growth = {
        .name = "growth",
        .summary = "the largest gain per CPU-second first, and no job later than with fair shares",
        .wants_milestones = true,
        .plans_cpus = true,
        .create = growth_create,
        .destroy = growth_destroy,
        .finished = growth_finished,
        .step = growth_step,
        .save = growth_save,
        .load = growth_load,
};
