/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A worker's life: its birth, its death, its burial. */

#include "base/child.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "edge/common/worker-internal.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define KILL_MSEC 1000 /* how long the dead are waited for at the end */

/* Linked in with --coverage only: a worker's end is no exit(3). */
extern void __gcov_dump(void) __attribute__((weak));

void sg_worker_enter(struct sg_worker *w)
{
        w->depth++;
}

void sg_worker_leave(struct sg_worker *w)
{
        if (--w->depth == 0 && w->freed)
                free(w);
}

/* --- processes */

static struct sg_list processes = SG_LIST_INIT(processes);

bool sg_worker_is_one(pid_t pid)
{
        const struct sg_worker_process *p;

        sg_list_foreach (p, &processes, all_link)
                if (p->pid == pid)
                        return true;
        return false;
}

static void process_free(struct sg_worker_process *p)
{
        sg_list_remove(&p->all_link);
        sg_list_remove(&p->link);
        sd_event_source_disable_unref(p->source);
        (void)sg_close(p->pidfd);
        free(p);
}

static int on_exit_of(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        struct sg_worker_process *p = userdata;
        struct sg_worker *w = p->worker;
        int status = 0;

        (void)source;
        (void)fd;
        (void)revents;
        if (waitpid(p->pid, &status, WNOHANG) == 0)
                return 0;
        process_free(p);
        sg_worker_enter(w);
        if (w->kind->buried)
                w->kind->buried(status, w->userdata);
        sg_worker_leave(w);
        return 0;
}

static int process_attach(struct sg_worker_process *p)
{
        int r = sd_event_add_io(p->worker->event, &p->source, p->pidfd, EPOLLIN, on_exit_of, p);

        return r < 0 ? r : sd_event_source_set_enabled(p->source, SD_EVENT_OFF);
}

static void run_child(struct sg_worker *w, int fd)
{
        int status;

        sg_child_set_up(w->kind->name, (const int[]){fd, w->keep_fd});
        status = w->kind->main(fd, w->userdata);
        if (__gcov_dump)
                __gcov_dump();
        _exit(status);
}

/* A process that we can't watch has done nothing yet, and is killed at once. */
static int watch(struct sg_worker_process *p)
{
        p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
        if (p->pidfd >= 0)
                return 0;
        int r = -errno;

        (void)kill(p->pid, SIGKILL);
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
                continue;
        return r;
}

static int fork_process(struct sg_worker *w, struct sg_worker_process *p)
{
        _cleanup_close_ int ours = -1, theirs = -1;
        int pair[2], r;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                return -errno;
        ours = pair[0];
        theirs = pair[1];
        p->pid = fork();
        if (p->pid < 0)
                return -errno;
        if (p->pid == 0)
                run_child(w, theirs);
        r = watch(p);
        if (r >= 0)
                w->fd = TAKE_FD(ours);
        return r;
}

/* Kills the process, if it lives. However long it takes to be gone, nobody sleeps for that. */
static void bury(struct sg_worker *w)
{
        struct sg_worker_process *p = TAKE_PTR(w->process);

        (void)kill(p->pid, SIGKILL);
        sg_list_append(&w->corpses, &p->link);
        if (p->source)
                (void)sd_event_source_set_enabled(p->source, SD_EVENT_ON);
}

static void let_go(struct sg_worker *w)
{
        w->io = sd_event_source_disable_unref(w->io);
        w->fd = sg_close(w->fd);
        sg_inbox_deinit(&w->in);
        sg_record_deinit(&w->out);
        w->sent = 0;
        bury(w);
}

/* --- death */

/* A worker that has done well for long is started again at once; another one later each time, and
 * in the end not any more. */
static void plan_restart(struct sg_worker *w, uint64_t more_usec)
{
        const struct sg_worker_kind *kind = w->kind;
        uint64_t delay;

        if (sg_now_monotonic_usec() - w->started_usec > kind->delay_max_usec)
                w->delay_usec = w->failures = 0;
        if (!w->restart || w->failures++ >= kind->restarts_max)
                return;
        delay = w->delay_usec;
        w->delay_usec = delay == 0 ? kind->delay_usec : 2 * delay;
        if (w->delay_usec > kind->delay_max_usec)
                w->delay_usec = kind->delay_max_usec;
        if (sd_event_source_set_time_relative(w->restart, delay + more_usec) >= 0)
                (void)sd_event_source_set_enabled(w->restart, SD_EVENT_ONESHOT);
}

void sg_worker_die(struct sg_worker *w, int error)
{
        pid_t pid = w->process->pid;

        let_go(w);
        plan_restart(w, 0);
        sg_worker_fail_questions(w, error);
        if (!w->freed && w->kind->dead)
                w->kind->dead(pid, error, w->userdata);
}

/* --- life */

static int attach_io(struct sg_worker *w)
{
        int r = process_attach(w->process);

        if (r >= 0)
                r = sd_event_add_io(w->event, &w->io, w->fd, EPOLLIN, sg_worker_on_io, w);
        if (r >= 0)
                (void)sd_event_source_set_description(w->io, w->kind->name);
        return r;
}

