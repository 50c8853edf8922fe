/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The store as the daemon holds it: the writer's life, and the bytes to and from it. */

#include "base/file.h"
#include "edge/store/client.h"
#include "edge/store/lock.h"
#include "edge/store/writer/writer.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define OUT_KEEP (64U * 1024) /* a larger output buffer is freed when it has drained */

/* Linked in with --coverage only: the writer's end is no exit(3). */
extern void __gcov_dump(void) __attribute__((weak));

/* --- the writer is gone */

static void store_disable_io(struct sg_store *s)
{
        s->io = sd_event_source_disable_unref(s->io);
}

/* From here on every request fails; those that wait are told at the next dispatch. */
static void store_die(struct sg_store *s, int error, const char *what)
{
        struct sg_store_request *q;
        char *why;

        if (s->dead < 0)
                return;
        s->dead = error;
        if (asprintf(&why, "the store's writer (pid %d) %s; jobs that run are not touched",
                     (int)s->pid, what) >= 0) {
                free(s->why);
                s->why = why;
        }
        store_disable_io(s);
        s->fd = sg_close(s->fd);
        sg_record_deinit(&s->out);
        s->sent = 0;
        sg_list_foreach (q, &s->pending, link)
                if (q->failed >= 0)
                        q->failed = error;
        if (s->defer)
                (void)sd_event_source_set_enabled(s->defer, SD_EVENT_ONESHOT);
}

/* --- bytes */

static bool store_has_output(const struct sg_store *s)
{
        return s->out.size > s->sent;
}

static void store_update_io(struct sg_store *s)
{
        uint32_t events = EPOLLIN | (store_has_output(s) ? EPOLLOUT : 0);

        if (s->io)
                (void)sd_event_source_set_io_events(s->io, events);
}

/* What has been sent makes room at the front, or a queue that never runs dry would only grow. */
static void store_compact(struct sg_store *s)
{
        if (s->sent < OUT_KEEP || s->sent < s->out.size / 2)
                return;
        s->out.size -= s->sent;
        memmove(s->out.data, s->out.data + s->sent, s->out.size);
        s->sent = 0;
}

/* Takes no notice of errors: the reading side knows when it is over, and has replies to come. */
static void store_write(struct sg_store *s)
{
        while (s->dead == 0 && store_has_output(s)) {
                ssize_t n = send(s->fd, s->out.data + s->sent, s->out.size - s->sent,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0) {
                        store_compact(s);
                        return;
                }
                s->sent += (size_t)n;
        }
        s->out.size = s->sent = 0;
        if (s->out.allocated > OUT_KEEP)
                sg_record_deinit(&s->out);
}

/* Runs the callbacks of requests that were never sent, as far as it is their turn. */
static void store_fail_head(struct sg_store *s)
{
        while (!sg_list_empty(&s->pending)) {
                struct sg_store_request *q =
                        sg_list_entry(s->pending.next, struct sg_store_request, link);

                if (q->failed >= 0)
                        return;
                sg_store_request_fail(s, q, q->failed);
        }
}

static bool store_mourns(const struct sg_store *s)
{
        return s->dead < 0 && s->on_death;
}

static void store_dispatch_all(struct sg_store *s)
{
        const uint8_t *frame;
        size_t size;
        int r;

        store_fail_head(s);
        while ((r = sg_store_inbox_take(&s->in, &frame, &size)) > 0) {
                r = sg_store_dispatch(s, frame, size);
                if (r < 0)
                        break;
                store_fail_head(s);
        }
        if (r < 0) {
                store_die(s, r,
                          r == -ENOMEM ? "can't be heard for lack of memory" : "speaks nonsense");
                if (!store_mourns(s))
                        store_fail_head(s);
        }
}

static void store_read(struct sg_store *s)
{
        ssize_t n;

        n = sg_store_inbox_receive(&s->in, s->fd, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && n != -EAGAIN && n != -ENOMEM))
                store_die(s, -EPIPE, "has ended");
}

/* Reads and dispatches once. */
static void store_process(struct sg_store *s)
{
        s->dispatching = true;
        if (s->dead == 0)
                store_read(s);
        if (!store_mourns(s))
                store_dispatch_all(s);
        s->dispatching = false;
}

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        struct sg_store *s = userdata;

        (void)source;
        (void)fd;
        if (revents & EPOLLOUT)
                store_write(s);
        if (revents & (EPOLLIN | EPOLLHUP | EPOLLERR))
                store_process(s);
        store_update_io(s);
        return 0;
}

