/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `--after`: what a job waits for. A dependency that lives is waited for in memory; one that has
 * ended is looked up in the store, which says how.
 */
#include "base/time-util.h"
#include "edge/common/log.h"
#include "jobs/internal.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#define DEPENDENCIES_MAX 64

/* One "N[@origin][:ok|:any]". */
static int parse_one(const char *home, const char *text, size_t size, struct sg_dependency *ret)
{
        char word[SG_JOB_ID_MAX + 8], *colon;

        if (size == 0 || size >= sizeof(word))
                return -EINVAL;
        memcpy(word, text, size);
        word[size] = 0;
        ret->any_end = false;
        colon = strchr(word, ':');
        if (colon) {
                *colon = 0;
                if (strcmp(colon + 1, "any") == 0)
                        ret->any_end = true;
                else if (strcmp(colon + 1, "ok") != 0)
                        return -EINVAL;
        }
        return sg_job_id_parse(word, home, &ret->key);
}

/* The list, at most DEPENDENCIES_MAX long; its length, or a negative errno. */
static int parse_all(const char *home, const char *after, struct sg_dependency *list)
{
        int n = 0, r;

        for (const char *p = after; p && *p;) {
                size_t size = strcspn(p, ",");

                if (n == DEPENDENCIES_MAX)
                        return -E2BIG;
                r = parse_one(home, p, size, &list[n++]);
                if (r < 0)
                        return r;
                p += size + (p[size] == ',');
        }
        return n;
}

static bool has_ended(const struct sg_live *l)
{
        return sg_life_end_is_stored(&l->life);
}

static bool is_ours(const struct sg_manager *m, const struct sg_job_key *key)
{
        return strcmp(key->origin, m->node.name) == 0;
}

static const struct sg_live *find_seen(struct sg_manager *m, const struct sg_job_key *key,
                                       uint64_t uid)
{
        const struct sg_live *l = sg_manager_find_key(m, key);

        return l && (uid == SG_UNLIMITED || l->job.uid == uid) ? l : NULL;
}

int sg_live_check_dependencies(struct sg_manager *m, const char *after, uint64_t uid, char *why,
                               size_t size)
{
        struct sg_dependency list[DEPENDENCIES_MAX];
        char id[SG_JOB_ID_MAX];
        int n = parse_all(m->node.name, after, list);

        if (n == -E2BIG)
                (void)snprintf(why, size, "after: at most %d jobs", DEPENDENCIES_MAX);
        else if (n < 0)
                (void)snprintf(why, size, "after: wants JOB or JOB:ok or JOB:any, not '%s'", after);
        for (int i = 0; i < n; i++) {
                const struct sg_job_key *key = &list[i].key;

                if (find_seen(m, key, uid) || (is_ours(m, key) && key->n <= m->jobs->last_n))
                        continue;
                sg_job_id_format(id, key, m->node.name);
                (void)snprintf(why, size,
                               is_ours(m, key) ? "after: there is no job %s"
                                               : "after: there is no live job %s\nonly jobs of "
                                                 "this node can be waited for",
                               id);
                return -ENOENT;
        }
        return n < 0 ? n : 0;
}

uint64_t sg_live_count_unfinished(struct sg_manager *m, const char *after, uint64_t uid,
                                  struct sg_job_key *ret_first)
{
        struct sg_dependency list[DEPENDENCIES_MAX];
        int n = parse_all(m->node.name, after, list);
        uint64_t count = 0;

        for (int i = 0; i < n; i++) {
                const struct sg_live *l = find_seen(m, &list[i].key, uid);

                if (l && !has_ended(l) && count++ == 0)
                        *ret_first = list[i].key;
        }
        return count;
}

/* Reads the row's list. A "5" without origin in it is of the same origin as the job. */
static int set_dependencies(struct sg_live *l)
{
        struct sg_dependency list[DEPENDENCIES_MAX];
        int n = parse_all(l->job.key.origin, l->job.after, list);

        if (n <= 0)
                return n;
        l->queued.after = malloc((size_t)n * sizeof(*l->queued.after));
        if (!l->queued.after)
                return -ENOMEM;
        memcpy(l->queued.after, list, (size_t)n * sizeof(*l->queued.after));
        l->queued.n_after = (size_t)n;
        sg_list_append(&l->manager->jobs->dependents, &l->queued.after_link);
        return 0;
}

/* One by one */

static bool ended_well(const struct sg_job *j)
{
        return j->state == SG_JOB_EXITED && j->exit_code == 0;
}

/* Fails the job, whose reason has been set. */
static void give_up(struct sg_live *l)
{
        sg_live_tell(l, &(struct sg_life_event){.kind = SG_LIFE_E_FAIL, .state = SG_JOB_FAILED});
}

static void fail(struct sg_live *l, const struct sg_job_key *dependency, const char *how)
{
        char id[SG_JOB_ID_MAX];

        sg_job_id_format(id, dependency, l->manager->node.name);
        (void)sg_job_set_reason(&l->job, "job %s, which it waited for, %s", id, how);
        give_up(l);
}

