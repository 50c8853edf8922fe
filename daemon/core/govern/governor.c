/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The governor's jobs: they come, report, and go. What follows from that is decided in step.c.
 */

#include "core/govern/internal.h"
#include "proto/shared.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* By how much exponents of speed-ups differ: between programs of a class, and between runs of one
 * program. */
#define PROGRAMS_DIFFER .25
#define RUNS_DIFFER .08

static size_t place_of(const struct sg_governor *g, uint64_t key)
{
        size_t lo = 0, hi = g->n_jobs;

        while (lo < hi) {
                size_t mid = (lo + hi) / 2;

                if (g->jobs[mid]->key < key)
                        lo = mid + 1;
                else
                        hi = mid;
        }
        return lo;
}

struct sg_governed *sg_governor_find(const struct sg_governor *g, uint64_t key)
{
        size_t i = place_of(g, key);

        return i < g->n_jobs && g->jobs[i]->key == key ? g->jobs[i] : NULL;
}

void sg_governor_advance(struct sg_governor *g, double now)
{
        if (!(now > g->now))
                return;
        for (size_t i = 0; i < g->n_domains; i++)
                g->domains[i]->clock += (now - g->now) * g->domains[i]->capacity;
        g->now = now;
}

void sg_governor_stir(struct sg_governor *g)
{
        for (size_t i = 0; i < g->n_domains; i++)
                g->domains[i]->interval = g->domains[i]->settings.tick;
}

void sg_governor_plan_cpus(struct sg_governor *g, bool whole)
{
        g->whole = whole;
}

bool sg_governor_is_whole(const struct sg_governor *g, const struct sg_domain *d)
{
        return g->whole && g->cpus >= 2 && d->policy->plans_cpus;
}

static struct sg_program_key program_of(const struct sg_governor *g, const struct sg_governed *j)
{
        struct sg_program_key key = {.uid = j->uid, .program = j->program};

        memcpy(key.class, g->classes[j->class].name, sizeof(key.class));
        return key;
}

/* How it is thought to scale: as its program did, if that is known, or its class's. */
static struct sg_usual usual_of(struct sg_governor *g, const struct sg_governed *j)
{
        const struct sg_usual all = sg_usual_of_all();
        const struct sg_usual of_class =
                sg_past_usual(&g->classes[j->class].past, &all, PROGRAMS_DIFFER);
        const struct sg_program_key key = program_of(g, j);
        const struct sg_past *past = j->program != 0 ? sg_programs_find(&g->programs, &key) : NULL;

        return past ? sg_past_usual(past, &of_class, RUNS_DIFFER) : of_class;
}

/* Keeps how the job has scaled for the next jobs of its program and class. If there is no memory
 * for it, it is forgotten. */
static void keep_pace(struct sg_governor *g, const struct sg_governed *j)
{
        const struct sg_pace *pace = sg_learner_pace(j->learner);
        const struct sg_program_key key = program_of(g, j);

        if (!pace)
                return;
        (void)sg_past_add(&g->classes[j->class].past, pace);
        if (j->program != 0)
                (void)sg_programs_add(&g->programs, &key, pace);
}

static struct sg_learner_job about(struct sg_governor *g, const struct sg_governed *j)
{
        return (struct sg_learner_job){
                .goal = j->goal,
                .cpus = g->cpus,
                .probe = j->domain->settings.probe,
                .restarted = j->restarted,
                .exponent = j->domain->settings.exponent,
                .steps = j->steps,
                .whole = sg_governor_is_whole(g, j->domain),
                .usual = j->usual,
        };
}

static int tell_learner(struct sg_governor *g, struct sg_governed *j)
{
        const struct sg_usual usual = usual_of(g, j), *before = j->usual;
        const struct sg_usual *now = sg_shared_get(&usual, sizeof(usual));
        struct sg_learner_job learnt;

        j->usual = now ?: before;
        learnt = about(g, j);
        if (j->learner)
                sg_learner_configure(j->learner, &learnt);
        if (!now)
                return -ENOMEM;
        (void)sg_shared_put(before);
        return 0;
}

