/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Workers: children of the daemon that wait, hang and crash in its place. One writes to the disk,
 * one reads jobs' text, one asks a directory service.
 *
 *   start ── fork ──► main(fd)    with nothing of ours but its end of the socket
 *     │ ◄── frames ──► │          see frames.h; or questions, each answered by a frame, in time
 *     ▼                ▼
 *    its end: the socket closed, nonsense, no answer in time, or we stop it
 *     │
 *     ├─ it is killed, and its questions have failed; `dead`
 *     ├─ waited for by its pidfd, from the loop, as it may hang in the kernel for long; `buried`
 *     └─ started again after 0, 1, 2, 4 … times the delay, for as long as its kind says; `started`
 *
 * Nobody else has to know their pids, nor waits for them. Callbacks run from the event loop and
 * from sg_worker_wait(), and may do anything here but wait, also free the worker; only `prepare`
 * runs from within sg_worker_start(), too. Those that aren't needed are NULL.
 */

#include "base/cleanup.h"
#include "base/record.h"
#include <stdbool.h>
#include <systemd/sd-event.h>

#define SG_WORKER_FOR_EVER UINT64_MAX

struct sg_worker_kind {
        const char *name;  /* as ps(1) shows it, up to 15 characters */
        const char *title; /* as the log has it: "the reader of jobs' progress" */
        size_t frame_max;
        uint64_t end_usec;     /* for an orderly end; SG_WORKER_FOR_EVER: as long as it takes */
        uint64_t restarts_max; /* in a row: then it's given up, until sg_worker_start() */
        /* Before a restart, twice as long each time; a process that lives longer than the latter
         * has done well. */
        uint64_t delay_usec, delay_max_usec;

        /* Runs in the child; returns what it exits with. The socket is a stream that blocks. */
        int (*main)(int fd, void *userdata);
        int (*prepare)(void *userdata);  /* before each fork */
        void (*started)(void *userdata); /* again: tells it all that the last one knew */
        /* One frame that answers no question. Negative: it makes no sense, and the worker ends. */
        int (*frame)(const uint8_t *data, size_t size, void *userdata);
        /* -EPIPE it has ended, -EBADMSG nonsense, -ETIMEDOUT no answer, or what `frame` gave. */
        void (*dead)(pid_t pid, int error, void *userdata);
        void (*buried)(int status, void *userdata); /* as of waitpid(2) */
};

struct sg_worker;

int sg_worker_new(struct sg_worker **ret, const struct sg_worker_kind *kind, void *userdata);
/* May come after the start; until then only sg_worker_wait() hears the worker. */
int sg_worker_attach(struct sg_worker *w, sd_event *event);
/* keep_fd: another descriptor that it keeps, or −1. -EBUSY: it runs. */
int sg_worker_start(struct sg_worker *w, int keep_fd);
/* Kills it; it's buried, but isn't dead or started again. Its questions are never answered. */
void sg_worker_stop(struct sg_worker *w);
/* The worker is in the way, for a reason that only its owner sees: it ends as if it had died of
 * `error`. */
void sg_worker_fail(struct sg_worker *w, int error);
/* Waits for its end within its time, and for the dead for a second. NULL is fine. Returns NULL. */
struct sg_worker *sg_worker_free(struct sg_worker *w);
SG_DEFINE_CLEANUP(struct sg_worker *, sg_worker_free)

bool sg_worker_is_running(const struct sg_worker *w);
/* It doesn't run, and isn't started again unless by its owner. */
bool sg_worker_is_over(const struct sg_worker *w);
pid_t sg_worker_pid(const struct sg_worker *w); /* 0 while it doesn't run */
uint64_t sg_worker_restarts(const struct sg_worker *w);
unsigned sg_worker_dying(const struct sg_worker *w); /* killed, and not gone: they hang */
/* Whether this child of ours is a worker, living or dead. */
bool sg_worker_is_one(pid_t pid);

/* A frame to it is put together in place: open, write into sg_worker_out(), post (or drop). What is
 * posted is sent at once, or from the loop, together with what waits there already. */
struct sg_record *sg_worker_out(struct sg_worker *w);
size_t sg_worker_open(struct sg_worker *w);
/* On failure (-ENOMEM, -E2BIG) nothing is sent. */
int sg_worker_post(struct sg_worker *w, size_t mark);
void sg_worker_drop(struct sg_worker *w, size_t mark);
bool sg_worker_is_behind(const struct sg_worker *w); /* something waits to be sent */
/* Closes our end of the socket, but from the loop. */
void sg_worker_hang_up(struct sg_worker *w);

/* For those who have to wait outside of the loop: sleeps until it says something or takes more, and
 * does what the loop would do. 1; 0 after msec (−1: never); -EPIPE: it doesn't run. */
int sg_worker_wait(struct sg_worker *w, int msec);

/*
 * Asks; answers come in the order of the questions. `answer` runs once, from the loop, with 0 and
 * the answer, borrowed for the call, or an error as for `dead`. One that isn't answered within
 * `usec` is the end of this worker, and of its other questions. Asked while it doesn't run, it
 * waits for the next start, and its time goes on. Negative: it wasn't asked.
 */
typedef void (*sg_worker_answer)(int result, const uint8_t *data, size_t size, void *userdata);
int sg_worker_ask(struct sg_worker *w, const void *data, size_t size, uint64_t usec,
                  sg_worker_answer answer, void *userdata);

/* A `main` that answers questions until the other end is closed. `answer` appends to `out`;
 * negative: the worker exits with a failure. */
int sg_worker_serve(int fd, size_t frame_max,
                    int (*answer)(const uint8_t *data, size_t size, struct sg_record *out));
