/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How an attempt ended, and what follows: the attempt's directory is read (by the store), its
 * record becomes the job's row, the row is made durable, and only then is anybody told and anything
 * removed.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/format.h"
#include "base/time-util.h"
#include "edge/log.h"
#include "manager.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <syslog.h>

#define FAILED_STARTS_MAX 3
#define RETRY_USEC (1ULL * 1000000)
#define GROUP_POLL_USEC (1ULL * 1000000)

/* After the end is durable */

static int on_release_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
        (void)source;
        (void)usec;
        sg_live_release(userdata);
        return 0;
}

int sg_live_drop_scope(struct sg_live *l)
{
        struct sg_manager *m = l->manager;

        if (!l->scope)
                return 0;
        if (sg_scope_remove(l->scope) == -EBUSY)
                return -EBUSY;
        for (unsigned cpu = 0; l->job.limits.pin && cpu < SG_CPUS_MAX; cpu++)
                m->pinned[cpu] -= sg_cpuset_has(&l->pinned, cpu);
        sg_list_remove(&l->active_link);
        l->scope = sg_scope_free(l->scope);
        return 0;
}

static void rearm(struct sg_live *l, uint64_t delay_usec, sd_event_time_handler_t handler)
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
                rearm(l, RETRY_USEC / 10, on_release_timer);
                return;
        }
        free(l->record);
        l->record = NULL;
        if (l->requeueing) {
                l->requeueing = l->ended_durable = l->dropping = false;
                l->timer = sd_event_source_disable_unref(l->timer);
                sg_live_enqueue(l);
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
                sg_log_job(LOG_ERR, NULL, NULL, NULL,
                           "job %" PRIu64 ": cannot store its end: %s; trying again", l->job.key.n,
                           strerror(-result));
                rearm(l, RETRY_USEC, on_store_again);
                return;
        }
        l->ended_durable = true;
        sg_api_emit(m, &l->job);
        if (!l->requeueing) {
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

void sg_live_end(struct sg_live *l)
{
        struct sg_manager *m = l->manager;

        if (l->dropping)
                return;
        l->dropping = true;
        l->concluded = true;
        l->timer = sd_event_source_disable_unref(l->timer);
        l->group_source = sd_event_source_disable_unref(l->group_source);
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
        }
        sg_manager_fault(l->manager, "finish");
        sg_store_finish(m->store, &l->job, on_end_durable, l);
}

static void requeue(struct sg_live *l)
{
        l->requeueing = true;
        l->job.state = SG_JOB_QUEUED;
        l->job.intent = SG_INTENT_NONE;
        sg_live_end(l);
}

/* What the record says */

static void say_never_ran(struct sg_live *l, const struct sg_exit *e)
{
        l->job.state = SG_JOB_FAILED;
        l->job.exit_code = e->stage != SG_STAGE_EXEC                   ? SG_EXIT_OWN_FAILURE
                           : e->error == ENOENT || e->error == ENOTDIR ? SG_EXIT_NOT_FOUND
                                                                       : SG_EXIT_NOT_EXECUTABLE;
        (void)sg_job_set_reason(&l->job, "cannot %s: %s", sg_stage_to_string(e->stage),
                                strerror(e->error));
}

/* A shell reports a child's SIGKILL as 137: an OOM kill stays one behind `sh -c`. */
static bool died_of_memory(const struct sg_exit *e)
{
        return e->main_oom_killed ||
               (e->oom_kills != SG_UNLIMITED && e->oom_kills > 0 && e->exit_code == 128 + SIGKILL);
}

/* Its scope is stopped after us, so an end that we find at the next boot was most likely brought
 * about by the shutdown. */
static bool host_went_down(const struct sg_live *l)
{
        return strcmp(l->job.boot_id, l->manager->node.boot_id) != 0;
}

