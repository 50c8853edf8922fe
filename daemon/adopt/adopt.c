/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a group that has processes to a job and to its end. A new group becomes a job when its
 * user's name is known, which mostly is at once; one that has gone by then never was a job. The row
 * is durable before the job is shown. A group that has ended can't be read any more, so it is read
 * now and then while it lives.
 */
#include "adopt/internal.h"
#include "base/time-util.h"
#include "core/job/command.h"
#include "edge/common/log.h"
#include "monitor/monitor.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <syslog.h>

#define ADOPTED_MAX 10000U
#define SAMPLE_USEC (5ULL * 1000000)

struct newcomer {
        struct sg_list link;
        struct sg_adopter *adopter;
        char *path;
        uint64_t inode;
        struct sg_adoptee as;
        struct sg_member first;
        struct sg_adopt_asker asker;
};

void sg_adopt_tell(struct sg_adopt_asker *asker, const struct sg_answer *refusal, uint64_t n)
{
        struct sg_adopt_asker once = *asker;

        *asker = (struct sg_adopt_asker){.told = NULL};
        if (once.told)
                once.told(refusal, n, once.userdata);
}

static void newcomer_free(struct newcomer *n)
{
        sg_list_remove(&n->link);
        sg_adopt_tell(&n->asker, NULL, 0);
        free(n->path);
        free(n);
}

static int adopted_new(struct sg_live *l)
{
        l->adopted = calloc(1, sizeof(*l->adopted));
        if (!l->adopted)
                return -ENOMEM;
        l->adopted->live = l;
        sg_list_init(&l->adopted->link);
        return 0;
}

void sg_adopted_forget(struct sg_live *l)
{
        struct sg_adopter *a = l->manager->adopter;
        struct sg_adopted *d = l->adopted;

        if (!d)
                return;
        if (d->watched)
                d->watched->owner = NULL;
        sg_unit_question_free(d->question);
        sd_event_source_disable_unref(d->timer);
        if (a && !sg_list_empty(&d->link) && !sg_life_is_settled(&l->life))
                a->n_jobs--;
        sg_list_remove(&d->link);
        free(d);
        l->adopted = NULL;
}

bool sg_adopted_is_limited(const struct sg_live *l)
{
        return l->adopted && l->adopted->limited;
}

static void on_ended(struct sg_watched *g, void *userdata)
{
        struct sg_live *l = g->owner;

        (void)userdata;
        g->owner = NULL;
        if (!l)
                return;
        l->adopted->watched = NULL;
        l->adopted->oom_kills = g->kills.own;
        if (sg_life_is_shown(&l->life)) /* else as soon as it is */
                sg_adopted_end(l, false);
}

/* --- what it does */

static void on_changed(struct sg_watched *g, void *userdata)
{
        struct sg_live *l = g->owner;
        struct sg_counters c;

        (void)userdata;
        if (!l || !l->groups.scope || sg_life_is_settled(&l->life))
                return;
        sg_scope_counters(l->groups.scope, &c); /* an OOM kill may be its last moment */
        if (g->frozen == (l->job.state == SG_JOB_SUSPENDED))
                return;
        sg_live_tell(l, &(struct sg_life_event){.kind = g->frozen ? SG_LIFE_E_SEEN_FROZEN
                                                                  : SG_LIFE_E_SEEN_THAWED,
                                                .reasons = SG_FREEZE_ALL});
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_adopter *a = userdata;
        uint64_t next = SAMPLE_USEC;
        struct sg_adopted *d, *after;
        struct sg_counters c;

        (void)source;
        (void)usec;
        sg_list_foreach_safe (d, after, &a->jobs, link) {
                struct sg_live *l = d->live;

                if (!sg_life_is_shown(&l->life))
                        continue;
                if (!l->adopted->settled)
                        sg_adopted_settle(l);
                if (l->job.adopted >= SG_ADOPTED_LIMITED && !l->adopted->limited)
                        sg_adopted_limit(l);
                if (l->job.adopted >= SG_ADOPTED_LIMITED && !l->adopted->limited)
                        next = SETTLE_USEC;
                if (l->adopted->thawed)
                        sg_adopted_freeze_again(l);
                sg_scope_counters(l->groups.scope, &c);
                if (l->adopted->watched)
                        sg_watched_refresh(l->adopted->watched);
        }
        if (!sg_list_empty(&a->jobs))
                sg_adopter_arm(a, next);
        return 0;
}