static int start(struct sg_worker *w)
{
        struct sg_worker_process *p;
        int r = w->kind->prepare ? w->kind->prepare(w->userdata) : 0;

        p = r < 0 ? NULL : calloc(1, sizeof(*p));
        if (!p)
                return r < 0 ? r : -ENOMEM;
        sg_list_init(&p->link);
        sg_list_append(&processes, &p->all_link);
        p->worker = w;
        p->pidfd = -1;
        w->started_usec = sg_now_monotonic_usec();
        r = fork_process(w, p);
        if (r < 0) {
                process_free(p);
                return r;
        }
        w->process = p;
        r = w->event ? attach_io(w) : 0;
        if (r < 0) {
                let_go(w);
                return r;
        }
        sg_worker_send(w); /* what was asked before */
        return 0;
}

int sg_worker_start(struct sg_worker *w, int keep_fd)
{
        if (w->process)
                return -EBUSY;
        w->keep_fd = keep_fd;
        w->failures = w->delay_usec = 0;
        if (w->restart)
                (void)sd_event_source_set_enabled(w->restart, SD_EVENT_OFF);
        return start(w);
}

static int on_restart(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_worker *w = userdata;
        int r = start(w);

        (void)source;
        (void)usec;
        if (r < 0) {
                plan_restart(w, w->kind->delay_usec);
                sg_log(LOG_ERR, "cannot start %s: %s; %s", w->kind->title, strerror(-r),
                       sg_worker_is_over(w) ? "giving up" : "trying again");
                return 0;
        }
        w->n_restarts++;
        sg_worker_enter(w);
        if (w->kind->started)
                w->kind->started(w->userdata);
        sg_worker_leave(w);
        return 0;
}

int sg_worker_new(struct sg_worker **ret, const struct sg_worker_kind *kind, void *userdata)
{
        struct sg_worker *w = calloc(1, sizeof(*w));

        if (!w)
                return -ENOMEM;
        w->kind = kind;
        w->userdata = userdata;
        w->fd = w->keep_fd = -1;
        w->in.max = kind->frame_max;
        sg_list_init(&w->corpses);
        sg_list_init(&w->questions);
        sg_list_init(&w->failing);
        *ret = w;
        return 0;
}

int sg_worker_attach(struct sg_worker *w, sd_event *event)
{
        int r = 0;

        w->event = sd_event_ref(event);
        if (w->kind->restarts_max > 0) {
                r = sd_event_add_time(event, &w->restart, CLOCK_MONOTONIC, 0, 0, on_restart, w);
                if (r >= 0)
                        r = sd_event_source_set_enabled(w->restart, SD_EVENT_OFF);
        }
        if (r >= 0 && w->process)
                r = attach_io(w);
        if (r >= 0)
                sg_worker_send(w);
        return r;
}

void sg_worker_stop(struct sg_worker *w)
{
        if (w->restart)
                (void)sd_event_source_set_enabled(w->restart, SD_EVENT_OFF);
        if (w->process)
                let_go(w);
        sg_worker_forget_questions(w);
}

void sg_worker_fail(struct sg_worker *w, int error)
{
        sg_worker_enter(w);
        if (w->process)
                sg_worker_die(w, error);
        sg_worker_leave(w);
}

/* With our end of the socket closed the worker ends by itself, unless it hangs. */
static void await_end(struct sg_worker *w)
{
        uint64_t usec = w->kind->end_usec;
        struct pollfd p = {.fd = w->process->pidfd, .events = POLLIN};

        w->fd = sg_close(w->fd);
        while (poll(&p, 1, usec == SG_WORKER_FOR_EVER ? -1 : (int)(usec / SG_USEC_PER_MSEC)) < 0 &&
               errno == EINTR)
                continue;
}

/* All the dead were killed already: one second is for all of them. */
static void bury_all(struct sg_worker *w)
{
        uint64_t end = sg_now_monotonic_usec() + KILL_MSEC * SG_USEC_PER_MSEC;
        struct sg_worker_process *p, *next;

        sg_list_foreach_safe (p, next, &w->corpses, link) {
                struct pollfd poll_it = {.fd = p->pidfd, .events = POLLIN};
                uint64_t now = sg_now_monotonic_usec();

                (void)poll(&poll_it, 1, now < end ? (int)((end - now) / SG_USEC_PER_MSEC) : 0);
                (void)waitpid(p->pid, NULL, WNOHANG);
                process_free(p);
        }
}

struct sg_worker *sg_worker_free(struct sg_worker *w)
{
        if (!w)
                return NULL;
        if (w->process)
                await_end(w);
        sg_worker_stop(w);
        bury_all(w);
        w->deadline = sd_event_source_disable_unref(w->deadline);
        w->restart = sd_event_source_disable_unref(w->restart);
        w->event = sd_event_unref(w->event);
        sg_record_deinit(&w->out); /* of one that didn't run */
        w->freed = true;
        if (w->depth == 0)
                free(w);
        return NULL;
}

bool sg_worker_is_running(const struct sg_worker *w)
{
        return w->process != NULL;
}

bool sg_worker_is_over(const struct sg_worker *w)
{
        int enabled = SD_EVENT_OFF;

        if (w->restart)
                (void)sd_event_source_get_enabled(w->restart, &enabled);
        return !w->process && enabled == SD_EVENT_OFF;
}

pid_t sg_worker_pid(const struct sg_worker *w)
{
        return w->process ? w->process->pid : 0;
}

uint64_t sg_worker_restarts(const struct sg_worker *w)
{
        return w->n_restarts;
}

unsigned sg_worker_dying(const struct sg_worker *w)
{
        const struct sg_worker_process *p;
        unsigned n = 0;

        sg_list_foreach (p, &w->corpses, link)
                n++;
        return n;
}
