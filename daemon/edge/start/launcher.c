/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests are kept in the order in which they are sent, which is that of their deadlines. What a
 * burst has more than the socket takes waits here, each with a copy of its gate.
 */
#include "edge/start/launcher.h"
#include "base/cleanup.h"
#include "base/datagram.h"
#include "base/file.h"
#include "base/list.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "edge/start/shim-spawn.h"
#include "proto/launch.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define ANSWER_USEC (10 * SG_USEC_PER_SEC)

struct pending {
        struct sg_list link;
        struct sg_launch_request request;
        int gate; /* -1 once it has been sent */
        int result;
        uint64_t deadline;
        sg_launched_cb cb;
        void *userdata;
};

struct sg_launcher {
        sd_event *event;
        char *shim_path, *state_dir, *socket;
        sd_event_source *io, *timer; /* io: the connection; it owns the socket */
        struct sg_list pending;
        uint64_t last_id;
};

static void pending_free(struct pending *p)
{
        sg_list_remove(&p->link);
        (void)sg_close(p->gate);
        free(p);
}

static void pending_finish(struct pending *p, int result, pid_t pid, int pidfd)
{
        sg_launched_cb cb = p->cb;
        void *userdata = p->userdata;

        pending_free(p);
        cb(result, pid, pidfd, userdata);
}

/* A callback may start, and forget, what it likes: so the search begins at the front each time. */
static void finish_failed(struct sg_launcher *l)
{
        struct pending *p;
        bool found;

        do {
                found = false;
                sg_list_foreach (p, &l->pending, link)
                        if (p->result < 0) {
                                found = true;
                                pending_finish(p, p->result, -1, -1);
                                break;
                        }
        } while (found);
}

/* The connection */

static int flush(struct sg_launcher *l);

/* Requests that have been sent may have been carried out or not, and fail; the others go to the
 * next launcher. */
static void connection_lost(struct sg_launcher *l)
{
        struct pending *p;
        bool unsent = false;
        int r = 0;

        l->io = sd_event_source_disable_unref(l->io);
        sg_list_foreach (p, &l->pending, link) {
                if (p->gate < 0)
                        p->result = -ECONNRESET;
                else
                        unsent = true;
        }
        if (unsent)
                r = flush(l);
        if (r < 0)
                sg_list_foreach (p, &l->pending, link)
                        p->result = p->result < 0 ? p->result : r;
        finish_failed(l);
}

static struct pending *find(struct sg_launcher *l, uint64_t id)
{
        struct pending *p;

        sg_list_foreach (p, &l->pending, link)
                if (p->request.id == id && p->gate < 0)
                        return p;
        return NULL;
}

/* A shim that was started too late, or for somebody who has gone, is dropped with its pidfd. */
static int handle_answer(struct sg_launcher *l, const struct sg_launch_answer *a,
                         struct sg_datagram *d)
{
        struct pending *p;

        if (d->size != sizeof(*a) || d->cut || a->magic != SG_LAUNCH_MAGIC || a->id == 0)
                return -EBADMSG;
        p = find(l, a->id);
        if (!p)
                return 0;
        if (a->error != 0)
                pending_finish(p, a->error > 0 ? -a->error : -EBADMSG, -1, -1);
        else if (d->fd < 0 || d->n_fds != 1 || a->pid <= 1)
                pending_finish(p, d->n_fds == 1 ? -EMFILE : -EBADMSG, -1, -1);
        else
                pending_finish(p, 0, a->pid, TAKE_FD(d->fd));
        return 0;
}

static int read_answer(struct sg_launcher *l, int fd)
{
        struct sg_launch_answer answer;
        struct sg_datagram d;
        int r;

        r = sg_datagram_receive(fd, &answer, sizeof(answer), &d);
        if (r == -EAGAIN)
                return 0;
        if (r <= 0)
                return r < 0 ? r : -ECONNRESET;
        r = handle_answer(l, &answer, &d);
        (void)sg_close(d.fd);
        return r;
}

static int on_socket(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        struct sg_launcher *l = userdata;
        int r = 0;

        (void)source;
        if (revents & (EPOLLIN | EPOLLHUP | EPOLLERR))
                r = read_answer(l, fd);
        if (r >= 0 && l->io && (revents & EPOLLOUT))
                r = flush(l);
        if (r < 0)
                connection_lost(l);
        return 0;
}

static int ensure_connection(struct sg_launcher *l)
{
        _cleanup_close_ int fd = -1;
        int r;

        if (l->io)
                return 0;
        fd = sg_socket_connect(l->socket);
        if (fd < 0) {
                sg_log(LOG_ERR, "cannot reach schedgov-launch on %s: %s", l->socket, strerror(-fd));
                return fd;
        }
        r = sd_event_add_io(l->event, &l->io, fd, EPOLLIN, on_socket, l);
        if (r < 0)
                return r;
        (void)sd_event_source_set_io_fd_own(l->io, 1);
        TAKE_FD(fd);
        return 0;
}

