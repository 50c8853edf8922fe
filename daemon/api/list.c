/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lists, by pages: first the live jobs in order of N (cursor "L<n>": after n), then, if asked for,
 * the finished ones from the store, newest first (cursor "F<n>": before n). A page is bounded, so
 * that neither we nor a client hold more than that.
 */
#include "api/internal.h"
#include "base/parse.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ROW "sssssstttiitts"
#define PAGES_MAX 32U /* of one client, under way */
/* What a page takes until it is sent; of its rows, what isn't text. */
#define PAGE_BYTES (512U * 1024)
#define ROW_BYTES 256U

struct filter {
        bool finished, only_finished, own;
        char *user, *state, *name, *class;
        uint64_t since, until, limit;
};

struct page {
        struct sg_manager *manager;
        sd_bus_message *call, *reply;
        struct filter filter;
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
        struct sg_client *c = sg_api_client(p->manager, p->call);

        if (c && p->counted)
                c->pages--;
        sg_api_paid(&p->owed);
        sd_bus_message_unref(p->call);
        sd_bus_message_unref(p->reply);
        free(p->filter.user);
        free(p->filter.state);
        free(p->filter.name);
        free(p->filter.class);
        free(p);
}
SG_DEFINE_CLEANUP(struct page *, page_free)

/* --- the request */

static int read_string(sd_bus_message *m, char **ret)
{
        const char *s;
        int r = sd_bus_message_read(m, "v", "s", &s);

        if (r < 0)
                return r;
        free(*ret);
        *ret = strdup(s);
        return *ret ? 0 : -ENOMEM;
}

static int read_flag(sd_bus_message *m, bool *ret)
{
        int b, r = sd_bus_message_read(m, "v", "b", &b);

        if (r >= 0)
                *ret = b;
        return r;
}

static int read_state(sd_bus_message *m, struct filter *f, sd_bus_error *error)
{
        int r = read_string(m, &f->state);
        char known[128] = "";

        if (r < 0 || sg_job_state_from_string(f->state) >= 0)
                return r;
        for (unsigned i = 0; i < _SG_JOB_STATE_MAX; i++) {
                size_t n = strlen(known);

                if (sg_job_state_is_known(i))
                        (void)snprintf(known + n, sizeof(known) - n, " %s",
                                       sg_job_state_to_string(i));
        }
        return sd_bus_error_setf(error, SG_ERROR_INVALID, "there is no state '%s'\nuse one of%s",
                                 f->state, known);
}

static int read_filter_key(const char *key, sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct filter *f = userdata;

        if (strcmp(key, "finished") == 0)
                return read_flag(m, &f->finished);
        if (strcmp(key, "only_finished") == 0)
                return read_flag(m, &f->only_finished);
        if (strcmp(key, "own") == 0)
                return read_flag(m, &f->own);
        if (strcmp(key, "user") == 0)
                return read_string(m, &f->user);
        if (strcmp(key, "state") == 0)
                return read_state(m, f, error);
        if (strcmp(key, "name") == 0)
                return read_string(m, &f->name);
        if (strcmp(key, "class") == 0)
                return read_string(m, &f->class);
        if (strcmp(key, "since") == 0)
                return sd_bus_message_read(m, "v", "t", &f->since);
        if (strcmp(key, "until") == 0)
                return sd_bus_message_read(m, "v", "t", &f->until);
        if (strcmp(key, "limit") == 0)
                return sd_bus_message_read(m, "v", "t", &f->limit);
        return sd_bus_error_setf(error, SG_ERROR_INVALID, "unknown filter '%s'", key);
}

static int read_filter(struct filter *f, sd_bus_message *m, sd_bus_error *error)
{
        int r = sg_api_read_dict(m, read_filter_key, f, error);

        if (f->limit == 0 || f->limit > SG_PAGE_MAX)
                f->limit = SG_PAGE_MAX;
        return r;
}

