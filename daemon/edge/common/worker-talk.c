/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is said to a worker and by it: frames, questions, and until when they are answered. */

#include "base/time-util.h"
#include "edge/common/worker-internal.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define OUT_KEEP (64U * 1024) /* a larger output buffer is freed when it has drained */
#define DEADLINE_ACCURACY_USEC (10 * SG_USEC_PER_MSEC)

struct question {
        struct sg_list link;
        uint64_t due_usec;
        sg_worker_answer answer; /* NULL: nobody waits for it any more */
        void *userdata;
};

/* --- questions */

static void free_questions(struct sg_list *questions)
{
        struct question *q, *next;

        sg_list_foreach_safe (q, next, questions, link) {
                sg_list_remove(&q->link);
                free(q);
        }
}

/* Off when nobody waits. */
static void arm_deadline(struct sg_worker *w)
{
        uint64_t due = UINT64_MAX;
        const struct question *q;

        if (!w->deadline)
                return; /* nobody has ever asked */
        sg_list_foreach (q, &w->questions, link)
                if (q->answer && q->due_usec < due)
                        due = q->due_usec;
        (void)sd_event_source_set_time(w->deadline, due);
        (void)sd_event_source_set_enabled(w->deadline,
                                          due == UINT64_MAX ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

/* Takes the first question of a list, and tells who asked. */
static void tell(struct sg_list *questions, int result, const uint8_t *data, size_t size)
{
        struct question *q = sg_list_entry(questions->next, struct question, link);
        sg_worker_answer answer = q->answer;
        void *userdata = q->userdata;

        sg_list_remove(&q->link);
        free(q);
        if (answer)
                answer(result, data, size, userdata);
}

/* Ends all questions with this error. What is asked from now on is for the next process. */
void sg_worker_fail_questions(struct sg_worker *w, int error)
{
        while (!sg_list_empty(&w->questions)) {
                struct sg_list *q = w->questions.next;

                sg_list_remove(q);
                sg_list_append(&w->failing, q);
        }
        while (!sg_list_empty(&w->failing))
                tell(&w->failing, error, NULL, 0);
        if (!w->freed)
                arm_deadline(w);
}

void sg_worker_forget_questions(struct sg_worker *w)
{
        free_questions(&w->questions);
        free_questions(&w->failing);
        arm_deadline(w);
}

/* --- frames */

/* What has been sent makes room at the front, or a queue that never runs dry would only grow. */
static void compact(struct sg_worker *w)
{
        if (w->sent < OUT_KEEP || w->sent < w->out.size / 2)
                return;
        w->out.size -= w->sent;
        memmove(w->out.data, w->out.data + w->sent, w->out.size);
        w->sent = 0;
}

/* Errors are ignored here: the reading side knows when the worker is over, and has more to hear. */
static void write_out(struct sg_worker *w)
{
        while (sg_worker_is_behind(w)) {
                ssize_t n = send(w->fd, w->out.data + w->sent, w->out.size - w->sent,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0) {
                        compact(w);
                        return;
                }
                w->sent += (size_t)n;
        }
        w->out.size = w->sent = 0;
        if (w->out.allocated > OUT_KEEP)
                sg_record_deinit(&w->out);
}

void sg_worker_send(struct sg_worker *w)
{
        if (w->fd < 0)
                return; /* it waits for the next process */
        write_out(w);
        if (w->io)
                (void)sd_event_source_set_io_events(
                        w->io, EPOLLIN | (sg_worker_is_behind(w) ? EPOLLOUT : 0));
}

static int take(struct sg_worker *w, const uint8_t *data, size_t size)
{
        if (sg_list_empty(&w->questions))
                return w->kind->frame ? w->kind->frame(data, size, w->userdata) : -EBADMSG;
        tell(&w->questions, 0, data, size);
        return 0;
}

/* Receives once, and takes all whole frames that are there then; false: there was nothing. */
static bool receive(struct sg_worker *w)
{
        const struct sg_worker_process *p = w->process;
        ssize_t n = sg_inbox_receive(&w->in, w->fd, MSG_DONTWAIT);
        const uint8_t *data;
        size_t size;
        int r = 0;

        if (n == 0 || (n < 0 && n != -EAGAIN && n != -ENOMEM)) {
                sg_worker_die(w, -EPIPE);
                return false;
        }
        while (w->process == p && (r = sg_inbox_take(&w->in, &data, &size)) > 0) {
                r = take(w, data, size);
                if (r < 0)
                        break;
        }
        if (w->process == p && r < 0)
                sg_worker_die(w, r);
        else if (!w->freed)
                arm_deadline(w);
        return n > 0;
}

static void handle(struct sg_worker *w, uint32_t revents)
{
        sg_worker_enter(w);
        if (revents & EPOLLOUT)
                sg_worker_send(w);
        if (revents & (EPOLLIN | EPOLLHUP | EPOLLERR))
                (void)receive(w);
        sg_worker_leave(w);
}

int sg_worker_on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        (void)source;
        (void)fd;
        handle(userdata, revents);
        return 0;
}

int sg_worker_wait(struct sg_worker *w, int msec)
{
        struct pollfd p = {
                .fd = w->fd,
                .events = (short)(POLLIN | (sg_worker_is_behind(w) ? POLLOUT : 0)),
        };
        int n;

        if (w->fd < 0)
                return -EPIPE;
        n = poll(&p, 1, msec);
        if (n < 0)
                return errno == EINTR ? 1 : -errno;
        if (n > 0)
                handle(w, (uint32_t)p.revents); /* poll's bits are epoll's */
        return n;
}

struct sg_record *sg_worker_out(struct sg_worker *w)
{
        return &w->out;
}

size_t sg_worker_open(struct sg_worker *w)
{
        return sg_frame_open(&w->out);
}

int sg_worker_post(struct sg_worker *w, size_t mark)
{
        int r = sg_frame_close(&w->out, mark, w->kind->frame_max);

        if (r < 0)
                return r;
        /* What waits already is sent from the loop: it and this share a system call. */
        if (mark == w->sent)
                sg_worker_send(w);
        return 0;
}

void sg_worker_drop(struct sg_worker *w, size_t mark)
{
        w->out.size = mark;
        w->out.error = 0;
}

bool sg_worker_is_behind(const struct sg_worker *w)
{
        return w->out.size > w->sent;
}

void sg_worker_hang_up(struct sg_worker *w)
{
        if (w->fd >= 0)
                (void)shutdown(w->fd, SHUT_RDWR);
}

/* --- deadlines */

static bool is_late(const struct question *q, uint64_t now)
{
        return q->answer && q->due_usec <= now;
}

static bool any_is_late(const struct sg_worker *w, uint64_t now)
{
        const struct question *q;

        sg_list_foreach (q, &w->questions, link)
                if (is_late(q, now))
                        return true;
        return false;
}

/* No process runs: the questions stay among what the next one is sent, and so in the order of its
 * answers. */
static void give_up_late(struct sg_worker *w, uint64_t now)
{
        struct question *q;

        do {
                sg_list_foreach (q, &w->questions, link)
                        if (is_late(q, now))
                                break;
                if (&q->link == &w->questions)
                        return;
                sg_worker_answer answer = q->answer;

                q->answer = NULL;
                answer(-ETIMEDOUT, NULL, 0, q->userdata);
        } while (!w->freed);
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_worker *w = userdata;
        uint64_t now = sg_now_monotonic_usec();

        (void)source;
        (void)usec;
        sg_worker_enter(w);
        /* The worker isn't to blame if we had no time to read its answer. */
        while (w->process && any_is_late(w, now) && receive(w))
                continue;
        if (!w->freed && w->process && any_is_late(w, now))
                sg_worker_die(w, -ETIMEDOUT);
        else if (!w->freed)
                give_up_late(w, now);
        if (!w->freed)
                arm_deadline(w);
        sg_worker_leave(w);
        return 0;
}

int sg_worker_ask(struct sg_worker *w, const void *data, size_t size, uint64_t usec,
                  sg_worker_answer answer, void *userdata)
{
        struct question *q;
        size_t mark;
        int r = 0;

        if (!w->deadline)
                r = sd_event_add_time(w->event, &w->deadline, CLOCK_MONOTONIC, 0,
                                      DEADLINE_ACCURACY_USEC, on_deadline, w);
        q = r < 0 ? NULL : malloc(sizeof(*q));
        if (!q)
                return r < 0 ? r : -ENOMEM;
        mark = sg_worker_open(w);
        sg_record_append(&w->out, data, size);
        r = sg_worker_post(w, mark);
        if (r < 0) {
                free(q);
                return r;
        }
        q->due_usec = sg_now_monotonic_usec() + usec;
        q->answer = answer;
        q->userdata = userdata;
        sg_list_append(&w->questions, &q->link);
        arm_deadline(w);
        return 0;
}

static int answer_all(int fd, struct sg_inbox *in,
                      int (*answer)(const uint8_t *data, size_t size, struct sg_record *out))
{
        struct sg_record out = {0};
        const uint8_t *data;
        size_t size;
        int r;

        while ((r = sg_inbox_take(in, &data, &size)) > 0) {
                out.size = 0;
                r = answer(data, size, &out);
                if (r >= 0)
                        r = out.error < 0 ? out.error
                                          : sg_frame_send(fd, out.data, out.size, in->max);
                if (r < 0)
                        break;
        }
        sg_record_deinit(&out);
        return r;
}

int sg_worker_serve(int fd, size_t frame_max,
                    int (*answer)(const uint8_t *data, size_t size, struct sg_record *out))
{
        struct sg_inbox in = {.max = frame_max};
        ssize_t n;
        int r = 0;

        while (r >= 0 && (n = sg_inbox_receive(&in, fd, 0)) > 0)
                r = answer_all(fd, &in, answer);
        sg_inbox_deinit(&in);
        return r < 0 || n < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
