/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The event loop of a background shim: children that end, output that comes, an exec that fails. */

#include "shim/child.h"
#include "shim/joblog.h"
#include <stdbool.h>
#include <stdint.h>

struct sg_supervisor {
        int signals; /* signalfd of SIGCHLD; the signal must be blocked */
        struct sg_child child;
        struct sg_joblog *log;
        void (*started)(void *userdata); /* when exec succeeded; may be NULL */
        void *userdata;

        /* Results. */
        struct sg_child_failure failure; /* stage SG_STAGE_NONE: it ran */
        bool over;                       /* the child itself has ended, with wait_status */
        int wait_status;
        bool alone; /* and no descendant is left */

        uint64_t drained_usec, quiet_until_usec; /* see drain() */
};

/* Until the child and all of its descendants have ended and their output is in the log. */
void sg_supervise_all(struct sg_supervisor *s);
/* Until the child itself has ended; at the deadline its session's process group is killed. */
void sg_supervise_main(struct sg_supervisor *s, uint64_t timeout_usec);