static int read_cursor(struct page *p, const char *cursor, sd_bus_error *error)
{
        uint64_t n = 0;

        p->live_done = p->filter.only_finished;
        if (*cursor == 0)
                return 0;
        if ((*cursor != 'L' && *cursor != 'F') || sg_parse_u64(cursor + 1, &n) < 0)
                return sd_bus_error_setf(error, SG_ERROR_INVALID, "no such cursor '%s'", cursor);
        if (*cursor == 'F') {
                p->live_done = true;
                p->before = n;
        } else {
                p->after = n;
        }
        return 0;
}

/* Rows and documents */

/* A live job; when it will have ended, nobody knows. */
static bool fits(const struct filter *f, const struct sg_job *j, const struct sg_client *c)
{
        bool own = c && j->uid == c->caller.uid && j->adopted == SG_ADOPTED_NOT;

        return (!f->own || own) && (!f->user || strcmp(f->user, j->user) == 0) &&
               (!f->state || strcmp(f->state, sg_job_state_to_string(j->state)) == 0) &&
               (!f->name || strcmp(f->name, j->name) == 0) &&
               (!f->class || strcmp(f->class, j->class) == 0) && f->since == 0 && f->until == 0;
}

static int append_document(struct page *p, const struct sg_job *j, struct sg_live *live, bool full)
{
        _cleanup_free_ char *doc = NULL;
        int r = sg_job_document(p->manager, j, live, full, &doc);

        if (r < 0)
                return r;
        p->bytes += strlen(doc);
        return sd_bus_message_append(p->reply, "s", doc);
}

static int append_row(struct page *p, const struct sg_job *j, struct sg_live *live, bool full)
{
        struct sg_counters c = {.cpu_usec = j->cpu_usec, .memory_bytes = j->memory_peak_bytes};
        char id[SG_JOB_ID_MAX], why[256];

        if (live && live->groups.scope)
                sg_scope_counters(live->groups.scope, &c);
        sg_job_id_format(id, &j->key, p->manager->node.name);
        p->bytes += ROW_BYTES + (full && j->command ? strlen(j->command) : 0);
        return sd_bus_message_append(p->reply, "(" ROW ")", id, j->name, j->class, j->user,
                                     sg_job_state_to_string(j->state),
                                     sg_job_reason_now(j, live, why, sizeof(why)),
                                     j->submitted_usec, j->started_usec, j->ended_usec,
                                     (int32_t)j->exit_code, (int32_t)j->signal, c.cpu_usec,
                                     c.memory_bytes, full && j->command ? j->command : "");
}

static void append(struct page *p, const struct sg_job *j, struct sg_live *live)
{
        struct sg_client *c = sg_api_client(p->manager, p->call);
        bool full = c && sg_caller_owns(p->manager, &c->caller, j->uid);
        int r;

        if (p->error < 0)
                return;
        r = p->documents ? append_document(p, j, live, full) : append_row(p, j, live, full);
        if (r < 0)
                p->error = r;
        p->rows++;
        p->last_n = j->key.n;
}

/* --- a page */

static int open_reply(struct page *p)
{
        int r = sd_bus_message_new_method_return(p->call, &p->reply);

        if (r >= 0)
                r = sd_bus_message_open_container(p->reply, 'a', p->documents ? "s" : "(" ROW ")");
        return r;
}

static void reply_error(struct page *p, int error)
{
        if (error == -EBUSY)
                (void)sd_bus_reply_method_errorf(p->call, SG_ERROR_BUSY,
                                                 "too many answers have not been read yet");
        else
                (void)sd_bus_reply_method_errorf(p->call, SG_ERROR_STORE, "cannot list jobs: %s",
                                                 strerror(-error));
}

