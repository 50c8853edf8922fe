/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Between the queue and the rest: a pass starts what the queue names; a job that can't be in the
 * queue yet (held, not before a time, waiting for other jobs, or for other tasks of its array) is
 * kept out of it here and put there when its obstacle is gone.
 */
#include "base/format.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "govern/loop.h"
#include "gpus/gpus.h"
#include "jobs/internal.h"
#include "monitor/monitor.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

/* Background jobs that start at the same time: enough to share commits, and few enough that a burst
 * of thousands doesn't need, and leave behind, memory for all of them at once. */
#define STARTING_MAX 64U
/* How long no start is tried after one failed for want of something on the node: else all jobs that
 * wait would try in turn, and fail. */
#define PAUSE_USEC (1ULL * 1000000)

/* What jobs use of the memory that they declare. */
static uint64_t declared_memory_used(const struct sg_manager *m)
{
        struct sg_live *l;
        uint64_t sum = 0;

        sg_list_foreach (l, &m->jobs->all, link) {
                uint64_t used;

                if (!l->groups.scope || l->job.adopted || l->job.limits.memory_max == SG_UNLIMITED)
                        continue;
                used = sg_monitor_memory_now(l);
                if (used != SG_UNLIMITED)
                        sum += used;
        }
        return sum;
}

int sg_manager_snapshot(struct sg_manager *m, struct sg_node_snapshot *ret)
{
        int r;

        r = sg_node_snapshot(&m->node, ret);
        if (r < 0)
                return r;
        ret->gpus = sg_gpus_pool(m);
        if (sg_queue_n_running(m->jobs->queue) > 0)
                ret->stocks[SG_STOCK_MEMORY].declared_used = declared_memory_used(m);
        return 0;
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
        (void)source;
        (void)usec;
        sg_manager_schedule(userdata);
        return 0;
}

/* What somebody waits for may become free without any event of ours: look again. */
static void arm_retry(struct sg_manager *m, uint64_t delay_usec)
{
        if (m->jobs->retry) {
                (void)sd_event_source_set_time_relative(m->jobs->retry, delay_usec);
                (void)sd_event_source_set_enabled(m->jobs->retry, SD_EVENT_ONESHOT);
                return;
        }
        (void)sd_event_add_time_relative(m->event, &m->jobs->retry, CLOCK_MONOTONIC, delay_usec, 0,
                                         on_retry, m);
}

void sg_manager_pause_starts(struct sg_manager *m, const char *what, int error)
{
        if (m->jobs->starts_from_usec == 0)
                sg_log(LOG_ERR, "cannot %s: %s; jobs wait until it can be done", what,
                       strerror(-error));
        m->jobs->starts_from_usec = sg_now_monotonic_usec() + PAUSE_USEC;
}

void sg_manager_starts_work(struct sg_manager *m)
{
        if (m->jobs->starts_from_usec > 0)
                sg_log(LOG_NOTICE, "jobs can be started again");
        m->jobs->starts_from_usec = 0;
}

/* Those that may have become idle since they were last looked at. */
static void look_at_idle(struct sg_manager *m, uint64_t now)
{
        struct sg_live *l;

        sg_list_foreach (l, &m->jobs->active, groups.active_link) {
                const struct sg_queue_entry *e = &l->queued.entry;

                if (e->running && !e->passed && e->idle_usec <= now)
                        sg_monitor_look_idle(l);
        }
}

static int on_schedule(sd_event_source *source, void *userdata)
{
        struct sg_manager *m = userdata;
        struct sg_queue_entry *e;
        struct sg_node_snapshot node;
        uint64_t retry = 0, now = sg_now_monotonic_usec();
        int r;

        (void)source;
        if (m->jobs->n_recovering > 0 || sg_queue_n_waiting(m->jobs->queue) == 0)
                return 0;
        if (m->jobs->starts_from_usec > now) {
                arm_retry(m, m->jobs->starts_from_usec - now);
                return 0;
        }
        look_at_idle(m, now);
        r = sg_manager_snapshot(m, &node);
        if (r < 0) {
                sg_log(LOG_ERR, "cannot read the node's memory: %s; no job is started",
                       strerror(-r));
                arm_retry(m, SG_USEC_PER_SEC);
                return 0;
        }
        while (m->jobs->n_starting < STARTING_MAX && m->jobs->starts_from_usec <= now &&
               (e = sg_queue_next(m->jobs->queue, &node, &retry)))
                sg_live_tell_kind(sg_list_entry(e, struct sg_live, queued.entry), SG_LIFE_E_TURN);
        if (retry > 0)
                arm_retry(m, retry - node.now_usec);
        return 0;
}

