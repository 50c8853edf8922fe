/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A worker, what it does when it is asked, and what is heard of it. */

#include "base/file.h"
#include "base/time-util.h"
#include "edge/common/frames.h"
#include "edge/common/log.h"
#include "edge/common/worker.h"
#include "tests/unit/test.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRAME_MAX 1024U
#define PATIENCE_USEC (60 * SG_USEC_PER_SEC)
#define SHORT_USEC (200 * SG_USEC_PER_MSEC)
/* Twice that is more than once that and the 250 ms by which a timer may be late. */
#define DELAY_USEC (300 * SG_USEC_PER_MSEC)
#define RESTARTS_MAX 3

/* What has been heard of a worker. */
struct bench {
        sd_event *event;
        struct sg_worker *worker;
        unsigned answers, failures, frames, deaths, burials, starts, prepared;
        int error, death, status;
        uint64_t born_usec[8]; /* of `prepare` */
        char last[FRAME_MAX + 1];
        bool free_it; /* in the next callback */
        int frame_result;
};

static inline unsigned count_fds(void)
{
        _cleanup_closedir_ DIR *d = opendir("/proc/self/fd");
        unsigned n = 0;

        assert_non_null(d);
        while (readdir(d))
                n++;
        return n;
}

/* --- children */

/* "echo TEXT", "hang", "die", "close", "large", "torn", "nonsense", "fds" */
static inline int answer(const uint8_t *data, size_t size, struct sg_record *out)
{
        char text[FRAME_MAX + 1] = "";
        static uint8_t zeros[2 * FRAME_MAX];

        memcpy(text, data, size);
        if (strncmp(text, "echo ", 5) == 0)
                sg_record_append(out, data + 5, size - 5);
        else if (strcmp(text, "hang") == 0)
                pause();
        else if (strcmp(text, "die") == 0)
                (void)raise(SIGKILL);
        else if (strcmp(text, "large") == 0)
                sg_record_append(out, zeros, sizeof(zeros));
        else if (strcmp(text, "fds") == 0)
                sg_record_append(out, text, (size_t)sprintf(text, "%u", count_fds()));
        else
                return -EBADMSG;
        return 0;
}

static inline int serve(int fd, void *userdata)
{
        (void)userdata;
        return sg_worker_serve(fd, FRAME_MAX, answer);
}

/* Answers with more than is agreed upon. */
static inline int serve_large(int fd, void *userdata)
{
        (void)userdata;
        return sg_worker_serve(fd, 4 * FRAME_MAX, answer);
}

static inline int say(int fd, void *userdata)
{
        (void)userdata;
        assert_int_equal(sg_frame_send(fd, "word", 4, FRAME_MAX), 0);
        (void)pause();
        return 0;
}

static inline int say_half(int fd, void *userdata)
{
        const uint32_t length = 100;

        (void)userdata;
        (void)!write(fd, &length, sizeof(length));
        (void)!write(fd, "half", 4);
        return 0;
}

static inline int close_and_live(int fd, void *userdata)
{
        (void)userdata;
        (void)close(fd);
        (void)pause();
        return 0;
}

static inline int exit_with_seven(int fd, void *userdata)
{
        (void)fd;
        (void)userdata;
        return 7;
}

static inline int stop_reading(int fd, void *userdata)
{
        (void)fd;
        (void)userdata;
        (void)raise(SIGSTOP);
        return serve(fd, userdata);
}

/* --- what is heard */

static inline int on_prepare(void *userdata)
{
        struct bench *b = userdata;

        if (b->prepared < SG_ELEMENTSOF(b->born_usec))
                b->born_usec[b->prepared] = sg_now_monotonic_usec();
        b->prepared++;
        return 0;
}

static inline int on_frame(const uint8_t *data, size_t size, void *userdata)
{
        struct bench *b = userdata;

        b->frames++;
        (void)snprintf(b->last, sizeof(b->last), "%.*s", (int)size, (const char *)data);
        if (b->free_it)
                b->worker = sg_worker_free(b->worker);
        return b->frame_result;
}

static inline void on_started(void *userdata)
{
        ((struct bench *)userdata)->starts++;
}

static inline void on_dead(pid_t pid, int error, void *userdata)
{
        struct bench *b = userdata;

        assert_true(pid > 0);
        b->deaths++;
        b->death = error;
}

static inline void on_buried(int status, void *userdata)
{
        struct bench *b = userdata;

        b->burials++;
        b->status = status;
        if (b->free_it)
                b->worker = sg_worker_free(b->worker);
}

static inline void on_answer(int result, const uint8_t *data, size_t size, void *userdata)
{
        struct bench *b = userdata;

        if (result < 0) {
                assert_null(data);
                b->failures++;
                b->error = result;
        } else {
                b->answers++;
                (void)snprintf(b->last, sizeof(b->last), "%.*s", (int)size, (const char *)data);
        }
        if (b->free_it)
                b->worker = sg_worker_free(b->worker);
}

static struct sg_worker_kind kind;

static inline int setup(void **state)
{
        struct bench *b = calloc(1, sizeof(*b));

        assert_non_null(b);
        kind = (struct sg_worker_kind){
                .name = "schedgov-test",
                .title = "a test's worker",
                .frame_max = FRAME_MAX,
                .main = serve,
                .prepare = on_prepare,
                .started = on_started,
                .dead = on_dead,
                .buried = on_buried,
        };
        sg_log_set_level(LOG_CRIT);
        assert_int_equal(sd_event_new(&b->event), 0);
        *state = b;
        return 0;
}

static inline int teardown(void **state)
{
        struct bench *b = *state;

        sg_worker_free(b->worker);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
        assert_int_equal(errno, ECHILD);
        sd_event_unref(b->event);
        free(b);
        return 0;
}

static inline void make(struct bench *b)
{
        assert_int_equal(sg_worker_new(&b->worker, &kind, b), 0);
        assert_int_equal(sg_worker_attach(b->worker, b->event), 0);
}

static inline void start(struct bench *b)
{
        make(b);
        assert_int_equal(sg_worker_start(b->worker, -1), 0);
        assert_true(sg_worker_is_running(b->worker));
        assert_true(sg_worker_is_one(sg_worker_pid(b->worker)));
}

static inline void ask_within(struct bench *b, const char *question, uint64_t usec)
{
        assert_int_equal(sg_worker_ask(b->worker, question, strlen(question), usec, on_answer, b),
                         0);
}

static inline void ask(struct bench *b, const char *question)
{
        ask_within(b, question, PATIENCE_USEC);
}

#define wait_until(b, condition)                                                                   \
        do {                                                                                       \
                uint64_t _end = sg_now_monotonic_usec() + PATIENCE_USEC;                           \
                while (!(condition)) {                                                             \
                        if (sg_now_monotonic_usec() > _end)                                        \
                                fail_msg("not so: %s", #condition);                                \
                        assert_true(sd_event_run((b)->event, 100000) >= 0);                        \
                }                                                                                  \
        } while (0)
