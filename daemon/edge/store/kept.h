/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the store keeps of the commands of jobs that have ended (sg_spec_is_kept()). */

#include "edge/store/store.h"

/* What was to be run, where and with which options: the part of the spec that is kept, of a job
 * that has ended as of one that lives. -ENODATA: it isn't kept; -ENOENT; -EFBIG: it is of `size`
 * bytes, which are more than `most`. */
typedef void (*sg_command_cb)(int result, const void *part, size_t size, void *userdata);
void sg_store_command(struct sg_store *s, const struct sg_job_key *key, uint64_t most,
                      sg_command_cb cb, void *userdata);

/* Forgets commands of this user's jobs that have ended, the oldest first, until at most so many
 * bytes are left; for SG_UNLIMITED those of everybody, all. In steps, so that others don't wait:
 * the result is 1 where it is to be asked for again. */
void sg_store_forget_commands(struct sg_store *s, uint64_t uid, uint64_t most, sg_store_cb cb,
                              void *userdata);
/* What is kept for users' jobs that have ended has changed by so many bytes; told of all that there
 * is while it is loaded, and of a change before the request is answered that made it. */
void sg_store_on_kept(struct sg_store *s, void (*kept)(uint64_t uid, int64_t bytes, void *userdata),
                      void *userdata);
