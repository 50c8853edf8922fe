/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The attempts' directories below STATE/jobs, as the store's writer keeps them (proto/attempt.h
 * says what is in one). What must be durable is split from what is done, so that a batch shares its
 * fsyncs: make or publish many, sync, then answer.
 *
 * The directory of an attempt that ended as it should is kept as STATE/jobs/.spare-N and becomes
 * the next one's: making and removing four inodes for each of hundreds of jobs a second costs more
 * than all the rest of the store (on ext4 without a journal a removed inode is passed over for
 * minutes, one by one). One in which a late shim may still act is removed: in a directory without a
 * name it can publish nothing.
 */

#include "edge/store/store.h"

struct sg_attempts {
        int state_fd, jobs_fd;
        unsigned n_spares;
};

/* Creates STATE/{jobs,logs,fate.run,fate.void} where they are missing. On failure *ret_what is the
 * name of what couldn't be made (static). */
int sg_attempts_open(struct sg_attempts *a, const char *state_dir, const char **ret_what);
void sg_attempts_close(struct sg_attempts *a);
/* To be called after all that were made: from then on their names are durable. What is in them
 * needn't be before the fate is published, which syncs the directory itself. */
int sg_attempts_sync(struct sg_attempts *a);
/* Every directory that has an attempt's name; a callback's failure ends it. */
typedef int (*sg_attempts_cb)(const struct sg_job_key *key, void *userdata);
int sg_attempts_each(struct sg_attempts *a, sg_attempts_cb cb, void *userdata);

/* All or nothing; -EEXIST if it is there already. */
int sg_attempt_make(struct sg_attempts *a, const struct sg_job_key *key, const void *spec,
                    size_t spec_size);
/* One that isn't there is fine. */
int sg_attempt_remove(struct sg_attempts *a, const struct sg_job_key *key);
/* The attempt has ended: its directory is kept as a spare, or removed. foreground: its user may
 * still have the lock open; the next job gets another one. */
int sg_attempt_retire(struct sg_attempts *a, const struct sg_job_key *key, bool foreground);
/* Writes `exit`, unless it is there; it is durable then. */
int sg_attempt_record(struct sg_attempts *a, const struct sg_job_key *key, const struct sg_exit *e);
/* Links the fate unless there is one. 0 also when the directory doesn't exist. */
int sg_attempt_publish(struct sg_attempts *a, const struct sg_job_key *key,
                       enum sg_publish publish);
/* Adds to the reasons for which the job is frozen, or takes away from them; durable then, or as it
 * was. -ENOENT: it has no directory. */
int sg_attempt_freeze(struct sg_attempts *a, const struct sg_job_key *key, uint64_t reasons,
                      bool on);
int sg_attempt_sync(struct sg_attempts *a, const struct sg_job_key *key);
int sg_attempt_inspect(struct sg_attempts *a, const struct sg_job_key *key,
                       struct sg_attempt_info *ret);
/* What is kept beside a job in the history: its managed log and those that were rotated away from
 * it, and its series. */
void sg_attempts_remove_kept(struct sg_attempts *a, const struct sg_job_key *key);
