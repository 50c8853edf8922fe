/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The store as the daemon holds it: the writer's life, and requests on their way. */

#include "base/file.h"
#include "edge/store/client.h"
#include "edge/store/lock.h"
#include "edge/store/writer/writer.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* --- the writer is gone */

/* From here on every request fails; those that wait are told at the next dispatch. */
static void on_dead(pid_t pid, int error, void *userdata)
{
        struct sg_store *s = userdata;
        const char *what = error == -EPIPE    ? "has ended"
                           : error == -ENOMEM ? "can't be heard for lack of memory"
                                              : "speaks nonsense";
        struct sg_store_request *q;
        char *why;

        s->dead = error;
        if (asprintf(&why, "the store's writer (pid %d) %s; jobs that run are not touched",
                     (int)pid, what) >= 0) {
                free(s->why);
                s->why = why;
        }
        sg_list_foreach (q, &s->pending, link)
                if (q->failed >= 0)
                        q->failed = error;
        if (s->defer)
                (void)sd_event_source_set_enabled(s->defer, SD_EVENT_ONESHOT);
}

/* --- its replies */

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

/* Takes the writer's first word: why it can't work, or what there was to be mended first. */
static int take_first(struct sg_store *s, const uint8_t *frame, size_t size)
{
        struct sg_store_message m;
        int r = sg_store_message_parse(&m, frame, size);

        if (r < 0)
                return r;
        s->heard = true;
        s->dead = (int)sg_store_message_i64(&m, SG_STORE_TAG_RESULT);
        return sg_store_message_str(&m, SG_STORE_TAG_TEXT, s->dead < 0 ? &s->why : &s->notice);
}

static int on_frame(const uint8_t *frame, size_t size, void *userdata)
{
        struct sg_store *s = userdata;
        int r;

        if (!s->heard)
                return take_first(s, frame, size);
        s->dispatching = true;
        store_fail_head(s);
        r = sg_store_dispatch(s, frame, size);
        store_fail_head(s);
        s->dispatching = false;
        return r;
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
        *ret_mark = sg_worker_open(s->writer);
        sg_record_put_u64(s->out, SG_STORE_TAG_KIND, kind);
        return q;
}

void sg_store_request_send(struct sg_store *s, struct sg_store_request *q, size_t mark)
{
        size_t size = s->out->size - mark;

        if (q->failed < 0)
                sg_worker_drop(s->writer, mark);
        else
                q->failed = sg_worker_post(s->writer, mark);
        if (q->failed >= 0) {
                q->bytes = size;
                s->backlog += size;
        } else if (s->defer) {
                (void)sd_event_source_set_enabled(s->defer, SD_EVENT_ONESHOT);
        }
}

int sg_store_flush(struct sg_store *s)
{
        int r = 0;

        assert(!s->dispatching);
        store_run_failed(s);
        while (r >= 0 && !sg_list_empty(&s->pending) && !store_mourns(s)) {
                r = sg_worker_wait(s->writer, -1);
                store_run_failed(s);
        }
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

static int run_writer(int fd, void *userdata)
{
        const struct sg_store *s = userdata;

        return sg_writer_main(s->dir, fd);
}

static const struct sg_worker_kind writer_kind = {
        .name = "schedgov-store",
        .title = "the store's writer",
        .frame_max = SG_STORE_FRAME_MAX,
        .end_usec = SG_WORKER_FOR_EVER, /* what it has been sent is to be committed */
        .main = run_writer,
        .frame = on_frame,
        .dead = on_dead,
};

static int start_writer(struct sg_store *s)
{
        int r = sg_worker_new(&s->writer, &writer_kind, s);

        if (r < 0)
                return r;
        s->out = sg_worker_out(s->writer);
        r = sg_worker_start(s->writer, s->lock_fd);
        if (r >= 0)
                sg_store_lock_sign(s->lock_fd, sg_worker_pid(s->writer));
        return r;
}

/* 0, or why it can't work. */
static int hear_writer(struct sg_store *s, char **ret_why)
{
        int r = 0;

        while (r >= 0 && !s->heard)
                r = sg_worker_wait(s->writer, -1);
        if (!s->heard)
                return explain(ret_why, s->dead < 0 ? s->dead : r,
                               "the store's writer died while it opened", s->dir);
        if (s->dead < 0)
                *ret_why = TAKE_PTR(s->why);
        return s->dead;
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
        r = start_writer(s);
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
        s->lock_fd = -1;
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
        (void)sd_event_source_set_description(s->defer, "store-failed");
        r = sd_event_source_set_enabled(s->defer, s->dead < 0 ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
        if (r >= 0)
                r = sg_worker_attach(s->writer, event);
        if (r < 0)
                s->defer = sd_event_source_disable_unref(s->defer);
        return r;
}

void sg_store_on_death(struct sg_store *s, void (*dead)(void *userdata), void *userdata)
{
        s->on_death = dead;
        s->death_userdata = userdata;
}

void sg_store_on_kept(struct sg_store *s, void (*kept)(uint64_t uid, int64_t bytes, void *userdata),
                      void *userdata)
{
        s->on_kept = kept;
        s->kept_userdata = userdata;
}

static void say_goodbye(struct sg_store *s)
{
        size_t mark = sg_worker_open(s->writer);

        sg_record_put_u64(s->out, SG_STORE_TAG_KIND, SG_STORE_CLOSE);
        (void)sg_worker_post(s->writer, mark);
}

struct sg_store *sg_store_close(struct sg_store *s)
{
        if (!s)
                return NULL;
        s->on_death = NULL;
        s->on_kept = NULL;
        if (s->writer)
                (void)sg_store_flush(s);
        if (s->writer && sg_worker_is_running(s->writer))
                say_goodbye(s);
        s->defer = sd_event_source_disable_unref(s->defer);
        sg_worker_free(s->writer);
        s->lock_fd = sg_close(s->lock_fd);
        free(s->why);
        free(s->notice);
        free(s->dir);
        free(s);
        return NULL;
}

const char *sg_store_error(struct sg_store *s)
{
        return s->why;
}

const char *sg_store_notice(struct sg_store *s)
{
        return s->notice && s->notice[0] ? s->notice : NULL;
}

pid_t sg_store_pid(struct sg_store *s)
{
        return sg_worker_pid(s->writer);
}

const char *sg_store_dir(struct sg_store *s)
{
        return s->dir;
}

uint64_t sg_store_disk_bytes(struct sg_store *s)
{
        return sg_disk_size(s->lock_fd);
}

size_t sg_store_backlog(struct sg_store *s)
{
        return s->backlog;
}