void sg_manager_schedule(struct sg_manager *m)
{
        if (!m->jobs->schedule) {
                int r = sd_event_add_defer(m->event, &m->jobs->schedule, on_schedule, m);

                if (r < 0) {
                        sg_log(LOG_ERR, "cannot schedule: %s", strerror(-r));
                        return;
                }
        }
        (void)sd_event_source_set_enabled(m->jobs->schedule, SD_EVENT_ONESHOT);
}

/* Obstacles */

static int on_begin(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_live *l = userdata;

        (void)source;
        (void)usec;
        l->queued.begin_timer = sd_event_source_disable_unref(l->queued.begin_timer);
        sg_live_enqueue(l);
        return 0;
}

/* CLOCK_REALTIME, so that a corrected clock moves the start with it. */
static int wait_for_begin(struct sg_live *l)
{
        sd_event_source **timer = &l->queued.begin_timer;
        int r;

        *timer = sd_event_source_disable_unref(*timer);
        r = sd_event_add_time(l->manager->event, timer, CLOCK_REALTIME, l->job.begin_usec, 0,
                              on_begin, l);
        if (r < 0)
                return r;
        /* All that are due at one moment are queued before a pass chooses among them. */
        return sd_event_source_set_priority(*timer, SD_EVENT_PRIORITY_IMPORTANT);
}

void sg_live_enqueue(struct sg_live *l)
{
        struct sg_manager *m = l->manager;
        int r;

        if (l->life.state != SG_LIFE_WAITING || l->queued.entry.lane || l->job.hold ||
            l->life.asked > 0 || l->queued.n_after > 0)
                return;
        if (l->job.begin_usec > sg_now_realtime_usec()) {
                r = wait_for_begin(l);
                if (r >= 0)
                        return;
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot wait for its begin: %s", l->job.key.n,
                       strerror(-r));
        }
        if (!sg_throttle_lets_in(l))
                return;
        if (l->job.gpu)
                sg_gpus_wake(m);
        l->queued.entry.n = l->job.key.n;
        sg_queue_describe(m->jobs->queue, &l->queued.entry, &l->job, sg_loop_history(m, &l->job));
        r = sg_queue_add(m->jobs->queue, &l->queued.entry, l->job.class, l->job.uid, false);
        if (r < 0)
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot queue: %s", l->job.key.n, strerror(-r));
        sg_manager_schedule(m);
}

void sg_live_leave_queue(struct sg_live *l)
{
        struct sg_queued *q = &l->queued;

        q->begin_timer = sd_event_source_disable_unref(q->begin_timer);
        q->lookup_timer = sd_event_source_disable_unref(q->lookup_timer);
        sg_list_remove(&q->after_link);
        sg_queue_remove(l->manager->jobs->queue, &q->entry);
        sg_throttle_leave(l);
}

void sg_do_enqueue(struct sg_live *l)
{
        sg_live_enqueue(l);
}

void sg_do_leave_queue(struct sg_live *l)
{
        sg_live_leave_queue(l);
}

/* A start that hangs, as a file that its user named doesn't open, takes nobody else's place
 * meanwhile. */
void sg_do_set_aside(struct sg_live *l)
{
        sg_queue_set_aside(l->manager->jobs->queue, &l->queued.entry, true);
        sg_manager_schedule(l->manager);
}

/* Takes the job out of the queue only: what else it waits for it goes on waiting for. */
void sg_do_keep_back(struct sg_live *l)
{
        sg_queue_remove(l->manager->jobs->queue, &l->queued.entry);
        sg_throttle_leave(l);
}

void sg_do_pause_starts(struct sg_live *l)
{
        sg_manager_pause_starts(l->manager, "make groups for jobs", sg_live_event(l)->error);
}

void sg_queued_init(struct sg_queued *q)
{
        sg_list_init(&q->after_link);
        sg_list_init(&q->throttle_link);
        sg_list_init(&q->entry.link);
}

