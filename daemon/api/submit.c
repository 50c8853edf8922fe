/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Submissions: read and checked at once, completed when the user's name is known, stored, and
 * answered when that is durable. A retry with the same token is answered with what was stored the
 * first time.
 */
#include "api/internal.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "base/time-util.h"
#include "proto/array.h"
#include "proto/spec.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

struct sg_submission *sg_submission_free(struct sg_submission *s)
{
        if (!s)
                return NULL;
        sg_list_remove(&s->link);
        sg_api_paid(&s->owed);
        sg_api_paid(&s->lookup);
        sg_call_unref(s->call);
        sg_request_deinit(&s->request);
        sg_record_deinit(&s->spec);
        sg_stored_unref(s->stored);
        sg_throttle_unref(s->throttle);
        free(s->command);
        free(s);
        return NULL;
}

int sg_submission_new(struct sg_submission **ret, struct sg_call *call)
{
        struct sg_submission *s = calloc(1, sizeof(*s));

        if (!s)
                return -ENOMEM;
        s->manager = call->manager;
        s->call = sg_call_ref(call);
        sg_list_init(&s->link);
        sg_request_init(&s->request, call->verb);
        *ret = s;
        return 0;
}

int sg_submission_read(struct sg_submission *s, struct sg_answer *a)
{
        int r = sg_call_read(s->call, &s->request, a);

        if (r >= 0)
                r = sg_request_check_options(&s->request, a);
        if (r >= 0)
                r = sg_submission_check_progress(s, a);
        return r < 0 ? r : sg_request_check_command(&s->request, a);
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
        struct sg_job *j = &s->request.job;
        struct sg_record *r = &s->spec;

        j->uid = c->uid;
        j->gid = c->gid;
        sg_record_put_u64(r, SG_SPEC_UID, c->uid);
        sg_record_put_u64(r, SG_SPEC_GID, c->gid);
        for (size_t i = 0; i < c->n_groups; i++)
                sg_record_put_u64(r, SG_SPEC_GROUP, c->groups[i]);
        sg_record_put_u64(r, SG_SPEC_UMASK, s->request.umask);
        put_rlimits(r, c);
        sg_record_put_str(r, SG_SPEC_WORKDIR, s->request.workdir ?: "/");
        sg_record_put_str(r, SG_SPEC_ON_END, s->request.on_end);
}

/* --- the class */

/* The rule that shuts the user out is told, so that they know whom to ask for what. */
static int check_class(const struct sg_class *class, const char *user, char *const *groups,
                       struct sg_answer *a)
{
        char rule[SG_CLASS_RULE_MAX];

        if (!sg_class_rule(class, user, groups, rule))
                return 0;
        return sg_refuse(a, SG_ANSWER_INVALID, "class",
                         "class: '%s' is not for user %s: its policy says %s\n"
                         "see `schedctl limits` for the classes that are",
                         class->name, user, rule);
}

static int find_class(struct sg_submission *s, const struct sg_caller *c,
                      const struct sg_class **ret, struct sg_answer *a)
{
        struct sg_job *j = &s->request.job;
        const struct sg_settings *settings = s->manager->settings;
        _cleanup_strv_ char **groups = NULL;
        int r;

        r = sg_users_group_names(c->groups, c->n_groups, &groups);
        if (r < 0)
                return r;
        if (j->class[0] == 0) {
                *ret = sg_settings_match(settings, j->user, groups, s->command,
                                         sg_request_wants_gpus(&s->request));
        } else {
                *ret = sg_settings_class(settings, j->class);
                if (!*ret)
                        r = sg_api_no_class(s->manager, j->class, a);
                else if (!sg_caller_is_admin(s->manager, c))
                        r = check_class(*ret, j->user, groups, a);
        }
        return r;
}

static int check_dependencies(struct sg_submission *s, const struct sg_caller *c,
                              struct sg_answer *a)
{
        char why[512];
        int r;

        s->own_only = !sg_caller_sees_all(s->manager, c);
        r = sg_live_check_dependencies(s->manager, s->request.job.after, sg_submission_sees(s), why,
                                       sizeof(why));

        return r >= 0 ? r
                      : sg_refuse(a, r == -ENOENT ? SG_ANSWER_NO_SUCH_JOB : SG_ANSWER_INVALID,
                                  "after", "%s", why);
}

/* Everything that can be wrong with a request is found here, before anything is stored. */
static int complete(struct sg_submission *s, const struct sg_caller *c, const char *user,
                    struct sg_answer *a)
{
        struct sg_job *j = &s->request.job;
        struct sg_manager *m = s->manager;
        const struct sg_class *class = NULL;
        int r;

