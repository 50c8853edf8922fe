/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The monitor: while jobs run, it looks at all of them and at the node in rounds, and takes in what
 * they report of their progress. Rounds come once per [Monitor] Interval= while anything changes,
 * and up to MaxInterval= apart while nothing does; with no job running there are none.
 */

#include "core/measure/sample.h"
#include "core/measure/series.h"
#include "core/queue/idle.h"
#include "core/reports/progress-source.h"
#include "core/reports/progress.h"
#include "edge/kernel/delays.h"
#include "edge/kernel/links.h"
#include "edge/kernel/node-sampler.h"
#include "edge/kernel/sampler.h"
#include "jobs/live.h"

/* What is known of a running job, from its first round on. */
struct sg_measured {
        struct sg_list link; /* in the monitor's list, until its attempt is over */
        struct sg_live *live;
        struct sg_sampler *sampler; /* NULL: it has no groups */
        struct sg_sample last;
        double cpu_rate;       /* CPUs, in the last interval; NaN = not known yet */
        struct sg_idle idle;   /* … and over the last minute */
        uint64_t running_usec; /* how long it has run, suspension left out, up to … */
        uint64_t since_usec;   /* … this moment (monotonic) */
        enum sg_goal goal;
        struct sg_progress *progress;    /* NULL: nothing has come */
        char source[SG_PRESET_NAME_MAX]; /* "keras", "notify", …; "" = nothing has come */
        char *status;                    /* what it says of itself (STATUS=), or NULL */
        struct sg_series *series;
        struct sg_delays delays;
        unsigned place;                        /* its turn when jobs are looked at by turns */
        unsigned rounds;                       /* rounds that it has lived to see */
        bool sampled;                          /* for the round that is under way, or just due */
        bool active;                           /* it did something in this interval */
        bool reported;                         /* since the last round */
        bool followed;                         /* the reader knows it */
        void (*last_words)(struct sg_live *l); /* whom to call when they have come, */
        sd_event_source *patience;             /* … or this has gone off */
};

struct sg_monitor;

/* runtime_dir: where jobs find what is meant for them. */
int sg_monitor_new(struct sg_monitor **ret, struct sg_manager *m, const char *runtime_dir);
struct sg_monitor *sg_monitor_free(struct sg_monitor *mon);
/* Other settings are in force. */
void sg_monitor_reload(struct sg_manager *m);

/* It runs, and has a scope: makes l->measured. May be called again. */
void sg_monitor_watch(struct sg_live *l);
/* Its state is about to be SUSPENDED, or RUNNING again. */
void sg_monitor_pause(struct sg_live *l, bool suspended);
/* Something was changed: the next round comes soon. */
void sg_monitor_wake(struct sg_monitor *mon);

/* The job has ended, and its end is about to be stored: what is known goes into the row. true: its
 * last words are being waited for, and done() will be called in a moment. */
bool sg_monitor_finish(struct sg_live *l, void (*done)(struct sg_live *l));
/* The job's scope is about to go: drops l->measured. */
void sg_monitor_forget(struct sg_live *l);

/* Tells the job its allocation as it is now; and takes the file away at the end of its attempt. */
void sg_monitor_publish(struct sg_live *l);
void sg_monitor_unpublish(struct sg_live *l);
/* Removes the allocations of jobs that are gone: once all that live are known. */
void sg_monitor_sweep(struct sg_monitor *mon);
/* Opens the socket on which a job reports: before an attempt starts, and when a daemon comes back
 * to it. */
void sg_monitor_listen(struct sg_live *l);
/* Paths for the job's environment, and for its script. Negative: there is no allocation; `notify`
 * is set all the same. */
struct sg_monitor_paths {
        char notify[PATH_MAX], allocation[PATH_MAX], script[PATH_MAX];
};
int sg_monitor_paths(const struct sg_live *l, struct sg_monitor_paths *ret);

/* What a job with a scope uses at this moment, for one read(2); SG_UNLIMITED: not known, or it
 * doesn't run yet. */
uint64_t sg_monitor_memory_now(const struct sg_live *l);

/* Tells the queue whether it wants the CPU, by what it has used until now: rounds may be far
 * apart. */
void sg_monitor_look_idle(struct sg_live *l);

/* The CPU time that a job has had by now, if that was last read more than `fresh` before; false: it
 * is as it was, or can't be known. */
bool sg_monitor_read_cpu(const struct sg_live *l, uint64_t fresh_usec, uint64_t *ret_cpu_usec);
/* How long the job has run by now. */
uint64_t sg_monitor_running_usec(const struct sg_measured *d);

/* The node as it was within the last interval, and its network interfaces. */
const struct sg_node_sample *sg_monitor_node(struct sg_monitor *mon);
/* How much memory it has, bytes; a figure that hardly ever changes, and may be a minute old.
 * SG_UNLIMITED: not known. */
uint64_t sg_monitor_node_memory(const struct sg_monitor *mon);
/* How busy its CPUs were between the last two looks, 0 … 1; NaN = not known. */
double sg_monitor_busy(const struct sg_monitor *mon);
/* The links, with counters that are read now. */
struct sg_links *sg_monitor_links(const struct sg_monitor *mon);

/* A sg_config_check_fn: the patterns of [Progress]. */
int sg_progress_check_value(const char *section, const char *key, const char *value,
                            char **ret_why);

/* A job's progress as of now; all unknown if nothing was reported. */
void sg_monitor_view(const struct sg_live *l, struct sg_progress_view *ret);
