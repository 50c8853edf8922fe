/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What became of an attempt: its directory decides, read by the store when the shim has said that
 * it ended, has gone, or is met again at a restart. What lives on without its shim is watched until
 * its group is empty.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/process.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "jobs/ending.h"
#include "manager.h"
#include "monitor/monitor.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <syslog.h>

#define FAILED_STARTS_MAX 3

/* That a group can't be looked into, as descriptors are short, doesn't say that it is empty. */
static bool may_live(const struct sg_live *l)
{
        int r = l->scope ? sg_scope_populated(l->scope) : 0;

        return r > 0 || (r < 0 && r != -ENOENT && r != -ENODEV);
}

void sg_live_group_checked(struct sg_live *l)
{
        if (may_live(l)) {
                sg_live_await_empty(l);
                if (may_live(l)) /* else it emptied before the watch stood */
                        return;
        }
        sg_live_unwatch_group(l);
        if (l->record) {
                sg_live_take_record(l, l->record);
        } else {
                l->job.state = l->job.intent == SG_INTENT_CANCEL    ? SG_JOB_KILLED
                               : l->job.intent == SG_INTENT_TIMEOUT ? SG_JOB_TIMEOUT
                                                                    : SG_JOB_LOST;
                (void)sg_job_set_reason(&l->job, "%s; how it ended is not known",
                                        sg_live_host_went_down(l) ? "the host was restarted"
                                                                  : "its keeper was killed");
        }
        sg_live_conclude(l);
}

static int on_inspect_again(sd_event_source *source, uint64_t usec, void *userdata)
{
        (void)source;
        (void)usec;
        sg_live_inspect(userdata, SG_PUBLISH_VOID);
        return 0;
}

static void record_found(struct sg_live *l, const struct sg_exit *e)
{
        l->record = malloc(sizeof(*e));
        if (!l->record) {
                sg_live_rearm(l, SG_RETRY_USEC, on_inspect_again);
                return;
        }
        *l->record = *e;
        l->concluded = true;
        sg_live_group_checked(l);
}

static void keeper_lost(struct sg_live *l)
{
        l->concluded = true;
        if (l->scope && sg_scope_populated(l->scope) > 0)
                sg_log(LOG_WARNING, "job %" PRIu64 ": its keeper was killed; its processes go on",
                       l->job.key.n);
        sg_live_group_checked(l);
}

/* Recovery and the end of an attempt: the directory decides */

static void never_ran(struct sg_live *l)
{
        if (l->job.intent == SG_INTENT_CANCEL || l->job.intent == SG_INTENT_TIMEOUT) {
                l->job.state = SG_JOB_KILLED;
                sg_live_end(l);
        } else if (l->job.foreground) {
                l->job.state = SG_JOB_KILLED;
                (void)sg_job_set_reason(&l->job, "%s", SG_REASON_RUNNER_GONE);
                sg_live_end(l);
        } else if (l->not_its_fault) {
                l->job.begin_usec = sg_now_realtime_usec() + SG_START_AGAIN_USEC;
                sg_live_requeue(l);
        } else if (++l->failed_starts > FAILED_STARTS_MAX) {
                l->job.state = SG_JOB_FAILED;
                l->job.exit_code = SG_EXIT_OWN_FAILURE;
                (void)sg_job_set_reason(&l->job, "its keeper could not start it, %d times",
                                        FAILED_STARTS_MAX);
                sg_live_end(l);
        } else {
                (void)sg_job_set_reason(&l->job,
                                        "attempt %" PRIu64 " did not get as far as running",
                                        l->job.key.attempt);
                sg_live_requeue(l);
        }
}

/* We died before the shim's word that it runs was stored. Its oldest child is the job's process. */
static pid_t find_main(pid_t shim)
{
        char path[64], line[4096];
        int pid;

        (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)shim, (int)shim);
        if (sg_read_line_file(AT_FDCWD, path, line, sizeof(line)) < 0 ||
            sscanf(line, "%d", &pid) != 1)
                return 0;
        return pid;
}

static int on_watch_again(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_live *l = userdata;

        (void)source;
        (void)usec;
        l->group_source = sd_event_source_disable_unref(l->group_source);
        sg_live_inspect(l, SG_PUBLISH_VOID); /* its keeper may be another process's pid by then */
        return 0;
}

/* Unwatched, its end would never be seen. Its own timer is for its grace, should it be cancelled
 * meanwhile. */
