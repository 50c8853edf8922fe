/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flowcon: shares by growth efficiency, as flowcon.h has it. The lists and limits change with runs
 * of Algorithm 1 only: when a job came or went, and when its interval is over; between them only
 * what the limits make of the node is looked at again. A held job is away, and comes back as new.
 *
 * Limits are soft: what somebody can't use goes to the others. So they are divided here, and given
 * as weights in proportion to the result, which is the same node as with caps that are
 * redistributed each run, but for a job that pauses in between: nothing is lost then.
 */

#include "core/share/flowcon.h"
#include "core/share/max-min.h"
#include "core/share/policies.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the governor's clock, which has been divided and multiplied on its way here. */
#define CLOCK_ERROR 1e-6

struct state {
        const struct sg_share_settings *settings;
        struct sg_flowcon flowcon;
        bool all_complete;
};

static void flowcon_destroy(void *state)
{
        struct state *f = state;

        free(f->flowcon.jobs);
        free(f);
}

static int flowcon_create(void **ret, const struct sg_share_settings *settings)
{
        struct state *f = calloc(1, sizeof(*f));

        if (!f)
                return -ENOMEM;
        f->settings = settings;
        f->flowcon.initial = f->flowcon.interval = settings->interval;
        *ret = f;
        return 0;
}

static size_t active_keys(const struct sg_share_snapshot *s, uint64_t *keys)
{
        size_t n = 0;

        for (size_t i = 0; i < s->n_jobs; i++)
                if (!s->jobs[i].held)
                        keys[n++] = s->jobs[i].key;
        return n;
}

/* Literally read, a job that hasn't reported since the last run hasn't grown; a newcomer hasn't
 * been measured all the same. */
static void measure(struct state *f, const struct sg_share_snapshot *s)
{
        struct sg_flowcon_job *j = f->flowcon.jobs;
        bool literal = f->settings->literal;

        for (size_t i = 0; i < s->n_jobs; i++) {
                const struct sg_estimate *e = &s->jobs[i].estimate;

                if (s->jobs[i].held)
                        continue;
                j->growth = e->efficiency;
                j->measured = e->measured;
                if (literal && !e->measured && s->now > s->jobs[i].arrival) {
                        j->growth = 0;
                        j->measured = true;
                }
                j++;
        }
}

static enum sg_share_reason reason_of(const struct state *f, const struct sg_flowcon_job *j)
{
        if (f->all_complete)
                return SG_REASON_CONVERGED;
        if (isnan(j->growth))
                return SG_REASON_UNMEASURED;
        if (j->list == SG_LIST_WATCH)
                return SG_REASON_STALE;
        return j->bounded ? SG_REASON_BOUND : SG_REASON_GROWTH;
}

static struct sg_share_out out_of(const struct state *f, const struct sg_flowcon_job *j,
                                  double share)
{
        enum sg_flowcon_mode mode = f->settings->mode;
        double weight = mode == SG_FLOWCON_WEIGHT ? j->limit : share;
        struct sg_share_out out = {
                .share = share,
                .weight = sg_share_weight(weight),
                .cap = mode == SG_FLOWCON_HARD && j->limit < 1 ? j->limit : INFINITY,
                .list = j->list,
                .why = sg_share_because(reason_of(f, j)),
        };

        out.why.index = j->growth;
        return out;
}

/* numbers: room for three of each job. */
static void give(const struct state *f, const struct sg_share_snapshot *s, double *numbers,
                 struct sg_share_out *out)
{
        const struct sg_flowcon *w = &f->flowcon;
        double *limits = numbers, *widths = limits + s->n_jobs, *shares = widths + s->n_jobs;
        size_t n = 0;

        for (size_t i = 0; i < s->n_jobs; i++)
                if (!s->jobs[i].held) {
                        limits[n] = w->jobs[n].limit;
                        widths[n++] = s->jobs[i].width;
                }
        sg_max_min_shares(limits, widths, n, f->settings->mode, shares);
        n = 0;
        for (size_t i = 0; i < s->n_jobs; i++) {
                if (s->jobs[i].held) {
                        out[i] = (struct sg_share_out){.weight = 1, .cap = INFINITY};
                        out[i].why = sg_share_because(SG_REASON_NONE);
                } else {
                        out[i] = out_of(f, &w->jobs[n], shares[n]);
                        n++;
                }
        }
}

static int flowcon_step(void *state, const struct sg_share_snapshot *s, struct sg_share_out *out,
                        double *ret_next)
{
        struct state *f = state;
        _cleanup_free_ uint64_t *keys = calloc(s->n_jobs + 1, sizeof(*keys));
        _cleanup_free_ double *numbers = calloc(3 * s->n_jobs + 1, sizeof(*numbers));
        int changed, ran = 0;

        if (!keys || !numbers)
                return -ENOMEM;
        changed = sg_flowcon_listen(&f->flowcon, keys, active_keys(s, keys));
        if (changed < 0)
                return changed;
        if (changed > 0 || s->now >= f->flowcon.next - CLOCK_ERROR) {
                measure(f, s);
                f->all_complete =
                        sg_flowcon_run(&f->flowcon, f->settings->alpha, f->settings->beta, s->now);
                ran = 1;
        }
        give(f, s, numbers, out);
        *ret_next = f->flowcon.n > 0 ? f->flowcon.next : INFINITY;
        return ran;
}

