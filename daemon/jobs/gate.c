/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The gate between the daemon and the shim of one attempt; proto/attempt.h has the messages. Until
 * GO nothing of the user's has run, and the attempt can be dropped by closing the gate.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "govern/loop.h"
#include "jobs/ending.h"
#include "manager.h"
#include "metrics/metrics.h"
#include "monitor/monitor.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <syslog.h>

/* From GO to STARTED it is an exec(2). */
#define SILENCE_USEC (5ULL * 1000000)

void sg_live_close_gate(struct sg_live *l)
{
        sg_poller_remove(l->manager->gates, l->gate);
        l->gate = sg_close(l->gate);
}

static int send_go(struct sg_live *l)
{
        struct sg_gate_message go = {.kind = SG_GATE_GO};

        if (send(l->gate, &go, sizeof(go), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
                return -errno;
        l->gone_ahead = true;
        sg_live_let_go(l);
        sg_manager_fault(l->manager, "gate-after-go");
        return 0;
}

static void on_started(struct sg_live *l)
{
        if (l->job.state != SG_JOB_STARTING || !l->gone_ahead) /* a user's own shim says anything */
                return;
        l->job.state = SG_JOB_RUNNING;
        l->failed_starts = 0;
        sg_manager_starts_work(l->manager);
        l->job.started_usec = sg_now_realtime_usec();
        l->runs_since_usec = sg_now_boottime_usec();
        sg_monitor_watch(l);
        (void)sg_live_watch_group(l); /* else its keeper says so */
        sg_metrics_started(l->manager->metrics, l);
        if (l->job.limits.time_limit_usec != SG_UNLIMITED) /* its deadline is known now */
                sg_monitor_publish(l);
        sg_live_changed(l);
        sg_live_log_limits(l);
        if (l->job.intent != SG_INTENT_NONE)
                sg_live_kill(l, false);
        else
                sg_live_arm_time_limit(l);
}

void sg_live_speaks(struct sg_live *l)
{
        on_started(l);
}

/* Its shim may be the user's own, which says what it likes: from GO on it counts as running, as its
 * limits do. */
static int on_silence(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_live *l = userdata;

        (void)source;
        (void)usec;
        l->timer = sd_event_source_disable_unref(l->timer);
        on_started(l);
        return 0;
}

static void on_fate_published(int result, const struct sg_attempt_info *info, void *userdata)
{
        struct sg_live *l = userdata;

        l->inspecting = false;
        if (result < 0 || info->fate != SG_ATTEMPT_RUN || send_go(l) < 0)
                sg_live_close_gate(l);
        else if (l->job.intent == SG_INTENT_NONE)
                sg_live_rearm(l, SILENCE_USEC, on_silence);
        if (l->shim == 0)
                sg_live_inspect(l, SG_PUBLISH_VOID);
}

static int is_child_of(pid_t pid, pid_t parent)
{
        _cleanup_free_ char *text = NULL;
        char path[64], *line;
        int ppid, r;

        (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
        r = sg_read_file(AT_FDCWD, path, 16384, &text, NULL);
        if (r < 0)
                return r;
        line = strstr(text, "\nPPid:");
        return line && sscanf(line, "\nPPid: %d", &ppid) == 1 && ppid == parent;
}

static int put_in_place(struct sg_live *l, pid_t pid)
{
        int r;

        if (is_child_of(pid, l->shim) <= 0)
                return -ESRCH;
        r = sg_scope_move(l->scope, l->shim, false);
        return r < 0 ? r : sg_scope_move(l->scope, pid, true);
}

static int in_place(const struct sg_live *l, pid_t pid)
{
        int r = sg_scope_holds(l->scope, l->shim, false);

        return r > 0 ? sg_scope_holds(l->scope, pid, true) : r;
}

/* The process that `schedctl run` became can neither join root's groups nor link into the attempt's
 * directory. Another shim joins those that it was told of; a limit that was set since then may have
 * made one more. */
static int verify(struct sg_live *l, pid_t pid)
{
        int r = l->job.foreground ? 0 : in_place(l, pid);

        if (r == 0) {
                r = put_in_place(l, pid);
                if (r >= 0)
                        r = in_place(l, pid);
        }
        return r < 0 ? r : r == 0 ? -ENOENT : 0;
}

/* Three things have to be known, in whatever order they come: who the shim is, that its groups are
 * there, and which process waits to become the job. */
static void admit(struct sg_live *l)
{
        pid_t pid = l->ready_pid;
        int r;

        if (pid == 0 || l->shim == 0 || !l->placed || l->job.pid != 0)
                return;
        r = l->job.intent != SG_INTENT_NONE ? -ECANCELED : verify(l, pid);
        if (r < 0) {
                if (r != -ECANCELED)
                        sg_log(LOG_WARNING, "job %" PRIu64 ": not in its groups: %s; not let go",
                               l->job.key.n, strerror(-r));
                sg_live_close_gate(l);
                return;
        }
        l->job.pid = pid;
        sg_scope_set_main(l->scope, l->shim, pid);
        sg_manager_fault(l->manager, "gate-verified");
        if (l->job.foreground) {
                l->inspecting = true;
                sg_store_inspect(l->manager->store, &l->job.key, SG_PUBLISH_RUN, on_fate_published,
                                 l);
        } else if (send_go(l) < 0) {
                sg_live_close_gate(l);
        }
}

static void on_ready(struct sg_live *l, pid_t pid)
{
        sg_manager_fault(l->manager, "gate-ready");
        if (pid <= 1) {
                sg_live_close_gate(l);
                return;
        }
        l->ready_pid = pid;
        admit(l);
}

/* Its place */

/* The shim waits for this before it forks the job's process. */
int sg_live_send_place(struct sg_live *l)
{
        const char *path = l->job.foreground ? "" : sg_live_unified_group(l);
        struct sg_gate_message head = {.kind = SG_GATE_PLACE};
        struct iovec parts[] = {{&head, sizeof(head)}, {(void *)path, path ? strlen(path) : 0}};
        const struct msghdr message = {.msg_iov = parts, .msg_iovlen = SG_ELEMENTSOF(parts)};

        if (!path)
                return -ENOENT;
        return sendmsg(l->gate, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

static void on_placed(struct sg_scope *s, int result, const char *why, void *userdata)
{
        struct sg_live *l = userdata;

        (void)s;
        sg_manager_fault(l->manager, "placed");
        if (result < 0) {
                sg_live_not_started(l, result, "get a scope", why);
                return;
        }
        l->placed = true;
        if (l->gate >= 0 && sg_live_send_place(l) < 0)
                sg_live_close_gate(l);
}

static void on_place_begins(struct sg_scope *s, void *userdata)
{
        (void)s;
        sg_loop_expect(userdata);
}

int sg_live_place(struct sg_live *l, pid_t shim, int pidfd)
{
        const struct sg_scope_placing placing = {.shim = shim,
                                                 .pidfd = pidfd,
                                                 .begins = on_place_begins,
                                                 .done = on_placed,
                                                 .userdata = l};
        int r = sg_scope_place(l->scope, &placing);

        if (r == 0)
                l->placed = true;
        return r;
}

void sg_live_shim_known(struct sg_live *l)
{
        admit(l);
}

/* The record of a foreground shim counts once it has exited; but systemd removes a scope when the
 * last process has left, and what was counted for the job goes with it. */
static void on_ended(struct sg_live *l)
{
        const struct sg_gate_message seen = {.kind = SG_GATE_SEEN};

        if (l->job.foreground) {
                sg_scope_counters(l->scope, &l->counters);
                (void)send(l->gate, &seen, sizeof(seen), MSG_NOSIGNAL | MSG_DONTWAIT);
        } else if (!l->concluded) {
                sg_live_inspect(l, SG_PUBLISH_NONE);
        }
}

/* Others can have its share while its end is still being made durable. */
static void on_over(struct sg_live *l)
{
        if (l->scope && sg_scope_populated(l->scope) == 0)
                sg_loop_over(l);
}

void sg_live_on_gate(void *userdata)
{
        struct sg_live *l = userdata;
        struct sg_gate_message msg;
        ssize_t n = recv(l->gate, &msg, sizeof(msg), MSG_DONTWAIT);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (n != sizeof(msg)) { /* closed: what became of it is seen when the shim exits */
                sg_live_close_gate(l);
                return;
        }
        switch (msg.kind) {
        case SG_GATE_READY:
                if (l->job.pid == 0)
                        on_ready(l, msg.pid);
                break;
        case SG_GATE_STARTED:
                on_started(l);
                break;
        case SG_GATE_OVER:
                on_over(l);
                break;
        case SG_GATE_ENDED:
                on_ended(l);
                break;
        default:
                sg_live_close_gate(l);
        }
}

int sg_live_open_gate(struct sg_live *l, int *ret_theirs)
{
        int fds[2], r;

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
                return -errno;
        r = sg_poller_add(l->manager->gates, fds[0], l);
        if (r < 0) {
                (void)sg_close(fds[0]);
                (void)sg_close(fds[1]);
                return r;
        }
        l->gate = fds[0];
        *ret_theirs = fds[1];
        return 0;
}