void sg_queued_deinit(struct sg_live *l)
{
        sg_live_release_throttle(l);
        sg_live_leave_queue(l);
        free(l->queued.after);
}

/* In words */

static uint64_t whole_seconds(uint64_t usec)
{
        return usec / SG_USEC_PER_SEC + 1;
}

/* Idle ones whose minutes end at about the same time are spoken of together. */
static void describe_slots(const struct sg_pending_info *info, char *buf, size_t size)
{
        bool together = info->last_usec - info->first_usec < 5 * SG_USEC_PER_SEC;
        int n = snprintf(buf, size, "%" PRIu64 " of %" PRIu64 " slots", info->running, info->max);

        if (n < 0 || (size_t)n >= size)
                return;
        buf += n;
        size -= (size_t)n;
        if (info->quiet == 0)
                (void)snprintf(buf, size, " are taken");
        else if (together)
                (void)snprintf(buf, size, ": %" PRIu64 " idle %s will be passed in %" PRIu64 " s",
                               info->quiet, info->quiet == 1 ? "one" : "ones",
                               whole_seconds(info->last_usec));
        else
                (void)snprintf(buf, size,
                               ": the first of %" PRIu64 " idle ones will be passed in %" PRIu64
                               " s",
                               info->quiet, whole_seconds(info->first_usec));
}

static void describe_shortage(const struct sg_pending_info *info, char *buf, size_t size)
{
        const struct sg_stock_type *s = info->stock;
        char need[SG_FORMAT_MAX], left[SG_FORMAT_MAX];

        if (info->need == 0)
                (void)snprintf(buf, size, "%s: only the reserve is free", s->name);
        else
                (void)snprintf(buf, size, "%s: needs %s, and %s can be promised now", s->name,
                               s->format(need, info->need), s->format(left, info->free));
}

/* "16:40", or with the day if that isn't today. */
static const char *clock_time(char buf[SG_FORMAT_MAX], uint64_t usec)
{
        char today[SG_FORMAT_MAX];
        const size_t day = strlen("2026-11-18 ");

        sg_format_local(today, sg_now_realtime_usec());
        sg_format_local(buf, usec);
        buf[day + strlen("12:00")] = '\0';
        return strncmp(today, buf, day) == 0 ? buf + day : buf;
}

static void describe_gpus(struct sg_manager *m, const struct sg_pending_info *info, char *buf,
                          size_t size)
{
        char text[SG_GPU_LACK_TEXT_MAX], when[SG_FORMAT_MAX], id[SG_JOB_ID_MAX];
        struct sg_gpu_lack lack = info->lack;
        const struct sg_live *until = info->until_n > 0 ? sg_manager_find(m, info->until_n) : NULL;
        uint64_t now = sg_now_monotonic_usec();
        int n;

        if (lack.kind == SG_GPU_LACK_UNKNOWN && !sg_gpus_managed(m))
                lack.kind = SG_GPU_LACK_DRIVER;
        n = snprintf(buf, size, "%s", sg_gpu_lack_format(text, info->gpu, &lack));
        if (!until || n < 0 || (size_t)n >= size)
                return;
        sg_job_id_format(id, &until->job.key, m->node.name);
        (void)snprintf(
                buf + n, size - (size_t)n, "; job %s ends at the latest %s", id,
                clock_time(when, sg_now_realtime_usec() +
                                         (info->until_usec > now ? info->until_usec - now : 0)));
}

static void describe_user_gpus(const struct sg_pending_info *info, char *buf, size_t size)
{
        if (info->max == 0)
                (void)snprintf(buf, size, "class %s allows this user no GPUs", info->class);
        else
                (void)snprintf(buf, size, "class %s allows this user %" PRIu64 " GPU%s",
                               info->class, info->max, info->max == 1 ? "" : "s");
}

static void describe_turn(struct sg_manager *m, const struct sg_pending_info *info, char *buf,
                          size_t size)
{
        const struct sg_live *head = sg_manager_find(m, info->head);
        char id[SG_JOB_ID_MAX] = "";
        int n;

        if (head)
                sg_job_id_format(id, &head->job.key, m->node.name);
        n = snprintf(buf, size, "job %s is before it%s", id,
                     info->stock || info->gpu ? " and waits for " : "");
        if (n < 0 || (size_t)n >= size)
                return;
        if (info->stock)
                describe_shortage(info, buf + n, size - (size_t)n);
        else if (info->gpu)
                describe_gpus(m, info, buf + n, size - (size_t)n);
}

