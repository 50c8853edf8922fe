/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One attempt, from the queue to a running process:
 *
 *   groups → COMMIT starting → fork the shim → READY → verified → GO → STARTED
 *
 * Until GO nothing of the user's has run, and the attempt can be dropped by closing the gate.
 */
#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "govern/loop.h"
#include "jobs/ending.h"
#include "manager.h"
#include "monitor/monitor.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <syslog.h>

void sg_live_changed(struct sg_live *l)
{
        l->job.changed_usec = sg_now_realtime_usec();
        sg_store_update(l->manager->store, &l->job, NULL, NULL);
        sg_api_emit(l->manager, &l->job);
}

/* Watching the shim */

void sg_live_on_shim_exit(void *userdata)
{
        struct sg_live *l = userdata;

        sg_poller_remove(l->manager->shims, l->shim_pidfd);
        l->shim_pidfd = sg_close(l->shim_pidfd);
        (void)waitpid(l->shim, NULL, 0); /* not ours after a restart, unless we started over */
        l->shim = 0;
        sg_manager_reap(l->manager);
        if (l->ended_durable)
                sg_live_release(l);
        else if (!l->concluded)
                sg_live_inspect(l, SG_PUBLISH_VOID);
}

int sg_live_watch_shim(struct sg_live *l, pid_t pid, int pidfd)
{
        int r;

        l->shim_pidfd = pidfd >= 0 ? pidfd : (int)syscall(SYS_pidfd_open, pid, 0);
        if (l->shim_pidfd < 0)
                return -errno;
        r = sg_poller_add(l->manager->shims, l->shim_pidfd, l);
        if (r < 0) {
                l->shim_pidfd = sg_close(l->shim_pidfd);
                return r;
        }
        l->shim = pid;
        return 0;
}

/* Forking it */

/* what NULL: the reason is there. */
static void give_up(struct sg_live *l, const char *what, int error)
{
        l->job.state = SG_JOB_FAILED;
        l->job.exit_code = SG_EXIT_OWN_FAILURE;
        if (what)
                (void)sg_job_set_reason(&l->job, "cannot %s: %s", what, strerror(-error));
        sg_live_end(l);
}

/* Not the job's fault: descriptors, memory or groups are short, or who starts shims is away. */
static bool may_pass(int error)
{
        static const int errors[] = {EAGAIN,       ENOMEM,     EMFILE, ENFILE,   ENOSPC,
                                     ECONNREFUSED, ECONNRESET, EPIPE,  ENOTCONN, ETIMEDOUT};

        for (size_t i = 0; i < SG_ELEMENTSOF(errors); i++)
                if (error == -errors[i])
                        return true;
        return false;
}

/* The gate is closed, so that a shim which is there all the same goes away; what became of the
 * attempt is then looked at. */
void sg_live_not_started(struct sg_live *l, int error, const char *what, const char *why)
{
        sg_live_close_gate(l);
        if (l->concluded) /* its shim was quicker to say so */
                return;
        l->not_its_fault = may_pass(error) || error == -ENOENT; /* a socket's path */
        if (l->not_its_fault)
                sg_manager_pause_starts(l->manager, what, error);
        else
                sg_log(LOG_WARNING, "job %" PRIu64 ": cannot %s: %s", l->job.key.n, what,
                       why ?: strerror(-error));
        (void)sg_job_set_reason(&l->job, "cannot %s: %s", what, why ?: strerror(-error));
        if (l->attach || l->runner)
                give_up(l, NULL, 0);
        else if (l->shim == 0)
                sg_live_inspect(l, SG_PUBLISH_VOID);
}

static int shim_started(struct sg_live *l, pid_t pid, int pidfd)
{
        int r;

        r = sg_live_watch_shim(l, pid, pidfd);
        if (r < 0 || l->gate < 0) /* without a gate it exits by itself */
                return r;
        r = sg_live_place(l, pid, l->shim_pidfd);
        sg_manager_fault(l->manager, "after-fork");
        if (r >= 0)
                sg_live_shim_known(l);
        return r;
}

static void on_launched(int result, pid_t pid, int pidfd, void *userdata)
{
        struct sg_live *l = userdata;
        int r = result;

        if (r >= 0)
                r = shim_started(l, pid, pidfd);
        if (r < 0)
                sg_live_not_started(l, r, "start its shim", NULL);
        else if (l->gate < 0 || l->job.intent != SG_INTENT_NONE)
                sg_live_close_gate(l); /* it exits by itself */
}

