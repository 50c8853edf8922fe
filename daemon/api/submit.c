/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Submissions: read and checked at once, completed when the user's name is known, stored, and
 * answered when that is durable. A retry with the same token is answered with what was stored the
 * first time.
 */
#include "api/foretell.h"
#include "api/internal.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "base/time-util.h"
#include "govern/loop.h"
#include "proto/spec.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <sys/resource.h>

struct sg_submission *sg_submission_free(struct sg_submission *s)
{
        if (!s)
                return NULL;
        sg_list_remove(&s->link);
        sg_api_paid(&s->owed);
        sg_api_paid(&s->lookup);
        sd_bus_message_unref(s->call);
        sg_job_deinit(&s->job);
        sg_record_deinit(&s->spec);
        sg_stored_unref(s->stored);
        free(s->workdir);
        free(s->on_end);
        free(s->command);
        free(s);
        return NULL;
}

int sg_submission_new(struct sg_submission **ret, struct sg_manager *m, sd_bus_message *call)
{
        struct sg_submission *s = calloc(1, sizeof(*s));

        if (!s)
                return -ENOMEM;
        s->manager = m;
        s->call = sd_bus_message_ref(call);
        s->count = 1;
        s->umask = 022;
        sg_list_init(&s->link);
        sg_job_init(&s->job);
        *ret = s;
        return 0;
}

/* --- who runs it */

/* A caller that has gone already doesn't mind the daemon's own limits. */
static void put_rlimits(struct sg_record *r, const struct sg_caller *c)
{
        struct rlimit limits[RLIM_NLIMITS];

        if (sg_caller_rlimits(c, limits) < 0)
                return;
        for (uint64_t resource = 0; resource < RLIM_NLIMITS; resource++) {
                const uint64_t field[] = {resource, limits[resource].rlim_cur,
                                          limits[resource].rlim_max};

                sg_record_put(r, SG_SPEC_RLIMIT, field, sizeof(field));
        }
}

static void put_identity(struct sg_submission *s, const struct sg_caller *c)
{
        struct sg_record *r = &s->spec;

        s->job.uid = c->uid;
        s->job.gid = c->gid;
        sg_record_put_u64(r, SG_SPEC_UID, c->uid);
        sg_record_put_u64(r, SG_SPEC_GID, c->gid);
        for (size_t i = 0; i < c->n_groups; i++)
                sg_record_put_u64(r, SG_SPEC_GROUP, c->groups[i]);
        sg_record_put_u64(r, SG_SPEC_UMASK, s->umask);
        put_rlimits(r, c);
        sg_record_put_str(r, SG_SPEC_WORKDIR, s->workdir ?: "/");
        sg_record_put_str(r, SG_SPEC_ON_END, s->on_end);
}

/* --- the class */

static int find_class(struct sg_submission *s, const struct sg_caller *c,
                      const struct sg_class **ret, sd_bus_error *error)
{
        const struct sg_settings *settings = s->manager->settings;
        _cleanup_strv_ char **groups = NULL;
        int r;

        r = sg_users_group_names(c->groups, c->n_groups, &groups);
        if (r < 0)
                return r;
        if (s->job.class[0] == 0) {
                *ret = sg_settings_match(settings, s->job.user, groups, s->command);
        } else {
                *ret = sg_settings_class(settings, s->job.class);
                if (!*ret)
                        r = sg_api_no_class(s->manager, s->job.class, error);
                else if (!sg_caller_is_admin(s->manager, c) &&
                         !sg_class_admits(*ret, s->job.user, groups))
                        r = sd_bus_error_setf(error, SG_ERROR_INVALID,
                                              "class: '%s' is not for user %s", s->job.class,
                                              s->job.user);
        }
        return r;
}

/* Whose jobs there are for who submits it. */
static uint64_t seen_uid(const struct sg_submission *s)
{
        return s->own_only ? s->job.uid : SG_UNLIMITED;
}

static int check_dependencies(struct sg_submission *s, const struct sg_caller *c,
                              sd_bus_error *error)
{
        char why[512];
        int r;

        s->own_only = !sg_caller_sees_all(s->manager, c);
        r = sg_live_check_dependencies(s->manager, s->job.after, seen_uid(s), why, sizeof(why));

        return r >= 0 ? r
                      : sd_bus_error_set(
                                error, r == -ENOENT ? SG_ERROR_NO_SUCH_JOB : SG_ERROR_INVALID, why);
}

