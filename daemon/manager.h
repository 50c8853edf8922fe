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
#include "core/job.h"
#include "core/queue.h"
#include "core/settings.h"
#include "edge/bus-server.h"
#include "edge/cgroup.h"
#include "edge/config.h"
#include "edge/node.h"
#include "edge/store.h"
#include "edge/users.h"
#include "proto/attempt.h"
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

struct sg_manager;

struct sg_dependency {
        uint64_t n;
        bool any_end; /* else only a success will do */
};

/* A live job: the durable row, and what we hold for it while it lives. */
struct sg_live {
        struct sg_list link;   /* manager.jobs, in order of n */
        struct sg_live *chain; /* in its hash bucket */
        struct sg_manager *manager;
        struct sg_job job;
        struct sg_queue_entry entry;
        const struct sg_class *class;

        bool stored;     /* its submission is durable */
        bool attachable; /* `run`: its turn has come and its attempt is durable */
        bool gone_ahead; /* GO has been sent */
        bool inspecting, recovering;
        bool concluded;         /* the attempt is over but for what lives in its group */
        struct sg_exit *record; /* how, if that is known */
        bool dropping;          /* its end is being stored */
        bool requeueing;        /* … and it goes back to the queue after that */
        bool ended_durable;
        uint64_t failed_starts; /* attempts in a row whose shim never got as far as the gate */

        struct sg_dependency *after;
        size_t n_after;
        struct sg_list after_link; /* manager.dependents while n_after > 0 */

        struct sg_scope *scope;
        struct sg_list active_link; /* manager.active while there is a scope */
        struct sg_cpuset pinned;
        int gate;
        sd_event_source *gate_source;
        pid_t shim;
        int shim_pidfd;
        sd_event_source *shim_source;
        sd_event_source
                *group_source;  /* cgroup.events of `job` when nobody else waits for its end */
        sd_event_source *timer; /* begin, time limit, or grace: one at a time */
        bool killed;            /* SIGKILL has been sent */

        struct sg_client *runner; /* `schedctl run`: the connection, until it has become the shim */
        sd_bus_message *attach;   /* its pending Attach */
        struct sg_list waiters;
};

struct sg_waiter {
        struct sg_list job_link, client_link;
        sd_bus_message *call;
        bool acknowledge; /* answered with nothing as soon as the decision is durable, else with the
                             end */
};

struct sg_manager_options {
        const char *state_dir, *socket, *backend, *config_root, *node_name;
};

#define SG_JOB_BUCKETS 4096

struct sg_manager {
        sd_event *event;
        struct sg_node node;
        struct sg_store *store;
        struct sg_backend *backend;
        struct sg_settings *settings;
        char *config_root, *config_text;
        struct sg_queue *queue;
        struct sg_users *users;
        struct sg_bus_server *server;
        struct sg_list jobs, active;
        struct sg_live *buckets[SG_JOB_BUCKETS];
        struct sg_list dependents;
        uint64_t last_n, n_jobs;
        uint64_t n_recovering; /* inspections under way: nothing starts before they are done */
        uint32_t pinned[SG_CPUS_MAX]; /* jobs pinned to each CPU */
        gid_t admin_gid;              /* group schedgov, or (gid_t)−1 */
        char *shim_path;
        sd_event_source *schedule_source, *retry_timer;
        uint64_t started_usec; /* monotonic */
};

/* What the event loop ends with when the daemon is to start over in place. */
#define SG_START_OVER 1

/* --- manager.c: life of the object
 * ------------------------------------------------------------------- */

/* Opens all, recovers; on failure *ret_why says in one line what to do. */
int sg_manager_new(struct sg_manager **ret, sd_event *event, const struct sg_manager_options *o,
                   char **ret_why);
struct sg_manager *sg_manager_free(struct sg_manager *m);
/* Replaces the settings whole, or leaves them and returns the errors. */
int sg_manager_reload(struct sg_manager *m, struct sg_config_errors *errors);

