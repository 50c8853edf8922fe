/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See promise.h. What a job has got on the virtual node (served) is brought forward with what was
 * known at the last step, before anything new is taken; ghosts come to rest by it. A class is known
 * by a hash of its name, since a ghost may outlive the order of the classes.
 */

#include "core/share/promise.h"
#include "core/share/fair-node.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WRONG 1.5
#define LOST_MIN .2 /* s: a smaller loss is noise, as counters are never of quite the same time */
#define WEIGHT_MIN 1e-3 /* no job gets nothing for ever */

/* A job on the virtual node, in the form that is kept over a restart. */
struct promise_job {
        uint64_t key, class;
        double class_weight, weight, width, exponent;
        double total;  /* INFINITY: a job that is there to stay */
        double served; /* < total, until it is done */
        double used;   /* on the real node */
        double finish; /* VF */
        uint32_t uid;
        uint8_t ghost, done, held, unused;
};

struct sg_promise {
        double now;               /* up to which jobs were served */
        double cpus;              /* of the snapshot taken last */
        struct promise_job *jobs; /* by key */
        size_t n;
        double ended; /* what jobs that have ended since the last step got in it */
        double lost;  /* of the real node: seconds that others had, but for those it stood still */
        bool changed; /* finishes don't hold any more */
};

/* Of one step: a thousand jobs take more than is worth keeping between steps. */
struct work {
        struct promise_job *merged;
        struct sg_fair_job *fair;
        size_t *origin; /* in the jobs there, of fair[] */
        double before;  /* the time of the step before this */
        struct sg_fair_node *node;
};

static void work_deinit(struct work *w)
{
        free(w->merged);
        free(w->fair);
        free(w->origin);
        sg_fair_node_free(w->node);
}

static int work_init(struct work *w, size_t n_jobs)
{
        w->merged = calloc(n_jobs + 1, sizeof(*w->merged));
        w->fair = calloc(n_jobs + 1, sizeof(*w->fair));
        w->origin = calloc(n_jobs + 1, sizeof(*w->origin));
        if (!w->merged || !w->fair || !w->origin)
                return -ENOMEM;
        return sg_fair_node_new(&w->node, n_jobs);
}

int sg_promise_new(struct sg_promise **ret)
{
        struct sg_promise *g = calloc(1, sizeof(*g));

        if (!g)
                return -ENOMEM;
        *ret = g;
        return 0;
}

struct sg_promise *sg_promise_free(struct sg_promise *g)
{
        if (g)
                free(g->jobs);
        free(g);
        return NULL;
}

/* FNV-1a. */
static uint64_t hash(const char *name)
{
        uint64_t h = 14695981039346656037U;

        for (; *name; name++)
                h = (h ^ (uint8_t)*name) * 1099511628211U;
        return h;
}

static double positive(double v)
{
        return v > WEIGHT_MIN ? v : WEIGHT_MIN;
}

/* The fair node only wants distinct numbers for distinct classes. */
static uint32_t folded(uint64_t class)
{
        return (uint32_t)(class ^ class >> 32);
}

/* Collects the jobs that are on the virtual node. Returns how many. */
static size_t gather(const struct sg_promise *g, struct work *w)
{
        size_t n = 0;

        for (size_t i = 0; i < g->n; i++) {
                const struct promise_job *j = &g->jobs[i];

                if (j->done || j->held)
                        continue;
                w->fair[n] = (struct sg_fair_job){.class = folded(j->class),
                                                  .uid = j->uid,
                                                  .class_weight = j->class_weight,
                                                  .weight = j->weight,
                                                  .width = j->width,
                                                  .exponent = j->exponent,
                                                  .cpu = g->cpus > 0 ? 1 / g->cpus : 0,
                                                  .remaining = j->total - j->served};
                w->origin[n++] = i;
        }
        return n;
}

/* What the jobs have got since the last step, including those that have ended. The use of a job
 * that was ended from outside isn't known: then it was all of the time, dt. */