/* Everything that can be wrong with a request is found here, before anything is stored. */
static int complete(struct sg_submission *s, const struct sg_caller *c, const char *user,
                    sd_bus_error *error)
{
        struct sg_manager *m = s->manager;
        const struct sg_class *class = NULL;
        int r;

        (void)snprintf(s->job.user, sizeof(s->job.user), "%s", user);
        r = find_class(s, c, &class, error);
        if (r < 0)
                return r;
        strcpy(s->job.class, class->name);
        sg_limits_complete(&s->job.limits, s->asked, class);
        r = sg_limits_check(&s->job.limits, s->asked, class, m->settings, &m->node, error);
        if (r < 0)
                return r;
        strcpy(s->job.key.origin, m->node.name);
        s->job.submitted_usec = s->job.changed_usec = sg_now_realtime_usec();
        if (m->jobs->n + s->count > m->settings->max_queued_per_user &&
            sg_manager_count_waiting(m, c->uid) + s->count > m->settings->max_queued_per_user) {
                (void)sd_bus_error_setf(error, SG_ERROR_BUSY,
                                        "user %s may have %" PRIu64 " jobs waiting at once", user,
                                        m->settings->max_queued_per_user);
                return -EBUSY;
        }
        return check_dependencies(s, c, error);
}

/* --- storing it */

static int refuse_full(struct sg_submission *s, int full, sd_bus_error *error)
{
        const struct sg_ledger *l = s->manager->ledger;
        uint64_t bytes = sg_stored_bytes(&s->job, s->count, s->spec.size);
        uint32_t uid = (uint32_t)s->job.uid;
        char asked[SG_FORMAT_MAX], held[SG_FORMAT_MAX], max[SG_FORMAT_MAX];

        (void)sg_format_bytes(asked, bytes);
        (void)sg_format_bytes(held, sg_ledger_held(l, uid, SG_CHARGE_STORED));
        (void)sg_format_bytes(max, sg_ledger_limit(l, uid, SG_CHARGE_STORED));
        if (full == SG_LEDGER_FULL)
                (void)sd_bus_error_setf(
                        error, SG_ERROR_BUSY,
                        "there is no room to store %s more for now: all users' jobs "
                        "that haven't ended take what they may; try again later",
                        asked);
        else
                (void)sd_bus_error_setf(
                        error, SG_ERROR_BUSY,
                        "user %s may have %s stored for jobs that haven't ended: it is "
                        "%s, and this takes %s; cancel some or wait for their ends, "
                        "or submit with a smaller environment",
                        s->job.user, max, held, asked);
        return -EBUSY;
}

static int charge(struct sg_submission *s, sd_bus_error *error)
{
        int r = sg_stored_take(&s->stored, s->manager, &s->job, s->count, s->spec.size);

        return r > 0 ? refuse_full(s, r, error) : r;
}

struct storing {
        struct sg_manager *manager;
        sd_bus_message *call;
        struct sg_owed owed;
        uint64_t first, count;
        bool run;
};

static void drop_unstored(struct storing *st)
{
        for (uint64_t i = 0; i < st->count; i++) {
                struct sg_live *l = sg_manager_find(st->manager, st->first + i);

                if (l)
                        sg_live_free(l);
        }
}

static void let_in(struct storing *st)
{
        for (uint64_t i = 0; i < st->count; i++) {
                struct sg_live *l = sg_manager_find(st->manager, st->first + i);

                sg_live_tell_kind(l, SG_LIFE_E_STORED);
                if (st->run && !l->runner->here) /* its terminal has gone meanwhile */
                        sg_live_stop(l, SG_INTENT_CANCEL, SG_LIFE_RUNNER_GONE);
        }
}

static void on_stored(int result, const struct sg_job *job, void *userdata)
{
        struct storing *st = userdata;
        uint64_t first = st->first;

        if (result < 0) {
                drop_unstored(st);
                (void)sd_bus_reply_method_errorf(
                        st->call, SG_ERROR_STORE, "cannot store the job: %s",
                        sg_store_error(st->manager->store) ?: strerror(-result));
        } else {
                if (result == 1) { /* asked again after a lost answer */
                        drop_unstored(st);
                        first = job->key.n;
                } else {
                        let_in(st);
                }
                (void)(st->run ? sd_bus_reply_method_return(st->call, "t", first)
                               : sd_bus_reply_method_return(st->call, "tt", first, st->count));
        }
        sg_api_paid(&st->owed);
        sd_bus_message_unref(st->call);
        free(st);
}

