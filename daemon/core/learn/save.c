/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is learnt of a job survives a restart of the daemon to the last bit, so that no decision
 * changes for it.
 */

#include "base/cleanup.h"
#include "base/record-codec.h"
#include "core/learn/internal.h"
#include <errno.h>
#include <stdlib.h>

/* Another layout gets another tag. */
enum { TAG_EVALS = 3, TAG_COUNTERS = 5, TAG_LEARNER = 7, TAG_CLAIMS = 9, TAG_WAITS = 11 };

SG_DEFINE_CLEANUP(struct sg_learner *, sg_learner_free)

static void code_demand(struct sg_record_codec *c, struct sg_demand *d)
{
        double *const fields[] = {
                &d->now,      &d->cpu,
                &d->delay,    &d->stood,
                &d->recent,   &d->recent_seconds,
                &d->steady,   &d->steady_seconds,
                &d->observed, &d->piled,
        };

        for (size_t i = 0; i < SG_ELEMENTSOF(fields); i++)
                sg_record_codec_double(c, fields[i]);
        sg_record_codec_bool(c, &d->idle);
}

static void code_waits(struct sg_record_codec *c, struct sg_demand *d)
{
        sg_record_codec_double(c, &d->pressure);
        sg_record_codec_double(c, &d->ahead);
        sg_record_codec_double(c, &d->silent);
}

static void code_way(struct sg_record_codec *c, struct sg_work *w)
{
        sg_record_codec_u32(c, &w->n, SG_WORK_POINTS);
        sg_record_codec_u32(c, &w->behind, UINT32_MAX);
        sg_record_codec_double(c, &w->base_cpu);
        for (uint32_t i = 0; i < w->n; i++) {
                sg_record_codec_double(c, &w->points[i].x);
                sg_record_codec_doubles(c, w->points[i].at, _SG_WORK_MEASURE_MAX);
        }
}

static void code_pace(struct sg_record_codec *c, struct sg_pace *p)
{
        for (int i = 0; i < SG_PACE_LEVELS; i++) {
                struct sg_pace_level *l = &p->levels[i];
                double *const fields[] = {&l->n, &l->cpus, &l->work, &l->seconds, &l->square};

                for (size_t k = 0; k < SG_ELEMENTSOF(fields); k++)
                        sg_record_codec_double(c, fields[k]);
        }
        sg_record_codec_doubles(c, p->usual.speedup.exponent, SG_SPEEDUP_OCTAVES);
        sg_record_codec_doubles(c, p->usual.error, SG_SPEEDUP_OCTAVES);
        sg_record_codec_doubles(c, p->curve.exponent, SG_SPEEDUP_OCTAVES);
        sg_record_codec_doubles(c, p->sure, SG_SPEEDUP_OCTAVES);
}

static void code_scaling(struct sg_record_codec *c, struct sg_scaling *s)
{
        double *const fields[] = {
                &s->exponent,  &s->now,   &s->cpu,          &s->done,         &s->begun,
                &s->begun_cpu, &s->x,     &s->lowest,       &s->highest,      &s->n,
                &s->share,     &s->speed, &s->share_square, &s->speed_square, &s->product,
                &s->own,       &s->every,
        };

        for (size_t i = 0; i < SG_ELEMENTSOF(fields); i++)
                sg_record_codec_double(c, fields[i]);
        code_pace(c, &s->pace);
}

static void code_trust(struct sg_record_codec *c, struct sg_trust *t)
{
        uint32_t doubt = t->doubt;

        sg_record_codec_double(c, &t->limit);
        sg_record_codec_double(c, &t->least);
        sg_record_codec_double(c, &t->most);
        sg_record_codec_u32(c, &doubt, SG_DOUBT_JUMP);
        t->doubt = doubt;
}

static void code_claims(struct sg_record_codec *c, struct sg_claims *claims)
{
        code_way(c, &claims->work);
        code_trust(c, &claims->trust);
        code_scaling(c, &claims->scaling);
        sg_record_codec_double(c, &claims->half);
        sg_record_codec_bool(c, &claims->by_steps);
}

static void code_points(struct sg_record_codec *c, struct sg_eval_point *points, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                sg_record_codec_double(c, &points[i].eval);
                sg_record_codec_double(c, &points[i].cpu);
        }
}

static void code_efficiency(struct sg_record_codec *c, struct sg_efficiency *e)
{
        double *const fields[] = {
                &e->first,       &e->least,     &e->most,      &e->reference,
                &e->last_growth, &e->mark_time, &e->mark_eval, &e->mark_cpu,
        };

        for (size_t i = 0; i < SG_ELEMENTSOF(fields); i++)
                sg_record_codec_double(c, fields[i]);
        sg_record_codec_doubles(c, e->use, SG_N_RESOURCES);
        code_points(c, e->last, SG_EFFICIENCY_LAST);
        code_points(c, e->held, SG_EFFICIENCY_HELD);
        sg_record_codec_u64(c, &e->n);
        sg_record_codec_u64(c, &e->n_rejected);
        sg_record_codec_u64(c, &e->n_new);
        sg_record_codec_u32(c, &e->n_held, SG_EFFICIENCY_HELD);
        sg_record_codec_bool(c, &e->maximised);
        sg_record_codec_bool(c, &e->frozen);
}

static void code_float(struct sg_record_codec *c, float *v)
{
        double wide = (double)*v;

        sg_record_codec_double(c, &wide);
        *v = (float)wide;
}

