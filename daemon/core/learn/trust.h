/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Whether a job's claims about its size are believed. A lie mustn't pay: from then on, and for
 * good, a job that was caught is taken to be as large as others of its class, or twice what it
 * has used.
 */

#include "core/learn/work.h"

enum sg_doubt {
        SG_DOUBT_NONE,
        SG_DOUBT_OVERDUE, /* used far more than was left by its own word */
        SG_DOUBT_SPREAD,  /* its sizes don't agree with each other */
        SG_DOUBT_JUMP,    /* was suddenly much further than its pace explains */
};

struct sg_trust {
        double limit;       /* CPU-seconds: when it is overdue by the claim that is worst for it */
        double least, most; /* sizes claimed; 0 = none as yet */
        enum sg_doubt doubt;
};

void sg_trust_init(struct sg_trust *t);
/* Before p is added to w; cost: of w, CPU-seconds. */
void sg_trust_move(struct sg_trust *t, const struct sg_work *w, const struct sg_work_point *p,
                   double cost);
/* At x, having used `cpu`, it says that it needs `left` more. */
void sg_trust_claim(struct sg_trust *t, double x, double cpu, double left, double cpus);
enum sg_doubt sg_trust_doubt(const struct sg_trust *t, double cpu);