static double given(const struct sg_promise *g, const struct sg_share_snapshot *s, double dt)
{
        const struct sg_share_job *j = s->jobs, *end = s->jobs + s->n_jobs;
        double sum = g->ended;

        for (size_t i = 0; i < g->n; i++) {
                const struct promise_job *known = &g->jobs[i];

                while (j < end && j->key < known->key)
                        j++;
                if (j < end && j->key == known->key)
                        sum += fmax(0, j->used - known->used);
                else if (!known->ghost)
                        return dt;
        }
        return sum;
}

static bool wants_all(const struct sg_promise *g)
{
        double sum = 0;

        for (size_t i = 0; i < g->n; i++)
                if (!g->jobs[i].ghost && !g->jobs[i].held)
                        sum += g->jobs[i].width;
        return sum > 1 - 1e-9;
}

/* How long the virtual node stands still. Processes that aren't our jobs use the real node, and
 * would use a fair one, too. As long as our jobs want all of it, what they don't get is what these
 * have. */
static double pause_of(struct sg_promise *g, const struct sg_share_snapshot *s)
{
        double dt = s->now - g->now, stop;

        if (!(dt > 0))
                return 0;
        if (wants_all(g))
                g->lost = fmax(0, g->lost + dt - given(g, s, dt));
        g->ended = 0;
        stop = fmin(dt, g->lost > LOST_MIN ? g->lost : 0);
        g->lost -= stop;
        return stop;
}

static void advance(struct sg_promise *g, struct work *w, double now, double stop)
{
        size_t n = now > g->now ? gather(g, w) : 0;
        double until = now - stop;

        if (n > 0 && until > g->now)
                sg_fair_node_run(w->node, w->fair, n, g->now, until);
        for (size_t i = 0; i < n && until > g->now; i++) {
                struct promise_job *j = &g->jobs[w->origin[i]];

                if (w->fair[i].finish <= until) {
                        j->done = true;
                        j->finish = w->fair[i].finish;
                        j->served = j->total;
                } else if (!isinf(j->total)) {
                        j->served = fmax(j->served, j->total - w->fair[i].remaining);
                }
        }
        g->changed = g->changed || stop > 0;
        if (now > g->now)
                g->now = now;
}

static void project(struct sg_promise *g, struct work *w)
{
        size_t n = gather(g, w);

        sg_fair_node_run(w->node, w->fair, n, g->now, INFINITY);
        for (size_t i = 0; i < n; i++)
                g->jobs[w->origin[i]].finish = w->fair[i].finish;
        g->changed = false;
}

static double total_of(const struct sg_share_job *j)
{
        return j->aside ? INFINITY : j->estimate.total;
}

double sg_promise_exponent(const struct sg_share_job *j)
{
        return j->cpu_bound && j->estimate.exponent > 0 && j->estimate.exponent < SG_EXPONENT_LINEAR
                       ? j->estimate.exponent
                       : 1;
}

static bool differs(const struct promise_job *a, const struct promise_job *b)
{
        /* A total is a sum of use and estimate, which lets its last bits tremble. */
        return (a->total != b->total && !(fabs(a->total - b->total) <= 1e-9 * a->total)) ||
               a->class != b->class || a->class_weight != b->class_weight || a->uid != b->uid ||
               a->weight != b->weight || a->width != b->width || a->exponent != b->exponent ||
               a->held != b->held || a->ghost != b->ghost;
}

/* Whether a job has ended on the fair node by a size that was far too small. If it kept the promise
 * made by that, work of which nobody knew would go before all others'. Honest estimates don't err
 * so far. */
static bool was_wrong(const struct promise_job *j, double total)
{
        return total > WRONG * j->served;
}

/* What the snapshot says of a job, with what was known of it (NULL: it is new). */
static struct promise_job taken(struct sg_promise *g, const struct sg_share_job *j,
                                const struct sg_share_class *class, const struct promise_job *known)
{
        struct promise_job new = {.key = j->key,
                                  .class = hash(class->name),
                                  .class_weight = positive(class->weight),
                                  .weight = positive(j->weight),
                                  .width = j->width,
                                  .exponent = sg_promise_exponent(j),
                                  .total = total_of(j),
                                  .finish = INFINITY,
                                  .uid = j->uid,
                                  .held = j->held};

        new.used = j->used;
        if (!known) { /* it may have run before there were promises */
                new.served = isinf(new.total) ? 0 : fmin(new.used, new.total);
                g->changed = true;
                return new;
        }
        new.served = known->served;
        new.finish = known->finish;
        new.done = known->done && !was_wrong(known, new.total);
        if (new.done)
                return new;
        if (known->done) {
                new.finish = INFINITY;
                g->changed = true;
        }
        if (differs(&new, known))
                g->changed = true;
        if (!new.held &&new.served >= new.total) {
                new.done = true;
                new.finish = g->now;
        }
        return new;
}

