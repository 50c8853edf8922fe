/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The requests of store.h, as frames. */

#include "edge/store/client.h"
#include <errno.h>

static void put_job(struct sg_record *out, const struct sg_job *job)
{
        size_t mark = sg_record_open(out, SG_STORE_TAG_JOB);

        sg_job_encode(job, out);
        sg_record_close(out, mark);
        sg_record_put_u64(out, SG_STORE_TAG_TIME, job->changed_usec);
        if (job->changed_by.is)
                sg_record_put_u64(out, SG_STORE_TAG_BY, job->changed_by.uid);
}

static void put_key(struct sg_record *out, const struct sg_job_key *key)
{
        sg_record_put_str(out, SG_STORE_TAG_ORIGIN, key->origin);
        sg_record_put_u64(out, SG_STORE_TAG_N, key->n);
        sg_record_put_u64(out, SG_STORE_TAG_ATTEMPT, key->attempt);
}

/* A request answered by sg_store_cb, its frame open for more fields; NULL after telling cb. */
static struct sg_store_request *begin(struct sg_store *s, enum sg_store_kind kind, sg_store_cb cb,
                                      void *userdata, size_t *ret_mark)
{
        struct sg_store_request *q = sg_store_request_new(s, kind, userdata, ret_mark);

        if (q)
                q->done = cb;
        else if (cb)
                cb(-ENOMEM, NULL, userdata);
        return q;
}

static void write_job(struct sg_store *s, enum sg_store_kind kind, const struct sg_job *job,
                      sg_store_cb cb, void *userdata)
{
        struct sg_store_request *q;
        size_t mark;

        q = begin(s, kind, cb, userdata, &mark);
        if (!q)
                return;
        put_job(s->out, job);
        sg_store_request_send(s, q, mark);
}

void sg_store_submit(struct sg_store *s, const struct sg_job *template, const char *tasks,
                     const char *token, const void *spec, size_t spec_size, sg_store_cb cb,
                     void *userdata)
{
        struct sg_store_request *q;
        size_t mark;

        q = begin(s, SG_STORE_SUBMIT, cb, userdata, &mark);
        if (!q)
                return;
        put_job(s->out, template);
        sg_record_put_str(s->out, SG_STORE_TAG_TEXT, tasks);
        sg_record_put_str(s->out, SG_STORE_TAG_TOKEN, token);
        sg_record_put(s->out, SG_STORE_TAG_BYTES, spec, spec_size);
        sg_store_request_send(s, q, mark);
}

void sg_store_update(struct sg_store *s, const struct sg_job *job, sg_store_cb cb, void *userdata)
{
        write_job(s, SG_STORE_UPDATE, job, cb, userdata);
}

void sg_store_finish(struct sg_store *s, const struct sg_job *job, sg_store_cb cb, void *userdata)
{
        write_job(s, SG_STORE_FINISH, job, cb, userdata);
}

void sg_store_hold(struct sg_store *s, const struct sg_job *job, sg_store_cb cb, void *userdata)
{
        write_job(s, SG_STORE_HOLD, job, cb, userdata);
}

void sg_store_freeze(struct sg_store *s, const struct sg_job *job, uint64_t reasons, bool on,
                     sg_store_cb cb, void *userdata)
{
        struct sg_store_request *q;
        size_t mark;

        q = begin(s, job->adopted ? SG_STORE_FREEZE_ROW : SG_STORE_FREEZE, cb, userdata, &mark);
        if (!q)
                return;
        put_key(s->out, &job->key);
        sg_record_put_u64(s->out, SG_STORE_TAG_FREEZE, reasons);
        sg_record_put_u64(s->out, SG_STORE_TAG_ON, on);
        sg_store_request_send(s, q, mark);
}

void sg_store_start(struct sg_store *s, const struct sg_job *job, const void *launch,
                    size_t launch_size, sg_store_cb cb, void *userdata)
{
        struct sg_store_request *q;
        size_t mark;

        q = begin(s, SG_STORE_START, cb, userdata, &mark);
        if (!q)
                return;
        put_job(s->out, job);
        sg_record_put(s->out, SG_STORE_TAG_BYTES, launch, launch_size);
        sg_store_request_send(s, q, mark);
}

void sg_store_record(struct sg_store *s, const struct sg_job_key *key, const struct sg_exit *e,
                     sg_store_cb cb, void *userdata)
{
        struct sg_store_request *q;
        size_t mark;

        q = begin(s, SG_STORE_RECORD, cb, userdata, &mark);
        if (!q)
                return;
        put_key(s->out, key);
        sg_record_put(s->out, SG_STORE_TAG_BYTES, e, sizeof(*e));
        sg_store_request_send(s, q, mark);
}

void sg_store_inspect(struct sg_store *s, const struct sg_job_key *key, enum sg_publish publish,
                      sg_attempt_cb cb, void *userdata)
{
        struct sg_store_request *q;
        size_t mark;

        q = sg_store_request_new(s, SG_STORE_INSPECT, userdata, &mark);
        if (!q) {
                if (cb)
                        cb(-ENOMEM, NULL, userdata);
                return;
        }
        q->attempt = cb;
        put_key(s->out, key);
        sg_record_put_u64(s->out, SG_STORE_TAG_PUBLISH, publish);
        sg_store_request_send(s, q, mark);
}

