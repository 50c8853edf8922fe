/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What has to survive a restart of the daemon: what policies have promised and counted, and what
 * was learnt of jobs. The saved times are of a clock that goes on meanwhile.
 */

#include "core/govern/internal.h"
#include "core/share/policies.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_NOW = 1, TAG_DOMAIN = 2, TAG_JOB = 3, TAG_HISTORY = 4, TAG_PROGRAM = 5 };
enum { TAG_NAME = 1, TAG_TOOK = 2, TAG_GRANTED = 3, TAG_PAST = 4 };
enum { TAG_CLASS = 1, TAG_POLICY = 2, TAG_CLOCK = 3, TAG_STATE = 4, TAG_CAPACITY = 5 };
enum { TAG_KEY = 1, TAG_ARRIVAL = 2, TAG_LEARNER = 3, TAG_ATTEMPT = 4 };

static const char *first_class(const struct sg_governor *g, const struct sg_domain *d)
{
        size_t c = 0;

        while (g->classes[c].domain != d)
                c++;
        return g->classes[c].name;
}

static void save_domain(const struct sg_governor *g, const struct sg_domain *d, struct sg_record *r)
{
        size_t domain = sg_record_open(r, TAG_DOMAIN);

        sg_record_put_str(r, TAG_CLASS, first_class(g, d));
        sg_record_put_str(r, TAG_POLICY, d->policy->name);
        sg_record_put_double(r, TAG_CLOCK, d->clock);
        sg_record_put_double(r, TAG_CAPACITY, d->capacity);
        if (d->policy->save) {
                size_t state = sg_record_open(r, TAG_STATE);

                d->policy->save(d->state, r);
                sg_record_close(r, state);
        }
        sg_record_close(r, domain);
}

static void save_history(const struct sg_governed_class *c, struct sg_record *r)
{
        size_t history = sg_record_open(r, TAG_HISTORY), mark;
        struct sg_record_codec codec = {.out = r};
        struct sg_past past = c->past;

        sg_record_put_str(r, TAG_NAME, c->name);
        sg_record_put(r, TAG_TOOK, &c->history, sizeof(c->history));
        sg_record_put_u64(r, TAG_GRANTED, c->granted);
        mark = sg_record_open(r, TAG_PAST);
        sg_past_code(&past, &codec);
        sg_record_close(r, mark);
        sg_record_close(r, history);
}

void sg_governor_save(const struct sg_governor *g, struct sg_record *r)
{
        size_t job, learner;

        sg_record_put_double(r, TAG_NOW, g->now);
        for (size_t k = 0; k < g->n_domains; k++)
                save_domain(g, g->domains[k], r);
        for (size_t c = 0; c < g->n_classes; c++)
                save_history(&g->classes[c], r);
        sg_programs_save(&g->programs, r, TAG_PROGRAM);
        for (size_t i = 0; i < g->n_jobs; i++) {
                job = sg_record_open(r, TAG_JOB);
                sg_record_put_u64(r, TAG_KEY, g->jobs[i]->key);
                sg_record_put_u64(r, TAG_ATTEMPT, g->jobs[i]->attempt);
                sg_record_put_double(r, TAG_ARRIVAL, g->jobs[i]->domain_arrival);
                learner = sg_record_open(r, TAG_LEARNER);
                sg_learner_save(g->jobs[i]->learner, r);
                sg_record_close(r, learner);
                sg_record_close(r, job);
        }
        for (size_t i = 0; i < g->n_remembered; i++) {
                job = sg_record_open(r, TAG_JOB);
                sg_record_put_u64(r, TAG_KEY, g->remembered[i].key);
                sg_record_put_u64(r, TAG_ATTEMPT, g->remembered[i].attempt);
                sg_record_put_double(r, TAG_ARRIVAL, g->remembered[i].domain_arrival);
                sg_record_put(r, TAG_LEARNER, g->remembered[i].learner, g->remembered[i].size);
                sg_record_close(r, job);
        }
}

struct saved_domain {
        char class[SG_CLASS_NAME_MAX], policy[SG_CLASS_NAME_MAX];
        double clock, capacity;
        struct sg_field state;
};

static int read_domain(const struct sg_field *f, struct saved_domain *ret)
{
        struct sg_reader in = sg_reader_init(f->data, f->size);
        struct sg_field field;
        int r, k = 0;

        while ((r = sg_reader_next(&in, &field)) > 0) {
                if (field.tag == TAG_CLASS)
                        k = sg_field_strcpy(&field, ret->class, sizeof(ret->class));
                else if (field.tag == TAG_POLICY)
                        k = sg_field_strcpy(&field, ret->policy, sizeof(ret->policy));
                else if (field.tag == TAG_CLOCK)
                        k = sg_field_double(&field, &ret->clock);
                else if (field.tag == TAG_CAPACITY)
                        k = sg_field_double(&field, &ret->capacity);
                else if (field.tag == TAG_STATE)
                        ret->state = field;
                if (k < 0)
                        return k;
        }
        return r;
}

