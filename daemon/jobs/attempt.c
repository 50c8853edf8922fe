/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One attempt, from its stored start to its keeper: a background job's is forked, `schedctl run`
 * becomes its job's own. Until GO (gate.c) nothing of the user's has run, and the attempt can be
 * dropped by closing the gate.
 */
#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "govern/loop.h"
#include "jobs/internal.h"
#include "monitor/monitor.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <syslog.h>

void sg_attempt_init(struct sg_attempt *a)
{
        a->gate = a->shim_pidfd = -1;
}

void sg_attempt_deinit(struct sg_live *l)
{
        sg_launcher_forget(l->manager->jobs->launcher, l);
        sg_do_close_gate(l);
        sg_live_unwatch_shim(l);
        free(l->attempt.record);
        free(l->attempt.how_it_ended);
        free(l->attempt.counters);
}

/* Watching the shim */

void sg_live_unwatch_shim(struct sg_live *l)
{
        sg_poller_remove(l->manager->jobs->shims, l->attempt.shim_pidfd);
        l->attempt.shim_pidfd = sg_close(l->attempt.shim_pidfd);
}

void sg_live_on_shim_exit(void *userdata)
{
        struct sg_live *l = userdata;

        sg_live_unwatch_shim(l);
        (void)waitpid(l->attempt.shim, NULL,
                      0); /* not ours after a restart, unless we started over */
        l->attempt.shim = 0;
        sg_manager_reap(l->manager);
        sg_live_tell_kind(l, SG_LIFE_E_KEEPER_GONE);
}

int sg_live_watch_shim(struct sg_live *l, pid_t pid, int pidfd)
{
        struct sg_attempt *a = &l->attempt;
        int r;

        a->shim_pidfd = pidfd >= 0 ? pidfd : (int)syscall(SYS_pidfd_open, pid, 0);
        if (a->shim_pidfd < 0)
                return -errno;
        r = sg_poller_add(l->manager->jobs->shims, a->shim_pidfd, l);
        if (r < 0) {
                a->shim_pidfd = sg_close(a->shim_pidfd);
                return r;
        }
        a->shim = pid;
        return 0;
}

/* The row `starting` is stored */

static void on_start_durable(int result, const struct sg_job *job, void *userdata)
{
        struct sg_live *l = userdata;

        (void)job;
        if (!l->manager->stopping) /* else it has no fate, and the next daemon queues it again */
                sg_live_tell(l,
                             &(struct sg_life_event){.kind = result < 0 ? SG_LIFE_E_START_UNSTORED
                                                                        : SG_LIFE_E_START_STORED,
                                                     .error = result});
}

void sg_do_store_start(struct sg_live *l)
{
        _cleanup_(sg_record_deinitp) struct sg_record launch = {0};

        sg_monitor_listen(l);
        l->job.threads_given = sg_live_threads_given(l);
        sg_live_put_launch(l, &launch);
        if (launch.error < 0)
                sg_live_result(l, &(struct sg_life_event){.kind = SG_LIFE_E_START_UNSTORED,
                                                          .error = launch.error});
        else
                sg_store_start(l->manager->store, &l->job, launch.data, launch.size,
                               on_start_durable, l);
}

void sg_do_publish(struct sg_live *l)
{
        sg_monitor_publish(l);
}

/* The gate is closed, so that a shim which is there all the same goes away. */
void sg_do_say_not_started(struct sg_live *l)
{
        const struct sg_life_event *e = sg_live_event(l);

        if (l->life.may_pass)
                sg_manager_pause_starts(l->manager, e->what, e->error);
        else
                sg_log(LOG_WARNING, "job %" PRIu64 ": cannot %s: %s", l->job.key.n, e->what,
                       e->why ?: strerror(-e->error));
}

/* A background job's keeper is forked */

static struct sg_life_event launched(int error)
{
        return (struct sg_life_event){.kind = error < 0 ? SG_LIFE_E_LAUNCH_FAILED
                                                        : SG_LIFE_E_LAUNCHED,
                                      .what = "start its shim",
                                      .error = error};
}

static void on_launched(int result, pid_t pid, int pidfd, void *userdata)
{
        struct sg_live *l = userdata;
        struct sg_life_event e;
        int r = result;

        if (r >= 0)
                r = sg_live_watch_shim(l, pid, pidfd);
        e = launched(r);
        sg_live_tell(l, &e);
}

/* 1: it is there; 0: on_launched() will be told. */
static int launch(struct sg_live *l)
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
        r = sg_launcher_start(l->manager->jobs->launcher, &launch, &pid);
        if (r != 0)
                return r < 0 ? r : 0;
        r = sg_live_watch_shim(l, pid, -1);
        return r < 0 ? r : 1;
}

void sg_do_launch(struct sg_live *l)
{
        int r = launch(l);
        struct sg_life_event e = launched(r);

        if (r != 0)
                sg_live_result(l, &e);
}

/* `run` hands itself over */

/* Watches the process that called, by the pidfd of its connection: its pid may be another's by now.
 */
static int watch_runner(struct sg_live *l)
{
        const struct sg_runner *runner = l->runner;
        _cleanup_close_ int pidfd =
                runner->pidfd < 0 ? -1 : fcntl(runner->pidfd, F_DUPFD_CLOEXEC, 3);
        int r;

        if (pidfd < 0)
                return -ESRCH;
        r = sg_live_watch_shim(l, runner->pid, pidfd);
        (void)TAKE_FD(pidfd); /* the callee owns it, whatever came of that */
        return r;
}

/* The caller of Attach gets gate and lock, and then execs the shim. That process is the user's: of
 * the attempt's directory it gets no descriptor that can be written to. */
static int hand_over(struct sg_live *l)
{
        _cleanup_close_ int theirs = -1, dir = -1, lock = -1;
        char path[4096], name[SG_ATTEMPT_NAME_MAX];
        int r;

        sg_attempt_name_format(name, &l->job.key);
        (void)snprintf(path, sizeof(path), "%s/jobs/%s", sg_store_dir(l->manager->store), name);
        dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
                return -errno;
        lock = openat(dir, "lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (lock < 0)
                return -errno;
        r = sg_live_open_gate(l, &theirs);
        if (r < 0)
                return r;
        r = watch_runner(l);
        if (r >= 0 && l->life.placed)
                r = sg_live_send_place(l);
        if (r >= 0)
                r = l->manager->jobs->calls->hand_over(l, theirs, lock);
        if (r < 0)
                sg_do_close_gate(l);
        return r;
}

void sg_do_hand_over(struct sg_live *l)
{
        int r = hand_over(l);

        if (r < 0)
                l->manager->jobs->calls->hand_failed(l, r);
        l->runner->here = l->runner->asked = false; /* its exec closes the connection */
        sg_live_result(
                l, &(struct sg_life_event){.kind = r < 0 ? SG_LIFE_E_HAND_FAILED : SG_LIFE_E_HANDED,
                                           .error = r});
}

void sg_do_offer(struct sg_live *l)
{
        if (l->runner->asked)
                sg_live_result_kind(l, SG_LIFE_E_ATTACH);
}

void sg_live_attach(struct sg_live *l)
{
        l->runner->asked = true;
        if (l->life.state == SG_LIFE_OFFERED)
                sg_live_tell_kind(l, SG_LIFE_E_ATTACH);
}
