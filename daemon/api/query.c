/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Queries about one job, live or finished, and the log of events. */
#include "api/internal.h"
#include "base/file.h"
#include "core/ask/kept.h"
#include "edge/store/kept.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* One job, wherever it is */

struct one;
typedef int (*found_cb)(struct one *o, const struct sg_job *job, struct sg_live *live,
                        struct sg_answer *a);

/* A lookup in the store, and a page of events, as far as they aren't answered yet. */
#define ONE_BYTES 2048U
#define EVENTS_BYTES (128U * 1024)
#define EVENT_BYTES 88U

struct one {
        struct sg_owed owed;
        struct sg_call *call;
        char id[SG_JOB_ID_MAX];
        found_cb found;
        bool answered;
};

static bool visible(const struct sg_call *call, uint64_t uid)
{
        struct sg_client *c = sg_call_client(call);

        return c && sg_caller_may_see(call->manager, &c->caller, uid);
}

static void on_one(int result, const struct sg_job *job, void *userdata)
{
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};
        struct one *o = userdata;

        if (result < 0 || !job || !visible(o->call, job->uid))
                return;
        o->answered = true;
        result = o->found(o, job, NULL, &a);
        if (result < 0)
                sg_call_refuse(o->call, &a, result);
}

static void on_one_done(int result, const struct sg_job *job, void *userdata)
{
        struct one *o = userdata;

        (void)job;
        if (!o->answered) {
                if (result < 0)
                        sg_call_refuse_line(o->call, SG_ANSWER_STORE, "job",
                                            "cannot look up job %s: %s", o->id, strerror(-result));
                else
                        sg_call_refuse_line(o->call, SG_ANSWER_NO_SUCH_JOB, "job",
                                            "there is no job %s", o->id);
        }
        sg_api_paid(&o->owed);
        sg_call_unref(o->call);
        free(o);
}

static int look_up(const struct sg_job_key *key, const struct one *o)
{
        struct sg_store_query q = {
                .n = key->n, .origin = key->origin, .uid = SG_UNLIMITED, .limit = 1};
        struct one *copy = malloc(sizeof(*copy));
        int r;

        if (!copy)
                return -ENOMEM;
        *copy = *o;
        r = sg_api_owe(o->call, SG_CHARGE_ANSWERS, ONE_BYTES, &copy->owed);
        if (r < 0) {
                free(copy);
                return r;
        }
        sg_call_ref(copy->call);
        sg_store_list(o->call->manager->store, &q, on_one, on_one_done, copy);
        return 1;
}

static int find(struct one *o, const char *id, struct sg_answer *a)
{
        struct sg_manager *m = o->call->manager;
        struct sg_job_key key;
        struct sg_live *l;
        int r;

        r = sg_job_id_parse(id, m->node.name, &key);
        if (r < 0)
                return sg_refuse(a, SG_ANSWER_INVALID, "job", "'%s' is not a job number", id);
        (void)snprintf(o->id, sizeof(o->id), "%s", id);
        l = sg_manager_find_key(m, &key);
        if (!l || !sg_life_is_shown(&l->life))
                return look_up(&key, o);
        if (!visible(o->call, l->job.uid))
                return sg_refuse(a, SG_ANSWER_NO_SUCH_JOB, "job", "there is no job %s", id);
        return o->found(o, &l->job, l, a);
}

static int with_job(struct sg_call *call, found_cb found, struct sg_answer *a)
{
        _cleanup_(sg_request_deinit) struct sg_request q;
        struct one o = {.call = call, .found = found};
        int r;

        sg_request_init(&q, call->verb);
        r = sg_call_read(call, &q, a);
        return r < 0 ? r : find(&o, q.id ?: "", a);
}

/* DescribeJob, WaitJob */

static int describe(struct one *o, const struct sg_job *job, struct sg_live *live,
                    struct sg_answer *a)
{
        struct sg_client *c = sg_call_client(o->call);
        struct sg_manager *m = o->call->manager;
        _cleanup_free_ char *doc = NULL;
        int r = sg_job_document(m, job, live, sg_caller_owns(m, &c->caller, job->uid), &doc);

        (void)a;
        return r < 0 ? r : sg_call_send_document(o->call, doc);
}

static int describe_series(struct one *o, const struct sg_job *job, struct sg_live *live,
                           struct sg_answer *a)
{
        _cleanup_free_ char *doc = NULL;
        int r = sg_series_document(o->call->manager, &job->key, &doc);

        (void)live;
        (void)a;
        return r < 0 ? r : sg_call_send_document(o->call, doc);
}

static int explain(struct one *o, const struct sg_job *job, struct sg_live *live,
                   struct sg_answer *a)
{
        _cleanup_free_ char *doc = NULL;
        int r = sg_explain_document(o->call->manager, job, live, &doc);

        (void)a;
        return r < 0 ? r : sg_call_send_document(o->call, doc);
}