void sg_adopter_arm(struct sg_adopter *a, uint64_t delay_usec)
{
        uint64_t due = sg_now_monotonic_usec() + delay_usec, before;
        int r;

        /* Groups that come one after the other don't put the timer off. */
        if (a->timer && sd_event_source_get_enabled(a->timer, NULL) > 0 &&
            sd_event_source_get_time(a->timer, &before) >= 0 && before <= due)
                return;
        a->timer = sd_event_source_disable_unref(a->timer);
        r = sd_event_add_time_relative(a->manager->event, &a->timer, CLOCK_MONOTONIC, delay_usec,
                                       delay_usec / 10, on_timer, a);
        if (r < 0)
                sg_log(LOG_ERR, "cannot set the timer of adopted jobs: %s", strerror(-r));
}

/* --- the beginning */

/* Slices are typed by hand. Many jobs in a misspelt one are a line of the log. */
static void say_misspelt(const struct sg_live *l)
{
        struct sg_adopter *a = l->manager->adopter;
        char why[SG_ADOPT_NO_CLASS_MAX];

        if (!sg_adopt_no_class(l->manager->settings, l->job.class, why) ||
            strcmp(a->misspelt, l->job.class) == 0)
                return;
        strcpy(a->misspelt, l->job.class);
        sg_log(LOG_WARNING, "job %" PRIu64 " (%s): its slice is of no class: %s", l->job.key.n,
               l->job.group, why);
}

struct storing {
        struct sg_manager *manager;
        uint64_t n;
        struct sg_adopt_asker asker;
};

static void on_stored(int result, const struct sg_job *job, void *userdata)
{
        _cleanup_(sg_answer_deinit) struct sg_answer refusal = {.kind = SG_ANSWER_NONE};
        struct storing *st = userdata;
        struct sg_live *l = sg_manager_find(st->manager, st->n);

        (void)job;
        if (result < 0)
                sg_log(LOG_ERR, "cannot store that %s is a job: %s", l->job.group,
                       strerror(-result));
        if (result < 0)
                (void)sg_refuse(&refusal, SG_ANSWER_STORE, NULL, "cannot store the job: %s",
                                strerror(-result));
        sg_adopt_tell(&st->asker, result < 0 ? &refusal : NULL, st->n);
        free(st);
        if (result < 0) {
                sg_live_free(l);
                return;
        }
        sg_live_tell_kind(l, SG_LIFE_E_STORED);
        say_misspelt(l);
        if (!l->adopted->watched) {
                sg_adopted_end(l, false);
                return;
        }
        sg_monitor_watch(l);
        if (l->job.adopted >= SG_ADOPTED_LIMITED)
                sg_adopted_limit(l);
        sg_adopter_arm(l->manager->adopter, SETTLE_USEC);
}

static void fill_job(struct sg_live *l, const struct newcomer *n, const struct sg_watched *g,
                     const char *user)
{
        struct sg_job *j = &l->job;

        j->state = g->frozen ? SG_JOB_SUSPENDED : SG_JOB_RUNNING;
        j->adopted = n->as.how;
        j->uid = n->first.uid;
        j->gid = n->first.gid;
        j->pid = n->first.pid;
        j->started_usec = n->first.started_usec;
        j->submitted_usec = j->changed_usec = sg_now_realtime_usec();
        j->changed_by = n->asker.who;
        (void)snprintf(j->user, sizeof(j->user), "%s", user);
        strcpy(j->class, n->as.class);
        strcpy(j->boot_id, l->manager->node.boot_id);
        sg_adopt_name(n->path, j->name);
        (void)sg_watched_identity(g, j->invocation);
        l->class = sg_settings_class_or_default(l->manager->settings, j->class);
}