static int fork_shim(struct sg_live *l)
{
        _cleanup_close_ int theirs = -1;
        struct sg_launch launch = {.key = &l->job.key,
                                   .scope = sg_live_unified_group(l),
                                   .cb = on_launched,
                                   .userdata = l};
        pid_t pid;
        int r;

        r = sg_live_open_gate(l, &theirs);
        if (r < 0)
                return r;
        launch.gate = theirs;
        sg_manager_fault(l->manager, "before-fork");
        r = sg_launcher_start(l->manager->launcher, &launch, &pid);
        if (r == 0)
                r = shim_started(l, pid, -1);
        if (r < 0)
                sg_live_close_gate(l);
        return r;
}

/* The process that called, and no other that has its pid by now. */
static int watch_runner(struct sg_live *l)
{
        const struct sg_caller *c = &l->runner->caller;
        _cleanup_close_ int pidfd = c->pidfd < 0 ? -1 : fcntl(c->pidfd, F_DUPFD_CLOEXEC, 3);
        int r;

        if (pidfd < 0)
                return -ESRCH;
        r = sg_live_watch_shim(l, c->pid, pidfd);
        (void)TAKE_FD(pidfd); /* in any case */
        return r;
}

struct reply_env {
        sd_bus_message *m;
        bool force;
        int r;
};

static void put_in_reply(const char *line, bool force, void *userdata)
{
        struct reply_env *e = userdata;

        if (e->r >= 0 && force == e->force)
                e->r = sd_bus_message_append(e->m, "s", line);
}

static int append_environment(sd_bus_message *m, const struct sg_live *l, bool force)
{
        struct reply_env e = {.m = m, .force = force};

        e.r = sd_bus_message_open_container(m, 'a', "s");
        sg_live_environment(l, &(struct sg_live_env){put_in_reply, &e});
        return e.r < 0 ? e.r : sd_bus_message_close_container(m);
}

static int reply_attached(struct sg_live *l, int gate, int lock, int record)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        int r;

        r = sd_bus_message_new_method_return(l->attach, &reply);
        if (r >= 0)
                r = sd_bus_message_append(reply, "hhh", gate, lock, record);
        if (r >= 0)
                r = append_environment(reply, l, true);
        if (r >= 0)
                r = append_environment(reply, l, false);
        return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