static int wait_for(struct one *o, const struct sg_job *job, struct sg_live *live,
                    struct sg_answer *a)
{
        if (live && !sg_life_end_is_stored(&live->life))
                return sg_waiter_add(live, o->call, false, a);
        return sg_api_reply_end(o->call, job);
}

int sg_api_describe_job(struct sg_call *call, struct sg_answer *a)
{
        return with_job(call, describe, a);
}

int sg_api_describe_series(struct sg_call *call, struct sg_answer *a)
{
        return with_job(call, describe_series, a);
}

int sg_api_explain(struct sg_call *call, struct sg_answer *a)
{
        return with_job(call, explain, a);
}

int sg_api_wait_job(struct sg_call *call, struct sg_answer *a)
{
        return with_job(call, wait_for, a);
}

/* --- DescribeCommand */

/* A command that is larger is asked for again when there is room for it. */
#define COMMAND_BYTES (16U * 1024)

struct command {
        struct sg_owed owed, more;
        struct sg_call *call;
        char id[SG_JOB_ID_MAX];
        struct sg_job_key key;
        uint64_t array_first;
        int64_t array_index;
};

static void command_free(struct command *c)
{
        sg_api_paid(&c->owed);
        sg_api_paid(&c->more);
        sg_call_unref(c->call);
        free(c);
}
SG_DEFINE_CLEANUP(struct command *, command_free)

static void refuse_command(const struct command *c, int error)
{
        if (error == -EFBIG)
                sg_call_refuse_line(c->call, SG_ANSWER_BUSY, NULL,
                                    "too many answers have not been read yet");
        else if (error == -ENODATA)
                sg_call_refuse_line(c->call, SG_ANSWER_NO_SUCH_JOB, "job",
                                    "the command of job %s is not kept: %s\nsubmit it anew", c->id,
                                    c->call->manager->settings->keep_commands
                                            ? "it has given way to newer ones, or is from before "
                                              "commands were kept"
                                            : "KeepCommands=no");
        else if (error == -ENOENT)
                sg_call_refuse_line(c->call, SG_ANSWER_NO_SUCH_JOB, "job", "there is no job %s",
                                    c->id);
        else
                sg_call_refuse_line(c->call, SG_ANSWER_STORE, "job", "cannot look up job %s: %s",
                                    c->id, strerror(-error));
}

/* Whether this user may have so much more to read. */
static bool has_room(struct command *c, uint64_t bytes)
{
        const struct sg_client *client = sg_call_client(c->call);

        return client && !c->more.ledger &&
               sg_ledger_left(c->call->manager->ledger, client->caller.uid, SG_CHARGE_ANSWERS) >=
                       bytes &&
               sg_api_owe(c->call, SG_CHARGE_ANSWERS, bytes, &c->more) >= 0;
}

static void on_command(int result, const void *part, size_t size, void *userdata)
{
        _cleanup_(command_freep) struct command *c = userdata;
        struct sg_job job = {.array_first = c->array_first, .array_index = c->array_index};
        int r;

        if (result == -EFBIG && has_room(c, size)) {
                sg_store_command(c->call->manager->store, &c->key, size, on_command, c);
                c = NULL;
                return;
        }
        if (result < 0) {
                refuse_command(c, result);
                return;
        }
        r = sg_kept_reply(&job, part, size, sg_call_reply(c->call));
        if (r >= 0)
                r = sg_call_send_large(c->call, size);
        if (r < 0)
                sg_call_fail(c->call, r);
}

static int describe_command(struct one *o, const struct sg_job *job, struct sg_live *live,
                            struct sg_answer *a)
{
        _cleanup_(command_freep) struct command *c = NULL;
        struct sg_client *client = sg_call_client(o->call);
        struct sg_manager *m = o->call->manager;
        int r;

        (void)live;
        if (!sg_caller_owns(m, &client->caller, job->uid))
                return sg_refuse(a, SG_ANSWER_NOT_YOURS, "job",
                                 "only its owner or root may see the command of job %s", o->id);
        if (job->adopted)
                return sg_refuse(a, SG_ANSWER_WRONG_STATE, "job",
                                 "job %s was started by others: it can't be started from here",
                                 o->id);
        c = calloc(1, sizeof(*c));
        if (!c)
                return -ENOMEM;
        c->call = sg_call_ref(o->call);
        c->key = job->key;
        c->array_first = job->array_first;
        c->array_index = job->array_index;
        strcpy(c->id, o->id);
        r = sg_api_owe(c->call, SG_CHARGE_ANSWERS, COMMAND_BYTES, &c->owed);
        if (r < 0)
                return r;
        sg_store_command(m->store, &job->key, COMMAND_BYTES, on_command, TAKE_PTR(c));
        return 1;
}

int sg_api_describe_command(struct sg_call *call, struct sg_answer *a)
{
        return with_job(call, describe_command, a);
}

/* --- OpenLog */

static int open_log(struct one *o, const struct sg_job *job, struct sg_live *live,
                    struct sg_answer *a)
{
        _cleanup_close_ int fd = -1;
        struct sg_reply *reply;
        char path[PATH_MAX];
        int r;

