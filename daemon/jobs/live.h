/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * A live job: its durable row, where it stands in its life, and what we hold for it from submission
 * until its end is durable and nothing of it is left. Each part is made, used and dropped by its
 * own room. This header is what other rooms know of this one.
 */

#include "core/life/life.h"
#include "jobs/attempt.h"
#include "jobs/groups.h"
#include "jobs/jobs.h"
#include "jobs/queued.h"
#include "jobs/stored.h"
#include "jobs/throttle.h"
#include <limits.h>

struct sg_manager;
struct sg_measured;
struct sg_looped;
struct sg_adopted;
struct sg_callers;
struct sg_inbox;

/* `schedctl run`, until it has become the job's keeper. */
struct sg_runner {
        pid_t pid;
        int pidfd;  /* of the process that called, by its connection */
        bool here;  /* its connection is open */
        bool asked; /* it waits to be handed the job */
};

struct sg_live {
        struct sg_list link;   /* sg_jobs.all */
        struct sg_live *chain; /* in its hash bucket */
        struct sg_manager *manager;
        struct sg_job job;            /* its row */
        const struct sg_class *class; /* of the settings in force */
        struct sg_life life;
        struct sg_inbox *inbox;   /* while an event is being handled */
        sd_event_source **timers; /* _SG_LIFE_TIMER_MAX; NULL: none is on */
        struct sg_queued queued;
        struct sg_groups groups;
        struct sg_attempt attempt;
        struct sg_measured *measured; /* while it runs (monitor.h) */
        struct sg_looped *looped;     /* … and is governed (loop.h) */
        struct sg_adopted *adopted;   /* if others started it (adopt.h) */
        struct sg_runner *runner;     /* of `run` */
        struct sg_callers *callers;   /* who waits for it (api.h) */
        struct sg_stored *stored; /* what it takes in the store; NULL: nothing that is counted */
        bool changing;            /* by a Set that isn't durable yet */
        bool unstored;            /* something of it could not be stored, and the log says so */
};

/* live.c: the object. -ENOMEM. */
int sg_live_new(struct sg_live **ret, struct sg_manager *m, uint64_t n);
/* Unlinks and frees; everything that it holds must have ended or not begun. */
void sg_live_free(struct sg_live *l);
/* Numbers N of live jobs are unique, also where the node has changed its name meanwhile: the daemon
 * itself looks jobs up by N. What comes from outside, a name or a path, is looked up by origin and
 * N. */
struct sg_live *sg_manager_find(struct sg_manager *m, uint64_t n);
struct sg_live *sg_manager_find_key(struct sg_manager *m, const struct sg_job_key *key);
uint64_t sg_manager_count_waiting(struct sg_manager *m, uint64_t uid);
/* Other settings are in force. The first gives each job its class of these; the second applies what
 * these say of classes, of the queue and of the store. */
void sg_jobs_find_classes(struct sg_manager *m);
void sg_jobs_reload(struct sg_manager *m);

/* tell.c: something has happened to the job. Does what has to be done, which may free l. */
void sg_live_tell(struct sg_live *l, const struct sg_life_event *e);
static inline void sg_live_tell_kind(struct sg_live *l, enum sg_life_event_kind kind)
{
        sg_live_tell(l, &(struct sg_life_event){.kind = kind});
}
void sg_live_stop(struct sg_live *l, struct sg_who by, enum sg_job_intent intent,
                  const char *reason);
/* freeze.c: only where sg_life_may_hold() and sg_life_may_freeze() allow it. sg_live_calls.answer
 * is called for the asker when it is durable and done, or has failed. */
void sg_live_hold(struct sg_live *l, struct sg_who by, bool on, void *asker);
void sg_live_freeze(struct sg_live *l, struct sg_who by, uint64_t reasons, bool on, void *asker);
/* Its terminal wants to be handed the job, now or as soon as it may be. */
void sg_live_attach(struct sg_live *l);
/* A message of the job itself has come: if it was let go, it runs, though its keeper hasn't said so
 * yet. */
void sg_live_speaks(struct sg_live *l);
/* Something that nobody asked for has changed: stores the row as a hint and tells subscribers. */
void sg_live_changed(struct sg_live *l);
/* Its time limit, or when that began, may be another: its timer goes off then. */
void sg_live_arm_time_limit(struct sg_live *l);

/* schedule.c: the queue. Puts a queued job where it belongs now: held, waiting, or in it. */
void sg_live_enqueue(struct sg_live *l);
void sg_live_leave_queue(struct sg_live *l);
/* One line: why it isn't running. Empty when it would start now. */
void sg_live_why_pending(struct sg_live *l, char *buf, size_t size);
void sg_pending_describe(struct sg_manager *m, const struct sg_pending_info *info, char *buf,
                         size_t size);
/* Asks for a pass of the queue at the end of this loop iteration. */
void sg_manager_schedule(struct sg_manager *m);
int sg_manager_snapshot(struct sg_manager *m, struct sg_node_snapshot *ret);

/* depend.c: jobs that wait for jobs, by lists such as "5:ok,6:any". 0; or -EINVAL, -E2BIG, -ENOENT,
 * and the reason in words. A job from before the node got its name is "5@before". uid: the user
 * whose jobs the asker may know of, SG_UNLIMITED = all users'; jobs of others count as if they had
 * ended and been forgotten. */
int sg_live_check_dependencies(struct sg_manager *m, const char *after, uint64_t uid, char *why,
                               size_t size);
/* How many of these jobs haven't ended yet, and which is the first. */
uint64_t sg_live_count_unfinished(struct sg_manager *m, const char *after, uint64_t uid,
                                  struct sg_job_key *ret_first);

/* groups.c: weight and devices of its class, as they are now */
void sg_live_apply_class(struct sg_live *l);
void sg_live_apply_devices(struct sg_live *l); /* or devices alone */
/* n CPUs of its own, as many as it can of those that it has. */
struct sg_own_cpus sg_live_cpus_of(const struct sg_live *l, uint64_t n);
/* Notes the CPUs that are the job's own, in force or about to be; NULL: it shares all. The job has
 * a scope, and has the CPUs until that is dropped. -ENOMEM changes nothing. */
int sg_live_pin(struct sg_live *l, const struct sg_own_cpus *own);
/* The node's CPUs have changed: those of `before` that it has lost are no job's own any more. */
void sg_live_take_cpus(struct sg_manager *m, const struct sg_cpuset *before);
/* Which part of the job, which has groups, is the group that a process names in the v2 tree and in
 * v1's memory hierarchy ("" = in none). */
enum sg_membership sg_live_membership(const struct sg_live *l, const char *group,
                                      const char *group_v1);
const char *sg_live_unified_group(const struct sg_live *l); /* its scope in the v2 tree, or NULL */
/* How many threads it may be told to have now. */
struct sg_thread_range sg_live_threads(const struct sg_live *l);

/* launch-spec.c: what is set for the job, line by line ("K=V"); force: in place of the user's own,
 * else only where there is none. */
struct sg_live_env {
        void (*put)(const char *line, bool force, void *userdata);
        void *userdata;
};
void sg_live_environment(const struct sg_live *l, const struct sg_live_env *out);
void sg_live_log_path(const struct sg_live *l, char buf[PATH_MAX]);
/* recover.c */
int sg_manager_recover(struct sg_manager *m);
