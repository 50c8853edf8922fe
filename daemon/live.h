/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * A live job: its durable row and what we hold for it from submission until its end is durable and
 * nothing of it is left. Each source file below owns one stretch of that life.
 */

#include "base/list.h"
#include "core/job.h"
#include "core/queue.h"
#include "edge/bus-server.h"
#include "edge/cgroup-watch.h"
#include "edge/cgroup.h"
#include "edge/store.h"
#include <limits.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

struct sg_manager;
struct sg_measured;
struct sg_looped;

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
        bool counted;    /* among manager.n_starting */
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
        struct sg_list active_link;   /* manager.active while there is a scope */
        struct sg_cpuset *pinned;     /* with limits.pin, while there is a scope */
        struct sg_measured *measured; /* while it runs (monitor.h) */
        struct sg_looped *looped;     /* … and is governed (loop.h) */
        uint64_t begun_usec;          /* when its attempt began; 0 = before our time */
        int gate;
        bool placed;                 /* its groups are there */
        bool setting;                /* its limits are being changed */
        pid_t ready_pid;             /* what its shim says will become the job */
        struct sg_counters counters; /* of `run`, when its command had ended */
        pid_t shim;
        int shim_pidfd;
        sd_event_source
                *group_source;  /* cgroup.events of `job` when nobody else waits for its end */
        sd_event_source *timer; /* begin, time limit, or grace: one at a time */
        bool killed;            /* SIGKILL has been sent */

        /* Adopted jobs. */
        struct sg_list adopted_link;
        struct sg_watched *watched; /* its group, while that is populated */
        bool settled;               /* its processes are what they are to be */
        bool limited;               /* its class's limits were asked for */
        bool away;                  /* it ended while we were not there */
        uint64_t oom_kills;         /* that were seen last */
        unsigned questions;         /* about its end, that systemd was asked */
        sd_bus_slot *unit_slot;     /* … the one under way */

        struct sg_client *runner; /* `schedctl run`: the connection, until it has become the shim */
        sd_bus_message *attach;   /* its pending Attach */
        struct sg_list waiters;
};

/* Manager.c */

int sg_live_new(struct sg_live **ret, struct sg_manager *m, uint64_t n);
/* Unlinks and frees; everything that it holds must have ended or not begun. */
void sg_live_free(struct sg_live *l);

/* schedule.c: into the queue */

/* Puts a queued job where it belongs now: held, waiting for a time or for jobs, or in the queue. */
void sg_live_enqueue(struct sg_live *l);
/* One line: why it isn't running. Empty when it would start now. */
void sg_live_why_pending(struct sg_live *l, char *buf, size_t size);

/* depend.c: jobs that wait for jobs */

/* "5:ok,6:any"; -EINVAL, -E2BIG, -EDEADLK (itself), -EXDEV (a job of another node). */
int sg_live_check_dependencies(struct sg_manager *m, const struct sg_caller *c, const char *after,
                               sd_bus_error *error);
int sg_live_set_dependencies(struct sg_live *l, const char *after);
/* Looks up those that don't live any more, and queues the job if nothing is left to wait for. */
void sg_live_settle_dependencies(struct sg_live *l);
/* attempt.c: from the queue to a running process */

void sg_live_begin(struct sg_live *l);
int sg_live_make_scope(struct sg_live *l, bool adopt, char **ret_why);
/* It has been let go, or won't be: the next may begin. What follows is up to its user: opening its
 * output may take forever. */
void sg_live_let_go(struct sg_live *l);
/* Weight and devices of its class, as they are now. */
void sg_live_apply_class(struct sg_live *l);
void sg_live_log_path(const struct sg_live *l, char buf[PATH_MAX]);
/* What is set for the job, line by line ("K=V"); force: in place of the user's own, else only where
 * there is none. */
struct sg_live_env {
        void (*put)(const char *line, bool force, void *userdata);
        void *userdata;
};
void sg_live_environment(const struct sg_live *l, const struct sg_live_env *out);
/* What the shim is told besides what was submitted. */
void sg_live_put_launch(const struct sg_live *l, struct sg_record *r);
/* Answers a pending Attach if its time has come. */
void sg_live_attach(struct sg_live *l);
/* Watches a shim, by its pidfd, which is ours now, or -1: one is opened. */
int sg_live_watch_shim(struct sg_live *l, pid_t pid, int pidfd);
const char *sg_live_unified_group(const struct sg_live *l); /* its scope in the v2 tree, or NULL */
/* The attempt got nowhere: drops it, and says so in the reason (why NULL: strerror). */
void sg_live_not_started(struct sg_live *l, int error, const char *what, const char *why);
void sg_live_arm_time_limit(struct sg_live *l);
/* Stores the row as a hint and tells subscribers. */
void sg_live_changed(struct sg_live *l);

/* gate.c: letting the shim go ahead */

void sg_live_on_gate(void *live);                          /* it has a message */
void sg_live_on_shim_exit(void *live);                     /* attempt.c */
int sg_live_open_gate(struct sg_live *l, int *ret_theirs); /* the shim's end */
void sg_live_close_gate(struct sg_live *l);
/* Has the scope made around the shim, where that is how it is made; < 0 if it can't be asked for.
 */
int sg_live_place(struct sg_live *l, pid_t shim, int pidfd);
int sg_live_send_place(struct sg_live *l);
void sg_live_shim_known(struct sg_live *l); /* … its pid, that is */

/* fate.c, ending.c: how it ended, and what follows */

/* Its fate is known, or to be found out: reads the attempt's directory and acts. Also used at
 * recovery. */
void sg_live_inspect(struct sg_live *l, enum sg_publish publish);
/* The job is over, as its row says; stores that. */
void sg_live_end(struct sg_live *l);
/* Frees a job whose end is durable once nothing of it is left; else is called again when that
 * changes. */
void sg_live_release(struct sg_live *l);
/* Removes its groups: 0, or -EBUSY while something lives in them. */
int sg_live_drop_scope(struct sg_live *l);

/* stop.c: ending a live attempt */

/* As `intent` says: durable first, then SIGTERM, grace, SIGKILL. Asked again: SIGKILL at once. */
void sg_live_stop(struct sg_live *l, enum sg_job_intent intent, const char *reason);
/* The signals only: for recovery. */
void sg_live_kill(struct sg_live *l, bool at_once);

/* api.c: who waits for it */

void sg_api_answer_waiters(struct sg_live *l); /* it has ended */
void sg_api_acknowledge(struct sg_live *l);    /* what was asked of it is durable */
