/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * schedgov-shim, the keeper of one job. It links base and proto statically and nothing else, keeps
 * at most 1 MB resident for as long as the job lives, and must not fail where the job could notice:
 * what it will need at the end (the record's file, the pipes) is opened at the start. No stdio.
 */

#include "proto/attempt.h"
#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

/* The two modes: return the exit status of the process. */
int sg_background(const char *attempt_dir, bool in_keeper);

struct sg_foreground_options {
        int gate, lock, record; /* −1 = none */
        char **env_force, **env_default;
        char **argv;
};
int sg_foreground(const struct sg_foreground_options *o);

/* process.c: what both modes need of the kernel. */

/* Fills closed standard descriptors with /dev/null, so that no file of ours becomes one; CLOEXEC:
 * to a program that we exec they are as closed as before. */
int sg_process_fill_stdio(void);
/* An fcntl() lock over the whole file: it goes when this process does. -EAGAIN if it is held. */
int sg_process_lock(int fd);
/* The same of a file that we may only read: others can hold such a lock, too. */
int sg_process_lock_shared(int fd);
const char *sg_process_strerror(int error);
/* "schedgov-shim: <what> '<object>': <error>" on stderr, in one write. object may be NULL,
 * error 0. */
void sg_process_complain(const char *what, const char *object, int error);
/* "schedctl: <words>", as that is what the terminal has been told to run. */
void sg_process_tell(const char *words);

/* The gate. A daemon that is gone or doesn't read must not hold us up: sending never waits. */
void sg_gate_send(int gate, enum sg_gate_kind kind, pid_t pid);
/* Waits for PLACE: 1 when it came, with its path in buf, "" if it has none; 0 when the other end is
 * closed. */
int sg_gate_wait_place(int gate, char *buf, size_t size);
/* Waits for a message of that kind: 1 when it came, 0 when the other end is closed. */
int sg_gate_wait(int gate, enum sg_gate_kind kind);
/* What the daemon says of the job's end. */
struct sg_verdict {
        bool timeout;    /* its time was over */
        char words[256]; /* how it ended, for its terminal; "" = nothing */
};
/* Waits for SEEN: 1 when it came, 0 if the other end is closed, or nothing comes for so long. What
 * was said is added to *ret. */
int sg_gate_wait_seen(int gate, int msec, struct sg_verdict *ret);

/* Fills code, signal, cpu and io from main's wait status and what getrusage() says of
 * our children. */
void sg_exit_set_status(struct sg_exit *e, int wait_status);
void sg_exit_set_rusage(struct sg_exit *e);
