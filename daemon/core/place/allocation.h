/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What a job is told about its share of the node, so that programs can size themselves: how much
 * CPU, on which CPUs, with how many threads. The text is what its file holds (libschedgov(3)):
 * KEY=VALUE lines that a shell can read, too. Keys are added, never changed; VERSION stays 1.
 */

#include "base/parse.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_ALLOCATION_GPUS_MAX 2048 /* more GPUs than that aren't told */

struct sg_allocation {
        uint64_t seq;                      /* one more with each change; 0 = never published */
        uint64_t cpus_pm;                  /* what it can use in all, permyriad of one CPU */
        uint64_t threads;                  /* how many threads make the best of that, ≥ 1 */
        struct sg_cpuset cpus;             /* where it runs */
        bool gpus_known;                   /* else none are given out here: all are everybody's */
        char gpus[SG_ALLOCATION_GPUS_MAX]; /* as CUDA_VISIBLE_DEVICES, "" = none */
        uint64_t deadline_usec;            /* realtime, when it will be ended; 0 = never */
};

struct sg_allocation_input {
        const struct sg_cpuset *node;   /* CPUs that jobs may run on; NULL: not known */
        const struct sg_cpuset *pinned; /* the job's own CPU set, NULL = none */
        uint64_t cpus;                  /* how many it said it can use, 0 = not said */
        uint64_t quota_pm;              /* SG_UNLIMITED = none */
        const char *gpus;               /* NULL: not known */
        uint64_t deadline_usec;
};

/* Threads: the least of the CPUs that it can use, those of its set, and its quota rounded up. A
 * quota of 1.5 CPUs is worth two threads; of half a CPU, one. seq is left alone. */
void sg_allocation_decide(struct sg_allocation *a, const struct sg_allocation_input *in);

/* Room for every text. */
#define SG_ALLOCATION_TEXT_MAX 8192

/* The file's text; its length, or -ENOSPC. */
int sg_allocation_format(const struct sg_allocation *a, char *buf, size_t size);

/* SEQ= of such a text, 0 if there is none. */
uint64_t sg_allocation_text_seq(const char *text);