/* --- what survives a restart --- */

enum { TAG_INTERVAL = 1, TAG_NEXT = 2, TAG_ALL_COMPLETE = 3, TAG_JOB = 4 };
enum { TAG_KEY = 1, TAG_LIST = 2, TAG_LIMIT = 3, TAG_GROWTH = 4, TAG_BOUNDED = 5 };

static void flowcon_save(const void *state, struct sg_record *r)
{
        const struct state *f = state;

        sg_record_put_double(r, TAG_INTERVAL, f->flowcon.interval);
        sg_record_put_double(r, TAG_NEXT, f->flowcon.next);
        sg_record_put_u64(r, TAG_ALL_COMPLETE, f->all_complete);
        for (size_t i = 0; i < f->flowcon.n; i++) {
                const struct sg_flowcon_job *j = &f->flowcon.jobs[i];
                size_t job = sg_record_open(r, TAG_JOB);

                sg_record_put_u64(r, TAG_KEY, j->key);
                sg_record_put_u64(r, TAG_LIST, j->list);
                sg_record_put_double(r, TAG_LIMIT, j->limit);
                sg_record_put_double(r, TAG_GROWTH, j->growth);
                sg_record_put_u64(r, TAG_BOUNDED, j->bounded);
                sg_record_close(r, job);
        }
}

static int load_job(const struct sg_field *record, struct sg_flowcon_job *ret)
{
        struct sg_reader reader = sg_reader_init(record->data, record->size);
        struct sg_flowcon_job j = {.limit = NAN, .growth = NAN};
        uint64_t list = SG_LIST_NONE, bounded = 0;
        struct sg_field f;
        int r;

        while ((r = sg_reader_next(&reader, &f)) > 0) {
                if (f.tag == TAG_KEY)
                        r = sg_field_u64(&f, &j.key);
                else if (f.tag == TAG_LIST)
                        r = sg_field_u64(&f, &list);
                else if (f.tag == TAG_LIMIT)
                        r = sg_field_double(&f, &j.limit);
                else if (f.tag == TAG_GROWTH)
                        r = sg_field_double(&f, &j.growth);
                else if (f.tag == TAG_BOUNDED)
                        r = sg_field_u64(&f, &bounded);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;
        if (list < SG_LIST_NEW || list > SG_LIST_COMPLETE || !(j.limit >= 0 && j.limit <= 1) ||
            j.growth < 0 || isinf(j.growth))
                return -EBADMSG;
        j.list = (enum sg_share_list)list;
        j.bounded = bounded != 0;
        *ret = j;
        return 0;
}

/* Keys come ascending. */
static int add_job(struct sg_flowcon *w, const struct sg_field *record)
{
        struct sg_flowcon_job job, *grown;
        int r = load_job(record, &job);

        if (r < 0)
                return r;
        if (w->n > 0 && job.key <= w->jobs[w->n - 1].key)
                return -EBADMSG;
        grown = reallocarray(w->jobs, w->n + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        w->jobs = grown;
        w->jobs[w->n++] = job;
        return 0;
}

static int load_into(struct state *f, const void *data, size_t size)
{
        struct sg_reader reader = sg_reader_init(data, size);
        uint64_t all_complete = 0;
        struct sg_field field;
        int r;

        while ((r = sg_reader_next(&reader, &field)) > 0) {
                if (field.tag == TAG_INTERVAL)
                        r = sg_field_double(&field, &f->flowcon.interval);
                else if (field.tag == TAG_NEXT)
                        r = sg_field_double(&field, &f->flowcon.next);
                else if (field.tag == TAG_ALL_COMPLETE)
                        r = sg_field_u64(&field, &all_complete);
                else if (field.tag == TAG_JOB)
                        r = add_job(&f->flowcon, &field);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;
        if (!(f->flowcon.interval >= f->flowcon.initial) || !isfinite(f->flowcon.interval) ||
            !isfinite(f->flowcon.next))
                return -EBADMSG;
        f->all_complete = all_complete != 0;
        return 0;
}

static int flowcon_load(void *state, const void *data, size_t size)
{
        struct state *f = state, loaded = *f;
        int r;

        loaded.flowcon.jobs = NULL;
        loaded.flowcon.n = 0;
        r = load_into(&loaded, data, size);
        if (r < 0) {
                free(loaded.flowcon.jobs);
                return r;
        }
        free(f->flowcon.jobs);
        *f = loaded;
        return 0;
}

const struct sg_share_policy sg_share_flowcon = {
        .name = "flowcon",
        .summary = "by growth efficiency, in three lists, as in the FlowCon paper",
        .wants_efficiency = true,
        .create = flowcon_create,
        .destroy = flowcon_destroy,
        .step = flowcon_step,
        .save = flowcon_save,
        .load = flowcon_load,
};