static void store_run_failed(struct sg_store *s)
{
        s->dispatching = true;
        if (!store_mourns(s))
                store_fail_head(s);
        s->dispatching = false;
}

static int on_defer(sd_event_source *source, void *userdata)
{
        struct sg_store *s = userdata;

        (void)source;
        if (!store_mourns(s))
                store_run_failed(s);
        else if (!s->mourned) {
                s->mourned = true;
                s->on_death(s->death_userdata); /* which may be the end of s, and of us */
        }
        return 0;
}

/* --- requests */

struct sg_store_request *sg_store_request_new(struct sg_store *s, enum sg_store_kind kind,
                                              void *userdata, size_t *ret_mark)
{
        struct sg_store_request *q;

        q = calloc(1, sizeof(*q));
        if (!q)
                return NULL;
        q->kind = kind;
        q->userdata = userdata;
        q->failed = s->dead;
        sg_list_append(&s->pending, &q->link);
        *ret_mark = sg_store_frame_open(&s->out, kind);
        return q;
}

void sg_store_request_send(struct sg_store *s, struct sg_store_request *q, size_t mark)
{
        int r;

        r = sg_store_frame_close(&s->out, mark);
        if (q->failed >= 0 && r < 0)
                q->failed = r;
        if (q->failed < 0) {
                s->out.size = mark;
                if (s->defer)
                        (void)sd_event_source_set_enabled(s->defer, SD_EVENT_ONESHOT);
                return;
        }
        q->bytes = s->out.size - mark;
        s->backlog += q->bytes;
        /* What waits already is sent from the loop: it and this share a system call. */
        if (mark == s->sent)
                store_write(s);
        store_update_io(s);
}

/* Sleeps until the writer has something to say, or takes more. */
static int store_wait(struct sg_store *s)
{
        struct pollfd p = {
                .fd = s->fd,
                .events = (short)(POLLIN | (store_has_output(s) ? POLLOUT : 0)),
        };

        if (poll(&p, 1, -1) < 0)
                return errno == EINTR ? 0 : -errno;
        if (p.revents & POLLOUT)
                store_write(s);
        if (p.revents & ~POLLOUT)
                store_process(s);
        return 0;
}

int sg_store_flush(struct sg_store *s)
{
        int r = 0;

        assert(!s->dispatching);
        store_run_failed(s);
        while (r >= 0 && !sg_list_empty(&s->pending) && !store_mourns(s)) {
                r = store_wait(s);
                store_run_failed(s);
        }
        store_update_io(s);
        return r < 0 ? r : s->dead;
}

/* --- open and close */

static int explain(char **ret_why, int error, const char *what, const char *dir)
{
        bool other = error == -EACCES && geteuid() != 0;

        if (asprintf(ret_why, "%s %s: %s%s", what, dir, strerror(-error),
                     other ? "; be root, or choose another --state-dir, or use --user" : "") < 0)
                *ret_why = NULL;
        return error;
}

/* Makes the directory if need be; others may pass through it to their logs, if we are root. */
static int make_state_dir(const char *path)
{
        mode_t mode = geteuid() == 0 ? 0711 : 0700;
        struct stat st;
        int r;

        if (stat(path, &st) == 0)
                return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
        if (errno != ENOENT)
                return -errno;
        r = sg_mkdir_p(path, mode);
        if (r < 0)
                return r;
        return chmod(path, mode) < 0 ? -errno : 0;
}

static int lock_state_dir(struct sg_store *s, char **ret_why)
{
        pid_t holder = 0;
        char pid[32] = "";
        int r;

        r = sg_store_lock(s->dir, &s->lock_fd, &holder);
        if (r == -EBUSY) {
                if (holder > 0)
                        (void)snprintf(pid, sizeof(pid), " (pid %d)", (int)holder);
                if (asprintf(ret_why,
                             "another schedgovd%s uses %s: end it, or choose another --state-dir",
                             pid, s->dir) < 0)
                        *ret_why = NULL;
        } else if (r < 0) {
                (void)explain(ret_why, r, "cannot write to the state directory", s->dir);
        }
        return r;
}

static int fork_writer(struct sg_store *s)
{
        _cleanup_close_ int ours = -1, theirs = -1;
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                return -errno;
        ours = pair[0];
        theirs = pair[1];
        s->pid = fork();
        if (s->pid < 0)
                return -errno;
        if (s->pid == 0) {
                int status = sg_writer_main(s->dir, theirs, s->lock_fd);

                if (__gcov_dump)
                        __gcov_dump();
                _exit(status);
        }
        s->fd = TAKE_FD(ours);
        sg_store_lock_sign(s->lock_fd, s->pid);
        return 0;
}