static void say_how_it_ended(struct sg_live *l, const struct sg_exit *e)
{
        char limit[SG_FORMAT_MAX];

        l->job.exit_code = e->exit_code;
        l->job.signal = e->signal;
        if (l->job.intent == SG_INTENT_TIMEOUT) {
                l->job.state = SG_JOB_TIMEOUT;
        } else if (l->job.intent == SG_INTENT_CANCEL) {
                l->job.state = SG_JOB_KILLED;
        } else if (died_of_memory(e)) {
                l->job.state = SG_JOB_OOM;
                (void)sg_job_set_reason(&l->job, "it needed more memory than its limit of %s",
                                        sg_format_bytes(limit, l->job.limits.memory_max));
        } else if (e->signal > 0) {
                l->job.state = SG_JOB_KILLED;
                (void)sg_job_set_reason(&l->job, "killed by SIG%s%s",
                                        sg_signal_name(e->signal) ?: "?",
                                        host_went_down(l) ? " when the host went down" : "");
        } else {
                l->job.state = SG_JOB_EXITED;
                if (host_went_down(l))
                        (void)sg_job_set_reason(&l->job, "it ended as the host went down");
        }
}

/* What an ordinary user's shim wrote is a claim: counters and OOM evidence come from the groups,
 * and times must fit. */
static void correct_foreground(struct sg_live *l, struct sg_exit *e)
{
        struct sg_counters c = l->counters;
        uint64_t now = sg_now_realtime_usec();

        if (l->scope) {
                if (sg_scope_populated(l->scope) > 0 || c.cpu_usec == SG_UNLIMITED)
                        sg_scope_counters(l->scope, &c);
                if (c.cpu_usec != SG_UNLIMITED)
                        e->cpu_usec = c.cpu_usec;
                e->memory_peak_bytes = c.memory_peak_bytes;
                e->oom_kills = c.oom_kills;
                e->io_read_bytes = c.io_read_bytes;
                e->io_write_bytes = c.io_write_bytes;
        }
        e->main_oom_killed =
                e->signal == SIGKILL && e->oom_kills != SG_UNLIMITED && e->oom_kills > 0;
        if (l->job.started_usec > 0)
                e->started_usec = l->job.started_usec;
        if (e->ended_usec < e->started_usec || e->ended_usec > now)
                e->ended_usec = now;
}

static void take_record(struct sg_live *l, const struct sg_exit *record)
{
        struct sg_exit e = *record;

        if (l->job.foreground)
                correct_foreground(l, &e);
        l->job.started_usec = e.stage == SG_STAGE_NONE ? e.started_usec : 0;
        l->job.ended_usec = e.ended_usec;
        l->job.cpu_usec = e.cpu_usec;
        l->job.memory_peak_bytes = e.memory_peak_bytes;
        l->job.oom_kills = e.oom_kills;
        l->job.io_read_bytes = e.io_read_bytes;
        l->job.io_write_bytes = e.io_write_bytes;
        if (e.stage != SG_STAGE_NONE)
                say_never_ran(l, &e);
        else
                say_how_it_ended(l, &e);
}

static bool worth_retrying(const struct sg_job *j)
{
        bool failed = j->state == SG_JOB_OOM || j->state == SG_JOB_KILLED ||
                      j->state == SG_JOB_FAILED || j->state == SG_JOB_LOST ||
                      (j->state == SG_JOB_EXITED && j->exit_code != 0);

        return failed && j->retry > 0 && j->intent == SG_INTENT_NONE && !j->foreground;
}

/* `job` says how the attempt ended: the job ends with it, or goes back to the queue. */
static void conclude(struct sg_live *l)
{
        struct sg_job *j = &l->job;

        if (j->intent == SG_INTENT_REQUEUE && !j->foreground) {
                requeue(l);
        } else if (worth_retrying(j)) {
                j->retry--;
                if (j->state == SG_JOB_EXITED)
                        (void)sg_job_set_reason(
                                j, "attempt %" PRIu64 " exited with %" PRIi64 "; trying again",
                                j->key.attempt, j->exit_code);
                else
                        (void)sg_job_set_reason(j, "attempt %" PRIu64 " ended as %s; trying again",
                                                j->key.attempt, sg_job_state_to_string(j->state));
                requeue(l);
        } else {
                sg_live_end(l);
        }
}

/* What lives on without its shim */

static void group_checked(struct sg_live *l);