void sg_store_list(struct sg_store *s, const struct sg_store_query *query, sg_store_cb each,
                   sg_store_cb done, void *userdata)
{
        struct sg_store_request *q;
        struct sg_record *out = s->out;
        size_t mark;

        q = begin(s, SG_STORE_LIST, done, userdata, &mark);
        if (!q)
                return;
        q->each = each;
        sg_record_put_u64(out, SG_STORE_TAG_N, query->n);
        sg_record_put_str(out, SG_STORE_TAG_ORIGIN, query->origin);
        sg_record_put_u64(out, SG_STORE_TAG_UID, query->uid);
        sg_record_put_u64(out, SG_STORE_TAG_FINISHED, query->finished_only);
        sg_record_put_u64(out, SG_STORE_TAG_SUBMITTED, query->submitted_only);
        sg_record_put_u64(out, SG_STORE_TAG_ARRAY, query->array);
        sg_record_put_str(out, SG_STORE_TAG_STATE, query->state);
        sg_record_put_str(out, SG_STORE_TAG_NAME, query->name);
        sg_record_put_str(out, SG_STORE_TAG_CLASS, query->class);
        sg_record_put_str(out, SG_STORE_TAG_USER, query->user);
        sg_record_put_u64(out, SG_STORE_TAG_SINCE, query->since_usec);
        sg_record_put_u64(out, SG_STORE_TAG_UNTIL, query->until_usec);
        sg_record_put_u64(out, SG_STORE_TAG_BEFORE, query->before);
        sg_record_put_u64(out, SG_STORE_TAG_LIMIT, query->limit);
        sg_store_request_send(s, q, mark);
}

void sg_store_events(struct sg_store *s, uint64_t after_seq, uint64_t uid,
                     const struct sg_job_key *job, uint64_t limit, sg_event_cb cb, void *userdata)
{
        struct sg_store_request *q;
        size_t mark;

        q = sg_store_request_new(s, SG_STORE_EVENTS, userdata, &mark);
        if (!q) {
                if (cb)
                        cb(NULL, userdata);
                return;
        }
        q->event = cb;
        sg_record_put_u64(s->out, SG_STORE_TAG_SEQ, after_seq);
        sg_record_put_u64(s->out, SG_STORE_TAG_UID, uid);
        put_key(s->out, job);
        sg_record_put_u64(s->out, SG_STORE_TAG_LIMIT, limit);
        sg_store_request_send(s, q, mark);
}

void sg_store_command(struct sg_store *s, const struct sg_job_key *key, uint64_t most,
                      sg_command_cb cb, void *userdata)
{
        struct sg_store_request *q;
        size_t mark;

        q = sg_store_request_new(s, SG_STORE_COMMAND, userdata, &mark);
        if (!q) {
                cb(-ENOMEM, NULL, 0, userdata);
                return;
        }
        q->command = cb;
        put_key(s->out, key);
        sg_record_put_u64(s->out, SG_STORE_TAG_LIMIT, most);
        sg_store_request_send(s, q, mark);
}

void sg_store_forget_commands(struct sg_store *s, uint64_t uid, uint64_t most, sg_store_cb cb,
                              void *userdata)
{
        struct sg_store_request *q;
        size_t mark;

        q = begin(s, SG_STORE_FORGET, cb, userdata, &mark);
        if (!q)
                return;
        sg_record_put_u64(s->out, SG_STORE_TAG_UID, uid);
        sg_record_put_u64(s->out, SG_STORE_TAG_COUNT, most);
        sg_store_request_send(s, q, mark);
}

void sg_store_set_retention(struct sg_store *s, uint64_t max_jobs, uint64_t max_age_usec,
                            bool keep_commands)
{
        struct sg_store_request *q;
        size_t mark;

        q = begin(s, SG_STORE_RETENTION, NULL, NULL, &mark);
        if (!q)
                return;
        sg_record_put_u64(s->out, SG_STORE_TAG_COUNT, max_jobs);
        sg_record_put_u64(s->out, SG_STORE_TAG_TIME, max_age_usec);
        sg_record_put_u64(s->out, SG_STORE_TAG_ON, keep_commands);
        sg_store_request_send(s, q, mark);
}

int sg_store_load(struct sg_store *s, uint64_t *ret_last_n, sg_store_cb each, void *userdata)
{
        struct sg_store_request *q;
        uint64_t last_n = 0;
        int r, result = -EPIPE;
        size_t mark;

        q = sg_store_request_new(s, SG_STORE_LOAD, userdata, &mark);
        if (!q)
                return -ENOMEM;
        q->each = each;
        q->ret_last_n = &last_n;
        q->ret_result = &result;
        sg_store_request_send(s, q, mark);
        r = sg_store_flush(s);
        if (r >= 0)
                r = result;
        if (r >= 0)
                *ret_last_n = last_n;
        return r;
}
