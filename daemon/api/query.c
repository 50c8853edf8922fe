/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Queries about one job, live or finished, and the log of events. */
#include "api/internal.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* One job, wherever it is */

struct one;
typedef int (*found_cb)(struct one *o, const struct sg_job *job, struct sg_live *live);

/* A lookup in the store, and a page of events, as far as they aren't answered yet. */
#define ONE_BYTES 2048U
#define EVENTS_BYTES (128U * 1024)
#define EVENT_BYTES 64U

struct one {
        struct sg_manager *manager;
        struct sg_owed owed;
        sd_bus_message *call;
        char id[SG_JOB_ID_MAX];
        found_cb found;
        bool answered;
};

static void reply_error(sd_bus_message *call, int r)
{
        (void)sd_bus_reply_method_errno(call, r, NULL);
}

static bool visible(struct one *o, uint64_t uid)
{
        struct sg_client *c = sg_api_client(o->manager, o->call);

        return c && sg_caller_may_see(o->manager, &c->caller, uid);
}

static void on_one(int result, const struct sg_job *job, void *userdata)
{
        struct one *o = userdata;

        if (result < 0 || !job || !visible(o, job->uid))
                return;
        o->answered = true;
        result = o->found(o, job, NULL);
        if (result < 0)
                reply_error(o->call, result);
}

static void on_one_done(int result, const struct sg_job *job, void *userdata)
{
        struct one *o = userdata;

        (void)job;
        if (!o->answered) {
                if (result < 0)
                        (void)sd_bus_reply_method_errorf(o->call, SG_ERROR_STORE,
                                                         "cannot look up job %s: %s", o->id,
                                                         strerror(-result));
                else
                        (void)sd_bus_reply_method_errorf(o->call, SG_ERROR_NO_SUCH_JOB,
                                                         "there is no job %s", o->id);
        }
        sg_api_paid(&o->owed);
        sd_bus_message_unref(o->call);
        free(o);
}

static int look_up(sd_bus_message *call, struct sg_manager *m, const struct sg_job_key *key,
                   struct one *o)
{
        struct sg_store_query q = {
                .n = key->n, .origin = key->origin, .uid = SG_UNLIMITED, .limit = 1};
        struct one *copy = malloc(sizeof(*copy));
        int r;

        if (!copy)
                return -ENOMEM;
        *copy = *o;
        r = sg_api_owe(m, call, SG_CHARGE_ANSWERS, ONE_BYTES, &copy->owed);
        if (r < 0) {
                free(copy);
                return r;
        }
        copy->call = sd_bus_message_ref(call);
        sg_store_list(m->store, &q, on_one, on_one_done, copy);
        return 1;
}

static int with_job(sd_bus_message *call, struct sg_manager *m, found_cb found, sd_bus_error *error)
{
        struct one o = {.manager = m, .call = call, .found = found};
        struct sg_job_key key;
        struct sg_live *l;
        const char *id;
        int r;

        r = sd_bus_message_read(call, "s", &id);
        if (r < 0)
                return r;
        r = sg_job_id_parse(id, m->node.name, &key);
        if (r < 0)
                return sd_bus_error_setf(error, SG_ERROR_INVALID, "'%s' is no job id", id);
        (void)snprintf(o.id, sizeof(o.id), "%s", id);
        l = sg_manager_find_key(m, &key);
        if (!l || !sg_life_is_shown(&l->life))
                return look_up(call, m, &key, &o);
        if (!visible(&o, l->job.uid))
                return sd_bus_error_setf(error, SG_ERROR_NO_SUCH_JOB, "there is no job %s", id);
        r = found(&o, &l->job, l);
        return r < 0 ? r : 1;
}

/* DescribeJob, WaitJob */

static int describe(struct one *o, const struct sg_job *job, struct sg_live *live)
{
        struct sg_client *c = sg_api_client(o->manager, o->call);
        _cleanup_free_ char *doc = NULL;
        int r = sg_job_document(o->manager, job, live,
                                sg_caller_owns(o->manager, &c->caller, job->uid), &doc);

        return r < 0 ? r : sg_api_reply_document(o->manager, o->call, doc);
}

static int describe_series(struct one *o, const struct sg_job *job, struct sg_live *live)
{
        _cleanup_free_ char *doc = NULL;
        int r = sg_series_document(o->manager, &job->key, &doc);

        (void)live;
        return r < 0 ? r : sg_api_reply_document(o->manager, o->call, doc);
}

static int explain(struct one *o, const struct sg_job *job, struct sg_live *live)
{
        _cleanup_free_ char *doc = NULL;
        int r = sg_explain_document(o->manager, job, live, &doc);

        return r < 0 ? r : sg_api_reply_document(o->manager, o->call, doc);
}

