/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What a decision comes to for one job: the numbers of its group, and how many threads it is told.
 */

#include "core/govern/diff.h"
#include "core/share/share.h"

struct sg_want_job {
        uint32_t own_weight;     /* what its user gave it */
        uint64_t cpus, cpus_max; /* threads that it was given, and how many it may be told */
        bool foreground;         /* `run` */
        bool confinable;         /* it can have CPUs of its own */
};

/* cpus: of the node. */
struct sg_applied sg_want(const struct sg_want_job *j, const struct sg_share_out *out, double cpus);

/* What it begins with, until it runs. out NULL: nothing was decided yet; most: the largest weight
 * of all. */
struct sg_applied sg_want_to_begin(const struct sg_want_job *j, const struct sg_share_out *out,
                                   double cpus, uint32_t most);
