/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The manager owns every object of the daemon. Events (a call on the bus, a reply of the store, a
 * shim's word, a timer) come in through its functions; it changes state, asks core what to do, and
 * tells the edges to do it.
 *
 * Rules that hold everywhere in it: a decision is durable before it is acted on or answered; a job
 * that isn't final stays in `jobs`; a job leaves `jobs` only after its end is durable and its shim
 * is gone.
 */

#include "base/list.h"
#include "core/job/job.h"
#include "core/queue/queue.h"
#include "core/settings/settings.h"
#include "edge/bus/server.h"
#include "edge/bus/service.h"
#include "edge/bus/users.h"
#include "edge/cgroup/cgroup.h"
#include "edge/common/poller.h"
#include "edge/config/config.h"
#include "edge/config/live-policy.h"
#include "edge/kernel/node.h"
#include "edge/reader/reader.h"
#include "edge/start/launcher.h"
#include "edge/store/store.h"
#include "jobs/live.h"
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

/* Has to outlive the manager. */
struct sg_manager_options {
        const char *state_dir, *socket, *backend, *node_name;
        struct sg_config_place config;
        bool user;            /* below the user's own service manager, for that user */
        bool message_bus;     /* serve the API on the system's (user: the user's) bus, too */
        const char *launcher; /* schedgov-launch's socket; NULL: shims are forked by us */
        bool shared; /* other daemons may use the same service manager: unit names differ */
};

#define SG_JOB_BUCKETS 4096

struct sg_manager {
        sd_event *event;
        struct sg_node node;
        struct sg_store *store;
        struct sg_backend *backend;
        struct sg_settings *settings;
        struct sg_config_place config_place;
        char *config_text;
        struct sg_live_policy *policy; /* what of the settings doesn't come from the files */
        struct sg_queue *queue;
        struct sg_node_snapshot explained; /* what reasons are given from, */
        uint64_t explained_iteration;      /* … within this one of the event loop */
        struct sg_users *users;
        struct sg_job_reader *reader;
        struct sg_monitor *monitor;
        struct sg_loop *loop;
        struct sg_metrics *metrics;
        struct sg_adopter *adopter; /* NULL: no cgroup tree to be seen */
        struct sg_bus_server *server;
        struct sg_authorizer *authorizer;
        struct sg_bus_service *service; /* NULL: no message bus is asked for */
        struct sg_list jobs, active;
        struct sg_live *buckets[SG_JOB_BUCKETS];
        struct sg_list dependents;
        uint64_t last_n, n_jobs;
        uint64_t starts_from_usec; /* monotonic; 0 = the last ones have worked */
        uint64_t n_starting;       /* background jobs between queue and running */
        uint64_t n_recovering;     /* inspections under way: nothing starts before they are done */
        uint32_t pinned[SG_CPUS_MAX]; /* jobs pinned to each CPU */
        gid_t admin_gid;              /* group schedgov, or (gid_t)−1 */
        struct sg_launcher *launcher;
        struct sg_poller *gates, *shims, *groups; /* of all attempts */
        sd_event_source *schedule_source, *retry_timer, *sweep_timer;
        unsigned sweeps;
        uint64_t started_usec; /* monotonic */
        bool stopping;         /* what was committed last is for the next daemon */
};

/* What the event loop ends with when the daemon is to start over in place. */
#define SG_START_OVER 1

/* What isn't mended by another start. No call fails with it. */
#define SG_BAD_CONFIG (-EDOM)

/* manager.c: life of the object */

/* Opens all, recovers; on failure *ret_why says in one line what to do. SG_BAD_CONFIG: the errors
 * have been logged. */
int sg_manager_new(struct sg_manager **ret, sd_event *event, const struct sg_manager_options *o,
                   char **ret_why);
struct sg_manager *sg_manager_free(struct sg_manager *m);
/* Replaces the settings whole, or leaves them and returns the errors. */
int sg_manager_reload(struct sg_manager *m, struct sg_config_errors *errors);

/* A named point at which tests kill us (or the store); see base/fault.h. */
void sg_manager_fault(struct sg_manager *m, const char *point);

/* Live jobs differ in N, under whichever of its names the node gave it: within us that will do.
 * What comes from outside, a name or a path, is looked for by origin and N. */
struct sg_live *sg_manager_find(struct sg_manager *m, uint64_t n);
struct sg_live *sg_manager_find_key(struct sg_manager *m, const struct sg_job_key *key);
uint64_t sg_manager_count_waiting(struct sg_manager *m, uint64_t uid);

/* schedule.c: the queue's decisions */

/* Asks for a pass of the queue at the end of this loop iteration. */
void sg_manager_schedule(struct sg_manager *m);
/* A job couldn't be started for want of something on the node: for a moment none is tried. */
void sg_manager_pause_starts(struct sg_manager *m, const char *what, int error);
void sg_manager_starts_work(struct sg_manager *m);
int sg_manager_snapshot(struct sg_manager *m, struct sg_node_snapshot *ret);
void sg_pending_describe(const struct sg_pending_info *info, char *buf, size_t size);

/* Frees or fails those who waited for it. */
void sg_manager_dependency_ended(struct sg_manager *m, const struct sg_job *ended);

/* recover.c */

int sg_manager_recover(struct sg_manager *m);

/* A daemon that starts over in place inherits children from itself: its last reader, and shims
 * whose jobs it finds ended. Nobody else waits for those. */
void sg_manager_reap(const struct sg_manager *m);

/* authorize.c: calls whose right is being asked about */

int sg_authorizer_new(struct sg_authorizer **ret);
struct sg_authorizer *sg_authorizer_free(struct sg_authorizer *a);
void sg_authorizer_forget(struct sg_authorizer *a, const struct sg_client *c); /* it has gone */

/* api.c: what the bus calls */

int sg_api_publish(struct sg_manager *m, sd_bus *bus); /* adds the objects to a connection */
void sg_api_disconnect(struct sg_manager *m, struct sg_client *c);
void sg_api_emit(struct sg_manager *m, const struct sg_job *job);
