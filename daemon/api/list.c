/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lists, by pages: first the live jobs in order of N, or the newest first (cursor "L<n>": behind
 * n), then, if asked for, the finished ones from the store, newest first (cursor "F<n>": before n).
 * A page is bounded, so that neither we nor a client hold more than that.
 */
#include "api/internal.h"
#include "base/parse.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const enum sg_value_type row_types[] = {
        SG_VALUE_TEXT, SG_VALUE_TEXT, SG_VALUE_TEXT, SG_VALUE_TEXT, SG_VALUE_TEXT, SG_VALUE_TEXT,
        SG_VALUE_U64,  SG_VALUE_U64,  SG_VALUE_U64,  SG_VALUE_I32,  SG_VALUE_I32,  SG_VALUE_U64,
        SG_VALUE_U64,  SG_VALUE_TEXT, SG_VALUE_U64,  SG_VALUE_U64,
};
static const enum sg_value_type document_types[] = {SG_VALUE_TEXT};

#define PAGES_MAX 32U /* of one client, under way */
/* What a page takes until it is sent; of its rows, what isn't text. */
#define PAGE_BYTES (512U * 1024)
#define ROW_BYTES 256U

struct page {
        struct sg_call *call;
        struct sg_reply *reply; /* the call's */
        struct sg_request request;
        bool documents; /* else rows */
        bool counted;   /* in its client's pages */
        bool live_done;
        uint64_t after, before;
        uint64_t rows, last_n, bytes;
        struct sg_owed owed;
        int error;
};

static void page_free(struct page *p)
{
        struct sg_client *c = sg_call_client(p->call);

        if (c && p->counted)
                c->pages--;
        sg_api_paid(&p->owed);
        sg_call_unref(p->call);
        sg_request_deinit(&p->request);
        free(p);
}
SG_DEFINE_CLEANUP(struct page *, page_free)

/* --- the request */

static int read_cursor(struct page *p, struct sg_answer *a)
{
        const char *cursor = p->request.cursor ?: "";
        uint64_t n = 0;

        p->live_done = p->request.filter.only_finished;
        if (*cursor == 0)
                return 0;
        if ((*cursor != 'L' && *cursor != 'F') || sg_parse_u64(cursor + 1, &n) < 0)
                return sg_refuse(a, SG_ANSWER_INVALID, "cursor", "no such cursor '%s'", cursor);
        if (*cursor == 'F') {
                p->live_done = true;
                p->before = n;
        } else {
                p->after = n;
        }
        return 0;
}

static int read_request(struct page *p, struct sg_answer *a)
{
        struct sg_filter *f = &p->request.filter;
        int r = sg_call_read(p->call, &p->request, a);

        if (r >= 0)
                r = sg_request_check_filter(&p->request, a);
        if (r < 0)
                return r;
        if (f->limit == 0 || f->limit > SG_PAGE_MAX)
                f->limit = SG_PAGE_MAX;
        return read_cursor(p, a);
}

/* Rows and documents */

/* A live job; when it will have ended, nobody knows. */
static bool fits(const struct sg_filter *f, const struct sg_job *j, const struct sg_client *c)
{
        bool own = c && j->uid == c->caller.uid && j->adopted == SG_ADOPTED_NOT;

        return (!f->own || own) && (!f->user || strcmp(f->user, j->user) == 0) &&
               (!f->state || strcmp(f->state, sg_job_state_to_string(j->state)) == 0) &&
               (!f->name || strcmp(f->name, j->name) == 0) &&
               (!f->class || strcmp(f->class, j->class) == 0) &&
               (f->array == 0 || f->array == j->array_first) && f->since == 0 && f->until == 0;
}

static int append_document(struct page *p, const struct sg_job *j, struct sg_live *live, bool full)
{
        _cleanup_free_ char *doc = NULL;
        int r = sg_job_document(p->call->manager, j, live, full, &doc);

        if (r < 0)
                return r;
        p->bytes += strlen(doc);
        sg_reply_text(p->reply, NULL, doc);
        return 0;
}

static void append_row(struct page *p, const struct sg_job *j, struct sg_live *live, bool full)
{
        struct sg_counters c = {.cpu_usec = j->cpu_usec, .memory_bytes = j->memory_peak_bytes};
        const char *command = full && j->command ? j->command : "";
        char id[SG_JOB_ID_MAX], why[256];
        struct sg_reply *r = p->reply;

        if (live && live->groups.scope)
                sg_scope_counters(live->groups.scope, &c);
        sg_job_id_format(id, &j->key, p->call->manager->node.name);
        p->bytes += ROW_BYTES + strlen(command);
        sg_reply_open_row(r);
        sg_reply_text(r, "id", id);
        sg_reply_text(r, "name", j->name);
        sg_reply_text(r, "class", j->class);
        sg_reply_text(r, "user", j->user);
        sg_reply_text(r, "state", sg_job_state_to_string(j->state));
        sg_reply_text(r, "reason", sg_job_reason_now(j, live, why, sizeof(why)));
        sg_reply_u64(r, "submitted_usec", j->submitted_usec);
        sg_reply_u64(r, "started_usec", j->started_usec);
        sg_reply_u64(r, "ended_usec", j->ended_usec);
        sg_reply_i32(r, "exit_code", (int32_t)j->exit_code);
        sg_reply_i32(r, "signal", (int32_t)j->signal);
        sg_reply_u64(r, "cpu_usec", c.cpu_usec);
        sg_reply_u64(r, "memory_bytes", c.memory_bytes);
        sg_reply_text(r, "command", command);
        sg_reply_u64(r, "array", j->array_first);
        sg_reply_u64(r, "array_index", j->array_first > 0 ? (uint64_t)j->array_index : 0);
        sg_reply_close_row(r);
}

