/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is learnt of a job survives a restart of the daemon to the last bit, so that no decision
 * changes for it.
 */

#include "base/cleanup.h"
#include "core/codec.h"
#include "core/learner-internal.h"
#include <errno.h>
#include <stdlib.h>

enum { TAG_LEARNER = 1, TAG_CLAIMS = 2 }; /* another layout gets another tag */

SG_DEFINE_CLEANUP(struct sg_learner *, sg_learner_free)

static void code_demand(struct sg_codec *c, struct sg_demand *d)
{
        sg_codec_double(c, &d->now);
        sg_codec_double(c, &d->cpu);
        sg_codec_double(c, &d->delay);
        sg_codec_double(c, &d->stood);
        sg_codec_double(c, &d->recent);
        sg_codec_double(c, &d->recent_seconds);
        sg_codec_double(c, &d->steady);
        sg_codec_double(c, &d->steady_seconds);
        sg_codec_double(c, &d->observed);
        sg_codec_bool(c, &d->idle);
}

static void code_way(struct sg_codec *c, struct sg_way *w)
{
        sg_codec_u32(c, &w->n, SG_WAY_POINTS);
        sg_codec_u32(c, &w->behind, UINT32_MAX);
        sg_codec_double(c, &w->base_cpu);
        for (uint32_t i = 0; i < w->n; i++) {
                sg_codec_double(c, &w->points[i].x);
                sg_codec_double(c, &w->points[i].cpu);
                sg_codec_double(c, &w->points[i].time);
        }
}

static void code_trust(struct sg_codec *c, struct sg_trust *t)
{
        uint32_t doubt = t->doubt;

        sg_codec_double(c, &t->limit);
        sg_codec_double(c, &t->least);
        sg_codec_double(c, &t->most);
        sg_codec_u32(c, &doubt, SG_DOUBT_JUMP);
        t->doubt = doubt;
}

static void code_claims(struct sg_codec *c, struct sg_claims *claims)
{
        code_way(c, &claims->way);
        code_trust(c, &claims->trust);
        sg_codec_double(c, &claims->half);
}

static void code_learner(struct sg_codec *c, struct sg_learner *l)
{
        code_demand(c, &l->demand);
        sg_codec_double(c, &l->cpu);
        sg_codec_u64(c, &l->n_reports);
}

void sg_learner_save(const struct sg_learner *l, struct sg_record *r)
{
        struct sg_codec c = {.out = r};
        struct sg_learner learner = *l;
        size_t mark = sg_record_open(r, TAG_LEARNER);

        code_learner(&c, &learner);
        sg_record_close(r, mark);
        if (l->claims) {
                struct sg_claims claims = *l->claims;

                mark = sg_record_open(r, TAG_CLAIMS);
                code_claims(&c, &claims);
                sg_record_close(r, mark);
        }
}

static int load_field(struct sg_learner *l, const struct sg_field *f)
{
        struct sg_codec c = {.p = f->data, .end = f->data + f->size};
        int r = 0;

        if (f->tag == TAG_LEARNER) {
                code_learner(&c, l);
        } else if (f->tag == TAG_CLAIMS) {
                r = sg_learner_make_claims(l);
                if (r == 0)
                        code_claims(&c, l->claims);
        } else {
                return 0;
        }
        return r < 0 ? r : sg_codec_end(&c);
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
