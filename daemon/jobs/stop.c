/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ending a live attempt: the intent is durable before the first signal; then SIGTERM, a grace
 * period, SIGKILL. */
#include "base/process.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "govern/loop.h"
#include "jobs/internal.h"
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <unistd.h>

/* A job can be ended though the disk is full: what may be lost then, if the daemon dies as well, is
 * only the reason. */
static void on_intent_durable(int result, const struct sg_job *job, void *userdata)
{
        struct sg_live *l = userdata;

        (void)job;
        if (result < 0)
                sg_log(LOG_WARNING, "job %" PRIu64 ": cannot store why it is ended: %s; ending it",
                       l->job.key.n, strerror(-result));
        sg_do_acknowledge(l);
        sg_live_tell_kind(l, SG_LIFE_E_INTENT_STORED);
}

void sg_do_store_intent(struct sg_live *l)
{
        sg_store_update(l->manager->store, &l->job, on_intent_durable, l);
}

void sg_do_acknowledge(struct sg_live *l)
{
        l->manager->jobs->calls->acknowledge(l);
}

/* For a job whose groups couldn't be found again: its first process. As that is still a child of
 * the keeper, which hasn't reaped it, the pid is still its own. */
static int signal_first(const struct sg_live *l, int sig)
{
        struct sg_process_stat p;
        int r = sg_process_stat((pid_t)l->job.pid, &p);

        if (r < 0 || p.parent != l->attempt.shim)
                return -ESRCH;
        return kill((pid_t)l->job.pid, sig) < 0 ? -errno : 0;
}

static void signal_all(struct sg_live *l, int sig)
{
        int r = l->groups.scope ? sg_scope_signal(l->groups.scope, sig) : signal_first(l, sig);

        if (r < 0)
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot send SIG%s to its processes: %s",
                       l->job.key.n, sg_signal_name(sig), strerror(-r));
}

static void thaw(struct sg_live *l)
{
        if (l->groups.scope && l->job.state == SG_JOB_SUSPENDED)
                (void)sg_scope_freeze(l->groups.scope, false);
}

/* (v1 freezes SIGKILL, too) */
void sg_do_kill(struct sg_live *l)
{
        if (!l->groups.scope && l->attempt.shim <= 0)
                return;
        sg_loop_changed(l);
        signal_all(l, SIGKILL);
        thaw(l);
}

void sg_do_term(struct sg_live *l)
{
        if (!l->groups.scope && l->attempt.shim <= 0)
                return;
        sg_loop_changed(l);
        signal_all(l, SIGTERM);
        signal_all(l, SIGCONT);
        thaw(l);
}

void sg_do_kill_keeper(struct sg_live *l)
{
        if (l->attempt.shim_pidfd >= 0)
                (void)syscall(SYS_pidfd_send_signal, l->attempt.shim_pidfd, SIGKILL, NULL, 0);
}

/* A shim of the foreground couldn't tell a time limit from any other SIGTERM. */
void sg_do_warn(struct sg_live *l)
{
        const struct sg_gate_message m = {.kind = SG_GATE_TIMEOUT};

        if (l->attempt.gate >= 0)
                (void)send(l->attempt.gate, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT);
}