static void watch_later(struct sg_live *l, int error)
{
        int r;

        sg_log(LOG_ERR, "job %" PRIu64 ": cannot watch its keeper: %s; trying again", l->job.key.n,
               strerror(-error));
        r = sd_event_add_time_relative(l->manager->event, &l->group_source, CLOCK_MONOTONIC,
                                       SG_RETRY_USEC, 0, on_watch_again, l);
        if (r < 0)
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot set a timer: %s", l->job.key.n,
                       strerror(-r));
}

static void adopt_running(struct sg_live *l, pid_t shim)
{
        int r = l->shim > 0 ? 0 : sg_live_watch_shim(l, shim, -1);
        uint64_t age;

        if (r == -ESRCH) { /* it ended while we looked */
                sg_live_inspect(l, SG_PUBLISH_NONE);
                return;
        }
        if (r < 0) {
                watch_later(l, r);
                return;
        }
        if (l->job.pid == 0)
                l->job.pid = find_main(shim);
        if (l->runs_since_usec == 0 && sg_process_age_usec((pid_t)l->job.pid, &age) >= 0)
                l->runs_since_usec = sg_now_boottime_usec() - age;
        r = sg_live_find_scope(l, shim);
        if (r < 0)
                sg_log(LOG_ERR,
                       "job %" PRIu64 ": its groups aren't there any more, so it is neither "
                       "measured nor limited, and only its first process can be ended",
                       l->job.key.n);
        if (l->scope)
                sg_scope_set_main(l->scope, shim, (pid_t)l->job.pid);
        if (l->job.state == SG_JOB_STARTING) {
                l->job.state = SG_JOB_RUNNING;
                l->job.started_usec = sg_now_realtime_usec();
                sg_live_changed(l);
        }
        if (l->scope && (sg_scope_frozen(l->scope) > 0) != (l->job.state == SG_JOB_SUSPENDED)) {
                l->job.state = l->job.state == SG_JOB_SUSPENDED ? SG_JOB_RUNNING : SG_JOB_SUSPENDED;
                sg_live_changed(l);
        }
        if (l->scope) {
                sg_monitor_watch(l);
                (void)sg_live_watch_group(l);
        }
        if (l->job.intent != SG_INTENT_NONE)
                sg_live_kill(l, false);
        else
                sg_live_arm_time_limit(l);
}

/* A shim that hadn't joined its groups yet when we died found them collected when it did. */
static bool failed_with_us(const struct sg_attempt_info *info)
{
        return info->have_exit && info->exit.stage == SG_STAGE_SETUP &&
               info->fate != SG_ATTEMPT_RUN;
}

static bool record_counts(const struct sg_live *l, const struct sg_attempt_info *info)
{
        if (!info->have_exit || (l->job.foreground && info->shim > 0))
                return false;
        return !info->exit_unnamed || !sg_live_host_went_down(l);
}

static void on_inspected(int result, const struct sg_attempt_info *info, void *userdata)
{
        struct sg_live *l = userdata;
        struct sg_manager *m = l->manager;
        bool recovered = l->recovering;

        l->inspecting = false;
        if (l->recovering) {
                l->recovering = false;
                if (--m->n_recovering == 0)
                        sg_manager_schedule(m);
        }
        if (result < 0) {
                sg_log(LOG_ERR,
                       "job %" PRIu64 ": cannot read its attempt's directory: %s; trying again",
                       l->job.key.n, strerror(-result));
                sg_live_rearm(l, SG_RETRY_USEC, on_inspect_again);
        } else if (l->concluded) {
                return;
        } else if (recovered && failed_with_us(info) && !l->job.foreground) {
                never_ran(l);
        } else if (record_counts(l, info)) {
                record_found(l, &info->exit);
        } else if (info->fate == SG_ATTEMPT_RUN && info->shim > 0) {
                adopt_running(l, info->shim);
        } else if (info->fate == SG_ATTEMPT_RUN) {
                keeper_lost(l);
        } else if (info->fate == SG_ATTEMPT_NO_DIR && l->job.state != SG_JOB_STARTING) {
                keeper_lost(l);
        } else {
                never_ran(l);
        }
}

void sg_live_inspect(struct sg_live *l, enum sg_publish publish)
{
        /* An answer must not come when the job has been stored as ended and is gone. */
        if (l->inspecting || l->concluded)
                return;
        l->inspecting = true;
        sg_store_inspect(l->manager->store, &l->job.key, publish, on_inspected, l);
}
