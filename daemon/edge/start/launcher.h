/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Starting the keepers of attempts: by a fork of our own, or, where we are hardened and what we
 * fork would inherit that, by schedgov-launch, over one connection that is kept open.
 *
 * A request is answered within 10 s or fails with -ETIMEDOUT; when the connection breaks, those
 * under way fail with -ECONNRESET, and the next start connects again. A shim that was started all
 * the same, or for a caller that has gone, exits by itself once our end of its gate is closed.
 */

#include "proto/job-key.h"
#include <sys/types.h>
#include <systemd/sd-event.h>

struct sg_launcher;

/* result < 0: it wasn't started, and pid and pidfd are -1. The pidfd is the callee's. */
typedef void (*sg_launched_cb)(int result, pid_t pid, int pidfd, void *userdata);

struct sg_launch {
        const struct sg_job_key *key;
        int gate;          /* the shim's end; borrowed */
        const char *scope; /* the job's directory in the v2 tree, in whose `keeper` the shim is
                              to be born, or NULL; for forks of our own only */
        sg_launched_cb cb; /* never called from within sg_launcher_start() */
        void *userdata;
};

/* socket NULL: forks itself. Strings are copied; nothing is connected to before the first start. */
int sg_launcher_new(struct sg_launcher **ret, sd_event *event, const char *shim_path,
                    const char *state_dir, const char *socket);
/* Drops requests under way without a call; not from within one. */
struct sg_launcher *sg_launcher_free(struct sg_launcher *l);

/* 0: started, its pid in *ret_pid, a child of ours and no call comes; 1: asked for, cb follows. */
int sg_launcher_start(struct sg_launcher *l, const struct sg_launch *launch, pid_t *ret_pid);
/* The caller goes away: whatever it has asked for, its callback isn't called any more. */
void sg_launcher_forget(struct sg_launcher *l, const void *userdata);
