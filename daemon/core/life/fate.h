/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What became of an attempt, judged by its directory; and how it ended, by its exit record and
 * the kernel's counters.
 */

#include "core/job/job.h"
#include "proto/attempt.h"

enum sg_fate { SG_ATTEMPT_NO_FATE, SG_ATTEMPT_RUN, SG_ATTEMPT_VOID, SG_ATTEMPT_NO_DIR };

struct sg_attempt_info {
        enum sg_fate fate;
        bool have_exit;
        /* Whole, but without its name. After a crash of the machine it may be an older attempt's,
         * whose directory this was: it counts only in the boot in which the attempt was started. */
        bool exit_unnamed;
        struct sg_exit exit; /* if have_exit */
        pid_t shim;          /* holder of the lock, 0 = none */
        uint64_t frozen;     /* why it is: enum sg_freeze */
};

enum sg_finding {
        SG_FOUND_UNREADABLE,
        SG_FOUND_RECORD,  /* it has ended, and says how */
        SG_FOUND_RUNNING, /* its keeper lives */
        SG_FOUND_LOST,    /* it ran; nobody can say how it ended */
        SG_FOUND_NEVER_RAN,
};

struct sg_circumstances {
        bool met;            /* the daemon has just come back */
        bool host_went_down; /* … since the attempt was started */
};

enum sg_finding sg_fate_judge(const struct sg_attempt_info *info, const struct sg_job *row,
                              const struct sg_circumstances *c);

/* What is known of an attempt of which nothing lives any more. */
struct sg_end {
        const struct sg_exit *record; /* NULL: its keeper was killed */
        bool host_went_down;
        /* For a job of the foreground, whose record is its user's claim: the counters of its
         * groups, all unknown if these have gone. */
        bool counted;
        uint64_t cpu_usec, memory_peak_bytes, oom_kills, io_read_bytes, io_write_bytes;
};

/* The row says how it ended. */
void sg_fate_settle(struct sg_job *row, const struct sg_end *end, uint64_t now_usec);
/* The reason that it would say, the caller's now; NULL if it ended by itself, with an exit status.
 * -ENOMEM. */
int sg_fate_in_words(const struct sg_job *row, const struct sg_end *end, uint64_t now_usec,
                     char **ret);