static int wait_for(struct one *o, const struct sg_job *job, struct sg_live *live)
{
        if (live && !sg_life_end_is_stored(&live->life))
                return sg_waiter_add(live, sg_api_client(o->manager, o->call), o->call, false);
        return sd_bus_reply_method_return(o->call, "sis", sg_job_state_to_string(job->state),
                                          sg_job_exit_status(job), job->reason ?: "");
}

int sg_api_describe_job(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        return with_job(call, userdata, describe, error);
}

int sg_api_describe_series(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        return with_job(m, userdata, describe_series, error);
}

int sg_api_explain(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        return with_job(call, userdata, explain, error);
}

int sg_api_wait_job(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        return with_job(call, userdata, wait_for, error);
}

/* --- OpenLog */

static int open_log(struct one *o, const struct sg_job *job, struct sg_live *live)
{
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_close_ int fd = -1;
        char path[PATH_MAX];
        int r;

        r = sg_authorize_job(o->manager, o->call, job, "read", &error);
        if (r <= 0)
                return sd_bus_error_is_set(&error) ? sd_bus_reply_method_error(o->call, &error) : r;
        if (job->output)
                return sd_bus_reply_method_errorf(o->call, SG_ERROR_INVALID,
                                                  "job %s writes to a file of its own\n%s", o->id,
                                                  job->output);
        if (job->foreground)
                return sd_bus_reply_method_errorf(o->call, SG_ERROR_INVALID,
                                                  "job %s writes to the terminal that runs it",
                                                  o->id);
        (void)snprintf(path, sizeof(path), "%s/logs/%" PRIu64 "-%s.log",
                       sg_store_dir(o->manager->store), job->key.n, job->key.origin);
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0)
                return sd_bus_reply_method_errorf(o->call, SG_ERROR_NO_SUCH_JOB,
                                                  "job %s has written nothing yet", o->id);
        return sd_bus_reply_method_return(o->call, "hb", fd,
                                          live && live->life.state < SG_LIFE_CLEARING);
}

int sg_api_open_log(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        return with_job(call, userdata, open_log, error);
}

/* --- ListEvents */

struct events {
        struct sg_manager *manager;
        sd_bus_message *call, *reply;
        struct sg_owed owed;
        uint64_t bytes;
        int error;
};

static void events_free(struct events *e)
{
        sg_api_paid(&e->owed);
        sd_bus_message_unref(e->reply);
        sd_bus_message_unref(e->call);
        free(e);
}

static int send_events(struct events *e)
{
        struct sg_client *c = sg_api_client(e->manager, e->call);
        int r = e->error >= 0 ? sd_bus_message_close_container(e->reply) : e->error;

        return r < 0 || !c ? r : sg_client_reply(c, e->reply, e->bytes);
}

static void on_event(const struct sg_event_row *row, void *userdata)
{
        struct events *e = userdata;
        struct sg_job_key key = {0};
        char id[SG_JOB_ID_MAX];

        if (row) {
                (void)snprintf(key.origin, sizeof(key.origin), "%s", row->origin);
                key.n = row->n;
                sg_job_id_format(id, &key, e->manager->node.name);
                if (e->error >= 0)
                        e->error =
                                sd_bus_message_append(e->reply, "(ttsss)", row->seq, row->time_usec,
                                                      id, row->state, row->reason ?: "");
                e->bytes += EVENT_BYTES + strlen(row->reason ?: "");
                return;
        }
        e->error = send_events(e);
        if (e->error < 0)
                reply_error(e->call, e->error);
        events_free(e);
}

int sg_api_list_events(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        struct sg_manager *m = userdata;
        struct sg_client *c = sg_api_client(m, call);
        struct sg_job_key key = {0};
        uint64_t after, limit;
        struct events *e;
        const char *id;
        bool all;
        int r;

        r = sd_bus_message_read(call, "tst", &after, &id, &limit);
        if (r < 0)
                return r;
        if (*id && sg_job_id_parse(id, m->node.name, &key) < 0)
                return sd_bus_error_setf(error, SG_ERROR_INVALID, "'%s' is no job id", id);
        e = calloc(1, sizeof(*e));
        if (!e)
                return -ENOMEM;
        e->manager = m;
        e->call = sd_bus_message_ref(call);
        r = sg_api_owe(m, call, SG_CHARGE_ANSWERS, EVENTS_BYTES, &e->owed);
        if (r >= 0)
                r = sd_bus_message_new_method_return(call, &e->reply);
        if (r >= 0)
                r = sd_bus_message_open_container(e->reply, 'a', "(ttsss)");
        if (r < 0) {
                events_free(e);
                return r;
        }
        all = sg_caller_sees_all(m, &c->caller);
        sg_store_events(m->store, after, all ? SG_UNLIMITED : c->caller.uid, &key,
                        limit == 0 || limit > SG_PAGE_MAX ? SG_PAGE_MAX : limit, on_event, e);
        return 1;
}
