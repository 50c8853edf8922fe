/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The end of an attempt and what follows: the row that says how is made durable, and only then is
 * anybody told and anything removed; or it goes back to the queue.
 */
#include "jobs/ending.h"
#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "govern/loop.h"
#include "manager.h"
#include "metrics/metrics.h"
#include "monitor/monitor.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <syslog.h>

/* After the end is durable */

static int on_release_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
        (void)source;
        (void)usec;
        sg_live_release(userdata);
        return 0;
}

void sg_live_rearm(struct sg_live *l, uint64_t delay_usec, sd_event_time_handler_t handler)
{
        int r;

        l->timer = sd_event_source_disable_unref(l->timer);
        r = sd_event_add_time_relative(l->manager->event, &l->timer, CLOCK_MONOTONIC, delay_usec, 0,
                                       handler, l);
        if (r < 0)
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot set a timer: %s", l->job.key.n,
                       strerror(-r));
}

void sg_live_release(struct sg_live *l)
{
        if (l->shim > 0)
                return; /* comes again when it has exited */
        sg_live_close_gate(l);
        if (sg_live_drop_scope(l) == -EBUSY) {
                (void)sg_scope_signal(l->scope, SIGKILL);
                sg_live_rearm(l, SG_RETRY_USEC / 10, on_release_timer);
                return;
        }
        free(l->record);
        l->record = NULL;
        if (l->requeueing) {
                l->requeueing = l->ended_durable = l->dropping = false;
                l->timer = sd_event_source_disable_unref(l->timer);
                sg_launcher_forget(l->manager->launcher, l);
                if (l->job.intent == SG_INTENT_CANCEL) {
                        l->job.state = SG_JOB_KILLED;
                        sg_live_end(l);
                } else {
                        sg_live_enqueue(l);
                }
        } else {
                sg_live_free(l);
        }
}

static int on_store_again(sd_event_source *source, uint64_t usec, void *userdata);

static void on_end_durable(int result, const struct sg_job *job, void *userdata)
{
        struct sg_live *l = userdata;
        struct sg_manager *m = l->manager;

        (void)job;
        if (result < 0) { /* the exit record stays where it is: nothing is lost, only late */
                l->end_sent = false;
                sg_live_log_unstored(l, "end", result);
                sg_live_rearm(l, SG_RETRY_USEC, on_store_again);
                return;
        }
        sg_live_log_stored(l, "end");
        l->ended_durable = true;
        sg_api_emit(m, &l->job);
        if (!l->requeueing) {
                sg_live_log_end(l);
                sg_metrics_ended(m->metrics, l);
                sg_api_answer_waiters(l);
                sg_manager_dependency_ended(m, &l->job);
        }
        sg_live_release(l);
}

static int on_store_again(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_live *l = userdata;

        (void)source;
        (void)usec;
        sg_store_finish(l->manager->store, &l->job, on_end_durable, l);
        return 0;
}

static void store_end(struct sg_live *l)
{
        sg_manager_fault(l->manager, "finish");
        l->end_sent = !l->requeueing;
        sg_store_finish(l->manager->store, &l->job, on_end_durable, l);
}

void sg_live_end(struct sg_live *l)
{
        struct sg_manager *m = l->manager;

        if (l->dropping)
                return;
        l->dropping = true;
        l->concluded = true;
        sg_live_let_go(l);
        l->timer = sd_event_source_disable_unref(l->timer);
        sg_live_unwatch_group(l);
        sg_list_remove(&l->after_link);
        sg_queue_remove(m->queue, &l->entry);
        sg_manager_schedule(m);
        l->job.pid = 0;
        l->job.changed_usec = sg_now_realtime_usec();
        if (!l->requeueing) {
                free(l->job.command);
                l->job.command = NULL;
                if (l->job.ended_usec == 0)
                        l->job.ended_usec = sg_now_realtime_usec();
                if (l->attach) {
                        (void)sd_bus_reply_method_errorf(
                                l->attach, SG_ERROR_WRONG_STATE, "%s",
                                l->job.reason ?: "it was ended before it started");
                        l->attach = sd_bus_message_unref(l->attach);
                }
                l->attachable = false;
                l->runner = NULL; /* an Attach that comes now finds nothing */
        }
        sg_loop_end(l);
        if (!sg_monitor_finish(l, store_end))
                store_end(l);
}

void sg_live_requeue(struct sg_live *l)
{
        l->requeueing = true;
        l->job.state = SG_JOB_QUEUED;
        l->job.intent = SG_INTENT_NONE;
        sg_live_end(l);
}

static bool worth_retrying(const struct sg_job *j)
{
        bool failed = j->state == SG_JOB_OOM || j->state == SG_JOB_KILLED ||
                      j->state == SG_JOB_FAILED || j->state == SG_JOB_LOST ||
                      (j->state == SG_JOB_EXITED && j->exit_code != 0);

        return failed && j->retry > 0 && j->intent == SG_INTENT_NONE && !j->foreground;
}

void sg_live_conclude(struct sg_live *l)
{
        struct sg_job *j = &l->job;

        if (j->intent == SG_INTENT_REQUEUE && !j->foreground) {
                sg_live_requeue(l);
        } else if (worth_retrying(j)) {
                j->retry--;
                if (j->state == SG_JOB_EXITED)
                        (void)sg_job_set_reason(
                                j, "attempt %" PRIu64 " exited with %" PRIi64 "; trying again",
                                j->key.attempt, j->exit_code);
                else
                        (void)sg_job_set_reason(j, "attempt %" PRIu64 " ended as %s; trying again",
                                                j->key.attempt, sg_job_state_to_string(j->state));
                sg_live_requeue(l);
        } else {
                sg_live_end(l);
        }
}