static void append(struct page *p, const struct sg_job *j, struct sg_live *live)
{
        struct sg_client *c = sg_call_client(p->call);
        bool full = c && sg_caller_owns(p->call->manager, &c->caller, j->uid);

        if (p->error < 0)
                return;
        if (p->documents)
                p->error = append_document(p, j, live, full);
        else
                append_row(p, j, live, full);
        p->rows++;
        p->last_n = j->key.n;
}

/* --- a page */

static void refuse(struct page *p, int error)
{
        if (error == -EBUSY)
                sg_call_refuse_line(p->call, SG_ANSWER_BUSY, NULL,
                                    "too many answers have not been read yet");
        else
                sg_call_refuse_line(p->call, SG_ANSWER_STORE, NULL, "cannot list jobs: %s",
                                    strerror(-error));
}

static void send_reply(struct page *p, char kind)
{
        char cursor[32] = "";
        int r = p->error;

        if (kind)
                (void)snprintf(cursor, sizeof(cursor), "%c%" PRIu64, kind,
                               kind == 'F' && p->rows == 0 ? 0 : p->last_n);
        sg_reply_close_list(p->reply);
        sg_reply_text(p->reply, "next", cursor);
        if (r >= 0)
                r = sg_call_send_large(p->call, p->bytes);
        if (r < 0)
                refuse(p, r);
        page_free(p);
}

/* The store answers behind what it was sent, so that one whose end it has been sent comes from
 * there, if finished ones are wanted. */
static bool is_listed_as_live(const struct page *p, const struct sg_live *l)
{
        return sg_life_is_shown(&l->life) && !sg_life_end_is_stored(&l->life) &&
               !(p->request.filter.finished && sg_life_end_is_asked(&l->life));
}

/* Whether it was on a page before this one. */
static bool was_listed(const struct page *p, uint64_t n)
{
        return p->after > 0 && (p->request.filter.newest ? n >= p->after : n <= p->after);
}

static void add_live(struct page *p)
{
        struct sg_manager *m = p->call->manager;
        struct sg_client *c = sg_call_client(p->call);
        const struct sg_list *all = &m->jobs->all, *at = all;
        bool newest = p->request.filter.newest;

        while (p->rows < p->request.filter.limit && (at = newest ? at->prev : at->next) != all) {
                struct sg_live *l = sg_list_entry(at, struct sg_live, link);

                if (was_listed(p, l->job.key.n) || !is_listed_as_live(p, l) ||
                    (c && !sg_caller_may_see(m, &c->caller, l->job.uid)) ||
                    !fits(&p->request.filter, &l->job, c))
                        continue;
                append(p, &l->job, l);
        }
}

static void on_finished_row(int result, const struct sg_job *job, void *userdata)
{
        struct page *p = userdata;

        if (result >= 0 && job)
                append(p, job, NULL);
}

static void on_finished_done(int result, const struct sg_job *job, void *userdata)
{
        struct page *p = userdata;

        (void)job;
        if (result < 0)
                p->error = result;
        send_reply(p, p->rows == p->request.filter.limit ? 'F' : 0);
}

static void add_finished(struct page *p)
{
        struct sg_manager *m = p->call->manager;
        struct sg_client *c = sg_call_client(p->call);
        bool own = p->request.filter.own, all = !own && sg_caller_sees_all(m, &c->caller);
        struct sg_store_query q = {
                .uid = all ? SG_UNLIMITED : c->caller.uid,
                .finished_only = true,
                .submitted_only = own,
                .array = p->request.filter.array,
                .user = p->request.filter.user,
                .state = p->request.filter.state,
                .name = p->request.filter.name,
                .class = p->request.filter.class,
                .since_usec = p->request.filter.since,
                .until_usec = p->request.filter.until,
                .before = p->before,
                .limit = p->request.filter.limit - p->rows,
        };

        sg_store_list(m->store, &q, on_finished_row, on_finished_done, p);
}

/* What is asked for and not yet sent takes memory, too. */
static int count_page(struct page *p, struct sg_answer *a)
{
        struct sg_client *c = sg_call_client(p->call);

        if (!c)
                return -ENOTCONN;
        if (c->pages == PAGES_MAX)
                return sg_refuse(a, SG_ANSWER_BUSY, NULL, "at most %u lists can be open at once",
                                 PAGES_MAX);
        c->pages++;
        p->counted = true;
        return sg_api_owe(p->call, SG_CHARGE_ANSWERS, PAGE_BYTES, &p->owed);
}

static void open_reply(struct page *p)
{
        p->reply = sg_call_reply(p->call);
        if (p->documents)
                sg_reply_open_list(p->reply, "documents", document_types,
                                   SG_ELEMENTSOF(document_types));
        else
                sg_reply_open_list(p->reply, "jobs", row_types, SG_ELEMENTSOF(row_types));
}

/* Sends it, now or when the store has told the rest. */
static void fill(struct page *p)
{
        open_reply(p);
        if (!p->live_done)
                add_live(p);
        if (p->rows == p->request.filter.limit)
                send_reply(p, 'L');
        else if (p->request.filter.finished || p->request.filter.only_finished)
                add_finished(p);
        else
                send_reply(p, 0);
}

int sg_api_list(struct sg_call *call, struct sg_answer *a)
{
        _cleanup_(page_freep) struct page *p = calloc(1, sizeof(*p));
        int r;

        if (!p)
                return -ENOMEM;
        p->documents = call->verb == SG_REQUEST_DESCRIBE_JOBS;
        p->call = sg_call_ref(call);
        sg_request_init(&p->request, call->verb);
        r = count_page(p, a);
        if (r >= 0)
                r = read_request(p, a);
        if (r < 0)
                return r;
        fill(TAKE_PTR(p));
        return 1;
}