int sg_governor_enter(struct sg_governor *g, struct sg_governed *j)
{
        uint32_t i = 0;

        while (i < g->n_classes && strcmp(g->classes[i].name, j->class_name) != 0)
                i++;
        j->class = i < g->n_classes ? i : 0;
        if (j->domain != g->classes[j->class].domain) {
                const struct sg_domain *before = j->domain;

                j->domain = g->classes[j->class].domain;
                if (!before || j->domain->heir_of != before)
                        j->domain_arrival = j->domain->clock - (g->now - j->arrival);
        }
        return tell_learner(g, j);
}

static struct sg_governed *governed_free(struct sg_governed *j)
{
        if (j) {
                sg_learner_free(j->learner);
                (void)sg_shared_put(j->usual);
        }
        free(j);
        return NULL;
}
SG_DEFINE_CLEANUP(struct sg_governed *, governed_free)

static void take_over(struct sg_governed *j, const struct sg_governor_job *from)
{
        strncpy(j->class_name, from->class, sizeof(j->class_name) - 1);
        j->uid = from->uid;
        j->arrival = from->arrival;
        j->cpus = from->cpus;
        j->cpus_max = from->cpus_max;
        j->weight = from->weight;
        j->deadline = from->deadline;
        j->goal = from->goal;
        j->program = from->program;
        j->steps = from->steps;
        j->aside = from->aside;
        j->restarted = from->restarted;
        j->elastic = from->elastic;
        j->follows = from->follows;
}

/* What was known of it before a restart, if anything was. */
static int learn_on(struct sg_governor *g, struct sg_governed *j)
{
        struct sg_learner_job learnt = about(g, j);

        for (size_t i = 0; i < g->n_remembered; i++) {
                struct sg_remembered *m = &g->remembered[i];
                int r;

                if (m->key != j->key)
                        continue;
                r = -EBADMSG;
                if (m->attempt == j->attempt) {
                        j->domain_arrival = m->domain_arrival;
                        r = sg_learner_load(&j->learner, &learnt, m->learner, m->size);
                }
                free(m->learner);
                *m = g->remembered[--g->n_remembered];
                if (r != -EBADMSG)
                        return r;
                break;
        }
        return sg_learner_new(&j->learner, &learnt);
}

static int make_room(struct sg_governor *g)
{
        struct sg_governed **grown;
        size_t room = g->jobs_room ? 2 * g->jobs_room : 16;

        if (g->n_jobs < g->jobs_room)
                return 0;
        grown = reallocarray(g->jobs, room, sizeof(struct sg_governed *));
        if (!grown)
                return -ENOMEM;
        g->jobs = grown;
        g->jobs_room = room;
        return 0;
}

int sg_governor_add(struct sg_governor *g, const struct sg_governor_job *from)
{
        _cleanup_(governed_freep) struct sg_governed *j = NULL;
        size_t at = place_of(g, from->key);
        int r;

        if (at < g->n_jobs && g->jobs[at]->key == from->key)
                return -EEXIST;
        j = calloc(1, sizeof(*j));
        if (!j || make_room(g) < 0)
                return -ENOMEM;
        sg_governor_advance(g, from->now);
        j->key = from->key;
        j->attempt = from->attempt;
        take_over(j, from);
        r = sg_governor_enter(g, j);
        if (r >= 0)
                r = learn_on(g, j);
        if (r < 0)
                return r;
        memmove(&g->jobs[at + 1], &g->jobs[at], (g->n_jobs - at) * sizeof(struct sg_governed *));
        g->jobs[at] = TAKE_PTR(j);
        g->n_jobs++;
        sg_governor_stir(g);
        return 0;
}

int sg_governor_change(struct sg_governor *g, const struct sg_governor_job *from)
{
        struct sg_governed *j = sg_governor_find(g, from->key);

        if (!j)
                return -ENOENT;
        sg_governor_advance(g, from->now);
        memset(j->class_name, 0, sizeof(j->class_name));
        take_over(j, from);
        (void)sg_governor_enter(g, j);
        sg_governor_stir(g);
        return 0;
}