/* Into the domain that its class is in now, if that is of the same policy. */
static int load_domain(struct sg_governor *g, const struct sg_field *f)
{
        struct saved_domain saved = {.clock = g->now, .capacity = 1};
        int r = read_domain(f, &saved);

        if (r == 0 && !(saved.clock <= g->now)) /* it is never faster than the node's */
                return -EBADMSG;

        for (size_t c = 0; r == 0 && c < g->n_classes; c++) {
                struct sg_domain *d = g->classes[c].domain;

                if (strcmp(g->classes[c].name, saved.class) != 0 ||
                    strcmp(d->policy->name, saved.policy) != 0)
                        continue;
                if (saved.state.data && d->policy->load)
                        r = d->policy->load(d->state, saved.state.data, saved.state.size);
                if (r < 0)
                        break;
                d->clock = saved.clock;
                if (saved.capacity > 0 && saved.capacity <= 1)
                        d->capacity = saved.capacity;
                break;
        }
        return r;
}

static int read_job(const struct sg_field *f, struct sg_remembered *ret, struct sg_field *learner)
{
        struct sg_reader in = sg_reader_init(f->data, f->size);
        struct sg_field field;
        int r, k = 0;

        while ((r = sg_reader_next(&in, &field)) > 0) {
                if (field.tag == TAG_KEY)
                        k = sg_field_u64(&field, &ret->key);
                else if (field.tag == TAG_ATTEMPT)
                        k = sg_field_u64(&field, &ret->attempt);
                else if (field.tag == TAG_ARRIVAL)
                        k = sg_field_double(&field, &ret->domain_arrival);
                else if (field.tag == TAG_LEARNER)
                        *learner = field;
                if (k < 0)
                        return k;
        }
        return r < 0 ? r : learner->data ? 0 : -EBADMSG;
}

static int load_job(struct sg_governor *g, const struct sg_field *f)
{
        struct sg_remembered job = {0}, *grown;
        struct sg_field learner = {0};
        int r = read_job(f, &job, &learner);

        if (r < 0)
                return r;
        grown = reallocarray(g->remembered, g->n_remembered + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        g->remembered = grown;
        job.size = learner.size;
        job.learner = malloc(job.size + 1);
        if (!job.learner)
                return -ENOMEM;
        memcpy(job.learner, learner.data, job.size);
        g->remembered[g->n_remembered++] = job;
        return 0;
}

static int load_past(struct sg_past *ret, const struct sg_field *f)
{
        struct sg_record_codec c = {.p = f->data, .end = f->data + f->size};
        struct sg_past past = {};
        int r;

        sg_past_code(&past, &c);
        r = sg_record_codec_end(&c);
        if (r == 0)
                *ret = past;
        return r;
}

static int load_class_field(struct sg_governed_class *c, const struct sg_field *f)
{
        uint64_t granted = 0;
        int r = 0;

        if (f->tag == TAG_TOOK)
                r = sg_history_load(&c->history, f->data, f->size);
        if (f->tag == TAG_PAST)
                r = load_past(&c->past, f);
        if (f->tag == TAG_GRANTED)
                r = sg_field_u64(f, &granted);
        if (granted > 0 && granted <= SG_WEIGHT_MAX)
                c->granted = (uint32_t)granted;
        return r;
}

static int load_history(struct sg_governor *g, const struct sg_field *f)
{
        struct sg_reader in = sg_reader_init(f->data, f->size);
        char name[SG_CLASS_NAME_MAX] = "";
        struct sg_field field;
        int r;

        while ((r = sg_reader_next(&in, &field)) > 0) {
                if (field.tag == TAG_NAME)
                        r = sg_field_strcpy(&field, name, sizeof(name));
                for (size_t c = 0; r >= 0 && c < g->n_classes; c++)
                        if (strcmp(g->classes[c].name, name) == 0)
                                r = load_class_field(&g->classes[c], &field);
                if (r < 0)
                        return r;
        }
        return r;
}

static int load_now(struct sg_governor *g, const struct sg_field *f, double now)
{
        double saved = 0;
        int r = sg_field_double(f, &saved);

        if (r < 0)
                return r;
        if (!(saved <= now))
                return -EBADMSG;
        sg_governor_advance(g, saved);
        return 0;
}

static int load_part(struct sg_governor *g, const struct sg_field *f, double now)
{
        if (f->tag == TAG_HISTORY)
                return load_history(g, f);
        if (f->tag == TAG_PROGRAM)
                return sg_programs_load(&g->programs, f);
        if (isnan(now))
                return 0;
        if (f->tag == TAG_DOMAIN)
                return load_domain(g, f);
        if (f->tag == TAG_JOB)
                return load_job(g, f);
        return f->tag == TAG_NOW ? load_now(g, f, now) : 0;
}

/* A policy that has taken its state keeps it though a later part turns out to be broken: each part
 * is whole in itself. */
int sg_governor_load(struct sg_governor *g, const void *data, size_t size, double now)
{
        struct sg_reader in = sg_reader_init(data, size);
        struct sg_field field;
        int r;

        while ((r = sg_reader_next(&in, &field)) > 0) {
                r = load_part(g, &field, now);
                if (r < 0)
                        return r;
        }
        return r;
}