/* A scope to look at the group, or to govern it through systemd if it's a unit that may be. */
static int make_scope(struct sg_live *l, const struct sg_watched *g)
{
        const struct sg_adopt_rules rules = sg_adopter_rules(l->manager->adopter);
        char class[SG_CLASS_NAME_MAX];
        struct sg_unit_request req = {.unit = l->job.unit, .class_weight = l->class->weight};
        bool ask = l->job.unit && l->job.adopted >= SG_ADOPTED_LIMITED;
        int r;

        if (sg_adopt_class_slice(&rules, l->job.group, class))
                req.class = class;
        r = sg_scope_observe(&l->groups.scope, l->manager->backend, g, ask ? &req : NULL);
        if (r >= 0)
                sg_scope_read_limits(l->groups.scope, &l->job.limits);
        return r;
}

/* 0, and it owns the group. */
static int make_live(struct newcomer *n, struct sg_watched *g, const char *user,
                     struct sg_live **ret)
{
        struct sg_manager *m = n->adopter->manager;
        struct sg_live *l;
        int r;

        r = sg_live_new(&l, m, m->jobs->last_n + 1);
        if (r < 0)
                return r;
        fill_job(l, n, g, user);
        l->job.group = strdup(n->path);
        l->job.unit = n->as.unit[0] ? strdup(n->as.unit) : NULL;
        l->job.command = sg_command_shown(n->first.command, n->first.command_size);
        r = !l->job.group || (n->as.unit[0] && !l->job.unit) ? -ENOMEM : adopted_new(l);
        if (r >= 0)
                r = make_scope(l, g);
        if (r < 0) {
                sg_live_free(l);
                return r;
        }
        m->jobs->last_n++;
        l->adopted->watched = g;
        g->owner = l;
        sg_list_append(&n->adopter->jobs, &l->adopted->link);
        n->adopter->n_jobs++;
        *ret = l;
        return 0;
}

/* The group, if it is still there. */
static struct sg_watched *group_of(const struct newcomer *n)
{
        struct sg_watched *g = sg_watch_find(n->adopter->watch, n->path);

        return g && g->inode == n->inode && g->populated ? g : NULL;
}

/* -ESRCH: it was too short. */
static int take_in(struct newcomer *n, const char *user)
{
        struct sg_adopter *a = n->adopter;
        struct sg_watched *g = group_of(n);
        struct storing *st;
        struct sg_live *l;
        int r;

        if (!g)
                return -ESRCH;
        if (g->owner)
                return -EEXIST;
        st = malloc(sizeof(*st));
        if (!st)
                return -ENOMEM;
        r = make_live(n, g, user, &l);
        if (r < 0) {
                free(st);
                return r;
        }
        *st = (struct storing){a->manager, l->job.key.n, n->asker};
        n->asker = (struct sg_adopt_asker){.told = NULL};
        sg_store_submit(a->manager->store, &l->job, NULL, NULL, NULL, 0, on_stored, st);
        return 0;
}

static void on_user(int result, const char *name, void *userdata);

/* Whoever adopts by hand hears why; else the directory service is asked until it answers. */
static void without_name(struct newcomer *n, int error)
{
        _cleanup_(sg_answer_deinit) struct sg_answer refusal = {.kind = SG_ANSWER_NONE};
        char why[SG_USERS_WHY_MAX];

        sg_users_explain(why, n->first.uid, error);
        (void)sg_refuse(&refusal, SG_ANSWER_BUSY, NULL, "%s", why);
        if (n->asker.told)
                sg_adopt_tell(&n->asker, &refusal, 0);
        else if (group_of(n) && error != -ETIMEDOUT)
                sg_log(LOG_ERR, "cannot adopt %s: %s", n->path, why);
        else if (group_of(n) &&
                 sg_users_lookup(n->adopter->manager->users, n->first.uid, on_user, n) >= 0)
                return;
        newcomer_free(n);
}