static int on_group_event(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        char buf[256];

        (void)source;
        (void)revents;
        (void)!pread(fd, buf, sizeof(buf), 0); /* re-arms EPOLLPRI */
        group_checked(userdata);
        return 0;
}

static int on_group_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_live *l = userdata;

        (void)usec;
        (void)sd_event_source_set_time_relative(source, GROUP_POLL_USEC);
        (void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        group_checked(l);
        return 0;
}

static int open_group_events(const struct sg_live *l)
{
        const char *dir = sg_live_unified_group(l);
        char path[4096];

        if (!dir || sg_path_join(path, sizeof(path), dir, "job/cgroup.events") < 0)
                return -1;
        return open(path, O_RDONLY | O_CLOEXEC);
}

/* Without a v2 tree nothing tells when a group has become empty: look once a second. */
static void watch_group(struct sg_live *l)
{
        struct sg_manager *m = l->manager;
        int fd = open_group_events(l), r;

        if (l->group_source) {
                (void)sg_close(fd);
                return;
        }
        if (fd >= 0) {
                r = sd_event_add_io(m->event, &l->group_source, fd, EPOLLPRI, on_group_event, l);
                if (r >= 0)
                        (void)sd_event_source_set_io_fd_own(l->group_source, 1);
                else
                        (void)sg_close(fd);
        } else {
                r = sd_event_add_time_relative(m->event, &l->group_source, CLOCK_MONOTONIC,
                                               GROUP_POLL_USEC, 0, on_group_timer, l);
        }
        if (r < 0)
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot watch its group: %s", l->job.key.n,
                       strerror(-r));
}

/* The shim has gone. What `run` left in the background is still the job; what a killed keeper left
 * is, too, but how it ends can't be known any more. */
static void group_checked(struct sg_live *l)
{
        if (l->scope && sg_scope_populated(l->scope) > 0) {
                watch_group(l);
                if (sg_scope_populated(l->scope) > 0) /* else it emptied before the watch stood */
                        return;
        }
        l->group_source = sd_event_source_disable_unref(l->group_source);
        if (l->record) {
                take_record(l, l->record);
        } else {
                l->job.state = l->job.intent == SG_INTENT_CANCEL ? SG_JOB_KILLED : SG_JOB_LOST;
                (void)sg_job_set_reason(&l->job, "%s; how it ended is not known",
                                        host_went_down(l) ? "the host was restarted"
                                                          : "its keeper was killed");
        }
        conclude(l);
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
                rearm(l, RETRY_USEC, on_inspect_again);
                return;
        }
        *l->record = *e;
        l->concluded = true;
        group_checked(l);
}

static void keeper_lost(struct sg_live *l)
{
        l->concluded = true;
        if (l->scope && sg_scope_populated(l->scope) > 0)
                sg_log(LOG_WARNING, "job %" PRIu64 ": its keeper was killed; its processes go on",
                       l->job.key.n);
        group_checked(l);
}

/* Recovery and the end of an attempt: the directory decides */

static void never_ran(struct sg_live *l)
{
        if (l->job.intent == SG_INTENT_CANCEL || l->job.intent == SG_INTENT_TIMEOUT) {
                l->job.state = SG_JOB_KILLED;
                sg_live_end(l);
        } else if (l->job.foreground) {
                l->job.state = SG_JOB_KILLED;
                (void)sg_job_set_reason(&l->job, "its terminal went away before it started");
                sg_live_end(l);
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
                requeue(l);
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

static void adopt_running(struct sg_live *l, pid_t shim)
{
        int r = l->shim > 0 ? 0 : sg_live_watch_shim(l, shim, -1);

        if (r == -ESRCH) { /* it ended while we looked */
                sg_live_inspect(l, SG_PUBLISH_NONE);
                return;
        }
        if (r < 0)
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot watch its keeper: %s", l->job.key.n,
                       strerror(-r));
        if (l->job.pid == 0)
                l->job.pid = find_main(shim);
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
        return !info->exit_unnamed || !host_went_down(l);
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
                rearm(l, RETRY_USEC, on_inspect_again);
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
        if (l->inspecting)
                return;
        l->inspecting = true;
        sg_store_inspect(l->manager->store, &l->job.key, publish, on_inspected, l);
}