static int make_task(struct sg_submission *s, uint64_t i, struct sg_live **ret)
{
        struct sg_manager *m = s->manager;
        struct sg_live *l;
        int r;

        r = sg_live_new(&l, m, m->jobs->last_n + 1 + i);
        if (r < 0)
                return r;
        sg_live_hold_stored(l, s->stored);
        r = sg_job_copy(&l->job, &s->job);
        l->job.key.n = m->jobs->last_n + 1 + i;
        l->job.array_index += (int64_t)i;
        l->class = sg_settings_class_or_default(m->settings, s->job.class);
        l->queued.own_only = s->own_only;
        for (int k = 0; r >= 0 && k < 2; k++) {
                char **path = k == 0 ? &l->job.output : &l->job.error, *expanded;

                r = sg_job_expand_path(&l->job, *path, &expanded);
                if (r >= 0) {
                        free(*path);
                        *path = expanded;
                }
        }
        *ret = l;
        return r;
}

/* The live jobs are there before they are durable, so that ids stay in order; they wait for
 * `stored`. */
static int store(struct sg_submission *s, struct sg_client *runner)
{
        struct sg_manager *m = s->manager;
        struct storing *st = malloc(sizeof(*st));
        struct sg_live *l = NULL;
        int r = 0;

        if (!st)
                return -ENOMEM;
        *st = (struct storing){.manager = m,
                               .first = m->jobs->last_n + 1,
                               .count = s->count,
                               .run = runner != NULL};
        s->job.key.n = st->first;
        s->job.array_first = s->array_first != SG_UNLIMITED ? st->first : 0;
        for (uint64_t i = 0; r >= 0 && i < s->count; i++)
                r = make_task(s, i, &l);
        if (r >= 0 && runner)
                r = sg_runner_set(l, runner);
        if (r < 0) {
                drop_unstored(st);
                free(st);
                return r;
        }
        m->jobs->last_n += s->count;
        st->call = TAKE_PTR(s->call);
        st->owed = s->owed;
        s->owed = (struct sg_owed){0};
        sg_store_submit(m->store, s->count == 1 ? &l->job : &s->job, s->count,
                        s->token[0] ? s->token : NULL, s->spec.data, s->spec.size, on_stored, st);
        return 1;
}

/* --- Submit, DryRun */

/* What was asked for that keeps it out of the queue, in words. */
static bool must_wait(const struct sg_submission *s, char *why, size_t size)
{
        struct sg_job_key first;
        uint64_t n = sg_live_count_unfinished(s->manager, s->job.after, seen_uid(s), &first);
        char when[SG_FORMAT_MAX], id[SG_JOB_ID_MAX];

        if (s->job.hold) {
                (void)snprintf(why, size, "it would be held");
        } else if (n > 0) {
                sg_job_id_format(id, &first, s->manager->node.name);
                (void)snprintf(why, size, "it would wait for job %s%s", id,
                               n > 1 ? " and others" : "");
        } else if (s->job.begin_usec > sg_now_realtime_usec()) {
                (void)snprintf(why, size, "it would begin at %s",
                               sg_format_local(when, s->job.begin_usec));
        } else {
                return false;
        }
        return true;
}

/* Whether it would start now, in its class and with its limits: 1, or 0 and why not. */
static int would_start(struct sg_submission *s, char *why, size_t size)
{
        struct sg_node_snapshot node;
        struct sg_pending_info info;
        int r;

        if (must_wait(s, why, size))
                return 0;
        r = sg_manager_snapshot(s->manager, &node);
        if (r < 0)
                return r;
        sg_queue_would_start(s->manager->jobs->queue, &s->job, sg_loop_history(s->manager, &s->job),
                             &node, &info);
        sg_pending_describe(&info, why, size);
        return info.why == SG_PENDING_NONE;
}

/* For whoever submits it all the same. */
static int add_warning(char **doc, const char *warning)
{
        json_t *o = json_loads(*doc, 0, NULL);
        char *text;

        if (!o)
                return -ENOMEM;
        json_object_set_new(o, "warning", json_string(warning));
        text = json_dumps(o, JSON_COMPACT);
        json_decref(o);
        if (!text)
                return -ENOMEM;
        free(*doc);
        *doc = text;
        return 0;
}

static int reply_dry_run(struct sg_submission *s)
{
        _cleanup_free_ char *doc = NULL;
        char why[256], late[256];
        int r, warned;

        r = would_start(s, why, sizeof(why));
        if (r < 0)
                return r;
        warned = sg_foretell_deadline(s->manager, &s->job, late, sizeof(late));
        if (warned < 0)
                return warned;
        (void)sg_job_set_reason(&s->job, "%s%s%s", r > 0 ? "it would start now" : why,
                                warned ? "; " : "", warned ? late : "");
        r = sg_job_document(s->manager, &s->job, NULL, true, &doc);
        if (r >= 0 && warned)
                r = add_warning(&doc, late);
        return r < 0 ? r : sg_api_reply_document(s->manager, s->call, doc);
}

