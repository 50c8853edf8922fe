/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What becomes of a job's threads: whether there are as many of them as its allocation is worth. */

#include <stdbool.h>
#include <stdint.h>

struct sg_job;
struct sg_limits;

/* The store keeps these numbers: each means the same forever. */
enum sg_threads {
        SG_THREADS_FOLLOW, /* as many as it is worth at each moment */
        SG_THREADS_START,  /* as many as it was worth when the job started */
        SG_THREADS_LEAVE,  /* the job's own affair */
        _SG_THREADS_MAX,
};

const char *sg_threads_to_string(uint64_t threads); /* "follow" …; "unknown" */
int sg_threads_from_string(const char *s);          /* -EINVAL */

/* How many threads a job may be told to have. Of a number that stays both are that; 0: it isn't
 * told any. */
struct sg_thread_range {
        uint64_t least, most;
};

/* Which --cpus says; else, unless its threads are left alone, from one to all that it may use.
 * usable: CPUs of the node that its class may have, ≥ 1. */
struct sg_thread_range sg_limits_threads(const struct sg_limits *l, uint64_t usable);
/* The same, as things are now: where --cpus doesn't say, of a program that isn't known to follow
 * nobody asks how many it has, and what it was given at its start it keeps. */
struct sg_thread_range sg_job_threads(const struct sg_job *j, uint64_t usable);

static inline bool sg_thread_range_is_elastic(struct sg_thread_range r)
{
        return r.most > r.least;
}