static void on_user(int result, const char *name, void *userdata)
{
        _cleanup_(sg_answer_deinit) struct sg_answer refusal = {.kind = SG_ANSWER_NONE};
        struct newcomer *n = userdata;
        int r;

        if (result < 0) {
                without_name(n, result);
                return;
        }
        r = take_in(n, name);
        if (r < 0)
                (void)sg_refuse(&refusal, SG_ANSWER_WRONG_STATE, n->path, "%s: %s", n->path,
                                r == -EEXIST  ? "it is already a job"
                                : r == -ESRCH ? "it has ended"
                                              : strerror(-r));
        if (r < 0 && n->asker.told)
                sg_adopt_tell(&n->asker, &refusal, 0);
        else if (r < 0 && r != -ESRCH && r != -EEXIST)
                sg_log(LOG_ERR, "cannot adopt %s: %s", n->path, strerror(-r));
        newcomer_free(n);
}

static bool have_room(struct sg_adopter *a)
{
        if (a->n_jobs < ADOPTED_MAX)
                return true;
        if (!a->complained)
                sg_log(LOG_WARNING, "%u adopted jobs live already; no more are adopted",
                       ADOPTED_MAX);
        a->complained = true;
        return false;
}

int sg_adopter_welcome(struct sg_adopter *a, const struct sg_watched *g,
                       const struct sg_adoptee *as, const struct sg_adopt_asker *asker)
{
        struct newcomer *n;
        int r;

        if (!have_room(a))
                return -ENOSPC;
        n = calloc(1, sizeof(*n));
        if (!n)
                return -ENOMEM;
        sg_list_append(&a->newcomers, &n->link);
        n->adopter = a;
        n->as = *as;
        n->as.policy = NULL; /* settings may be replaced before it is taken in */
        n->inode = g->inode;
        n->path = strdup(g->path);
        r = n->path ? sg_watched_member(g, &n->first) : -ENOMEM;
        if (r >= 0) {
                if (asker)
                        n->asker = *asker;
                r = sg_users_lookup(a->manager->users, n->first.uid, on_user, n);
                if (r >= 0)
                        return 0;
                n->asker = (struct sg_adopt_asker){.told = NULL}; /* it hears it from who asked */
        }
        newcomer_free(n);
        return r;
}

static void on_populated(struct sg_watched *g, void *userdata)
{
        struct sg_adopter *a = userdata;
        const struct sg_adopt_rules rules = sg_adopter_rules(a);
        struct sg_adoptee as;
        int r = 0;

        if (sg_adopt_classify(&rules, g->path, &as) > 0)
                r = sg_adopter_welcome(a, g, &as, NULL);
        if (r < 0 && r != -ESRCH && r != -ENOSPC)
                sg_log(LOG_ERR, "cannot adopt %s: %s", g->path, strerror(-r));
}

static void on_look(const char *path, bool *ret_inside, bool *ret_wanted, void *userdata)
{
        const struct sg_adopt_rules rules = sg_adopter_rules(userdata);
        unsigned look = sg_adopt_look(&rules, path);

        *ret_inside = look & SG_LOOK_INSIDE;
        *ret_wanted = look & SG_LOOK_AT;
}

/* --- the daemon's return */

static bool is_here(struct sg_adopter *a, struct sg_live *l, struct sg_watched **ret)
{
        struct sg_watched *g;

        if (!l->job.group || sg_watch_add(a->watch, l->job.group, &g) < 0)
                return false;
        if (!g->populated || g->owner || !sg_watched_is(g, l->job.invocation))
                return false;
        *ret = g;
        return true;
}

