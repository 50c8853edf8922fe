/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What a job used, as the governor wants to know it: in seconds, and in parts of the node, made of
 * what the kernel counted.
 */

#include "core/learn/learner.h"
#include "core/measure/sample.h"

/* What there is to be used. */
struct sg_use_node {
        double cpus;
        uint64_t memory_bytes;       /* SG_UNLIMITED = not known */
        double peak[SG_N_RESOURCES]; /* the most, per second, that any job has had of a disk or a
                                        network; 0 to begin with */
};

/* Counters of one job when its use was last told; all zero: never. */
struct sg_use_last {
        double now, used[SG_N_RESOURCES];
};

/* What has been counted of it in all. each_usec, any_usec: how long each of its threads waited for
 * a CPU, in sum, and how long any of them did; either may be SG_UNLIMITED, not known. */
struct sg_learner_use sg_use_counted(const struct sg_sample *s, uint64_t each_usec,
                                     uint64_t any_usec);
/* u->use, of a sample that *u was made of: what it used since the last time. */
void sg_use_parts(struct sg_learner_use *u, const struct sg_sample *s, struct sg_use_last *last,
                  struct sg_use_node *node);
