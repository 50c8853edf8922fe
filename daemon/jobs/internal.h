/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the files of this room share. Each action of a job's life (core/life/names.h) is a function
 * here. */

#include "jobs/live.h"
#include "manager.h"

#define SG_DO(name, text) void sg_do_##text(struct sg_live *l);
SG_LIFE_ACTIONS(SG_DO)
/* tell.c: for actions. The event that the action follows from; and an event that comes of the
 * action at once, which is handled before all others that wait. */
const struct sg_life_event *sg_live_event(const struct sg_live *l);
void sg_live_result(struct sg_live *l, const struct sg_life_event *e);
static inline void sg_live_result_kind(struct sg_live *l, enum sg_life_event_kind kind)
{
        sg_live_result(l, &(struct sg_life_event){.kind = kind});
}
/* Its timers, but for those with a bit in `but`. */
void sg_live_stop_timers(struct sg_live *l, unsigned but);

/* live.c: the task of its array that comes next before it, of those that live; NULL: none. Jobs are
 * in order of n, so that the tasks of an array come one after the other. */
struct sg_live *sg_live_task_before(const struct sg_live *l);

/* tell.c: what events say of a job that is held or released. */
#define SG_HELD_TEXT_MAX 64
char *sg_held_text(const struct sg_job *row, const struct sg_life_event *e,
                   char buf[SG_HELD_TEXT_MAX]);

/* launch-spec.c: what its keeper is told besides what was submitted */
void sg_live_put_launch(const struct sg_live *l, struct sg_record *r);
/* How many threads its environment is to say; 0 = it says nothing. */
uint64_t sg_live_threads_given(const struct sg_live *l);
uint64_t sg_live_log_size(const struct sg_live *l); /* 0 = none */

/* attempt.c */
void sg_live_on_shim_exit(void *live);
/* Watches a shim, by its pidfd, which is ours now, or -1: one is opened. */
int sg_live_watch_shim(struct sg_live *l, pid_t pid, int pidfd);
void sg_live_unwatch_shim(struct sg_live *l);
void sg_attempt_init(struct sg_attempt *a);
void sg_attempt_deinit(struct sg_live *l);

/* gate.c */
void sg_live_on_gate(void *live);                          /* it has a message */
int sg_live_open_gate(struct sg_live *l, int *ret_theirs); /* the shim's end */
int sg_live_send_place(struct sg_live *l);
/* sg_gate_socket_cb */
bool sg_live_on_comeback(int fd, pid_t pid, uid_t uid, void *manager);
/* Has the scope made around the shim, if the backend makes it like that: 1. 0: the scope is there
 * already. */
int sg_live_place(struct sg_live *l, pid_t shim, int pidfd);

/* groups.c */
void sg_groups_init(struct sg_groups *g);
void sg_groups_deinit(struct sg_live *l);
/* Finds the groups of the present attempt again, unless l has them: by their name, else by where
 * the process `shim` is (0 = nowhere). -ENOENT. */
int sg_live_find_scope(struct sg_live *l, pid_t shim);
/* Removes the groups: 0, or -EBUSY while something lives in them. */
int sg_live_drop_scope(struct sg_live *l);

/* CPUs of the node that its class may have. */
uint64_t sg_live_usable_cpus(const struct sg_live *l);

/* group-watch.c: has sg_live_on_group() called when the job's group is empty. -ENOENT: only a v2
 * tree tells that. */
int sg_live_watch_group(struct sg_live *l);
void sg_live_unwatch_group(struct sg_live *l);
/* Calls sg_do_check_groups() when the group may be empty; once a second where nothing tells. */
void sg_live_await_empty(struct sg_live *l);
void sg_live_on_group(void *live); /* the group's cgroup.events has changed */

/* fate.c */
bool sg_live_host_went_down(const struct sg_live *l);
/* What the groups of a job of `run` have counted, which must be there. */
void sg_live_put_counters(struct sg_live *l, struct sg_end *end);

/* schedule.c */
void sg_queued_init(struct sg_queued *q);
void sg_queued_deinit(struct sg_live *l);
/* A job couldn't be started for want of something on the node: for a moment no job is started. */
void sg_manager_pause_starts(struct sg_manager *m, const char *what, int error);
void sg_manager_starts_work(struct sg_manager *m);

/* depend.c: frees or fails those who waited for it */
void sg_manager_dependency_ended(struct sg_manager *m, const struct sg_job *ended);

/* recover.c: a daemon that starts over in place inherits children from itself: its last workers,
 * and shims whose jobs it finds ended. Nobody else waits for those. */
void sg_manager_reap(const struct sg_manager *m);

/* log.c: an end that nobody meant, and limits that were asked for and don't hold */
void sg_live_log_end(const struct sg_live *l);
void sg_live_log_limits(const struct sg_live *l);