static void take_back(struct sg_adopter *a, struct sg_live *l, struct sg_watched *g)
{
        l->adopted->watched = g;
        g->owner = l;
        l->adopted->limited = true; /* by the daemon that adopted it */
        sg_list_append(&a->jobs, &l->adopted->link);
        a->n_jobs++;
        on_changed(g, a);
        sg_monitor_watch(l);
        sg_live_tell_kind(l, SG_LIFE_E_MET_ADOPTED);
        if (l->job.adopted == SG_ADOPTED_GOVERNED && l->job.intent == SG_INTENT_NONE)
                sg_live_arm_time_limit(l);
}

static void find_again(struct sg_adopter *a, struct sg_live *l)
{
        struct sg_limits limits = l->job.limits;
        uint64_t frozen = l->job.frozen;
        struct sg_watched *g;

        l->job.frozen = 0; /* it may have gone */
        if (strcmp(l->job.boot_id, a->manager->node.boot_id) != 0) {
                (void)sg_job_set_reason(&l->job, "the machine was rebooted");
                sg_live_tell_kind(l, SG_LIFE_E_MET_ADOPTED);
                sg_live_tell(l,
                             &(struct sg_life_event){.kind = SG_LIFE_E_FAIL, .state = SG_JOB_LOST});
                return;
        }
        if (!is_here(a, l, &g) || make_scope(l, g) < 0) {
                sg_live_tell_kind(l, SG_LIFE_E_MET_ADOPTED);
                sg_adopted_end(l, true);
                return;
        }
        l->job.frozen = frozen;
        l->job.limits.time_limit_usec = limits.time_limit_usec;
        if (l->job.adopted == SG_ADOPTED_GOVERNED) { /* else it has our share of the time before */
                l->job.limits.cpu_weight = limits.cpu_weight;
                l->job.limits.cpu_quota_pm = limits.cpu_quota_pm;
        }
        take_back(a, l, g);
}

void sg_adopter_start(struct sg_adopter *a)
{
        struct sg_live *l, *next;
        struct sg_manager *m;

        if (!a)
                return;
        m = a->manager;
        sg_list_foreach_safe (l, next, &m->jobs->all, link)
                if (l->job.adopted && !l->adopted && adopted_new(l) >= 0)
                        find_again(a, l);
        if (a->n_jobs > 0)
                sg_adopter_arm(a, SAMPLE_USEC);
        sg_watch_scan(a->watch);
}

void sg_adopter_reload(struct sg_manager *m)
{
        struct sg_adopter *a = m->adopter;

        if (a) {
                a->complained = false;
                a->misspelt[0] = '\0';
                sg_watch_scan(a->watch);
        }
}

/* --- the object */

static const struct sg_watch_ops watch_ops = {
        .look = on_look,
        .populated = on_populated,
        .changed = on_changed,
        .ended = on_ended,
};

int sg_adopter_new(struct sg_adopter **ret, struct sg_manager *m)
{
        struct sg_adopter *a = calloc(1, sizeof(*a));
        int r;

        if (!a)
                return -ENOMEM;
        a->manager = m;
        a->slice = sg_backend_slice(m->backend);
        sg_list_init(&a->jobs);
        sg_list_init(&a->ending);
        sg_list_init(&a->newcomers);
        sg_list_init(&a->searches);
        r = sg_watch_new(&a->watch, m->backend, m->event, &watch_ops, a);
        if (r < 0) {
                (void)sg_adopter_free(a);
                a = NULL;
        }
        if (r < 0 && r != -ENOENT)
                return r;
        *ret = a;
        return 0;
}

/* To be freed after the jobs, which hold on to it. */
struct sg_adopter *sg_adopter_free(struct sg_adopter *a)
{
        struct newcomer *n, *next;

        if (!a)
                return NULL;
        sg_list_foreach_safe (n, next, &a->newcomers, link)
                newcomer_free(n);
        sg_adopter_forget_searches(a);
        a->timer = sd_event_source_disable_unref(a->timer);
        sg_watch_free(a->watch);
        free(a);
        return NULL;
}