int sg_governor_report(struct sg_governor *g, uint64_t key, const struct sg_learner_report *r)
{
        struct sg_governed *j = sg_governor_find(g, key);

        if (!j)
                return -ENOENT;
        sg_governor_advance(g, r->now);
        if (r->cpu > j->cpu)
                j->cpu = r->cpu;
        return sg_learner_report(j->learner, r);
}

void sg_governor_use(struct sg_governor *g, uint64_t key, const struct sg_learner_use *u)
{
        struct sg_governed *j = sg_governor_find(g, key);
        struct sg_learner_use use = *u;

        if (!j)
                return;
        sg_governor_advance(g, u->now);
        if (u->cpu > j->cpu)
                j->cpu = u->cpu;
        use.held |= j->stood;
        j->stood = j->held;
        sg_learner_use(j->learner, &use);
}

void sg_governor_count(struct sg_governor *g, uint64_t key, double now, double cpu)
{
        struct sg_governed *j = sg_governor_find(g, key);

        sg_governor_advance(g, now);
        if (j && cpu > j->cpu)
                j->cpu = cpu;
}

void sg_governor_hold(struct sg_governor *g, uint64_t key, double now, bool held)
{
        struct sg_governed *j = sg_governor_find(g, key);

        if (!j || j->held == held)
                return;
        sg_governor_advance(g, now);
        j->held = held;
        j->stood = true;
        sg_governor_stir(g);
}

void sg_governor_end(struct sg_governor *g, uint64_t key, double now, double cpu, enum sg_ended how)
{
        size_t at = place_of(g, key);
        struct sg_governed *j;
        struct sg_domain *d;

        if (at >= g->n_jobs || g->jobs[at]->key != key)
                return;
        j = g->jobs[at];
        sg_governor_advance(g, now);
        d = j->domain;
        if (!(cpu > j->cpu))
                cpu = j->cpu;
        if (how == SG_ENDED_WELL && cpu > 0)
                sg_history_add(&g->classes[j->class].history, cpu, sg_learner_claimed(j->learner));
        keep_pace(g, j);
        if (how != SG_ENDED_BY_OTHERS && d->policy->finished)
                d->policy->finished(d->state, key, cpu / g->cpus, d->clock);
        g->n_jobs--;
        memmove(&g->jobs[at], &g->jobs[at + 1], (g->n_jobs - at) * sizeof(struct sg_governed *));
        governed_free(j);
        sg_governor_stir(g);
}

void sg_governor_remember(struct sg_governor *g, const char *class, double cpu, double claimed)
{
        for (size_t i = 0; i < g->n_classes; i++)
                if (strcmp(g->classes[i].name, class) == 0)
                        sg_history_add(&g->classes[i].history, cpu, claimed);
}

const struct sg_class_history *sg_governor_history(const struct sg_governor *g, const char *class)
{
        for (size_t i = 0; i < g->n_classes; i++)
                if (strcmp(g->classes[i].name, class) == 0)
                        return &g->classes[i].history;
        return NULL;
}

void sg_governor_forget(struct sg_governor *g)
{
        for (size_t i = 0; i < g->n_remembered; i++)
                free(g->remembered[i].learner);
        free(g->remembered);
        g->remembered = NULL;
        g->n_remembered = 0;
}

struct sg_governor *sg_governor_free(struct sg_governor *g)
{
        if (!g)
                return NULL;
        for (size_t i = 0; i < g->n_jobs; i++)
                governed_free(g->jobs[i]);
        for (size_t i = 0; i < g->n_domains; i++)
                sg_domain_free(g->domains[i]);
        sg_governor_forget(g);
        sg_programs_deinit(&g->programs);
        free(g->jobs);
        free(g->domains);
        free(g->classes);
        free(g->decisions);
        free(g->class_decisions);
        free(g->share_classes);
        free(g);
        return NULL;
}
