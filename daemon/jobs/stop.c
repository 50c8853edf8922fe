/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ending a live attempt: the intent is durable before the first signal; then SIGTERM, a grace
 * period, SIGKILL. Also the clock of those that may run so long only. */
#include "base/format.h"
#include "base/process.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "govern/loop.h"
#include "jobs/ending.h"
#include "manager.h"
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <unistd.h>

/* From the death of its job to the end of a keeper of the foreground. */
#define KEEPER_USEC (10 * SG_USEC_PER_SEC)

static int on_grace_over(sd_event_source *source, uint64_t usec, void *userdata)
{
        (void)source;
        (void)usec;
        sg_live_kill(userdata, true);
        return 0;
}

/* Of a job whose groups couldn't be found again. Its keeper hasn't waited for it: it is still who
 * it was. */
static int signal_first(const struct sg_live *l, int sig)
{
        struct sg_process_stat p;
        int r = sg_process_stat((pid_t)l->job.pid, &p);

        if (r < 0 || p.parent != l->shim)
                return -ESRCH;
        return kill((pid_t)l->job.pid, sig) < 0 ? -errno : 0;
}

static void signal_all(struct sg_live *l, int sig)
{
        int r = l->scope ? sg_scope_signal(l->scope, sig) : signal_first(l, sig);

        if (r < 0)
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot send SIG%s to its processes: %s",
                       l->job.key.n, sg_signal_name(sig), strerror(-r));
}

static void thaw(struct sg_live *l)
{
        if (l->scope && l->job.state == SG_JOB_SUSPENDED)
                (void)sg_scope_freeze(l->scope, false);
}

static void kill_keeper(const struct sg_live *l)
{
        if (l->shim_pidfd >= 0)
                (void)syscall(SYS_pidfd_send_signal, l->shim_pidfd, SIGKILL, NULL, 0);
}

static int on_keeper_late(sd_event_source *source, uint64_t usec, void *userdata)
{
        (void)source;
        (void)usec;
        kill_keeper(userdata);
        return 0;
}

/* A shim goes away by itself when its gate is closed; what a user has in its place may not. */
static void stop_starting(struct sg_live *l, bool at_once)
{
        if (!l->job.foreground) {
                /* Its place may take as long as systemd is away; the shim needn't wait for that. */
                if (!l->placed)
                        sg_live_close_gate(l);
                return;
        }
        sg_live_close_gate(l);
        if (at_once)
                kill_keeper(l);
        else
                sg_live_rearm(l, l->manager->settings->kill_grace_usec, on_grace_over);
}

void sg_live_kill(struct sg_live *l, bool at_once)
{
        uint64_t grace = l->manager->settings->kill_grace_usec;

        if (l->attachable) { /* its terminal hasn't come for it yet */
                l->attachable = false;
                sg_live_inspect(l, SG_PUBLISH_VOID);
                return;
        }
        if (l->killed || (!l->scope && l->shim <= 0))
                return;
        if (l->job.pid == 0 && l->job.state == SG_JOB_STARTING) {
                stop_starting(l, at_once);
                return;
        }
        l->timer = sd_event_source_disable_unref(l->timer);
        if (at_once || grace == 0) {
                l->killed = true;
                sg_loop_changed(l);
                signal_all(l, SIGKILL);
                thaw(l);               /* v1 freezes SIGKILL, too */
                if (l->job.foreground) /* its user can stop it, or have another in its place */
                        sg_live_rearm(l, KEEPER_USEC, on_keeper_late);
                return;
        }
        sg_loop_changed(l);
        signal_all(l, SIGTERM);
        signal_all(l, SIGCONT);
        thaw(l);
        sg_live_rearm(l, grace, on_grace_over);
}

/* What `schedctl run` has become can't tell a time limit from any other SIGTERM. */
static void tell_runner(struct sg_live *l)
{
        const struct sg_gate_message m = {.kind = SG_GATE_TIMEOUT};

        if (l->job.foreground && l->job.intent == SG_INTENT_TIMEOUT && l->gate >= 0)
                (void)send(l->gate, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A full disk doesn't keep anybody from ending a job:
 * only the record of why may be lost with us. */
static void on_intent_durable(int result, const struct sg_job *job, void *userdata)
{
        struct sg_live *l = userdata;

        (void)job;
        if (result < 0)
                sg_log(LOG_WARNING, "job %" PRIu64 ": cannot store why it is ended: %s; ending it",
                       l->job.key.n, strerror(-result));
        sg_api_acknowledge(l);
        if (l->dropping)
                return;
        tell_runner(l);
        sg_live_kill(l, false);
}

void sg_live_stop(struct sg_live *l, enum sg_job_intent intent, const char *reason)
{
        if (l->dropping && l->requeueing && intent == SG_INTENT_CANCEL) {
                l->job.intent = intent; /* as soon as it is back in the queue */
                return;
        }
        if (l->dropping) {
                sg_api_acknowledge(l);
                return;
        }
        if (l->job.intent != SG_INTENT_NONE) { /* asked again: no more grace */
                sg_api_acknowledge(l);
                sg_live_kill(l, true);
                return;
        }
        if (reason)
                (void)sg_job_set_reason(&l->job, "%s", reason);
        l->job.intent = intent;
        l->job.changed_usec = sg_now_realtime_usec();
        if (l->job.state == SG_JOB_QUEUED) {
                l->job.state = SG_JOB_KILLED;
                sg_live_end(l);
        } else {
                sg_store_update(l->manager->store, &l->job, on_intent_durable, l);
        }
}

/* --- its time limit */

static int on_time_limit(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_live *l = userdata;
        char limit[SG_FORMAT_MAX], reason[128];

        (void)source;
        (void)usec;
        (void)snprintf(reason, sizeof(reason), "it ran longer than its limit of %s",
                       sg_format_usec(limit, l->job.limits.time_limit_usec));
        sg_live_stop(l, SG_INTENT_TIMEOUT, reason);
        return 0;
}

/* Whatever time it is said to be meanwhile. */
static uint64_t ran_usec(const struct sg_live *l)
{
        uint64_t now = sg_now_realtime_usec();

        if (l->runs_since_usec > 0)
                return sg_now_boottime_usec() - l->runs_since_usec;
        return now > l->job.started_usec ? now - l->job.started_usec : 0;
}

void sg_live_arm_time_limit(struct sg_live *l)
{
        uint64_t limit = l->job.limits.time_limit_usec, ran = ran_usec(l);
        int r;

        l->timer = sd_event_source_disable_unref(l->timer);
        if (limit == SG_UNLIMITED)
                return;
        r = sd_event_add_time_relative(l->manager->event, &l->timer, CLOCK_BOOTTIME,
                                       ran < limit ? limit - ran : 0, 0, on_time_limit, l);
        if (r < 0)
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot watch its time limit: %s", l->job.key.n,
                       strerror(-r));
}