        (void)snprintf(j->user, sizeof(j->user), "%s", user);
        r = find_class(s, c, &class, a);
        if (r < 0)
                return r;
        strcpy(j->class, class->name);
        sg_limits_complete(&j->limits, s->request.asked, class);
        r = sg_limits_check(&j->limits, s->request.asked, class, m->settings, &m->node, a);
        if (r >= 0)
                r = sg_gpus_take(&s->request, &class->gpus.given, class, m->settings, &j->gpu, a);
        if (r >= 0)
                r = sg_gpus_check_fit(m, j->gpu, a);
        if (r < 0)
                return r;
        strcpy(j->key.origin, m->node.name);
        j->submitted_usec = j->changed_usec = sg_now_realtime_usec();
        j->changed_by = (struct sg_who){true, c->uid};
        if (m->jobs->n + s->request.count > m->settings->max_queued_per_user &&
            sg_manager_count_waiting(m, c->uid) + s->request.count >
                    m->settings->max_queued_per_user)
                return sg_refuse(a, SG_ANSWER_BUSY, NULL,
                                 "user %s may have %" PRIu64 " jobs waiting at once", user,
                                 m->settings->max_queued_per_user);
        return check_dependencies(s, c, a);
}

/* --- storing it */

static int refuse_full(struct sg_submission *s, int full, struct sg_answer *a)
{
        const struct sg_ledger *l = s->manager->ledger;
        uint64_t bytes = sg_stored_bytes(&s->request.job, s->request.count, s->spec.size);
        uint32_t uid = (uint32_t)s->request.job.uid;
        char asked[SG_FORMAT_MAX], held[SG_FORMAT_MAX], max[SG_FORMAT_MAX];

        (void)sg_format_bytes(asked, bytes);
        (void)sg_format_bytes(held, sg_ledger_held(l, uid, SG_CHARGE_STORED));
        (void)sg_format_bytes(max, sg_ledger_limit(l, uid, SG_CHARGE_STORED));
        if (full == SG_LEDGER_FULL)
                return sg_refuse(a, SG_ANSWER_BUSY, NULL,
                                 "no room to store another %s: the unfinished jobs of all users "
                                 "take up the space; try again later",
                                 asked);
        return sg_refuse(a, SG_ANSWER_BUSY, NULL,
                         "user %s may store %s for unfinished jobs: %s are in use, and "
                         "this needs %s; cancel some, wait for them to end, "
                         "or submit with a smaller environment",
                         s->request.job.user, max, held, asked);
}

static int charge(struct sg_submission *s, struct sg_answer *a)
{
        int r = sg_stored_take(&s->stored, s->manager, &s->request.job, s->request.count,
                               s->spec.size);

        return r > 0 ? refuse_full(s, r, a) : r;
}

struct storing {
        struct sg_manager *manager;
        struct sg_call *call;
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
                        sg_live_stop(l, (struct sg_who){0}, SG_INTENT_CANCEL, SG_LIFE_RUNNER_GONE);
        }
}

static void reply_stored(struct storing *st, uint64_t first)
{
        struct sg_reply *r = sg_call_reply(st->call);

        sg_reply_u64(r, st->run ? "number" : "first", first);
        if (!st->run)
                sg_reply_u64(r, "count", st->count);
        (void)sg_call_send(st->call);
}

static void on_stored(int result, const struct sg_job *job, void *userdata)
{
        struct storing *st = userdata;
        uint64_t first = st->first;

        if (result < 0) {
                drop_unstored(st);
                sg_call_refuse_line(st->call, SG_ANSWER_STORE, NULL, "cannot store the job: %s",
                                    sg_store_error(st->manager->store) ?: strerror(-result));
        } else {
                if (result == 1) { /* asked again after a lost answer */
                        drop_unstored(st);
                        first = job->key.n;
                } else {
                        let_in(st);
                }
                reply_stored(st, first);
        }
        sg_api_paid(&st->owed);
        sg_call_unref(st->call);
        free(st);
}

static int make_task(struct sg_submission *s, uint64_t i, uint64_t index, struct sg_live **ret)
{
        struct sg_manager *m = s->manager;
        struct sg_live *l;
        int r;

        r = sg_live_new(&l, m, m->jobs->last_n + 1 + i);
        if (r < 0)
                return r;
        sg_live_hold_stored(l, s->stored);
        if (s->throttle)
                sg_live_hold_throttle(l, s->throttle);
        r = sg_job_copy(&l->job, &s->request.job);
        l->class = sg_settings_class_or_default(m->settings, s->request.job.class);
        l->queued.own_only = s->own_only;
        *ret = l;
        return r < 0 ? r : sg_job_become_task(&l->job, i, index);
}

/* The last of them. */
static int make_tasks(struct sg_submission *s, struct sg_live **ret)
{
        struct sg_array_walk walk = sg_array_walk(s->request.array ?: "0");
        uint64_t index;
        int r = 0;

        if (s->request.job.array_max > 0)
                r = sg_throttle_new(&s->throttle, s->request.job.array_max);
        for (uint64_t i = 0; r >= 0 && sg_array_next(&walk, &index); i++)
                r = make_task(s, i, index, ret);
        return r;
}

/* The live jobs are there before they are durable, so that ids stay in order; they wait for
 * `stored`. */