/* A named point at which tests kill us (or the store); see base/fault.h. */
void sg_manager_fault(struct sg_manager *m, const char *point);

struct sg_live *sg_manager_find(struct sg_manager *m, uint64_t n);
uint64_t sg_manager_count_of_user(struct sg_manager *m, uint64_t uid);
int sg_live_new(struct sg_live **ret, struct sg_manager *m, uint64_t n);
/* Unlinks and frees; everything that it holds must have ended or not begun. */
void sg_live_free(struct sg_live *l);

/* --- schedule.c: the queue's decisions
 * ---------------------------------------------------------------- */

/* Asks for a pass of the queue at the end of this loop iteration. */
void sg_manager_schedule(struct sg_manager *m);
/* Puts a queued job where it belongs now: held, waiting for a time or for jobs, or in the queue. */
void sg_live_enqueue(struct sg_live *l);
int sg_manager_snapshot(struct sg_manager *m, struct sg_node_snapshot *ret);
/* One line: why it isn't running. Empty when it would start now. */
void sg_live_why_pending(struct sg_live *l, char *buf, size_t size);
void sg_pending_describe(const struct sg_pending_info *info, char *buf, size_t size);

/* --- depend.c: jobs that wait for jobs
 * ---------------------------------------------------------------- */

/* "5:ok,6:any"; -EINVAL, -E2BIG, -EDEADLK (itself), -EXDEV (a job of another node). */
int sg_live_check_dependencies(struct sg_manager *m, const char *after, sd_bus_error *error);
int sg_live_set_dependencies(struct sg_live *l, const char *after);
/* Looks up those that don't live any more, and queues the job if nothing is left to wait for. */
void sg_live_settle_dependencies(struct sg_live *l);
/* Frees or fails those who waited for it. */
void sg_manager_dependency_ended(struct sg_manager *m, const struct sg_job *ended);

/* --- attempt.c: from the queue to a running process
 * ------------------------------------------------- */

void sg_live_begin(struct sg_live *l);
int sg_live_make_scope(struct sg_live *l, bool adopt, char **ret_why);
/* Answers a pending Attach if its time has come. */
void sg_live_attach(struct sg_live *l);
/* Watches a shim, by pidfd. */
int sg_live_watch_shim(struct sg_live *l, pid_t pid);
void sg_live_arm_time_limit(struct sg_live *l);
/* Stores the row as a hint and tells subscribers. */
void sg_live_changed(struct sg_live *l);

/* --- ending.c: how it ended, and what follows
 * -------------------------------------------------------- */

/* Its fate is known, or to be found out: reads the attempt's directory and acts. Also used at
 * recovery. */
void sg_live_inspect(struct sg_live *l, enum sg_publish publish);
/* The job is over, as its row says; stores that. */
void sg_live_end(struct sg_live *l);
/* Frees a job whose end is durable once nothing of it is left; else is called again when that
 * changes. */
void sg_live_release(struct sg_live *l);
void sg_live_drop_scope(struct sg_live *l);

/* --- stop.c: ending a live attempt
 * -------------------------------------------------------------------- */

/* As `intent` says: durable first, then SIGTERM, grace, SIGKILL. Asked again: SIGKILL at once. */
void sg_live_stop(struct sg_live *l, enum sg_job_intent intent, const char *reason);
/* The signals only: for recovery. */
void sg_live_kill(struct sg_live *l, bool at_once);

/* --- recover.c
 * ---------------------------------------------------------------------------------------- */

int sg_manager_recover(struct sg_manager *m);

/* --- api: what the bus calls
 * --------------------------------------------------------------------------- */

int sg_api_connect(struct sg_manager *m,
                   struct sg_client *c); /* adds the objects to a connection */
void sg_api_disconnect(struct sg_manager *m, struct sg_client *c);
void sg_api_answer_waiters(struct sg_live *l); /* it has ended */
void sg_api_acknowledge(struct sg_live *l);    /* what was asked of it is durable */
void sg_api_emit(struct sg_manager *m, const struct sg_job *job);
