/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * All readers: one for what nobody but us can make hang (managed logs, the journal), and for each
 * user who names files of their own, on whatever file system, one more while such a job runs. So a
 * disk that hangs keeps nobody waiting but its user.
 */

#include "edge/reader/reader.h"

struct sg_readers;

/* Forks the first: as early as can be, before anything else is open. */
int sg_readers_start(struct sg_readers **ret);
/* As of one reader. */
int sg_readers_attach(struct sg_readers *r, sd_event *event,
                      const struct sg_job_reader_calls *calls);
struct sg_readers *sg_readers_free(struct sg_readers *r);
SG_DEFINE_CLEANUP(struct sg_readers *, sg_readers_free)

int sg_readers_follow(struct sg_readers *r, const struct sg_follow *f);
int sg_readers_finish(struct sg_readers *r, const struct sg_job_key *key);
void sg_readers_forget(struct sg_readers *r, const struct sg_job_key *key);
void sg_readers_set_interval(struct sg_readers *r, uint64_t usec);

pid_t sg_readers_pid(const struct sg_readers *r); /* of the first */
uint64_t sg_readers_restarts(const struct sg_readers *r);
