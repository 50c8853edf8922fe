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

extern struct sg_worker_kind kind; /* for tests to change before they start one */

#define wait_until(b, condition)                                                                   \
        do {                                                                                       \
                uint64_t _end = sg_now_monotonic_usec() + PATIENCE_USEC;                           \
                while (!(condition)) {                                                             \
                        if (sg_now_monotonic_usec() > _end)                                        \
                                fail_msg("not so: %s", #condition);                                \
                        assert_true(sd_event_run((b)->event, 100000) >= 0);                        \
                }                                                                                  \
        } while (0)

unsigned count_fds(void);
int answer(const uint8_t *data, size_t size, struct sg_record *out);
int serve(int fd, void *userdata);
int serve_large(int fd, void *userdata);
int say(int fd, void *userdata);
int say_half(int fd, void *userdata);
int close_and_live(int fd, void *userdata);
int exit_with_seven(int fd, void *userdata);
int stop_reading(int fd, void *userdata);
int on_prepare(void *userdata);
int on_frame(const uint8_t *data, size_t size, void *userdata);
void on_started(void *userdata);
void on_dead(pid_t pid, int error, void *userdata);
void on_buried(int status, void *userdata);
void on_answer(int result, const uint8_t *data, size_t size, void *userdata);
int setup(void **state);
int teardown(void **state);
void make(struct bench *b);
void start(struct bench *b);
void ask_within(struct bench *b, const char *question, uint64_t usec);
void ask(struct bench *b, const char *question);
