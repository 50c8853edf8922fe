/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The shim's side of an attempt's directory (proto/attempt.h says who writes what in it). */

#include "proto/attempt.h"
#include "proto/spec.h"

struct sg_attempt_dir {
        int fd, lock, record; /* held until the process ends: with them goes the lock */
        pid_t daemon;         /* who forked us; for fault points only */
};

/* Opens the directory and the record's file and takes the lock. -EAGAIN if a shim lives. */
int sg_attempt_dir_open(struct sg_attempt_dir *ret, const char *path);
int sg_attempt_dir_read_spec(const struct sg_attempt_dir *d, struct sg_spec *ret);

enum sg_published { SG_PUBLISHED_RUN, SG_PUBLISHED_VOID };
/*
 * Publishes `wanted`, or finds what was published before us. When it returns `run` the fate is
 * durable. -errno: it could not be published, or not durably; then the job must not run.
 */
int sg_attempt_dir_publish(const struct sg_attempt_dir *d, enum sg_published wanted);

/* Makes the exit record durable and visible. A failing disk is retried for half a minute: the
 * record is the only copy of how the job ended. */
int sg_attempt_dir_write_exit(const struct sg_attempt_dir *d, const struct sg_exit *e);

void sg_attempt_dir_fault(const struct sg_attempt_dir *d, const char *name);