static void send_reply(struct page *p, char kind)
{
        struct sg_client *c = sg_api_client(p->manager, p->call);
        char cursor[32] = "";
        int r = p->error;

        if (kind)
                (void)snprintf(cursor, sizeof(cursor), "%c%" PRIu64, kind,
                               kind == 'F' && p->rows == 0 ? 0 : p->last_n);
        if (r >= 0)
                r = sd_bus_message_close_container(p->reply);
        if (r >= 0)
                r = sd_bus_message_append(p->reply, "s", cursor);
        if (r >= 0 && c)
                r = sg_client_reply(c, p->reply, p->bytes);
        if (r < 0)
                reply_error(p, r);
        page_free(p);
}

/* The store answers behind what it was sent, so that one whose end it has been sent comes from
 * there, if finished ones are wanted. */
static bool is_listed_as_live(const struct page *p, const struct sg_live *l)
{
        return sg_life_is_shown(&l->life) && !sg_life_end_is_stored(&l->life) &&
               !(p->filter.finished && sg_life_end_is_asked(&l->life));
}

static void add_live(struct page *p)
{
        struct sg_manager *m = p->manager;
        struct sg_client *c = sg_api_client(m, p->call);
        struct sg_live *l;

        sg_list_foreach (l, &m->jobs->all, link) {
                if (p->rows == p->filter.limit)
                        break;
                if (l->job.key.n <= p->after || !is_listed_as_live(p, l) ||
                    (c && !sg_caller_may_see(m, &c->caller, l->job.uid)) ||
                    !fits(&p->filter, &l->job, c))
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
        send_reply(p, p->rows == p->filter.limit ? 'F' : 0);
}

static void add_finished(struct page *p)
{
        struct sg_manager *m = p->manager;
        struct sg_client *c = sg_api_client(m, p->call);
        bool all = sg_caller_sees_all(m, &c->caller);
        struct sg_store_query q = {
                .uid = all ? SG_UNLIMITED : c->caller.uid,
                .finished_only = true,
                .user = p->filter.user,
                .state = p->filter.state,
                .name = p->filter.name,
                .class = p->filter.class,
                .since_usec = p->filter.since,
                .until_usec = p->filter.until,
                .before = p->before,
                .limit = p->filter.limit - p->rows,
        };

        sg_store_list(m->store, &q, on_finished_row, on_finished_done, p);
}

/* What is asked for and not yet sent takes memory, too. */
static int count_page(struct page *p, sd_bus_error *error)
{
        struct sg_client *c = sg_api_client(p->manager, p->call);

        if (!c)
                return -ENOTCONN;
        if (c->pages == PAGES_MAX)
                return sd_bus_error_setf(error, SG_ERROR_BUSY, "at most %u lists at once",
                                         PAGES_MAX);
        c->pages++;
        p->counted = true;
        return sg_api_owe(p->manager, p->call, SG_CHARGE_ANSWERS, PAGE_BYTES, &p->owed);
}

static int list(sd_bus_message *call, struct sg_manager *m, bool documents, sd_bus_error *error)
{
        _cleanup_(page_freep) struct page *p = calloc(1, sizeof(*p));
        const char *cursor;
        struct page *going;
        int r;

        if (!p)
                return -ENOMEM;
        p->manager = m;
        p->documents = documents;
        p->call = sd_bus_message_ref(call);
        r = count_page(p, error);
        if (r >= 0)
                r = read_filter(&p->filter, call, error);
        if (r >= 0)
                r = sd_bus_message_read(call, "s", &cursor);
        if (r >= 0)
                r = read_cursor(p, cursor, error);
        if (r >= 0)
                r = open_reply(p);
        if (r < 0)
                return r;
        going = TAKE_PTR(p);
        if (!going->live_done)
                add_live(going);
        if (going->rows == going->filter.limit)
                send_reply(going, 'L');
        else if (going->filter.finished || going->filter.only_finished)
                add_finished(going);
        else
                send_reply(going, 0);
        return 1;
}

int sg_api_list_jobs(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        return list(call, userdata, false, error);
}

int sg_api_describe_jobs(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        return list(call, userdata, true, error);
}
