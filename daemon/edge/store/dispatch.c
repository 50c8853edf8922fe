/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replies of the writer, and the callbacks that they lead to. */

#include "edge/store/client.h"
#include <errno.h>
#include <string.h>

static struct sg_store_request *head(struct sg_store *s)
{
        return sg_list_empty(&s->pending)
                       ? NULL
                       : sg_list_entry(s->pending.next, struct sg_store_request, link);
}

static void unlink_request(struct sg_store *s, struct sg_store_request *q)
{
        sg_list_remove(&q->link);
        s->backlog -= q->bytes;
}

static void free_request(struct sg_store_request *q)
{
        if (q->known)
                sg_job_deinit(q->known);
        free(q->known);
        free(q);
}

void sg_store_request_fail(struct sg_store *s, struct sg_store_request *q, int error)
{
        unlink_request(s, q);
        if (q->ret_result)
                *q->ret_result = error;
        if (q->done)
                q->done(error, NULL, q->userdata);
        else if (q->attempt)
                q->attempt(error, NULL, q->userdata);
        else if (q->event)
                q->event(NULL, q->userdata);
        else if (q->command)
                q->command(error, NULL, 0, q->userdata);
        free_request(q);
}

static int dispatch_row(struct sg_store_request *q, const struct sg_store_message *m)
{
        const struct sg_field *f = &m->fields[SG_STORE_TAG_JOB];
        _cleanup_(sg_job_deinit) struct sg_job job;
        int r;

        if (!f->data)
                return -EBADMSG;
        sg_job_init(&job);
        r = sg_job_decode(&job, f->data, f->size);
        if (r < 0)
                return r;
        job.spec_bytes = sg_store_message_u64(m, SG_STORE_TAG_STORED);
        if (q->kind == SG_STORE_SUBMIT) {
                q->known = malloc(sizeof(*q->known));
                if (!q->known)
                        return -ENOMEM;
                *q->known = job; /* with its strings */
                sg_job_init(&job);
        } else if (q->each) {
                q->each(0, &job, q->userdata);
        }
        return 0;
}

static int dispatch_event(struct sg_store_request *q, const struct sg_store_message *m)
{
        _cleanup_free_ char *origin = NULL, *state = NULL, *reason = NULL, *who = NULL;
        struct sg_event_row row = {
                .seq = sg_store_message_u64(m, SG_STORE_TAG_SEQ),
                .time_usec = sg_store_message_u64(m, SG_STORE_TAG_TIME),
                .n = sg_store_message_u64(m, SG_STORE_TAG_N),
                .attempt = sg_store_message_u64(m, SG_STORE_TAG_ATTEMPT),
                .uid = sg_store_message_u64(m, SG_STORE_TAG_UID),
                .exit_code = sg_store_message_i64(m, SG_STORE_TAG_EXIT_CODE),
                .signal = sg_store_message_i64(m, SG_STORE_TAG_SIGNAL),
        };
        int r;

        r = sg_store_message_str(m, SG_STORE_TAG_ORIGIN, &origin);
        if (r >= 0)
                r = sg_store_message_str(m, SG_STORE_TAG_STATE, &state);
        if (r >= 0)
                r = sg_store_message_str(m, SG_STORE_TAG_REASON, &reason);
        if (r >= 0)
                r = sg_store_message_str(m, SG_STORE_TAG_WHO, &who);
        if (r < 0)
                return r;
        row.origin = origin;
        row.state = state;
        row.reason = reason;
        row.who = who;
        if (q->event)
                q->event(&row, q->userdata);
        return 0;
}

static void finish_attempt(const struct sg_store_request *q, const struct sg_store_message *m,
                           int result)
{
        const struct sg_field *bytes = &m->fields[SG_STORE_TAG_BYTES];
        struct sg_attempt_info info = {
                .fate = (enum sg_fate)sg_store_message_u64(m, SG_STORE_TAG_FATE),
                .shim = (pid_t)sg_store_message_i64(m, SG_STORE_TAG_SHIM),
                .have_exit = bytes->data && bytes->size == sizeof(info.exit),
                .exit_unnamed = sg_store_message_u64(m, SG_STORE_TAG_COUNT) != 0,
                .frozen = sg_store_message_u64(m, SG_STORE_TAG_FREEZE),
        };

        if (info.have_exit)
                memcpy(&info.exit, bytes->data, sizeof(info.exit));
        q->attempt(result, result < 0 ? NULL : &info, q->userdata);
}

static void dispatch_done(struct sg_store *s, struct sg_store_request *q,
                          const struct sg_store_message *m)
{
        int result = (int)sg_store_message_i64(m, SG_STORE_TAG_RESULT);

        if (result < 0 && !q->attempt && !q->command) {
                sg_store_request_fail(s, q, result);
                return;
        }
        unlink_request(s, q);
        if (q->ret_result) {
                *q->ret_result = result;
                *q->ret_last_n = sg_store_message_u64(m, SG_STORE_TAG_N);
        }
        if (q->done)
                q->done(result, q->known, q->userdata);
        else if (q->attempt)
                finish_attempt(q, m, result);
        else if (q->event)
                q->event(NULL, q->userdata);
        else if (q->command)
                q->command(result, m->fields[SG_STORE_TAG_BYTES].data,
                           sg_store_message_u64(m, SG_STORE_TAG_COUNT), q->userdata);
        free_request(q);
}

static void dispatch_kept(struct sg_store *s, const struct sg_store_message *m)
{
        if (s->on_kept)
                s->on_kept(sg_store_message_u64(m, SG_STORE_TAG_UID),
                           sg_store_message_i64(m, SG_STORE_TAG_STORED), s->kept_userdata);
}

static int dispatch_status(struct sg_store *s, const struct sg_store_message *m)
{
        char *why = NULL;
        int r;

        r = sg_store_message_str(m, SG_STORE_TAG_TEXT, &why);
        if (r < 0)
                return r;
        free(s->why);
        s->why = why;
        return 0;
}

int sg_store_dispatch(struct sg_store *s, const uint8_t *frame, size_t size)
{
        struct sg_store_request *q = head(s);
        struct sg_store_message m;
        int r;

        r = sg_store_message_parse(&m, frame, size);
        if (r < 0)
                return r;
        if (m.kind == SG_STORE_STATUS)
                return dispatch_status(s, &m);
        if (m.kind == SG_STORE_KEPT) {
                dispatch_kept(s, &m);
                return 0;
        }
        if (!q || q->failed < 0)
                return -EBADMSG;
        switch (m.kind) {
        case SG_STORE_ROW:
                return dispatch_row(q, &m);
        case SG_STORE_EVENT:
                return dispatch_event(q, &m);
        case SG_STORE_DONE:
                dispatch_done(s, q, &m);
                return 0;
        default:
                return -EBADMSG;
        }
}
