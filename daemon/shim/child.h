/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The process that becomes the job, and the channel over which its keeper holds and releases it: a
 * CLOEXEC SOCK_SEQPACKET pair.
 *
 *   keeper → child   any message      go; the end of file means: end without running
 *   child → keeper   {stage, errno}   I couldn't; the end of file means: exec succeeded
 */

#include "proto/attempt.h"
#include "proto/spec.h"
#include <signal.h>

struct sg_child_failure {
        uint32_t stage; /* enum sg_stage */
        int32_t error;  /* positive errno */
};

struct sg_child {
        pid_t pid;
        int channel; /* the keeper's end */
        int output;  /* what the child writes to the managed log; −1 if it doesn't */
};

#define SG_CHILD_NONE                                                                              \
        (struct sg_child)                                                                          \
        {                                                                                          \
                .pid = -1, .channel = -1, .output = -1                                             \
        }

/* Forks the background job's process and moves it into its groups, where it waits. after_end: see
 * sg_groups_fork(). */
int sg_child_spawn(struct sg_child *ret, const struct sg_spec *spec, bool after_end);
/* Forks the foreground's: argv as the caller's shell would run it, with `mask` as its signal mask.
 * env: an array of sg_program_env(). */
int sg_child_spawn_plain(struct sg_child *ret, char *const *argv, char **env, const sigset_t *mask);
/* Lets it go on. It may be dead already: its status will tell. */
void sg_child_release(const struct sg_child *c);
/* 1 a failure was read, 0 end of file: it runs its program, or died before. */
int sg_child_read_failure(const struct sg_child *c, struct sg_child_failure *ret);
/* Kills and reaps a child that has not been released. */
void sg_child_discard(struct sg_child *c);