/* The writer's first word: 0, or why it can't work. */
static int hear_writer(struct sg_store *s, char **ret_why)
{
        struct sg_store_message m;
        const uint8_t *frame;
        size_t size;
        ssize_t n;
        int r;

        while ((r = sg_store_inbox_take(&s->in, &frame, &size)) == 0) {
                n = sg_store_inbox_receive(&s->in, s->fd, 0);
                if (n <= 0)
                        return explain(ret_why, n < 0 ? (int)n : -EPIPE,
                                       "the store's writer died while it opened", s->dir);
        }
        if (r >= 0)
                r = sg_store_message_parse(&m, frame, size);
        if (r < 0)
                return r;
        r = (int)sg_store_message_i64(&m, SG_STORE_TAG_RESULT);
        if (r < 0)
                (void)sg_store_message_str(&m, SG_STORE_TAG_TEXT, ret_why);
        return r;
}

static int store_open(struct sg_store *s, const char *state_dir, char **ret_why)
{
        int r;

        r = make_state_dir(state_dir);
        if (r < 0)
                return explain(ret_why, r, "cannot make the state directory", state_dir);
        s->dir = realpath(state_dir, NULL);
        if (!s->dir)
                return explain(ret_why, -errno, "cannot resolve", state_dir);
        r = lock_state_dir(s, ret_why);
        if (r < 0)
                return r;
        r = fork_writer(s);
        if (r < 0)
                return explain(ret_why, r, "cannot start the writer for", s->dir);
        return hear_writer(s, ret_why);
}

int sg_store_open(struct sg_store **ret, const char *state_dir, char **ret_why)
{
        _cleanup_(sg_store_closep) struct sg_store *s = calloc(1, sizeof(*s));
        char *why = NULL;
        int r;

        if (!s)
                return -ENOMEM;
        sg_list_init(&s->pending);
        s->fd = s->lock_fd = -1;
        r = store_open(s, state_dir, &why);
        if (r < 0) {
                *ret_why = why;
                return r;
        }
        free(why);
        *ret = TAKE_PTR(s);
        return 0;
}

int sg_store_attach(struct sg_store *s, sd_event *event)
{
        int r;

        r = sd_event_add_defer(event, &s->defer, on_defer, s);
        if (r < 0)
                return r;
        r = sd_event_source_set_enabled(s->defer, s->dead < 0 ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
        if (r >= 0 && s->dead == 0)
                r = sd_event_add_io(event, &s->io, s->fd, EPOLLIN, on_io, s);
        if (r < 0) {
                s->defer = sd_event_source_disable_unref(s->defer);
                return r;
        }
        (void)sd_event_source_set_description(s->defer, "store-failed");
        (void)sd_event_source_set_description(s->io, "store");
        s->event = sd_event_ref(event);
        store_update_io(s);
        return 0;
}

void sg_store_on_death(struct sg_store *s, void (*dead)(void *userdata), void *userdata)
{
        s->on_death = dead;
        s->death_userdata = userdata;
}

static void say_goodbye(struct sg_store *s)
{
        size_t mark = sg_store_frame_open(&s->out, SG_STORE_CLOSE);

        if (sg_store_frame_close(&s->out, mark) >= 0)
                store_write(s);
}

struct sg_store *sg_store_close(struct sg_store *s)
{
        if (!s)
                return NULL;
        s->on_death = NULL;
        if (s->pid > 0)
                (void)sg_store_flush(s);
        if (s->fd >= 0)
                say_goodbye(s);
        store_disable_io(s);
        s->defer = sd_event_source_disable_unref(s->defer);
        s->event = sd_event_unref(s->event);
        s->fd = sg_close(s->fd);
        while (s->pid > 0 && waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
                continue;
        s->lock_fd = sg_close(s->lock_fd);
        sg_record_deinit(&s->out);
        sg_store_inbox_deinit(&s->in);
        free(s->why);
        free(s->dir);
        free(s);
        return NULL;
}

const char *sg_store_error(struct sg_store *s)
{
        return s->why;
}

pid_t sg_store_pid(struct sg_store *s)
{
        return s->pid;
}

const char *sg_store_dir(struct sg_store *s)
{
        return s->dir;
}

size_t sg_store_backlog(struct sg_store *s)
{
        return s->backlog;
}
