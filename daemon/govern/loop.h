/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The loop: hands the governor (core/govern/governor.h) what jobs do and say, and the kernel what
 * it decides. It looks again at once when a job begins, ends, is suspended or changed; soon after a
 * report; and at the latest when the governor asked to.
 */

#include "core/govern/governor.h"
#include "jobs/live.h"

struct sg_loop;
struct sg_looped; /* what it holds of a job: l->looped */

/* Takes up what a daemon before us knew. */
int sg_loop_new(struct sg_loop **ret, struct sg_manager *m);
struct sg_loop *sg_loop_free(struct sg_loop *loop); /* stores what has to survive */
/* The store can be asked: what classes' jobs took, if it isn't known. */
void sg_loop_ask_history(struct sg_loop *loop);
/* What its class's jobs took; NULL = nothing is known. */
const struct sg_class_history *sg_loop_history(const struct sg_manager *m, const struct sg_job *j);
/* Other settings are in force, or settings with other policies. */
void sg_loop_reload(struct sg_manager *m);

/* The job is about to get its groups: who gets how much with it is decided before. What the groups
 * are to be made with is then told by sg_loop_overlay() and sg_loop_own_cpus(), and stays until it
 * runs. */
void sg_loop_expect(struct sg_live *l);
/* All of these are for running jobs, and do nothing for others. */
void sg_loop_add(struct sg_live *l);
void sg_loop_hold(struct sg_live *l, bool held);
void sg_loop_changed(struct sg_live *l); /* its limits */
/* It has reported. */
void sg_loop_heard(struct sg_live *l, const struct sg_report *report, uint64_t cpu_usec);
/* A round has counted what the job used; and how long it waited for a CPU, if `waits`. */
void sg_loop_looked(struct sg_live *l, bool waits);
void sg_loop_refresh(struct sg_loop *loop);    /* before its decisions are shown; NULL is fine */
void sg_loop_round_over(struct sg_loop *loop); /* … of all jobs; NULL is fine */
/* Nothing of the job lives any more, but how it ended isn't known yet: what it had is the
 * others'. */
void sg_loop_over(struct sg_live *l);
void sg_loop_end(struct sg_live *l);

/* Puts what is in force, beside what was asked for, into limits: the CPU's weight and quota;
 * returns the CPU set to go with them. To be called on the limits that a scope is made with, and on
 * those for sg_scope_set_limits(). */
const struct sg_cpuset *sg_loop_overlay(const struct sg_live *l, struct sg_limits *limits);
uint64_t sg_loop_cpus(const struct sg_live *l); /* how many threads it should have; 0 = not said */
/* … how many CPUs of its own, with these limits; 0 = it shares all. */
uint64_t sg_loop_own_cpus(const struct sg_live *l, const struct sg_limits *limits);
/* The same, if it was decided by the job's share, and changes with that; else 0. */
uint64_t sg_loop_threads(const struct sg_live *l);
uint64_t sg_loop_class_weight(const struct sg_manager *m, const struct sg_class *class);
/* How many of the CPUs there are to be shared: less than all under a quota. */
double sg_loop_cpus_of_node(const struct sg_manager *m);
/* Whether what is decided can be put into force at all. */
bool sg_loop_holds_shares(const struct sg_manager *m);
/* What it is to get of the node, 0 … 1, and in words why; NaN = nothing has been decided yet. */
double sg_loop_share(const struct sg_live *l, char *why, size_t size);
/* The list that it is in; NULL = nothing has been decided yet. */
const char *sg_loop_list(const struct sg_live *l);
/* The last decision; NULL = none yet. */
const struct sg_decision *sg_loop_decision(const struct sg_live *l);
int sg_loop_explain(const struct sg_live *l, char **ret); /* -ENOENT: none yet */
