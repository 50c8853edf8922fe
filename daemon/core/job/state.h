/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Where a job stands, and why a live one is being ended, as its row says it. */

#include <stdbool.h>
#include <stdint.h>

/* The store keeps these numbers: each means the same forever, and a new one is a step of its
 * schema, as older daemons don't know it. Both kinds have room to grow, so that what tells them
 * apart (SQL's indexes do) stays true. */
enum sg_job_state {
        SG_JOB_QUEUED,
        SG_JOB_STARTING,
        SG_JOB_RUNNING,
        SG_JOB_SUSPENDED,
        _SG_JOB_LIVE_MAX,
        SG_JOB_FINAL = 32, /* from here on it has ended */
        SG_JOB_EXITED = SG_JOB_FINAL,
        SG_JOB_KILLED,
        SG_JOB_OOM,
        SG_JOB_TIMEOUT,
        SG_JOB_FAILED, /* its program never ran, or a dependency failed */
        SG_JOB_LOST,   /* it may have run; nobody can know how it ended */
        _SG_JOB_STATE_MAX,
};

/* Why we are ending a live attempt; durable before the first signal is sent. */
enum sg_job_intent {
        SG_INTENT_NONE,
        SG_INTENT_CANCEL,
        SG_INTENT_TIMEOUT,
        SG_INTENT_REQUEUE,
        SG_INTENT_MEMORY, /* of its GPUs: it took more than it may */
};

static inline bool sg_job_state_is_final(uint64_t state)
{
        return state >= SG_JOB_FINAL;
}

/* Whether it is one at all: for what was read, and for who goes through all of them, as there are
 * gaps. */
bool sg_job_state_is_known(uint64_t state);
const char *sg_job_state_to_string(uint64_t state); /* "queued" …; "unknown" */
int sg_job_state_from_string(const char *s);        /* -EINVAL */
