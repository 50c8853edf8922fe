/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Which deadlines can be met: the earliest first, and where one can't be met, the largest of the
 * jobs up to there is given up (Moore and Hodgson), which leaves as few late ones as there can be
 * if all are as wide as the node. Narrow jobs run beside each other, and are late by themselves
 * when even alone they don't make it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_deadline_job {
        uint64_t key;     /* ties: the smaller one first */
        double remaining; /* seconds alone on the node */
        double width;
        double due;
        bool dropped;  /* filled in: can't make it, or makes way for others */
        double finish; /* filled in: if all goes on in this order; dropped ones come last */
};

/* Sorts the jobs into the order in which they run: by due, then the dropped ones, the shortest
 * first. Returns how many are kept. */
size_t sg_deadline_plan(struct sg_deadline_job *jobs, size_t n, double now);

/* For a job that is submitted: what becomes of it and of the others. */
struct sg_deadline_judgement {
        bool met;        /* it makes it */
        double finish;   /* when it would end */
        size_t n_harmed; /* jobs that would have made it without it, and don't with it */
};

/* jobs: those with a deadline that run or wait, then the new one as the last. Sorts them. -ENOMEM
 */
int sg_deadline_judge(struct sg_deadline_job *jobs, size_t n, double now,
                      struct sg_deadline_judgement *ret);
