/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The allocation channel: ROOT/N-ORIGIN-ATTEMPT/allocation, a file that is replaced as a whole
 * (0644), in a directory for each attempt, so that a job which watches its own isn't woken by
 * others'. The attempt's notify socket (notify-socket.h) is beside it, and so is the script that it
 * runs, if that came from stdin (shim/script.h).
 *
 * Nothing is kept in memory: sequence numbers go on from the file where a daemon before us left
 * them. Nothing is synced either, as no job outlives the boot.
 */

#include "core/place/allocation.h"
#include "proto/job-key.h"
#include <stdbool.h>

struct sg_allocations;

/* Makes the directory, which everybody may pass through and nobody list (its parents are the
 * caller's). */
int sg_allocations_open(struct sg_allocations **ret, const char *root);
struct sg_allocations *sg_allocations_close(struct sg_allocations *a);

/* What SCHEDGOV_ALLOCATION holds, and NOTIFY_SOCKET; where its script is; -ENAMETOOLONG. */
int sg_allocations_path(const struct sg_allocations *a, const struct sg_job_key *key, char *buf,
                        size_t size);
int sg_allocations_socket_path(const struct sg_allocations *a, const struct sg_job_key *key,
                               char *buf, size_t size);
int sg_allocations_script_path(const struct sg_allocations *a, const struct sg_job_key *key,
                               char *buf, size_t size);

/* Makes the attempt's directory, if it isn't there, for what else is to be in it. */
int sg_allocations_prepare(const struct sg_allocations *a, const struct sg_job_key *key);

/* 1: replaced, and io->seq is its new number; 0: the file says this already, io->seq is its
 * number. Call it before the job starts, and whenever something may have changed. */
int sg_allocations_publish(const struct sg_allocations *a, const struct sg_job_key *key,
                           struct sg_allocation *io);

/* At the end of an attempt, with what its processes share (proto/team.h); what isn't there is
 * fine. */
int sg_allocations_remove(const struct sg_allocations *a, const struct sg_job_key *key);

/* Removes those of attempts that aren't live, for a daemon that starts. */
typedef bool (*sg_allocations_live_cb)(const struct sg_job_key *key, void *userdata);
int sg_allocations_sweep(const struct sg_allocations *a, sg_allocations_live_cb is_live,
                         void *userdata);
