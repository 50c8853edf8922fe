/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The governor: all running jobs of a node, what is learnt of each, and the policies of their
 * classes. The daemon (loop.c) and the simulator (sim.c) call it in the same way, the one with the
 * kernel's counters and clock, the other with its own.
 *
 * Classes of one policy and the same parameters are governed together, over their part of the node:
 * what their classes' weights give them, more while others don't want theirs. Within it their
 * weights count as the policy says.
 *
 * add → (report | use | hold)… → step → … → end. A step is due at once after add, end and hold;
 * soon after a report; else at the time that the last one gave.
 */

#include "core/learn/learner.h"
#include "core/share/share.h"

struct sg_governor;

struct sg_governor_class {
        const char *name; /* copied */
        double weight;
        struct sg_share_settings settings;
};

int sg_governor_new(struct sg_governor **ret, double cpus);
struct sg_governor *sg_governor_free(struct sg_governor *g);
/* All classes, again whenever any changed. Jobs of a class that isn't among them are of the first.
 * Policies whose parameters stay keep their state. -ENOMEM: as before. */
int sg_governor_configure(struct sg_governor *g, double cpus,
                          const struct sg_governor_class *classes, size_t n);
/* To be called before jobs are added. True: CPUs are things that a job can have whole, and jobs'
 * numbers of threads matter. False: CPUs are a measure of speed. */
void sg_governor_plan_cpus(struct sg_governor *g, bool whole);

struct sg_governor_job {
        uint64_t key, attempt;
        const char *class;
        uint32_t uid;
        double now, arrival; /* arrival: when it began to run, ≤ now */
        double cpus; /* how many it can use, by its user's word, or its runtime's if it follows; 0 =
                        not said: one, until its use is measured */
        double cpus_max; /* by quota, CPU set and threads; INFINITY */
        double weight;   /* among its class's, where nothing else decides (fair); 100 is usual */
        double deadline; /* INFINITY = none */
        enum sg_goal goal;
        bool aside, restarted;
        uint64_t program; /* which of its user's (core/job/command.h); 0 = not known */
        uint64_t steps;   /* as declared; 0 = not */
        bool elastic; /* it has the threads that it is told: its use doesn't show what it could use
                       */
        bool follows; /* the same, by its runtime's word; its user hasn't said what it can use */
};

int sg_governor_add(struct sg_governor *g, const struct sg_governor_job *j);
/* Its bounds, weight, class, deadline or aside changed. */
int sg_governor_change(struct sg_governor *g, const struct sg_governor_job *j);
int sg_governor_report(struct sg_governor *g, uint64_t key, const struct sg_learner_report *r);
void sg_governor_use(struct sg_governor *g, uint64_t key, const struct sg_learner_use *u);
/* Only the CPU time that it has used so far, CPU-seconds: before a step. */
void sg_governor_count(struct sg_governor *g, uint64_t key, double now, double cpu);
void sg_governor_hold(struct sg_governor *g, uint64_t key, double now, bool held);
enum sg_ended {
        SG_ENDED_BY_OTHERS, /* cancelled, or back to the queue: its size was what it has used */
        SG_ENDED_BADLY,     /* ended by itself or at its limit: its size was what it has used */
        SG_ENDED_WELL,      /* … and its size says something of its class's */
};
void sg_governor_end(struct sg_governor *g, uint64_t key, double now, double cpu,
                     enum sg_ended how);

struct sg_decision {
        uint64_t key;
        uint32_t class;
        struct sg_share_out out; /* weight: among its class's jobs */
        double width, used;      /* as the policy saw them */
        struct sg_estimate estimate;
};

struct sg_class_decision {
        const char *name;
        uint32_t weight; /* 1 … SG_WEIGHT_MAX among the classes */
};

/* Borrowed until the next call on g. jobs by key; classes as configured, those without jobs keep
 * weight 0. */
struct sg_governor_plan {
        const struct sg_decision *const *jobs;
        size_t n_jobs;
        const struct sg_class_decision *classes;
        size_t n_classes;
        double next; /* when to step again if nothing happens; INFINITY = never */
        bool calm;   /* all jobs together want no more than the node: there was nothing to decide */
};

/* As decided last; 0 = no job of it runs. */
uint32_t sg_governor_class_weight(const struct sg_governor *g, const char *class);

/* Whether all jobs together want no more than the node, by what is known now. Then weights don't
 * matter, each job keeps its own, and reports change nothing. */
bool sg_governor_is_calm(const struct sg_governor *g);

int sg_governor_step(struct sg_governor *g, double now, struct sg_governor_plan *ret);

/* History: from the store at start; the governor adds what ends. */
void sg_governor_remember(struct sg_governor *g, const char *class, double cpu, double claimed);

/* NULL: no such class. */
const struct sg_class_history *sg_governor_history(const struct sg_governor *g, const char *class);

/* The last decision on a job; NULL = none yet. Valid until the next call on g. */
const struct sg_decision *sg_governor_decision(const struct sg_governor *g, uint64_t key);
/* The chain of numbers behind a job's share, in plain words, several lines; -ENOENT. */
int sg_governor_explain(const struct sg_governor *g, uint64_t key, char **ret);

/* What it is to get of the node, and why in a few words; NaN = nothing was decided yet, and why is
 * untouched. A job that is seen not to wait for the CPU gets what it uses. */
double sg_governor_share(const struct sg_governor *g, uint64_t key, char *why, size_t size);
/* The list that it is in; aside rather than one of turns, if it is seen not to wait for the CPU. */
enum sg_share_list sg_governor_list(const struct sg_governor *g, uint64_t key);

void sg_governor_save(const struct sg_governor *g, struct sg_record *r);
/* Into a new, configured governor without jobs; jobs are then added again, and find what was known
 * of them. now: of the clock by which it was saved; NaN if that has gone, and only what jobs of
 * each class took still counts. -EBADMSG: what could be read up to there is known; also if it is of
 * the future, as after a virtual machine has gone back to a snapshot, but not its disk. */
int sg_governor_load(struct sg_governor *g, const void *data, size_t size, double now);
