/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The object, and all of them. */
#include "adopt/adopt.h"
#include "edge/common/log.h"
#include "govern/loop.h"
#include "gpus/gpus.h"
#include "jobs/internal.h"
#include "monitor/monitor.h"
#include <errno.h>
#include <poll.h>
#include <string.h>

#define SHIM_EXIT_MSEC 1000

static struct sg_live **bucket(struct sg_manager *m, uint64_t n)
{
        return &m->jobs->buckets[n % SG_JOB_BUCKETS];
}

struct sg_live *sg_manager_find(struct sg_manager *m, uint64_t n)
{
        struct sg_live *l = *bucket(m, n);

        while (l && l->job.key.n != n)
                l = l->chain;
        return l;
}

struct sg_live *sg_manager_find_key(struct sg_manager *m, const struct sg_job_key *key)
{
        struct sg_live *l = *bucket(m, key->n);

        while (l && !sg_job_key_is_same(&l->job.key, key))
                l = l->chain;
        return l;
}

struct sg_live *sg_live_task_before(const struct sg_live *l)
{
        struct sg_live *before;

        if (l->job.array_first == 0 || l->link.prev == &l->manager->jobs->all)
                return NULL;
        before = sg_list_entry(l->link.prev, struct sg_live, link);
        return before->job.array_first == l->job.array_first &&
                               strcmp(before->job.key.origin, l->job.key.origin) == 0
                       ? before
                       : NULL;
}

uint64_t sg_manager_count_waiting(struct sg_manager *m, uint64_t uid)
{
        struct sg_live *l;
        uint64_t n = 0;

        sg_list_foreach (l, &m->jobs->all, link)
                n += l->job.uid == uid && l->job.state == SG_JOB_QUEUED;
        return n;
}

int sg_live_new(struct sg_live **ret, struct sg_manager *m, uint64_t n)
{
        struct sg_live *l = calloc(1, sizeof(*l));

        if (!l)
                return -ENOMEM;
        l->manager = m;
        sg_queued_init(&l->queued);
        sg_groups_init(&l->groups);
        sg_attempt_init(&l->attempt);
        sg_job_init(&l->job);
        strcpy(l->job.key.origin, m->node.name);
        l->job.key.n = n;
        l->class = sg_settings_default(m->settings);
        sg_list_append(&m->jobs->all, &l->link);
        m->jobs->n++;
        l->chain = *bucket(m, n);
        *bucket(m, n) = l;
        *ret = l;
        return 0;
}

static void unlink_job(struct sg_live *l)
{
        struct sg_live **p = bucket(l->manager, l->job.key.n);

        while (*p != l)
                p = &(*p)->chain;
        *p = l->chain;
        sg_list_remove(&l->link);
        l->manager->jobs->n--;
}

void sg_live_free(struct sg_live *l)
{
        struct sg_jobs *jobs = l->manager->jobs;

        jobs->calls->forget(l);
        unlink_job(l);
        jobs->n_starting -= sg_life_is_starting(&l->life, &l->job);
        sg_live_stop_timers(l, 0);
        sg_adopted_forget(l);
        sg_queued_deinit(l);
        sg_loop_end(l);
        sg_monitor_forget(l);
        sg_attempt_deinit(l);
        sg_groups_deinit(l);
        sg_gpus_release(l, false);
        sg_live_release_stored(l);
        sg_job_deinit(&l->job);
        free(l->runner);
        free(l);
}

/* All of them */

void sg_jobs_find_classes(struct sg_manager *m)
{
        struct sg_live *l;

        sg_list_foreach (l, &m->jobs->all, link)
                l->class = sg_settings_class_or_default(m->settings, l->job.class);
}

void sg_jobs_reload(struct sg_manager *m)
{
        struct sg_live *l;

        sg_list_foreach (l, &m->jobs->all, link)
                sg_live_apply_class(l);
        if (sg_queue_configure(m->jobs->queue, m->settings) < 0)
                sg_log(LOG_ERR, "cannot apply all of the queue's settings: out of memory");
        sg_store_set_retention(m->store, m->settings->history_jobs, m->settings->history_usec,
                               m->settings->keep_commands);
        sg_manager_bound_stored(m);
        sg_manager_settle_kept(m);
        sg_manager_schedule(m);
}

int sg_jobs_new(struct sg_jobs **ret, struct sg_manager *m)
{
        struct sg_jobs *jobs = calloc(1, sizeof(*jobs));
        int r;

        if (!jobs)
                return -ENOMEM;
        sg_list_init(&jobs->all);
        sg_list_init(&jobs->active);
        sg_list_init(&jobs->dependents);
        r = sg_queue_new(&jobs->queue, sg_stock_types, SG_N_STOCKS);
        if (r >= 0)
                r = sg_poller_new(&jobs->gates, m->event, sg_live_on_gate);
        if (r >= 0)
                r = sg_poller_new(&jobs->shims, m->event, sg_live_on_shim_exit);
        if (r >= 0)
                r = sg_poller_new(&jobs->groups, m->event, sg_live_on_group);
        if (r < 0) {
                sg_jobs_free(jobs);
                return r;
        }
        *ret = jobs;
        return 0;
}

int sg_jobs_listen(struct sg_jobs *jobs, struct sg_manager *m, const char *runtime_dir)
{
        return sg_gate_socket_new(&jobs->comebacks, m->event, runtime_dir, sg_live_on_comeback, m);
}

/* A job that has ended, but for its shim, which is exiting: its groups are not left to the next
 * start. */
static void remove_groups_of_ended(struct sg_live *l)
{
        struct pollfd shim = {.fd = l->attempt.shim_pidfd, .events = POLLIN};

        if (l->life.state != SG_LIFE_CLEARING || !l->groups.scope)
                return;
        if (l->attempt.shim > 0)
                (void)poll(&shim, 1, SHIM_EXIT_MSEC);
        (void)sg_live_drop_scope(l);
}

struct sg_jobs *sg_jobs_free(struct sg_jobs *jobs)
{
        struct sg_live *l, *next;

        if (!jobs)
                return NULL;
        sg_list_foreach_safe (l, next, &jobs->all, link) {
                remove_groups_of_ended(l);
                sg_live_free(l);
        }
        jobs->gates = sg_poller_free(jobs->gates);
        jobs->shims = sg_poller_free(jobs->shims);
        jobs->groups = sg_poller_free(jobs->groups);
        sg_queue_free(jobs->queue);
        sd_event_source_disable_unref(jobs->schedule);
        sd_event_source_disable_unref(jobs->retry);
        sd_event_source_disable_unref(jobs->sweep);
        sg_launcher_free(jobs->launcher);
        sg_gate_socket_free(jobs->comebacks);
        free(jobs);
        return NULL;
}