/* Sends what the socket takes now. A connection that is found broken is left to its event, so that
 * nobody is called from within a start. */
static int flush(struct sg_launcher *l)
{
        struct pending *p;
        int r;

        r = ensure_connection(l);
        if (r < 0)
                return r;
        sg_list_foreach (p, &l->pending, link) {
                if (p->gate < 0 || p->result < 0)
                        continue;
                r = sg_datagram_send(sd_event_source_get_io_fd(l->io), &p->request,
                                     sizeof(p->request), p->gate);
                if (r < 0)
                        break;
                p->gate = sg_close(p->gate);
        }
        (void)sd_event_source_set_io_events(l->io, r == -EAGAIN ? EPOLLIN | EPOLLOUT : EPOLLIN);
        return r == -EAGAIN || r == -EPIPE || r == -ECONNRESET ? 0 : r;
}

/* Deadlines */

static int on_timeout(sd_event_source *source, uint64_t usec, void *userdata);

static int arm_timer(struct sg_launcher *l)
{
        const struct pending *first = sg_list_entry(l->pending.next, struct pending, link);
        int r;

        if (sg_list_empty(&l->pending))
                return l->timer ? sd_event_source_set_enabled(l->timer, SD_EVENT_OFF) : 0;
        if (!l->timer)
                return sd_event_add_time(l->event, &l->timer, CLOCK_MONOTONIC, first->deadline, 0,
                                         on_timeout, l);
        r = sd_event_source_set_time(l->timer, first->deadline);
        return r < 0 ? r : sd_event_source_set_enabled(l->timer, SD_EVENT_ONESHOT);
}

static int on_timeout(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_launcher *l = userdata;
        uint64_t now = sg_now_monotonic_usec();
        struct pending *p;

        (void)source;
        (void)usec;
        sg_list_foreach (p, &l->pending, link)
                if (p->deadline <= now)
                        p->result = -ETIMEDOUT;
        finish_failed(l);
        (void)arm_timer(l);
        return 0;
}

/* The object */

int sg_launcher_new(struct sg_launcher **ret, sd_event *event, const char *shim_path,
                    const char *state_dir, const char *socket)
{
        struct sg_launcher *l = calloc(1, sizeof(*l));

        if (!l)
                return -ENOMEM;
        sg_list_init(&l->pending);
        l->event = sd_event_ref(event);
        l->shim_path = strdup(shim_path);
        l->state_dir = strdup(state_dir);
        l->socket = socket ? strdup(socket) : NULL;
        if (!l->shim_path || !l->state_dir || (socket && !l->socket)) {
                sg_launcher_free(l);
                return -ENOMEM;
        }
        *ret = l;
        return 0;
}

struct sg_launcher *sg_launcher_free(struct sg_launcher *l)
{
        struct pending *p, *next;

        if (!l)
                return NULL;
        sg_list_foreach_safe (p, next, &l->pending, link)
                pending_free(p);
        sd_event_source_disable_unref(l->io);
        sd_event_source_disable_unref(l->timer);
        sd_event_unref(l->event);
        free(l->shim_path);
        free(l->state_dir);
        free(l->socket);
        free(l);
        return NULL;
}

static int fork_it(struct sg_launcher *l, const struct sg_launch *launch, pid_t *ret_pid)
{
        char dir[PATH_MAX], in_jobs[SG_ATTEMPT_NAME_MAX + 5] = "jobs/";
        int r;

        sg_attempt_name_format(in_jobs + strlen(in_jobs), launch->key);
        r = sg_path_join(dir, sizeof(dir), l->state_dir, in_jobs);
        return r < 0 ? r : sg_shim_spawn(l->shim_path, dir, launch->gate, launch->scope, ret_pid);
}

static int ask(struct sg_launcher *l, const struct sg_launch *launch)
{
        struct pending *p = calloc(1, sizeof(*p));
        int r;

        if (!p)
                return -ENOMEM;
        sg_list_append(&l->pending, &p->link);
        sg_launch_request_init(&p->request, ++l->last_id, launch->key);
        p->deadline = sg_now_monotonic_usec() + ANSWER_USEC;
        p->cb = launch->cb;
        p->userdata = launch->userdata;
        p->gate = fcntl(launch->gate, F_DUPFD_CLOEXEC, 3);
        r = p->gate < 0 ? -errno : arm_timer(l);
        if (r >= 0)
                r = flush(l);
        if (r < 0)
                pending_free(p);
        return r < 0 ? r : 1;
}

int sg_launcher_start(struct sg_launcher *l, const struct sg_launch *launch, pid_t *ret_pid)
{
        return l->socket ? ask(l, launch) : fork_it(l, launch, ret_pid);
}

void sg_launcher_forget(struct sg_launcher *l, const void *userdata)
{
        struct pending *p, *next;

        sg_list_foreach_safe (p, next, &l->pending, link)
                if (p->userdata == userdata)
                        pending_free(p);
}
