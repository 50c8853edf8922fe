/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The managed log of one job: what comes out of its pipe, in files of a bounded size, which its
 * user may read and nobody else can write. Nothing here fails: the job must not notice a full disk.
 * What couldn't be written is dropped and counted, and the log says so as soon as it can be written
 * again.
 */

#include "proto/spec.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sg_joblog {
        char *path; /* owned; NULL: everything is dropped */
        uid_t uid;  /* who may read it */
        uint64_t max, keep;
        int fd; /* −1: to be opened before the next write */
        uint64_t size;
        bool at_line_start;
        uint64_t dropped;
        int error; /* of the first write that dropped something */
};

/* Takes the path from the spec. */
void sg_joblog_init(struct sg_joblog *l, struct sg_spec *s);
void sg_joblog_deinit(struct sg_joblog *l);

/* Moves up to one buffer from the pipe: the number of bytes, 0 at its end, -EAGAIN. */
ssize_t sg_joblog_drain(struct sg_joblog *l, int pipe);
/* Moves what is in the pipe now, which others may still be writing to. */
void sg_joblog_drain_rest(struct sg_joblog *l, int pipe);
/* A line of ours: "schedgov: …". */
void sg_joblog_note(struct sg_joblog *l, const char *what, const char *why);
