/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Share policies: how much of the node each running job gets. A policy is one file and one line in
 * SG_SHARE_POLICIES (settings/share.h); it decides from a snapshot and what it remembers itself,
 * and is called by the governor (governor.h), never by anybody who has a clock.
 *
 * Times are seconds of the governor's clock, which only goes forward; shares are parts of the node,
 * 0 … 1; sizes are CPU-seconds ÷ the node's CPUs, that is seconds alone on the node. How many CPUs
 * there are only matters where jobs don't become as much faster as they get more (snapshot.cpus).
 */

#include "base/record.h"
#include "core/job/estimate.h"
#include "core/settings/share.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_share_job {
        uint64_t key;   /* its own for ever; grows with submission: the last tie-break */
        uint32_t class; /* index */
        uint32_t uid;
        double arrival;  /* when it began to run here */
        double used;     /* seconds alone on the node, up to now, of this attempt */
        double weight;   /* among its class's jobs, where nothing else decides */
        double width;    /* the largest share that it can use, 0 < width ≤ 1 */
        double deadline; /* INFINITY = none */
        bool held;       /* suspended: gets nothing, and is owed nothing */
        bool aside;      /* gets its fair share whatever the others do: somebody waits for it */
        bool cpu_bound;  /* else more CPU doesn't make it faster */
        struct sg_estimate estimate;
};

/* Neither suspended nor beside the others. */
static inline bool sg_share_takes_part(const struct sg_share_job *j)
{
        return !j->held && !j->aside;
}

static inline bool sg_share_is_unbound(const struct sg_share_job *j)
{
        return sg_share_takes_part(j) && !j->cpu_bound;
}

struct sg_share_class {
        const char *name;
        double weight; /* against other classes */
        const struct sg_share_settings *settings;
};

/* Borrowed for the call. jobs: by key, ascending. */
struct sg_share_snapshot {
        double now;
        /* CPUs of the node. Then jobs go on as their speed-up says, and their sizes are what one of
         * these CPUs does in a second, ÷ all. 0 = shares of any size are alike (exponents). */
        double cpus;
        const struct sg_share_class *classes;
        size_t n_classes;
        const struct sg_share_job *jobs;
        size_t n_jobs;
};

enum sg_share_list {
        SG_LIST_NONE,
        SG_LIST_NEW,
        SG_LIST_WATCH,
        SG_LIST_COMPLETE, /* of flowcon */
        SG_LIST_PROBE,    /* growth: finding out how large it is */
        SG_LIST_RUN,      /* … its turn */
        SG_LIST_LAST,     /* … gets what those before it leave */
        SG_LIST_WAIT,     /* … not its turn */
        SG_LIST_ASIDE,
        SG_LIST_DROPPED, /* deadline: can't make it any more */
};
const char *sg_share_list_to_string(enum sg_share_list l); /* "new" … as in the JSON */

/* Why a job got what it got, as numbers; govern/explain.c makes sentences of them. NaN = doesn't
 * apply. */
enum sg_share_reason {
        SG_REASON_NONE,
        SG_REASON_FAIR,  /* an equal part by weights */
        SG_REASON_ALONE, /* nobody else wants anything */
        SG_REASON_PROBE,
        SG_REASON_INDEX,     /* the highest index of those that may go first */
        SG_REASON_OWN_SLACK, /* narrow, and has to go on now */
        SG_REASON_SLACK,  /* `other`'s promise is at stake, and this one is the best of those that
                             help */
        SG_REASON_RANK,   /* in order of index, after `other` */
        SG_REASON_GROWTH, /* flowcon: its part of the growth efficiency */
        SG_REASON_BOUND,  /* flowcon: the lower bound */
        SG_REASON_CONVERGED,  /* flowcon: all are, limits are lifted */
        SG_REASON_UNMEASURED, /* flowcon: new, no limit yet */
        SG_REASON_STALE,      /* flowcon: watched, keeps its limit */
        SG_REASON_SHORTEST,   /* srpt */
        SG_REASON_LEAST_USED, /* las */
        SG_REASON_GAIN,       /* slaq */
        SG_REASON_PLAN,       /* of a plan for jobs that scale badly */
        SG_REASON_TRIAL,      /* … which need to know how this one does with so many CPUs */
        SG_REASON_DEADLINE,
        SG_REASON_DROPPED,
        SG_REASON_SPARE,
        SG_REASON_ASIDE,
        SG_REASON_UNBOUND, /* growth: the CPU isn't what it waits for, and is never taken from it */
        _SG_REASON_MAX
};

struct sg_share_why {
        enum sg_share_reason reason;
        uint32_t rank;         /* 1 = first in the policy's order, 0 = none */
        uint64_t other;        /* key of the job that it is about, 0 = none */
        double index;          /* what the order is by */
        double virtual_finish; /* VF: when it would end if all shared fairly */
        double due;            /* D: what it was promised */
        double slack;          /* seconds until the promise is at stake */
};

struct sg_share_out {
        double share;    /* what it is to get */
        uint32_t weight; /* 1 … SG_WEIGHT_MAX among the jobs of the node */
        double cap;      /* no more than that; INFINITY = none */
        uint32_t cpus;   /* so many whole CPUs of its own; 0 = it shares them by weight */
        enum sg_share_list list;
        struct sg_share_why why;
};

struct sg_share_policy {
        const char *name, *summary;              /* "growth"; one line for `schedctl policy list` */
        bool wants_milestones, wants_efficiency; /* of the estimates: they cost something */
        bool plans_cpus; /* it gives jobs with threads whole CPUs, where the node has several */
        /* settings: those of the classes that it is for (all the same); borrowed, as long as it
         * lives. NULL: it remembers nothing, and its state is NULL. */
        int (*create)(void **ret, const struct sg_share_settings *settings);
        void (*destroy)(void *state);
        /* A job has run to its end, having used so much; one that was ended from outside is just
         * not there any more. NULL: the policy doesn't care. */
        void (*finished)(void *state, uint64_t key, double used, double now);
        /* Fills out[0 … n_jobs). *ret_next: the first time > now at which its choice can change
         * though nothing has been heard; INFINITY = never. 1: it has used the growth efficiencies,
         * which are measured anew from now on; 0; -ENOMEM leaves the state as it was. */
        int (*step)(void *state, const struct sg_share_snapshot *s, struct sg_share_out *out,
                    double *ret_next);
        /* What has to survive a restart; load() gets what save() put, or garbage (-EBADMSG: nothing
         * was taken). NULL: nothing has to. */
        void (*save)(const void *state, struct sg_record *r);
        int (*load)(void *state, const void *data, size_t size);
};

extern const struct sg_share_policy *const sg_share_policies[_SG_SHARE_MAX]; /* by kind */

/* By weights, none above its width: what the kernel makes of cpu.weight among jobs that want all
 * they can get. weights, widths → shares, arrays of n; shares may be weights. */
void sg_share_by_weight(const double *weights, const double *widths, size_t n, double *shares);

/* Jobs that don't wait for the CPU, by is_one(), come before those that take turns, but not before
 * floors: which part they get of what they would use beyond what each has, if so much is left. has:
 * of all jobs; NULL = nothing. */
double sg_share_part_of_unbound(const struct sg_share_snapshot *s,
                                bool (*is_one)(const struct sg_share_job *j), double left,
                                const double *has);
