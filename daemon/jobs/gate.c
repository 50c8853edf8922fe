/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The gate between the daemon and the shim of one attempt; proto/attempt.h has the messages. Until
 * GO nothing of the user's has run, and the attempt can be dropped by closing the gate.
 */
#include "base/cleanup.h"
#include "base/process.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "govern/loop.h"
#include "jobs/internal.h"
#include "metrics/metrics.h"
#include "monitor/monitor.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <syslog.h>

void sg_do_close_gate(struct sg_live *l)
{
        sg_poller_remove(l->manager->jobs->gates, l->attempt.gate);
        l->attempt.gate = sg_close(l->attempt.gate);
}

static void lose(struct sg_live *l)
{
        sg_do_close_gate(l);
        sg_live_tell_kind(l, SG_LIFE_E_GATE_LOST);
}

/* The job's own time begins here: what is slow from now on, its start included, counts for its time
 * limit. */
void sg_do_send_go(struct sg_live *l)
{
        const struct sg_gate_message go = {.kind = SG_GATE_GO};

        l->attempt.runs_since_usec = sg_now_boottime_usec();
        l->attempt.let_go_usec = sg_now_realtime_usec();
        if (send(l->attempt.gate, &go, sizeof(go), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
                sg_live_result_kind(l, SG_LIFE_E_GO_FAILED);
        else
                sg_manager_fault(l->manager, "gate-after-go");
}

void sg_do_begin_running(struct sg_live *l)
{
        sg_manager_starts_work(l->manager);
        sg_queue_set_aside(l->manager->jobs->queue, &l->queued.entry, false);
        sg_monitor_watch(l);
        (void)sg_live_watch_group(l); /* else its keeper says when it is empty */
        sg_metrics_started(l->manager->metrics, l);
        if (l->job.limits.time_limit_usec != SG_UNLIMITED) /* its deadline is known now */
                sg_monitor_publish(l);
        sg_live_changed(l);
        sg_live_log_limits(l);
}

/* The fate, for a shim that can't link into the attempt's directory */

static void on_fate_published(int result, const struct sg_attempt_info *info, void *userdata)
{
        sg_live_tell_kind(userdata, result >= 0 && info->fate == SG_ATTEMPT_RUN
                                            ? SG_LIFE_E_FATE_RUN
                                            : SG_LIFE_E_FATE_VOID);
}

void sg_do_publish_run(struct sg_live *l)
{
        sg_store_inspect(l->manager->store, &l->job.key, SG_PUBLISH_RUN, on_fate_published, l);
}

/* Its process is where it should be */

static bool is_child_of(pid_t pid, pid_t parent)
{
        struct sg_process_stat p;

        return sg_process_stat(pid, &p) >= 0 && p.parent == parent;
}

/* A shim of the foreground may name any of its children. One that has become another user's, by a
 * set-uid program, isn't for this user to have moved and governed. */
static int put_in_place(struct sg_live *l, pid_t pid)
{
        int r;

        if (!is_child_of(pid, l->attempt.shim))
                return -ESRCH;
        if (l->job.foreground && !sg_process_is_of(pid, (uid_t)l->job.uid))
                return -EPERM;
        r = sg_scope_move(l->groups.scope, l->attempt.shim, false);
        return r < 0 ? r : sg_scope_move(l->groups.scope, pid, true);
}

static int in_place(const struct sg_live *l, pid_t pid)
{
        int r = sg_scope_holds(l->groups.scope, l->attempt.shim, false);

        return r > 0 ? sg_scope_holds(l->groups.scope, pid, true) : r;
}

/* A shim of the foreground, which `schedctl run` became, can't join root's groups: it is moved
 * there. Any other shim has joined the groups that it was told of; a limit that was set since then
 * may have made one more. */
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

void sg_do_verify(struct sg_live *l)
{
        pid_t pid = l->attempt.ready_pid;
        int r = verify(l, pid);

        if (r < 0) {
                sg_log(LOG_WARNING, "job %" PRIu64 ": not in its groups: %s; not let go",
                       l->job.key.n, strerror(-r));
                sg_live_result_kind(l, SG_LIFE_E_REFUSED);
                return;
        }
        sg_scope_set_main(l->groups.scope, l->attempt.shim, pid);
        sg_manager_fault(l->manager, "gate-verified");
        sg_live_result(l, &(struct sg_life_event){.kind = SG_LIFE_E_ADMITTED, .pid = pid});
}

static void on_ready(struct sg_live *l, pid_t pid)
{
        sg_manager_fault(l->manager, "gate-ready");
        if (pid <= 1) {
                lose(l);
                return;
        }
        l->attempt.ready_pid = pid;
        sg_live_tell_kind(l, SG_LIFE_E_READY);
}

/* Its place */

/* The shim waits for this before it forks the job's process. */
int sg_live_send_place(struct sg_live *l)
{
        const char *path = l->job.foreground ? sg_gate_socket_path(l->manager->jobs->comebacks)
                                             : sg_live_unified_group(l);
        struct sg_gate_message head = {.kind = SG_GATE_PLACE};
        struct iovec parts[] = {{&head, sizeof(head)}, {(void *)path, path ? strlen(path) : 0}};
        const struct msghdr message = {.msg_iov = parts, .msg_iovlen = SG_ELEMENTSOF(parts)};

        if (!path)
                return -ENOENT;
        return sendmsg(l->attempt.gate, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

static void on_placed(struct sg_scope *s, int result, const char *why, void *userdata)
{
        struct sg_live *l = userdata;

        (void)s;
        sg_manager_fault(l->manager, "placed");
        if (result < 0) {
                sg_live_tell(l, &(struct sg_life_event){.kind = SG_LIFE_E_PLACE_FAILED,
                                                        .what = "get a scope",
                                                        .error = result,
                                                        .why = why});
                return;
        }
        sg_live_tell_kind(l, SG_LIFE_E_PLACED);
        if (l->attempt.gate >= 0 && sg_live_send_place(l) < 0)
                lose(l);
}

/* Shares are decided as if the job ran already, so that its scope begins with the share that the
 * job is to have. */
static void on_turn(struct sg_scope *s, void *userdata)
{
        struct sg_live *l = userdata;
        struct sg_limits limits = l->job.limits;
        const struct sg_cpuset *cpus;
        int r;

        sg_loop_expect(l);
        cpus = sg_loop_overlay(l, &limits);
        r = sg_scope_begin(s, &limits, cpus);
        if (r < 0)
                on_placed(s, r, NULL, l);
}

int sg_live_place(struct sg_live *l, pid_t shim, int pidfd)
{
        const struct sg_scope_placing placing = {
                .shim = shim, .pidfd = pidfd, .turn = on_turn, .done = on_placed, .userdata = l};

        return sg_scope_place(l->groups.scope, &placing);
}

void sg_do_place(struct sg_live *l)
{
        int r = sg_live_place(l, l->attempt.shim, l->attempt.shim_pidfd);

        sg_manager_fault(l->manager, "after-fork");
        if (r < 0)
                sg_live_result(l, &(struct sg_life_event){.kind = SG_LIFE_E_PLACE_FAILED,
                                                          .what = "start its shim",
                                                          .error = r});
        else if (r == 0)
                sg_live_result_kind(l, SG_LIFE_E_PLACED);
}

/* The record of a foreground shim counts once the shim has exited. By then systemd has removed the
 * scope, as its last process has left, and the kernel's counters with it: so they are read now. */
void sg_do_count(struct sg_live *l)
{
        struct sg_attempt *a = &l->attempt;

        if (!l->groups.scope)
                return;
        a->counters = a->counters ?: malloc(sizeof(*a->counters));
        if (a->counters)
                sg_scope_counters(l->groups.scope, a->counters);
}

static void say_seen(const struct sg_live *l)
{
        const char *how = l->attempt.how_it_ended ?: "";
        struct sg_gate_message seen = {.kind = SG_GATE_SEEN};
        struct iovec parts[] = {{&seen, sizeof(seen)}, {(void *)how, strlen(how)}};
        const struct msghdr message = {.msg_iov = parts, .msg_iovlen = SG_ELEMENTSOF(parts)};

        if (l->attempt.gate >= 0)
                (void)sendmsg(l->attempt.gate, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* What its terminal is told with SEEN. Who waits there has only the number of a signal else. */
static void put_into_words(struct sg_live *l, const struct sg_exit *e)
{
        struct sg_end end = {.record = e, .host_went_down = sg_live_host_went_down(l)};

        if (l->groups.scope)
                sg_live_put_counters(l, &end);
        free(l->attempt.how_it_ended);
        l->attempt.how_it_ended = NULL;
        (void)sg_fate_in_words(&l->job, &end, sg_now_realtime_usec(), &l->attempt.how_it_ended);
}

/* A record that couldn't be stored isn't lost: its shim keeps it, and comes back with it. */
static void on_record_stored(int result, const struct sg_job *job, void *userdata)
{
        struct sg_live *l = userdata;

        (void)job;
        if (result >= 0) {
                l->attempt.claim = SG_CLAIM_STORED;
                say_seen(l);
                return;
        }
        l->attempt.claim = SG_CLAIM_NONE;
        sg_log(LOG_WARNING, "job %" PRIu64 ": cannot store its exit record: %s; trying again",
               l->job.key.n, strerror(-result));
        if (l->attempt.gate >= 0)
                lose(l);
}

/* The first record counts, and no other is sent to the store. The store answers in order: the job
 * is still there when the answer about its record comes. A job whose end is being stored already
 * needs no record any more. */
static void take_record(struct sg_live *l, const struct sg_gate_end *end)
{
        struct sg_exit e;

        if (sg_exit_unpack(&e, end->record, sizeof(end->record)) < 0) {
                lose(l);
        } else if (l->attempt.claim == SG_CLAIM_STORED || sg_life_is_closing(&l->life)) {
                say_seen(l);
        } else if (l->attempt.claim == SG_CLAIM_NONE) {
                l->attempt.claim = SG_CLAIM_ON_ITS_WAY;
                put_into_words(l, &e);
                sg_store_record(l->manager->store, &l->job.key, &e, on_record_stored, l);
        }
}

/* The share of a job that has ended goes to others at once, while the end is being made durable. */
void sg_do_stand_down(struct sg_live *l)
{
        if (l->groups.scope && sg_scope_populated(l->groups.scope) == 0)
                sg_loop_over(l);
}

void sg_live_on_gate(void *userdata)
{
        struct sg_live *l = userdata;
        struct sg_gate_end msg;
        ssize_t n = recv(l->attempt.gate, &msg, sizeof(msg), MSG_DONTWAIT);
        bool with_record = n == sizeof(msg) && l->job.foreground;

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        /* Closed, or nonsense: what became of the job is seen when the shim exits. */
        if (n != sizeof(msg.head) && !(with_record && msg.head.kind == SG_GATE_ENDED)) {
                lose(l);
                return;
        }
        switch (msg.head.kind) {
        case SG_GATE_READY:
                on_ready(l, msg.head.pid);
                break;
        case SG_GATE_STARTED:
                sg_live_tell_kind(l, SG_LIFE_E_STARTED);
                break;
        case SG_GATE_OVER:
                sg_live_tell_kind(l, SG_LIFE_E_OVER);
                break;
        case SG_GATE_ENDED:
                sg_live_tell_kind(l, SG_LIFE_E_ENDED);
                if (with_record)
                        take_record(l, &msg);
                break;
        default:
                lose(l);
        }
}

int sg_live_open_gate(struct sg_live *l, int *ret_theirs)
{
        int fds[2], r;

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
                return -errno;
        r = sg_poller_add(l->manager->jobs->gates, fds[0], l);
        if (r < 0) {
                (void)sg_close(fds[0]);
                (void)sg_close(fds[1]);
                return r;
        }
        l->attempt.gate = fds[0];
        *ret_theirs = fds[1];
        return 0;
}

/* A shim of the foreground whose gate was closed comes back. Who it is says the kernel, not the
 * shim. */

static bool is_waited_for(const struct sg_live *l, pid_t pid, uid_t uid)
{
        return l->job.foreground && l->attempt.shim == pid && l->job.uid == uid &&
               l->attempt.gate < 0 && sg_life_may_come_back(&l->life);
}

bool sg_live_on_comeback(int fd, pid_t pid, uid_t uid, void *manager)
{
        struct sg_manager *m = manager;
        struct sg_live *l;

        sg_list_foreach (l, &m->jobs->all, link) {
                if (!is_waited_for(l, pid, uid))
                        continue;
                if (sg_poller_add(m->jobs->gates, fd, l) < 0)
                        return false;
                l->attempt.gate = fd;
                return true;
        }
        return false;
}
