/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * How a foreground job ended is told the daemon over the gate, and kept until that says that it is
 * on disk. The terminal waits for that a moment only: then a child of ours, of which its user
 * notices nothing, goes on in our place, comes back to the daemon as often as it takes, and holds
 * the lock meanwhile, so that a daemon which looks finds a job that isn't over yet.
 */

#include "shim/shim.h"

#define SG_REPORT_PATIENCE_MSEC 1000

struct sg_report {
        int gate, lock;
        const char *comeback; /* the daemon's socket for that */
};

/* What the daemon says of it meanwhile, or has said before, is added to *ret. */
void sg_report(struct sg_report *r, const struct sg_exit *e, struct sg_verdict *ret);