/* Hands gate, lock and record to the caller of Attach, which then execs the shim. */
static int hand_over(struct sg_live *l)
{
        _cleanup_close_ int theirs = -1, dir = -1, lock = -1, record = -1;
        char path[4096], name[SG_ATTEMPT_NAME_MAX];
        int r;

        sg_attempt_name_format(name, &l->job.key);
        (void)snprintf(path, sizeof(path), "%s/jobs/%s", sg_store_dir(l->manager->store), name);
        dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
                return -errno;
        lock = openat(dir, "lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        record = openat(dir, "exit.tmp", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (lock < 0 || record < 0)
                return -errno;
        r = sg_live_open_gate(l, &theirs);
        if (r < 0)
                return r;
        r = watch_runner(l);
        if (r >= 0 && l->placed)
                r = sg_live_send_place(l);
        if (r >= 0)
                r = reply_attached(l, theirs, lock, record);
        if (r < 0) {
                sg_live_close_gate(l);
                return r;
        }
        l->attach = sd_bus_message_unref(l->attach);
        l->runner = NULL; /* its exec closes the connection */
        return 0;
}

void sg_live_attach(struct sg_live *l)
{
        int r;

        if (!l->attach || !l->attachable)
                return;
        l->attachable = false;
        r = hand_over(l);
        if (r >= 0)
                return;
        (void)sd_bus_reply_method_errorf(l->attach, SG_ERROR_INVALID,
                                         "cannot start job %" PRIu64 ": %s", l->job.key.n,
                                         strerror(-r));
        l->attach = sd_bus_message_unref(l->attach);
        give_up(l, "hand it over to its shim", r);
}

/* What is short now may not be later: back into the queue, and look again. */
static void unbegin(struct sg_live *l, const char *what, int error)
{
        struct sg_manager *m = l->manager;

        if (sg_live_drop_scope(l) == -EBUSY) { /* `run` is in its scope already */
                give_up(l, what, error);
                return;
        }
        sg_live_let_go(l);
        sg_queue_remove(m->queue, &l->entry);
        l->job.state = SG_JOB_QUEUED;
        l->job.begin_usec = sg_now_realtime_usec() + SG_START_AGAIN_USEC;
        (void)sg_job_set_reason(&l->job, "cannot %s: %s", what, strerror(-error));
        if (l->job.intent == SG_INTENT_CANCEL) {
                l->job.state = SG_JOB_KILLED;
                sg_live_end(l);
        } else {
                sg_live_enqueue(l);
        }
}

static void unstored(struct sg_live *l, int error)
{
        sg_live_log_unstored(l, "start", error);
        unbegin(l, "store its start", error);
}

static void on_start_durable(int result, const struct sg_job *job, void *userdata)
{
        struct sg_live *l = userdata;
        int r;

        (void)job;
        if (l->manager->stopping)
                return; /* without a fate: the next daemon queues it again */
        if (l->dropping)
                return; /* its end is on its way */
        if (result < 0) {
                unstored(l, result);
                return;
        }
        sg_live_log_stored(l, "start");
        if (l->job.intent != SG_INTENT_NONE) {
                sg_live_inspect(l, SG_PUBLISH_VOID);
        } else if (l->job.foreground) {
                l->attachable = true;
                sg_live_attach(l);
        } else {
                r = fork_shim(l);
                if (r < 0)
                        sg_live_not_started(l, r, "start its shim", NULL);
        }
}

void sg_live_let_go(struct sg_live *l)
{
        if (!l->counted)
                return;
        l->counted = false;
        l->manager->n_starting--;
        sg_manager_schedule(l->manager);
}

void sg_live_begin(struct sg_live *l)
{
        struct sg_manager *m = l->manager;
        _cleanup_(sg_record_deinitp) struct sg_record launch = {0};
        _cleanup_free_ char *why = NULL;
        int r;

        l->counted = !l->job.foreground;
        m->n_starting += l->counted;
        l->job.state = SG_JOB_STARTING;
        l->job.key.attempt++;
        l->job.pid = 0;
        l->job.started_usec = l->job.ended_usec = l->runs_since_usec = 0;
        l->job.exit_code = -1;
        l->job.signal = 0;
        l->job.eval[0] = '\0';
        l->job.step = l->job.total = SG_UNLIMITED;
        l->job.net_rx_bytes = l->job.net_tx_bytes = SG_UNLIMITED;
        l->not_its_fault = l->gone_ahead = l->concluded = l->requeueing = l->ended_durable =
                l->killed = false;
        l->placed = false;
        memset(&l->counters, 0xff, sizeof(l->counters)); /* not known */
        l->ready_pid = 0;
        sg_job_clear_reason(&l->job);
        strcpy(l->job.boot_id, m->node.boot_id);
        l->begun_usec = l->job.changed_usec = sg_now_realtime_usec();
        l->log_before = sg_live_log_size(l);
        r = sg_live_make_scope(l, &why);
        if (may_pass(r)) {
                sg_manager_pause_starts(m, "make groups for jobs", r);
                unbegin(l, "make its groups", r);
                return;
        }
        if (r < 0) {
                l->job.state = SG_JOB_FAILED;
                l->job.exit_code = SG_EXIT_OWN_FAILURE;
                (void)sg_job_set_reason(&l->job, "cannot make its groups: %s",
                                        why ? why : strerror(-r));
                sg_live_end(l);
                return;
        }
        sg_manager_fault(l->manager, "groups-made");
        /* Its process is there already, so that its scope is made while its start is stored. */
        if (l->job.foreground && l->runner) {
                r = sg_live_place(l, l->runner->caller.pid, l->runner->caller.pidfd);
                if (r < 0) {
                        give_up(l, "get a scope", r);
                        return;
                }
        }
        sg_live_put_launch(l, &launch);
        if (launch.error < 0) {
                unstored(l, launch.error);
                return;
        }
        sg_store_start(m->store, &l->job, launch.data, launch.size, on_start_durable, l);
        sg_monitor_publish(l); /* while that is written */
        sg_api_emit(m, &l->job);
}
