/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A job's output: the managed log, or a file of the user's;
 * and what comes next when it is rotated. */

#include "ctl/ask/client.h"
#include "ctl/line/options.h"
#include <sys/types.h>

struct sg_logfile {
        const char *id;
        bool want_stderr;
        char *path; /* of the user's file, opened with our own rights; NULL = managed */
        int fd;
        off_t position;
        bool more;    /* the job has not ended */
        bool started; /* it has begun, so it may write at any time */
};

/* Opens it at its start. While nothing was written yet fd stays −1: look at more and started. */
int sg_logfile_open(struct sg_logfile *l, struct sg_client *c, struct sg_error *e);
/* 1 if it was replaced by a newer file, which is open now; 0 if not. */
int sg_logfile_reopen(struct sg_logfile *l, struct sg_client *c, struct sg_error *e);
/* Moves the position before the last n lines. */
int sg_logfile_seek_lines(struct sg_logfile *l, uint64_t n);
/* The next bytes, 0 at the end for now; starts again where a file was truncated. */
ssize_t sg_logfile_read(struct sg_logfile *l, char *buf, size_t size);
void sg_logfile_deinit(struct sg_logfile *l);