static void weigh(struct promise_job *ghost, const struct sg_share_snapshot *s)
{
        for (size_t c = 0; c < s->n_classes; c++)
                if (hash(s->classes[c].name) == ghost->class)
                        ghost->class_weight = positive(s->classes[c].weight);
}

/* Merges the jobs that were known with those of the snapshot into to[]. Returns how many there are.
 */
static size_t merge(struct sg_promise *g, const struct sg_share_snapshot *s, const struct work *w)
{
        struct promise_job *to = w->merged;
        const struct promise_job *old = g->jobs, *end = old ? old + g->n : NULL;
        const struct sg_share_job *j = s->jobs, *j_end = j ? j + s->n_jobs : NULL;
        size_t n = 0;

        while (old < end || j < j_end) {
                bool same = old < end && j < j_end && old->key == j->key;

                if (old < end && (j == j_end || old->key < j->key)) {
                        if (old->ghost && !old->done) {
                                to[n] = *old;
                                weigh(&to[n++], s);
                        }
                        g->changed = g->changed || (!old->ghost && !old->done);
                        old++;
                        continue;
                }
                /* A job that arrived since is a new attempt, which has got nothing yet. */
                to[n++] = taken(g, j, &s->classes[j->class],
                                same && j->arrival <= w->before ? old : NULL);
                if (same)
                        old++;
                j++;
        }
        return n;
}

static void take(struct sg_promise *g, const struct sg_share_snapshot *s, struct work *w)
{
        size_t n = merge(g, s, w);
        struct promise_job *exact;

        free(g->jobs);
        g->jobs = TAKE_PTR(w->merged);
        g->n = n;
        exact = realloc(g->jobs, (n + 1) * sizeof(*exact));
        if (exact)
                g->jobs = exact;
}

static void tell(const struct sg_promise *g, const struct sg_share_snapshot *s, double *vf)
{
        const struct promise_job *known = g->jobs;

        for (size_t i = 0; i < s->n_jobs; i++, known++) {
                while (known->key != s->jobs[i].key)
                        known++;
                vf[i] = known->held && !known->done ? INFINITY : known->finish;
        }
}

int sg_promise_step(struct sg_promise *g, const struct sg_share_snapshot *s, double *vf)
{
        _cleanup_(work_deinit) struct work w = {};
        int r;

        r = work_init(&w, g->n + s->n_jobs);
        if (r < 0)
                return r;
        w.before = g->now;
        advance(g, &w, s->now, pause_of(g, s));
        g->changed = g->changed || g->cpus != s->cpus;
        g->cpus = s->cpus;
        take(g, s, &w);
        if (g->changed)
                project(g, &w);
        tell(g, s, vf);
        return 0;
}

void sg_promise_finished(struct sg_promise *g, uint64_t key, double used)
{
        for (size_t i = 0; i < g->n; i++) {
                struct promise_job *j = &g->jobs[i];

                if (j->key != key)
                        continue;
                g->ended += fmax(0, used - j->used);
                j->ghost = true;
                j->held = false;
                g->changed = true;
                /* What a job that scales badly has used isn't its size. */
                if (!j->done && j->exponent >= 1 && !isinf(j->total))
                        j->total = used;
                /* A job that was there to stay has had its share all along. */
                if (!j->done && (isinf(j->total) || j->served >= j->total))
                        j->done = true;
                return;
        }
}