        r = sg_authorize_job(o->call, job, "read", a);
        if (r <= 0)
                return r;
        if (job->output)
                return sg_refuse(a, SG_ANSWER_INVALID, "job",
                                 "job %s writes to a file of its own\n%s", o->id, job->output);
        if (job->foreground)
                return sg_refuse(a, SG_ANSWER_INVALID, "job",
                                 "job %s was started by schedctl run, which keeps no output",
                                 o->id);
        (void)snprintf(path, sizeof(path), "%s/logs/%" PRIu64 "-%s.log",
                       sg_store_dir(o->call->manager->store), job->key.n, job->key.origin);
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0)
                return sg_refuse(a, SG_ANSWER_NO_SUCH_JOB, "job", "job %s has written nothing yet",
                                 o->id);
        reply = sg_call_reply(o->call);
        sg_reply_file(reply, "log", fd);
        sg_reply_flag(reply, "more", live && live->life.state < SG_LIFE_CLEARING);
        return sg_call_send(o->call);
}

int sg_api_open_log(struct sg_call *call, struct sg_answer *a)
{
        return with_job(call, open_log, a);
}

/* --- ListEvents */

struct events {
        struct sg_call *call;
        struct sg_reply *reply; /* the call's */
        struct sg_owed owed;
        uint64_t bytes;
};

static void events_free(struct events *e)
{
        sg_api_paid(&e->owed);
        sg_call_unref(e->call);
        free(e);
}

static void put_event(struct events *e, const struct sg_event_row *row)
{
        struct sg_job_key key = {.n = row->n};
        char id[SG_JOB_ID_MAX];

        (void)snprintf(key.origin, sizeof(key.origin), "%s", row->origin);
        sg_job_id_format(id, &key, e->call->manager->node.name);
        sg_reply_open_row(e->reply);
        sg_reply_u64(e->reply, "seq", row->seq);
        sg_reply_u64(e->reply, "time_usec", row->time_usec);
        sg_reply_text(e->reply, "job", id);
        sg_reply_text(e->reply, "state", row->state);
        sg_reply_text(e->reply, "reason", row->reason ?: "");
        sg_reply_u64(e->reply, "attempt", row->attempt);
        sg_reply_i32(e->reply, "exit_code", (int32_t)row->exit_code);
        sg_reply_i32(e->reply, "signal", (int32_t)row->signal);
        sg_reply_text(e->reply, "by", row->who ?: "");
        sg_reply_close_row(e->reply);
        e->bytes += EVENT_BYTES + strlen(row->reason ?: "") + strlen(row->who ?: "");
}

static void on_event(const struct sg_event_row *row, void *userdata)
{
        struct events *e = userdata;
        int r;

        if (row) {
                put_event(e, row);
                return;
        }
        sg_reply_close_list(e->reply);
        r = sg_call_send_large(e->call, e->bytes);
        if (r < 0)
                sg_call_fail(e->call, r);
        events_free(e);
}

static int list_events(struct sg_call *call, const struct sg_request *q, struct sg_answer *a)
{
        static const enum sg_value_type types[] = {SG_VALUE_U64,  SG_VALUE_U64,  SG_VALUE_TEXT,
                                                   SG_VALUE_TEXT, SG_VALUE_TEXT, SG_VALUE_U64,
                                                   SG_VALUE_I32,  SG_VALUE_I32,  SG_VALUE_TEXT};
        const struct sg_manager *m = call->manager;
        const struct sg_client *c = sg_call_client(call);
        struct sg_job_key key = {0};
        struct events *e;
        int r;

        if (q->id && *q->id && sg_job_id_parse(q->id, m->node.name, &key) < 0)
                return sg_refuse(a, SG_ANSWER_INVALID, "job", "'%s' is not a job number", q->id);
        e = calloc(1, sizeof(*e));
        if (!e)
                return -ENOMEM;
        e->call = sg_call_ref(call);
        r = sg_api_owe(call, SG_CHARGE_ANSWERS, EVENTS_BYTES, &e->owed);
        if (r < 0) {
                events_free(e);
                return r;
        }
        e->reply = sg_call_reply(call);
        sg_reply_open_list(e->reply, "events", types, SG_ELEMENTSOF(types));
        sg_store_events(m->store, q->after,
                        sg_caller_sees_all(m, &c->caller) ? SG_UNLIMITED : c->caller.uid, &key,
                        q->limit == 0 || q->limit > SG_PAGE_MAX ? SG_PAGE_MAX : q->limit, on_event,
                        e);
        return 1;
}

int sg_api_list_events(struct sg_call *call, struct sg_answer *a)
{
        _cleanup_(sg_request_deinit) struct sg_request q;
        int r;

        sg_request_init(&q, call->verb);
        r = sg_call_read(call, &q, a);
        return r < 0 ? r : list_events(call, &q, a);
}
