/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ending a live attempt: the intent is durable before the first signal; then SIGTERM, a grace
 * period, SIGKILL. */
#include "base/time-util.h"
#include "edge/log.h"
#include "manager.h"
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>

static int on_grace_over(sd_event_source *source, uint64_t usec, void *userdata)
{
        (void)source;
        (void)usec;
        sg_live_kill(userdata, true);
        return 0;
}

static void signal_all(struct sg_live *l, int sig)
{
        int r = sg_scope_signal(l->scope, sig);

        if (r < 0)
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot send SIG%s to its processes: %s",
                       l->job.key.n, sg_signal_name(sig), strerror(-r));
}

void sg_live_kill(struct sg_live *l, bool at_once)
{
        struct sg_manager *m = l->manager;
        uint64_t grace = m->settings->kill_grace_usec;

        if (l->attachable) { /* its terminal hasn't come for it yet */
                l->attachable = false;
                sg_live_inspect(l, SG_PUBLISH_VOID);
                return;
        }
        if (!l->scope || l->killed)
                return;
        if (l->job.pid == 0 && l->job.state == SG_JOB_STARTING) {
                /* Its place may take as long as systemd is away; the shim needn't wait for that. */
                if (!l->placed && !l->job.foreground)
                        sg_live_close_gate(l);
                return;
        }
        l->timer = sd_event_source_disable_unref(l->timer);
        if (at_once || grace == 0) {
                l->killed = true;
                signal_all(l, SIGKILL);
                if (l->job.state == SG_JOB_SUSPENDED)
                        (void)sg_scope_freeze(l->scope, false); /* v1 freezes SIGKILL, too */
                return;
        }
        signal_all(l, SIGTERM);
        signal_all(l, SIGCONT);
        if (l->job.state == SG_JOB_SUSPENDED)
                (void)sg_scope_freeze(l->scope, false);
        (void)sd_event_add_time_relative(m->event, &l->timer, CLOCK_MONOTONIC, grace, 0,
                                         on_grace_over, l);
}

/* What `schedctl run` has become can't tell a time limit from any other SIGTERM. */
static void tell_runner(struct sg_live *l)
{
        const struct sg_gate_message m = {.kind = SG_GATE_TIMEOUT};

        if (l->job.foreground && l->job.intent == SG_INTENT_TIMEOUT && l->gate >= 0)
                (void)send(l->gate, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A full disk doesn't keep anybody from ending a job: only the record of why may be lost with us.
 */
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