int sg_promise_fair(const struct sg_share_snapshot *s, double *shares)
{
        _cleanup_(work_deinit) struct work w = {};
        size_t n = 0;
        int r;

        r = work_init(&w, s->n_jobs);
        if (r < 0)
                return r;
        for (size_t i = 0; i < s->n_jobs; i++) {
                const struct sg_share_job *j = &s->jobs[i];

                shares[i] = 0;
                if (j->held)
                        continue;
                w.fair[n] =
                        (struct sg_fair_job){.class = j->class,
                                             .uid = j->uid,
                                             .class_weight = positive(s->classes[j->class].weight),
                                             .weight = positive(j->weight),
                                             .width = j->width,
                                             .exponent = 1,
                                             .remaining = INFINITY};
                w.origin[n++] = i;
        }
        sg_fair_node_run(w.node, w.fair, n, s->now, s->now);
        for (size_t i = 0; i < n; i++)
                shares[w.origin[i]] = w.fair[i].share;
        return 0;
}

enum { TAG_CLOCK = 1, TAG_JOB = 2, TAG_CPUS = 3 };

struct clock {
        double now, ended, lost;
        uint64_t changed;
};

void sg_promise_save(const struct sg_promise *g, struct sg_record *r)
{
        const struct clock clock = {g->now, g->ended, g->lost, g->changed};

        sg_record_put(r, TAG_CLOCK, &clock, sizeof(clock));
        sg_record_put(r, TAG_CPUS, &g->cpus, sizeof(g->cpus));
        for (size_t i = 0; i < g->n; i++)
                sg_record_put(r, TAG_JOB, &g->jobs[i], sizeof(g->jobs[i]));
}

static bool in_bounds(const struct promise_job *j)
{
        return j->class_weight >= WEIGHT_MIN && j->weight >= WEIGHT_MIN && j->width > 0 &&
               j->width <= 1 && j->exponent > 0 && j->exponent <= 1 && isfinite(j->class_weight) &&
               isfinite(j->weight) && j->total >= 0 && j->served >= 0 && isfinite(j->served) &&
               isfinite(j->used) && !isnan(j->finish);
}

static int load_clock(struct sg_promise *g, const struct sg_field *f)
{
        struct clock clock;

        if (f->size != sizeof(clock))
                return -EBADMSG;
        memcpy(&clock, f->data, sizeof(clock));
        if (!isfinite(clock.now) || !(clock.ended >= 0) || isinf(clock.ended) ||
            !(clock.lost >= 0) || isinf(clock.lost))
                return -EBADMSG;
        g->now = clock.now;
        g->ended = clock.ended;
        g->lost = clock.lost;
        g->changed = clock.changed != 0;
        return 0;
}

static int load_job(struct sg_promise *g, const struct sg_field *f)
{
        struct promise_job j, *grown;

        if (f->size != sizeof(j))
                return -EBADMSG;
        memcpy(&j, f->data, sizeof(j));
        if (!in_bounds(&j) || (g->n > 0 && j.key <= g->jobs[g->n - 1].key))
                return -EBADMSG;
        grown = reallocarray(g->jobs, g->n + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        g->jobs = grown;
        g->jobs[g->n++] = j;
        return 0;
}

static int load_cpus(struct sg_promise *g, const struct sg_field *f)
{
        double cpus;

        if (f->size != sizeof(cpus))
                return -EBADMSG;
        memcpy(&cpus, f->data, sizeof(cpus));
        if (!(cpus >= 0) || isinf(cpus))
                return -EBADMSG;
        g->cpus = cpus;
        return 0;
}

static int load_field(struct sg_promise *g, const struct sg_field *f)
{
        switch (f->tag) {
        case TAG_CLOCK:
                return load_clock(g, f);
        case TAG_JOB:
                return load_job(g, f);
        case TAG_CPUS:
                return load_cpus(g, f);
        default:
                return 0;
        }
}

int sg_promise_load(struct sg_promise *g, const void *data, size_t size)
{
        struct sg_reader reader = sg_reader_init(data, size);
        struct sg_field f;
        int r;

        g->n = 0;
        g->cpus = 0;
        g->changed = true;
        while ((r = sg_reader_next(&reader, &f)) > 0) {
                r = load_field(g, &f);
                if (r < 0)
                        break;
        }
        if (r < 0)
                g->n = 0;
        return r;
}