void sg_pending_describe(struct sg_manager *m, const struct sg_pending_info *info, char *buf,
                         size_t size)
{
        buf[0] = 0;
        switch (info->why) {
        case SG_PENDING_NONE:
                break;
        case SG_PENDING_NODE_FULL:
                describe_slots(info, buf, size);
                break;
        case SG_PENDING_USER_FULL:
                (void)snprintf(buf, size,
                               "%" PRIu64 " jobs of this user run in the foreground, as many as "
                               "there are slots",
                               info->running);
                break;
        case SG_PENDING_CLASS_FULL:
                (void)snprintf(buf, size, "class %s is full: %" PRIu64 " of %" PRIu64 " jobs run",
                               info->class, info->running, info->max);
                break;
        case SG_PENDING_CLASS_USER_FULL:
                if (info->max == 1)
                        (void)snprintf(buf, size, "class %s allows this user one running job",
                                       info->class);
                else
                        (void)snprintf(buf, size,
                                       "class %s allows this user %" PRIu64 " running jobs",
                                       info->class, info->max);
                break;
        case SG_PENDING_CLASS_USER_GPUS:
                describe_user_gpus(info, buf, size);
                break;
        case SG_PENDING_SHORT:
                describe_shortage(info, buf, size);
                break;
        case SG_PENDING_GPUS:
                describe_gpus(m, info, buf, size);
                break;
        case SG_PENDING_TURN:
                describe_turn(m, info, buf, size);
                break;
        case SG_PENDING_KEPT:
                (void)snprintf(buf, size, "it would delay a job that is before it");
                break;
        }
}

/* One snapshot serves all rows of a list, as making it looks at every job. */
static int snapshot_to_explain(struct sg_manager *m, const struct sg_node_snapshot **ret)
{
        uint64_t iteration;
        int r = sd_event_get_iteration(m->event, &iteration);

        if (r < 0)
                return r;
        if (m->jobs->explained.now_usec == 0 || m->jobs->explained_iteration != iteration) {
                r = sg_manager_snapshot(m, &m->jobs->explained);
                if (r < 0)
                        return r;
                m->jobs->explained_iteration = iteration;
        }
        *ret = &m->jobs->explained;
        return 0;
}

/* " and 4 others", or nothing. */
static void others_text(size_t n, char *buf, size_t size)
{
        buf[0] = 0;
        if (n > 0)
                (void)snprintf(buf, size, " and %zu other%s", n, n == 1 ? "" : "s");
}

void sg_live_why_pending(struct sg_live *l, char *buf, size_t size)
{
        struct sg_pending_info info;
        const struct sg_node_snapshot *node;
        const char *home = l->manager->node.name;
        char when[SG_FORMAT_MAX], id[SG_JOB_ID_MAX], others[SG_FORMAT_MAX];

        buf[0] = 0;
        if (l->job.hold) {
                sg_job_id_format(id, &l->job.key, home);
                (void)snprintf(buf, size, "held; `schedctl release %s` lets it start", id);
        } else if (l->life.asked > 0) {
                (void)snprintf(buf, size, "its hold is being stored");
        } else if (l->queued.n_after > 0) {
                sg_job_id_format(id, &l->queued.after[0].key, home);
                others_text(l->queued.n_after - 1, others, sizeof(others));
                (void)snprintf(buf, size, "waiting for job %s%s", id, others);
        } else if (sg_throttle_keeps_out(l)) {
                (void)snprintf(buf, size, "its array runs at most %" PRIu64 " of its tasks at once",
                               l->job.array_max);
        } else if (!l->queued.entry.lane && l->job.begin_usec > 0) {
                (void)snprintf(buf, size, "begins at %s", sg_format_local(when, l->job.begin_usec));
        } else if (snapshot_to_explain(l->manager, &node) >= 0) {
                sg_queue_explain(l->manager->jobs->queue, &l->queued.entry, node, &info);
                sg_pending_describe(l->manager, &info, buf, size);
        }
}
