/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the daemon holds of one attempt: its keeper, the gate to that, and what was found of its
 * end. */

#include "edge/cgroup/cgroup.h"
#include "proto/attempt.h"
#include <sys/types.h>

/* Where the exit record is that a shim of the foreground has sent. */
enum sg_claim { SG_CLAIM_NONE, SG_CLAIM_ON_ITS_WAY, SG_CLAIM_STORED };

struct sg_attempt {
        int gate; /* -1 = none */
        int shim_pidfd;
        pid_t shim;               /* 0 = none that is known */
        pid_t ready_pid;          /* the process that will become the job, by its shim's word */
        uint64_t begun_usec;      /* when it began; 0 = under a daemon before us */
        uint64_t runs_since_usec; /* when GO was sent, by CLOCK_BOOTTIME; 0 = not known */
        uint64_t let_go_usec; /* the same by CLOCK_REALTIME; 0 = not known, or before our time */
        uint64_t log_before;  /* bytes of its log from earlier attempts; 0 = none, or not known */
        enum sg_claim claim;
        struct sg_exit *record;       /* how it ended, if that is known */
        struct sg_counters *counters; /* of `run`, when its command had ended; NULL = not known */
        char *how_it_ended;           /* of `run`, for its terminal; NULL = with an exit status */
};