/* For --no-wait. */
static int check_room(struct sg_submission *s, sd_bus_error *error)
{
        char why[256];
        int r;

        r = would_start(s, why, sizeof(why));
        if (r != 0)
                return r < 0 ? r : 0;
        (void)sd_bus_error_setf(error, SG_ERROR_BUSY, "%s", why);
        return -EBUSY;
}

static int carry_out(struct sg_submission *s, const char *user, sd_bus_error *error)
{
        struct sg_client *c = sg_api_client(s->manager, s->call);
        int r;

        if (!c)
                return 1;                 /* it has gone: nobody to run this for, and nobody told */
        if (s->job.foreground && c->runs) /* both were asked for while names were looked up */
                return sd_bus_error_set(error, SG_ERROR_INVALID, "run: one job per connection");
        r = complete(s, &c->caller, user, error);
        if (r >= 0 && s->no_wait && !s->dry_run)
                r = check_room(s, error);
        if (r < 0)
                return r;
        put_identity(s, &c->caller);
        if (s->spec.error < 0)
                return s->spec.error;
        r = charge(s, error);
        if (r < 0)
                return r;
        return s->dry_run ? reply_dry_run(s) : store(s, s->job.foreground ? c : NULL);
}

static int refuse_nameless(struct sg_submission *s, int why, sd_bus_error *error)
{
        struct sg_client *c = sg_api_client(s->manager, s->call);
        char text[SG_USERS_WHY_MAX];

        if (!c)
                return 1;
        sg_users_explain(text, c->caller.uid, why);
        return sd_bus_error_set(error, SG_ERROR_BUSY, text);
}

/* What nobody can tell is asked for in vain only where it makes a difference: without that the job
 * is of its user's number. */
static int go_on_as(struct sg_submission *s, int result, const char *user, sd_bus_error *error)
{
        if (result < 0 && sg_settings_mind_names(s->manager->settings, s->job.class))
                return refuse_nameless(s, result, error);
        return carry_out(s, user, error);
}

static void on_user_known(int result, const char *user, void *userdata)
{
        _cleanup_(sg_submission_freep) struct sg_submission *s = userdata;
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        int r;

        sg_list_remove(&s->link);
        sg_api_paid(&s->lookup);
        r = go_on_as(s, result, user, &error);
        if (r < 0 && s->call) {
                if (sd_bus_error_is_set(&error))
                        (void)sd_bus_reply_method_error(s->call, &error);
                else
                        (void)sd_bus_reply_method_errno(s->call, r, NULL);
        }
}

void sg_submissions_drop(struct sg_manager *m, struct sg_client *c)
{
        struct sg_submission *s, *next;

        sg_list_foreach_safe (s, next, &c->submissions, link) {
                sg_users_cancel(m->users, on_user_known, s);
                sg_submission_free(s);
        }
}

/* The message, and what has been read of it. */
static int owe(struct sg_submission *s, const struct sg_client *c)
{
        int r = sg_api_owe(s->manager, s->call, SG_CHARGE_REQUESTS, c->request_bytes + s->spec.size,
                           &s->owed);

        return r < 0 ? r : sg_api_owe(s->manager, s->call, SG_CHARGE_LOOKUPS, 1, &s->lookup);
}

int sg_submission_go_on(struct sg_submission *s)
{
        struct sg_manager *m = s->manager;
        struct sg_client *c = sg_api_client(m, s->call);
        int r = owe(s, c);

        if (r >= 0) {
                sg_list_append(&c->submissions, &s->link);
                r = sg_users_lookup(m->users, c->caller.uid, on_user_known, s);
        }
        if (r == -EBUSY)
                r = sd_bus_reply_method_errorf(s->call, SG_ERROR_BUSY,
                                               "user %u submits too much at once; try again",
                                               c->caller.uid);
        else if (r >= 0)
                return 1;
        sg_submission_free(s);
        return r < 0 ? r : 1;
}

static int submit(sd_bus_message *call, struct sg_manager *m, bool dry_run, sd_bus_error *error)
{
        _cleanup_(sg_submission_freep) struct sg_submission *s = NULL;
        int r;

        r = sg_submission_new(&s, m, call);
        if (r < 0)
                return r;
        s->dry_run = dry_run;
        r = dry_run ? 1 : sg_authorize_submit(m, call, "submit", error);
        if (r <= 0)
                return sg_unauthorized(r);
        r = sg_submission_read_options(s, call, error);
        if (r >= 0)
                r = sg_submission_read_command(s, call, error);
        if (r < 0)
                return r;
        return sg_submission_go_on(TAKE_PTR(s));
}

int sg_api_submit(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        return submit(call, userdata, false, error);
}

int sg_api_dry_run(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        return submit(call, userdata, true, error);
}
