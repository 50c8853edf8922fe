/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The monitor: while jobs run, it looks at all of them and at the node in rounds, and takes in what
 * they report of their progress. Rounds come once per [Monitor] Interval= while anything changes,
 * and up to MaxInterval= apart while nothing does; with no job running there are none.
 */

#include "core/progress.h"
#include "core/sample.h"
#include "core/series.h"
#include "edge/delays.h"
#include "edge/links.h"
#include "edge/node-sampler.h"
#include "edge/sampler.h"
#include "live.h"

/* What is known of a running job, from its first round on. */
struct sg_measured {
        struct sg_live *live;
        struct sg_sampler *sampler; /* NULL: it has no groups */
        struct sg_sample last;
        double cpu_rate;       /* CPUs, in the last interval; NaN = not known yet */
        uint64_t running_usec; /* how long it has run, suspension left out, up to … */
        uint64_t since_usec;   /* … this moment (monotonic) */
        struct sg_progress progress;
        char source[16]; /* "keras", "notify", …; "" = nothing has come */
        char *status;    /* what it says of itself (STATUS=) */
        struct sg_series *series;
        struct sg_delays delays; /* of its main process */
        uint64_t n_reports;      /* since the last round */
        bool followed;           /* the reader knows it */
        bool finishing;          /* the reader is asked for its last words */
};

struct sg_monitor;

int sg_monitor_new(struct sg_monitor **ret, struct sg_manager *m);
struct sg_monitor *sg_monitor_free(struct sg_monitor *mon);
void sg_monitor_reload(struct sg_monitor *mon);

/* Something started, ended, or was changed: the next round comes soon. */
void sg_monitor_wake(struct sg_monitor *mon);

/* The job runs no more. Before its end is stored: 1 if its last words are being waited for, and
 * done() will be called; 0 there is nothing to wait for. */
typedef void (*sg_monitor_done)(struct sg_live *l);
int sg_monitor_finish(struct sg_live *l, sg_monitor_done done);
/* Its attempt is over: drops l->measured. */
void sg_monitor_forget(struct sg_live *l);

/* The node as the last round saw it, and its network interfaces. */
const struct sg_node_sample *sg_monitor_node(const struct sg_monitor *mon);
struct sg_links *sg_monitor_links(const struct sg_monitor *mon);
uint64_t sg_monitor_reader_restarts(const struct sg_monitor *mon);

/* A job's progress as of now; all unknown if nothing was reported. */
void sg_monitor_view(const struct sg_live *l, struct sg_progress_view *ret);

/* Its share of the node by the weights in force, 0 … 1, and in words how that comes about. */
double sg_monitor_share(const struct sg_live *l, char *why, size_t size);
