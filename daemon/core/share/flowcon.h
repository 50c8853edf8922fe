/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * FlowCon's Algorithms 1 and 2 as published (Zheng, Tynes, Gorelick, Mao, Cheng, Hou: FlowCon,
 * ICPP 2019), for policy-flowcon.c. Where the print is ambiguous, it is read so that its own
 * experiments come out; where its rules have flaws, they have them here (docs/policies.md).
 *
 * Each job is in exactly one list: new, watch or complete.
 */

#include "core/share/share.h"

struct sg_flowcon_job {
        uint64_t key;
        enum sg_share_list list;
        double limit;  /* L, 0 … 1 */
        double growth; /* G, set before each run; NaN = never measured */
        bool measured; /* G is of the time since the last run; else the job stays in its list */
        bool bounded;  /* its limit is the lower bound, not its part of the growth */
};

struct sg_flowcon {
        double initial;              /* interval, s */
        double interval;             /* … doubled with each run that found all complete */
        double next;                 /* when Algorithm 1 is due */
        struct sg_flowcon_job *jobs; /* by key, ascending */
        size_t n;
};

/* Algorithm 2. keys: of all jobs that are active, ascending. 1: others than before; newcomers are
 * in the new list, the interval is the initial one, and Algorithm 1 is to run at once. 0: the same
 * ones. -ENOMEM: as before. */
int sg_flowcon_listen(struct sg_flowcon *f, const uint64_t *keys, size_t n);

/* Algorithm 1: lists, limits, and when to run again. Whether all are complete. */
bool sg_flowcon_run(struct sg_flowcon *f, double alpha, double beta, double now);
