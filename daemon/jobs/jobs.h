/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* All live jobs of the manager, and what serves them together. */

#include "base/list.h"
#include "base/parse.h"
#include "core/queue/queue.h"
#include "edge/common/poller.h"
#include "edge/start/gate-socket.h"
#include "edge/start/launcher.h"
#include <systemd/sd-event.h>

struct sg_job;
struct sg_life_event;
struct sg_live;
struct sg_manager;

/* Whom a job's life is told to; the manager sets it. None of these may be NULL. */
struct sg_live_calls {
        void (*changed)(struct sg_manager *m, const struct sg_job *job);
        void (*acknowledge)(struct sg_live *l); /* the intent to end it is durable */
        void (*ended)(struct sg_live *l);       /* its end is durable */
        /* What came of the request of e->asker. It is called once for each. */
        void (*answer)(struct sg_live *l, const struct sg_life_event *e);
        /* Its terminal gets what it needs to become the job's keeper; descriptors are borrowed. */
        int (*hand_over)(struct sg_live *l, int gate, int lock);
        void (*hand_failed)(struct sg_live *l, int error); /* 0: it has ended, as its row says */
        void (*forget)(struct sg_live *l);                 /* it is freed */
};

#define SG_JOB_BUCKETS 4096

struct sg_jobs {
        const struct sg_live_calls *calls;
        struct sg_list all;    /* in order of n */
        struct sg_list active; /* that have groups */
        struct sg_list dependents;
        uint64_t n, last_n;
        struct sg_queue *queue;
        struct sg_node_snapshot explained; /* the node, as reasons for waiting are given from it, */
        uint64_t explained_iteration;      /* … during this iteration of the event loop */
        uint64_t starts_from_usec;         /* monotonic; 0 = the last ones have worked */
        uint64_t n_starting;               /* background jobs between queue and running */
        uint64_t n_recovering; /* inspections under way: nothing starts before they are done */
        uint32_t pinned[SG_CPUS_MAX]; /* jobs that have each CPU for their own */
        struct sg_launcher *launcher;
        struct sg_gate_socket *comebacks;
        struct sg_poller *gates, *shims, *groups; /* of all attempts */
        sd_event_source *schedule, *retry, *sweep;
        unsigned sweeps;
        bool forgetting; /* commands of jobs that have ended, which the store is asked for */
        struct sg_live *buckets[SG_JOB_BUCKETS];
};

int sg_jobs_new(struct sg_jobs **ret, struct sg_manager *m);
/* From now on shims whose gates are closed can come back, over a socket in this directory. */
int sg_jobs_listen(struct sg_jobs *jobs, struct sg_manager *m, const char *runtime_dir);
/* What runs goes on: only our side of it is dropped. The store answers nobody any more. */
struct sg_jobs *sg_jobs_free(struct sg_jobs *jobs);