static void met(struct sg_live *l, size_t i)
{
        l->queued.after[i] = l->queued.after[--l->queued.n_after];
        if (l->queued.n_after == 0) {
                sg_list_remove(&l->queued.after_link);
                sg_live_enqueue(l);
        }
}

/* Strikes a job that has ended off the list. false: that made this one fail. */
static bool settle(struct sg_live *l, const struct sg_job *ended)
{
        for (size_t i = 0; i < l->queued.n_after;) {
                char how[64];

                if (!sg_job_key_is_same(&l->queued.after[i].key, &ended->key)) {
                        i++;
                        continue;
                }
                if (l->queued.after[i].any_end || ended_well(ended)) {
                        met(l, i); /* now i is another entry, maybe of the same job */
                        continue;
                }
                if (ended->state == SG_JOB_EXITED)
                        (void)snprintf(how, sizeof(how), "exited with %" PRIi64, ended->exit_code);
                else
                        (void)snprintf(how, sizeof(how), "ended as %s",
                                       sg_job_state_to_string(ended->state));
                fail(l, &ended->key, how);
                return false;
        }
        return true;
}

void sg_manager_dependency_ended(struct sg_manager *m, const struct sg_job *ended)
{
        struct sg_live *l, *next;

        sg_list_foreach_safe (l, next, &m->jobs->dependents, queued.after_link)
                (void)settle(l, ended);
}

/* Dependencies that had ended before we looked */

static void settle_all(struct sg_live *l);

struct lookup {
        struct sg_manager *manager;
        uint64_t job;
        struct sg_job_key dependency;
        bool found;
};

/* The groups of the submitting process aren't known any more, so a member of the group that manages
 * all jobs counts as any other user here. */
static bool is_visible(const struct sg_live *l, const struct sg_job *job)
{
        return l->manager->settings->show_others == SG_SHOW_LIST || l->job.uid == job->uid ||
               l->job.uid == 0 || l->job.uid == getuid();
}

static void on_found(int result, const struct sg_job *job, void *userdata)
{
        struct lookup *k = userdata;
        struct sg_live *l = sg_manager_find(k->manager, k->job);

        if (result < 0 || !job || !l || l->life.state != SG_LIFE_WAITING || !is_visible(l, job))
                return;
        k->found = true;
        if (sg_job_state_is_final(job->state))
                (void)settle(l, job);
}

static int on_look_again(sd_event_source *source, uint64_t usec, void *userdata)
{
        (void)source;
        (void)usec;
        settle_all(userdata);
        return 0;
}

static void look_again_later(struct sg_live *l, int error)
{
        sd_event_source **timer = &l->queued.lookup_timer;
        int r;

        sg_log(LOG_ERR, "job %" PRIu64 ": cannot look up what it waits for: %s; trying again",
               l->job.key.n, strerror(-error));
        *timer = sd_event_source_disable_unref(*timer);
        r = sd_event_add_time_relative(l->manager->event, timer, CLOCK_MONOTONIC, SG_USEC_PER_SEC,
                                       0, on_look_again, l);
        if (r < 0)
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot set a timer: %s", l->job.key.n,
                       strerror(-r));
}

static void on_looked_up(int result, const struct sg_job *job, void *userdata)
{
        struct lookup *k = userdata;
        struct sg_live *l = sg_manager_find(k->manager, k->job);

        (void)job;
        if (l && l->life.state == SG_LIFE_WAITING && !k->found && l->queued.n_after > 0) {
                if (result < 0)
                        look_again_later(l, result);
                else
                        fail(l, &k->dependency, "is not known any more");
        }
        free(k);
}

static int look_up(struct sg_live *l, const struct sg_job_key *key)
{
        struct sg_manager *m = l->manager;
        struct sg_store_query q = {
                .n = key->n, .origin = key->origin, .uid = SG_UNLIMITED, .limit = 1};
        struct lookup *k = malloc(sizeof(*k));

        if (!k)
                return -ENOMEM;
        *k = (struct lookup){.manager = m, .job = l->job.key.n, .dependency = *key};
        sg_store_list(m->store, &q, on_found, on_looked_up, k);
        return 0;
}

static void settle_all(struct sg_live *l)
{
        uint64_t uid = l->queued.own_only ? l->job.uid : SG_UNLIMITED;

        for (size_t i = l->queued.n_after; i > 0; i--) {
                const struct sg_job_key *key = &l->queued.after[i - 1].key;
                const struct sg_live *other = find_seen(l->manager, key, uid);

                if (!other && look_up(l, key) < 0) {
                        fail(l, key, "cannot be looked up: out of memory");
                        return;
                }
                if (other && has_ended(other) && !settle(l, &other->job))
                        return;
        }
        sg_live_enqueue(l);
}

void sg_do_await(struct sg_live *l)
{
        int r = set_dependencies(l);

        if (r < 0) {
                (void)sg_job_set_reason(&l->job, "cannot tell what it waits for: %s", strerror(-r));
                give_up(l);
        } else {
                settle_all(l);
        }
}
