/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * A live job: its durable row and what we hold for it from submission until its end is durable and
 * nothing of it is left. Each source file below owns one stretch of that life.
 */

#include "base/list.h"
#include "core/job/job.h"
#include "core/queue/queue.h"
#include "edge/bus/server.h"
#include "edge/cgroup/cgroup.h"
#include "edge/cgroup/watch.h"
#include "edge/store/store.h"
#include <limits.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

/* Of `run`, by Ctrl-C, with its terminal, or as the governor was away for too long. */
#define SG_REASON_RUNNER_GONE "its schedctl run went away before it started"

struct sg_manager;
struct sg_measured;
struct sg_looped;

struct sg_dependency {
        struct sg_job_key key; /* whatever the attempt */
        bool any_end;          /* else only a success will do */
};

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
        bool end_sent;          /* … to the store, which tells of it from then on */
        bool ended_durable;
        bool unstored;          /* something of it could not be stored, and the log says so */
        bool not_its_fault;     /* that it couldn't be started, this time */
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
        uint64_t runs_since_usec;     /* CLOCK_BOOTTIME; 0 = not known */
        uint64_t log_before; /* bytes of its log that attempts before left; 0 = or unknown */
        int gate;
        bool placed;                 /* its groups are there */
        bool setting;                /* its limits are being changed */
        pid_t ready_pid;             /* what its shim says will become the job */
        struct sg_counters counters; /* of `run`, when its command had ended */
        pid_t shim;
        int shim_pidfd;
        int group_events;              /* its group's, in the v2 tree, while that is watched */
        sd_event_source *group_source; /* where it can't be: looks at what lives without a shim, or
                                          at the shim again */
        sd_event_source *timer;        /* begin, time limit, or grace: one at a time */
        bool killed;                   /* SIGKILL has been sent */

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

/* manager.c: the object */

int sg_live_new(struct sg_live **ret, struct sg_manager *m, uint64_t n);
/* Unlinks and frees; everything that it holds must have ended or not begun. */
void sg_live_free(struct sg_live *l);

/* schedule.c: into the queue */

/* Puts a queued job where it belongs now: held, waiting for a time or for jobs, or in the queue. */
void sg_live_enqueue(struct sg_live *l);
/* One line: why it isn't running. Empty when it would start now. */
void sg_live_why_pending(struct sg_live *l, char *buf, size_t size);

/* depend.c: jobs that wait for jobs */

/* "5:ok,6:any"; -EINVAL, -E2BIG, -ENOENT. A job from before the node got its name is "5@before". */
int sg_live_check_dependencies(struct sg_manager *m, const struct sg_caller *c, const char *after,
                               sd_bus_error *error);
/* How many of these jobs haven't ended yet, and which is the first. */
uint64_t sg_live_count_unfinished(struct sg_manager *m, const char *after,
                                  struct sg_job_key *ret_first);
/* Of a job that is durable. Looks up those that don't live any more, and queues it if there is
 * nothing to wait for. What can't be waited for fails it. */
void sg_live_await_dependencies(struct sg_live *l);

/* groups.c: where its processes live */

int sg_live_make_scope(struct sg_live *l, char **ret_why);
/* Those of its present attempt, unless it has them; shim: where to look else, 0 = nowhere.
 * -ENOENT. */
int sg_live_find_scope(struct sg_live *l, pid_t shim);
/* Weight and devices of its class, as they are now. */
void sg_live_apply_class(struct sg_live *l);
/* n CPUs of its own, as many as it can of those that it has; with them in force: they are its. Of a
 * job with limits.pin and a scope. */
struct sg_cpuset sg_live_cpus_of(const struct sg_live *l, uint64_t n);
void sg_live_pin(struct sg_live *l, const struct sg_cpuset *cpus);
const char *sg_live_unified_group(const struct sg_live *l); /* its scope in the v2 tree, or NULL */
/* Removes them: 0, or -EBUSY while something lives in them. */
int sg_live_drop_scope(struct sg_live *l);

/* attempt.c: from the queue to a running process */

void sg_live_begin(struct sg_live *l);
/* It has been let go, or won't be: the next may begin. What follows is up to its user: opening its
 * output may take forever. */
void sg_live_let_go(struct sg_live *l);
void sg_live_log_path(const struct sg_live *l, char buf[PATH_MAX]);
uint64_t sg_live_log_size(const struct sg_live *l); /* 0 = none */
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
/* The attempt got nowhere: drops it, and says so in the reason (why NULL: strerror). */
void sg_live_not_started(struct sg_live *l, int error, const char *what, const char *why);
/* Stores the row as a hint and tells subscribers. */
void sg_live_changed(struct sg_live *l);

/* gate.c: letting the shim go ahead */

void sg_live_on_gate(void *live);                          /* it has a message */
void sg_live_on_shim_exit(void *live);                     /* attempt.c */
int sg_live_open_gate(struct sg_live *l, int *ret_theirs); /* the shim's end */
void sg_live_close_gate(struct sg_live *l);
/* Has the scope made around the shim, where that is how it is made;
 * < 0 if it can't be asked for. */
int sg_live_place(struct sg_live *l, pid_t shim, int pidfd);
int sg_live_send_place(struct sg_live *l);
void sg_live_shim_known(struct sg_live *l); /* … its pid, that is */
/* The job itself was heard: if it was let go it runs, though its shim hasn't said so yet. */
void sg_live_speaks(struct sg_live *l);

/* fate.c, ending.c: how it ended, and what follows */

/* Its fate is known, or to be found out: reads the attempt's directory and acts. Also used at
 * recovery. */
void sg_live_inspect(struct sg_live *l, enum sg_publish publish);
/* The shim has gone: what `run` left in the background is still the job; what a killed keeper left
 * is, too, but how it ends can't be known any more. Concludes once nothing lives. */
void sg_live_group_checked(struct sg_live *l);
/* The job is over, as its row says; stores that. */
void sg_live_end(struct sg_live *l);

/* log-job.c: an end that nobody meant, and limits that were asked for and don't hold */
void sg_live_log_end(const struct sg_live *l);
void sg_live_log_limits(const struct sg_live *l);
/* That its start, or end, can't be stored, once: a disk may be full for hours. Then that it is. */
void sg_live_log_unstored(struct sg_live *l, const char *what, int error);
void sg_live_log_stored(struct sg_live *l, const char *what);
/* Frees a job whose end is durable once nothing of it is left; else is called again when that
 * changes. */
void sg_live_release(struct sg_live *l);

/* group-watch.c: nothing of it lives */

/* -ENOENT: without a v2 tree nothing tells. */
int sg_live_watch_group(struct sg_live *l);
void sg_live_unwatch_group(struct sg_live *l);
/* Calls sg_live_group_checked when it may be so; once a second where nothing tells. */
void sg_live_await_empty(struct sg_live *l);
void sg_live_on_group(void *live); /* something has become of it */

/* stop.c: ending a live attempt */

/* As `intent` says: durable first, then SIGTERM, grace, SIGKILL. Asked again: SIGKILL at once. */
void sg_live_stop(struct sg_live *l, enum sg_job_intent intent, const char *reason);
/* The signals only: for recovery. */
void sg_live_kill(struct sg_live *l, bool at_once);
/* Its timer goes off at its limit, if it has one. */
void sg_live_arm_time_limit(struct sg_live *l);

/* api.c: who waits for it */

void sg_api_answer_waiters(struct sg_live *l); /* it has ended */
void sg_api_acknowledge(struct sg_live *l);    /* what was asked of it is durable */
