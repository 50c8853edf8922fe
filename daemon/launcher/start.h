/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* From the name of an attempt to its shim. The directory and the gate are looked at before anything
 * is started. */

#include "proto/job-key.h"
#include <sys/types.h>

struct sg_starter {
        const char *shim;      /* the program */
        const char *state_dir; /* absolute */
};

/* The gate stays the caller's. -EINVAL: that is no gate; -ENOENT, -EPERM, …: no stored attempt. */
int sg_starter_start(const struct sg_starter *s, const struct sg_job_key *key, int gate,
                     pid_t *ret_pid, int *ret_pidfd);
