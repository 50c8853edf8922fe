/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Which deadlines can be met: the earliest first, and where one can't be met, the largest of the
 * jobs up to there is given up (Moore and Hodgson), which leaves as few late ones as there can be
 * if all are as wide as the node. Narrow jobs run beside each other; what one of them has to do
 * before another's deadline, as it can't go faster than its width, counts there.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_deadline_job {
        uint64_t key;     /* ties: the smaller one first */
        double remaining; /* seconds alone on the node */
        double width;     /* 0 < width ≤ 1 */
        double due;       /* INFINITY = none */
        size_t origin;    /* the caller's */
        /* filled in */
        double slack; /* of the kept ones: time that is left over if all work for this deadline */
        bool dropped; /* it can't meet its deadline, or makes way for others */
};

/* Sorts the jobs: those that are kept by due, then the dropped ones, the shortest first. Returns
 * how many are kept. `patience`: so much of all that has to be done by a deadline may be too much
 * before a job is dropped for it. */
size_t sg_deadline_plan(struct sg_deadline_job *jobs, size_t n, double now, double patience);
/* The least part of the node with which the first n jobs of a plan, the kept ones, all meet their
 * deadlines. */
double sg_deadline_rate(const struct sg_deadline_job *jobs, size_t n, double now);
/* For how many seconds a job can stand still and still meet its deadline, if it is alone. */
double sg_deadline_own_slack(const struct sg_deadline_job *j, double now);

/* For a job that is submitted. */
struct sg_deadline_judgement {
        bool met;        /* it meets its deadline */
        double finish;   /* when it ends, if its turn comes as planned */
        size_t n_harmed; /* jobs that meet their deadlines without it, but not with it */
};

/* jobs: those with a deadline that run or wait, the new one last. Sorts them. -ENOMEM */
int sg_deadline_judge(struct sg_deadline_job *jobs, size_t n, double now,
                      struct sg_deadline_judgement *ret);