static void code_curve(struct sg_record_codec *c, struct sg_curve *curve)
{
        sg_record_codec_u32(c, &curve->n, SG_CURVE_BINS - 1);
        for (uint32_t i = 0; i < curve->n; i++) {
                sg_record_codec_u32(c, &curve->bins[i].n, UINT32_MAX);
                code_float(c, &curve->bins[i].from);
                code_float(c, &curve->bins[i].x);
                code_float(c, &curve->bins[i].eval);
        }
        sg_record_codec_double(c, &curve->first);
        code_float(c, &curve->width);
        code_float(c, &curve->begin);
        code_float(c, &curve->checked);
        code_float(c, &curve->tail);
        code_float(c, &curve->tail_eval);
        sg_record_codec_doubles(c, curve->at, SG_MILESTONE_DONE);
        sg_record_codec_bool(c, &curve->fresh);
}

static void code_evals(struct sg_record_codec *c, struct sg_evals *e)
{
        code_efficiency(c, &e->efficiency);
        code_curve(c, &e->curve);
}

static void code_counters(struct sg_record_codec *c, struct sg_fraction *f)
{
        sg_record_codec_u64(c, &f->total);
        sg_record_codec_u64(c, &f->epoch);
        sg_record_codec_u64(c, &f->steps);
        sg_record_codec_u64(c, &f->step);
        sg_record_codec_double(c, &f->x);
        sg_record_codec_u32(c, &f->readings, UINT32_MAX);
        sg_record_codec_u32(c, &f->restarts, UINT32_MAX);
        sg_record_codec_bool(c, &f->by_epochs);
}

static void code_learner(struct sg_record_codec *c, struct sg_learner *l)
{
        code_demand(c, &l->demand);
        sg_record_codec_double(c, &l->cpu);
        sg_record_codec_double(c, &l->own);
        sg_record_codec_bool(c, &l->owned);
        sg_record_codec_u64(c, &l->n_reports);
}

static void save_waits(const struct sg_demand *from, struct sg_record *r)
{
        struct sg_record_codec c = {.out = r};
        struct sg_demand demand = *from;
        size_t mark = sg_record_open(r, TAG_WAITS);

        code_waits(&c, &demand);
        sg_record_close(r, mark);
}

static void save_counters(const struct sg_fraction *from, struct sg_record *r)
{
        struct sg_record_codec c = {.out = r};
        struct sg_fraction counters = *from;
        size_t mark = sg_record_open(r, TAG_COUNTERS);

        code_counters(&c, &counters);
        sg_record_close(r, mark);
}

static void save_claims(const struct sg_claims *from, struct sg_record *r)
{
        struct sg_record_codec c = {.out = r};
        struct sg_claims claims = *from;
        size_t mark = sg_record_open(r, TAG_CLAIMS);

        code_claims(&c, &claims);
        sg_record_close(r, mark);
}

static void save_evals(const struct sg_evals *from, struct sg_record *r)
{
        struct sg_record_codec c = {.out = r};
        struct sg_evals evals = *from;
        size_t mark = sg_record_open(r, TAG_EVALS);

        code_evals(&c, &evals);
        sg_record_close(r, mark);
}

void sg_learner_save(const struct sg_learner *l, struct sg_record *r)
{
        struct sg_record_codec c = {.out = r};
        struct sg_learner learner = *l;
        size_t mark = sg_record_open(r, TAG_LEARNER);

        code_learner(&c, &learner);
        sg_record_close(r, mark);
        save_waits(&l->demand, r);
        if (l->counters)
                save_counters(l->counters, r);
        if (l->claims)
                save_claims(l->claims, r);
        if (l->evals)
                save_evals(l->evals, r);
}

static int load_counters(struct sg_learner *l, struct sg_record_codec *c)
{
        int r = sg_learner_make_counters(l);

        if (r < 0)
                return r;
        code_counters(c, l->counters);
        return sg_record_codec_end(c);
}

static int load_claims(struct sg_learner *l, struct sg_record_codec *c)
{
        int r = sg_learner_make_claims(l);

        if (r < 0)
                return r;
        code_claims(c, l->claims);
        if (l->claims->scaling.given) /* the exponent that was given, which may be another now */
                sg_scaling_give(&l->claims->scaling, l->job.exponent);
        return sg_record_codec_end(c);
}

static int load_evals(struct sg_learner *l, struct sg_record_codec *c)
{
        int r = sg_learner_make_evals(l);

        if (r < 0)
                return r;
        code_evals(c, l->evals);
        return sg_record_codec_end(c);
}

static int load_field(struct sg_learner *l, const struct sg_field *f)
{
        struct sg_record_codec c = {.p = f->data, .end = f->data + f->size};

        switch (f->tag) {
        case TAG_LEARNER:
                code_learner(&c, l);
                return sg_record_codec_end(&c);
        case TAG_WAITS:
                code_waits(&c, &l->demand);
                return sg_record_codec_end(&c);
        case TAG_COUNTERS:
                return load_counters(l, &c);
        case TAG_CLAIMS:
                return load_claims(l, &c);
        case TAG_EVALS:
                return load_evals(l, &c);
        default:
                return 0;
        }
}

int sg_learner_load(struct sg_learner **ret, const struct sg_learner_job *j, const void *data,
                    size_t size)
{
        _cleanup_(sg_learner_freep) struct sg_learner *l = NULL;
        struct sg_reader in = sg_reader_init(data, size);
        struct sg_field field;
        int r = sg_learner_new(&l, j);

        while (r == 0) {
                r = sg_reader_next(&in, &field);
                if (r > 0)
                        r = load_field(l, &field);
                else
                        break;
        }
        if (r < 0)
                return r;
        *ret = TAKE_PTR(l);
        return 0;
}