static int store(struct sg_submission *s, struct sg_client *runner)
{
        struct sg_manager *m = s->manager;
        struct storing *st = malloc(sizeof(*st));
        struct sg_live *l = NULL;
        int r;

        if (!st)
                return -ENOMEM;
        *st = (struct storing){.manager = m,
                               .first = m->jobs->last_n + 1,
                               .count = s->request.count,
                               .run = runner != NULL};
        s->request.job.key.n = st->first;
        s->request.job.array_first = s->request.array ? st->first : 0;
        r = make_tasks(s, &l);
        if (r >= 0 && runner)
                r = sg_runner_set(l, runner);
        if (r < 0) {
                drop_unstored(st);
                free(st);
                return r;
        }
        m->jobs->last_n += s->request.count;
        sg_manager_make_room(m);
        st->call = TAKE_PTR(s->call);
        st->owed = s->owed;
        s->owed = (struct sg_owed){0};
        sg_store_submit(m->store, s->request.array ? &s->request.job : &l->job, s->request.array,
                        s->request.token[0] ? s->request.token : NULL, s->spec.data, s->spec.size,
                        on_stored, st);
        return 1;
}

/* --- Submit, DryRun; DescribeLimits, for which the name is what is waited for */

static int carry_out(struct sg_submission *s, const char *user, struct sg_answer *a)
{
        struct sg_client *c = sg_call_client(s->call);
        bool dry_run = s->request.verb == SG_REQUEST_DRY_RUN;
        int r;

        if (!c)
                return 1; /* it has gone: nobody to run this for, and nobody told */
        if (s->request.verb == SG_REQUEST_DESCRIBE_LIMITS)
                return sg_limits_reply(s->call, user);
        /* (both may have been asked for while names were looked up) */
        if (s->request.job.foreground && c->runs)
                return sg_refuse(a, SG_ANSWER_INVALID, NULL, "run: one job per connection");
        r = complete(s, &c->caller, user, a);
        if (r >= 0 && s->request.no_wait && !dry_run)
                r = sg_submission_check_room(s, a);
        if (r < 0)
                return r;
        put_identity(s, &c->caller);
        if (s->spec.error < 0)
                return s->spec.error;
        r = charge(s, a);
        if (r < 0)
                return r;
        return dry_run ? sg_submission_reply_dry_run(s)
                       : store(s, s->request.job.foreground ? c : NULL);
}

static int refuse_nameless(struct sg_submission *s, int why, struct sg_answer *a)
{
        struct sg_client *c = sg_call_client(s->call);
        char text[SG_USERS_WHY_MAX];

        if (!c)
                return 1;
        sg_users_explain(text, c->caller.uid, why);
        return sg_refuse(a, SG_ANSWER_BUSY, NULL, "%s", text);
}

/* What nobody can tell is asked for in vain only where it makes a difference: without that the job
 * is of its user's number. */
static int go_on_as(struct sg_submission *s, int result, const char *user, struct sg_answer *a)
{
        if (result < 0 && sg_settings_mind_names(s->manager->settings, s->request.job.class))
                return refuse_nameless(s, result, a);
        return carry_out(s, user, a);
}

static void on_user_known(int result, const char *user, void *userdata)
{
        _cleanup_(sg_submission_freep) struct sg_submission *s = userdata;
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};
        int r;

        sg_list_remove(&s->link);
        sg_api_paid(&s->lookup);
        r = go_on_as(s, result, user, &a);
        if (r < 0 && s->call)
                sg_call_refuse(s->call, &a, r);
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
        int r = sg_api_owe(s->call, SG_CHARGE_REQUESTS, c->request_bytes + s->spec.size, &s->owed);

        return r < 0 ? r : sg_api_owe(s->call, SG_CHARGE_LOOKUPS, 1, &s->lookup);
}

int sg_submission_go_on(struct sg_submission *s, struct sg_answer *a)
{
        struct sg_client *c = sg_call_client(s->call);
        int r = owe(s, c);

        if (r >= 0) {
                sg_list_append(&c->submissions, &s->link);
                r = sg_users_lookup(s->manager->users, c->caller.uid, on_user_known, s);
                if (r >= 0)
                        return 1;
        }
        if (r == -EBUSY)
                r = sg_refuse(a, SG_ANSWER_BUSY, NULL,
                              "user %u submits too many jobs at once; try again", c->caller.uid);
        sg_submission_free(s);
        return r;
}

int sg_api_submit(struct sg_call *call, struct sg_answer *a)
{
        _cleanup_(sg_submission_freep) struct sg_submission *s = NULL;
        bool dry_run = call->verb == SG_REQUEST_DRY_RUN;
        int r;

        r = sg_submission_new(&s, call);
        if (r < 0)
                return r;
        r = dry_run ? 1 : sg_authorize_submit(call, "submit", a);
        if (r <= 0)
                return r;
        r = sg_submission_read(s, a);
        if (r >= 0)
                r = sg_submission_take_command(s);
        return r < 0 ? r : sg_submission_go_on(TAKE_PTR(s), a);
}
