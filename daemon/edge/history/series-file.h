/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The series of a job (core/measure/series.h) as a file STATE/series/N-ORIGIN that is mapped while
 * the job lives: it costs no memory of the daemon's own and no file descriptor, is what it was
 * after a crash, and takes one page of writing now and then. Its blocks are allocated when it is
 * made, so that a disk which fills up later can't stop the daemon.
 */

#include "core/measure/series.h"
#include "proto/job-key.h"

/* Opens or makes it (and the directory); to be given to sg_series_add(). A file that isn't one is
 * started anew, which is logged, as is a failure. */
int sg_series_open(const char *state_dir, const struct sg_job_key *key, struct sg_series **ret);

/* Accepts NULL; returns NULL. The file stays. */
struct sg_series *sg_series_close(struct sg_series *s);

/* To be called when the job has ended: closes the series, and gives back the room that the file
 * doesn't need. Opening it again, for another attempt, is fine. Accepts NULL; returns NULL. */
struct sg_series *sg_series_finish(const char *state_dir, const struct sg_job_key *key,
                                   struct sg_series *s);

/* A copy for free(3), for a job that isn't open (or is). -ENOENT; -EBADMSG when it is no series. */
int sg_series_read(const char *state_dir, const struct sg_job_key *key, struct sg_series **ret);

/* What the bytes of a file say; any bytes are fine. 0 or -EBADMSG. */
int sg_series_parse(const void *data, uint64_t size, struct sg_series *ret);
