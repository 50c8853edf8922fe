/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * A job's place: a scope with two groups below it, `keeper` (the shim) and `job` (all of the user's
 * processes), in each hierarchy that it needs. *ret_why is as in cgroup.h.
 */

#include "core/job/job.h"
#include "core/place/device.h"
#include "proto/counters.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sg_backend;
struct sg_scope;

struct sg_scope_request {
        const struct sg_job_key *key;
        const char *description; /* for people who look at units */
        uint64_t stop_usec;      /* SIGTERM … SIGKILL when the host goes down */
        const char *class;
        uint64_t class_weight;
        struct sg_limits limits;
        struct sg_cpuset cpus; /* with limits.pin; sg_scope_adopt() finds them itself, with or
                                  without: what it had last goes on */
        struct sg_device_list devices; /* its rules are borrowed */
        /* sg_scope_adopt() */
        bool devices_stay; /* what they are is what they remain */
        pid_t shim;        /* is in its groups, wherever these are; 0 = not known */
};

/* Makes the groups and applies all limits, reading each back. -errno if the scope can't be made.
 * Never partial: what was made is removed. With systemd all that waits for sg_scope_place(). */
int sg_scope_new(struct sg_scope **ret, struct sg_backend *b, const struct sg_scope_request *req,
                 char **ret_why);
/* Finds the groups of an attempt that outlived the daemon. -ENOENT. */
int sg_scope_adopt(struct sg_scope **ret, struct sg_backend *b, const struct sg_scope_request *req);
/* Drops the object only; the groups stay, and it is no longer placed. NULL is fine. */
struct sg_scope *sg_scope_free(struct sg_scope *s);

/* result: 0 or -errno, then with one line in why (which may be NULL); not called from within. */
typedef void (*sg_scope_done_cb)(struct sg_scope *s, int result, const char *why, void *userdata);
struct sg_scope_placing {
        pid_t shim;
        int pidfd; /* the shim's, borrowed */
        /* Its turn has come: to be answered by sg_scope_begin(). Not called from within. */
        void (*turn)(struct sg_scope *s, void *userdata);
        sg_scope_done_cb done;
        void *userdata;
};
/*
 * A scope of systemd is made around its first process, the shim, and few are made at a time. What
 * it begins with is said when its turn has come, so that it is of that time:
 *
 *   sg_scope_place() → turn() → sg_scope_begin() → done()
 *                        ^            |
 *                        +- try again +
 *
 * When done() has been called with 0 the scope has its groups, the shim is in `keeper`, and that
 * was looked at. As long as systemd can't be reached this waits. 1: turn() or done() will be
 * called; 0: there is nothing to wait for (other backends, where the shim joins the groups itself).
 */
int sg_scope_place(struct sg_scope *s, const struct sg_scope_placing *p);
/* < 0: it can't be asked for, and isn't being placed any more. */
int sg_scope_begin(struct sg_scope *s, const struct sg_limits *l, const struct sg_cpuset *cpus);
/* Whether sg_scope_place() has something to do; whether it will have, with a new scope. */
bool sg_scope_wants_place(const struct sg_scope *s);
bool sg_backend_gives_turns(const struct sg_backend *b);

/* Removes the groups: 0, or -EBUSY while something lives in them. */
int sg_scope_remove(struct sg_scope *s);

const struct sg_group_dir *sg_scope_dirs(
        const struct sg_scope *s, size_t *ret_n); /* what the shim joins; empty for observe */
/* Its own set; none: it has no other than all have, or of an adopted scope it isn't known. */
struct sg_cpuset sg_scope_cpus(const struct sg_scope *s);
uint32_t sg_scope_unenforced(
        const struct sg_scope *s); /* bits: limits asked for that did not arrive */

/* Names the shim and the job's main process once they are known (0 = not). Only `observe` needs it:
 * it has no groups and takes the shim's descendants (or main's, once the shim is gone) as the job.
 */
void sg_scope_set_main(struct sg_scope *s, pid_t shim, pid_t main);

/* Moves a process by pid into `job` or `keeper` (foreground shims can't do it themselves). */
int sg_scope_move(struct sg_scope *s, pid_t pid, bool into_job);
/* 1 if /proc/PID/cgroup names our `job` (or `keeper`) group in every hierarchy of the scope, 0 if
 * not, -errno. */
int sg_scope_holds(const struct sg_scope *s, pid_t pid, bool in_job);
/* Applies what differs from the present limits, reads back; a memory limit below use: reclaim is
 * tried, and -EBUSY with the old value in force if the kernel refuses. 1: done() will be called, at
 * the latest by sg_scope_free(). */
int sg_scope_set_limits(struct sg_scope *s, const struct sg_limits *l, const struct sg_cpuset *cpus,
                        sg_scope_done_cb done, void *userdata, char **ret_why);
/* Replaces the device rules if they differ; what runs has open what it has open. With systemd they
 * are on their way when this returns. */
int sg_scope_set_devices(struct sg_scope *s, const struct sg_device_list *d, char **ret_why);
int sg_scope_freeze(struct sg_scope *s, bool frozen); /* returns when the write is accepted */
int sg_scope_frozen(const struct sg_scope *s);        /* 1, 0, -errno */
/* Sends sig to every process of `job`; SIGKILL in a way that nothing escapes (cgroup.kill, or
 * freeze+kill+thaw on v1), fork bombs included. 0 if there was nobody. Returns the number of
 * processes signalled (1 for cgroup.kill). */
int sg_scope_signal(struct sg_scope *s, int sig);
/* The same for a user: to those that a process of that user could signal by kill(2). -EPERM: there
 * are only others. A fork bomb may escape SIGKILL if there are others as well. */
int sg_scope_signal_as(struct sg_scope *s, int sig, uid_t uid);
int sg_scope_populated(const struct sg_scope *s); /* 1 while `job` holds a process (zombies don't
                                                     count), 0, -errno */
void sg_scope_counters(struct sg_scope *s, struct sg_counters *ret);

/* Which part of a scope of ours a group is, that /proc/PID/cgroup names for this hierarchy. */
enum sg_membership { SG_MEMBER_NOT, SG_MEMBER_JOB, SG_MEMBER_KEEPER };
enum sg_membership sg_scope_membership(const struct sg_scope *s, enum sg_hier hier,
                                       const char *group);
/* Processes of the job, `room` of them at most; how many. */
size_t sg_scope_pids(const struct sg_scope *s, pid_t *pids, size_t room);

/* Bytes that the scope's processes received and sent, headers included; -ENODATA: not known (yet).
 * With systemd it is what that last said, and it is asked for the next, not too often. */
int sg_scope_net(struct sg_scope *s, uint64_t *ret_rx, uint64_t *ret_tx);
