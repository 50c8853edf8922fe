/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Backends: where jobs are placed and limits applied. Three implementations behind one vtable:
 * `cgroupfs` (libcgroup and our own v2 groups below the daemon's own), `observe` (nothing writable:
 * nothing is applied, everything is said), later `systemd`. A job's place is a *scope*:
 * BASE/CLASS/schedgov-N-ORIGIN-ATTEMPT with two groups below it, `keeper` (the shim) and `job` (all
 * of the user's processes), in each hierarchy that it needs.
 *
 * All calls are synchronous and short here. Failures are re-diagnosed: the message names the object
 * and what to do.
 */

#include "core/job.h"
#include "proto/counters.h"
#include <stdio.h>

struct sg_backend;
struct sg_scope;

/* Limits that the kernel can't hold: a bit per kind, kept with the scope and shown as "not
 * enforced". */
enum sg_limit_kind {
        SG_LIMIT_CPU_WEIGHT,
        SG_LIMIT_CPU_QUOTA,
        SG_LIMIT_CPUSET,
        SG_LIMIT_MEMORY_HIGH,
        SG_LIMIT_MEMORY_MAX,
        SG_LIMIT_TASKS,
        SG_LIMIT_IO_WEIGHT,
        SG_LIMIT_DEVICES,
        SG_LIMIT_FREEZE,
        _SG_LIMIT_MAX,
};
const char *sg_limit_kind_to_string(enum sg_limit_kind k); /* "cpu_weight" … as in the JSON */

struct sg_device_rule {
        char type;            /* 'c' or 'b' */
        int32_t major, minor; /* −1 = any */
        char access[4];       /* subset of "rwm" */
};

struct sg_scope_request {
        const struct sg_job_key *key;
        const char *class;
        uint64_t class_weight;
        struct sg_limits limits;
        struct sg_cpuset cpus; /* with limits.pin */
        bool device_closed;    /* deny all but the standard nodes (null zero full random urandom tty
                                  ptmx pts) and these */
        const struct sg_device_rule *devices;
        size_t n_devices;
};

/*
 * In all calls here, *ret_why (which may be NULL, else starts as NULL) is set to one line that the
 * caller frees: on failure, and on success if something asked for did not arrive.
 *
 * cgroupfs where anything below our own group can be made, else observe; `wanted` ("cgroupfs",
 * "observe" or NULL) forces one. `instance` (a short word of [a-z0-9]) names our groups: leftovers
 * of the same instance, and only those, that hold no process are removed here; scopes that still
 * hold processes are left for sg_backend_adopt().
 */
int sg_backend_new(struct sg_backend **ret, const char *wanted, const char *instance,
                   char **ret_why);
struct sg_backend *sg_backend_free(struct sg_backend *b); /* removes our (empty) base groups */
const char *sg_backend_name(const struct sg_backend *b);
/* One line for `schedctl status`, e.g. "cgroupfs (hybrid: v1 cpu memory pids cpuset, v2 freeze kill
 * devices)". */
const char *sg_backend_describe(const struct sg_backend *b);
uint32_t sg_backend_unenforced(
        const struct sg_backend *b); /* bits of kinds that this kernel can't do at all */

/* Makes the groups and applies all limits, reading each back. -errno if the scope can't be made.
 * Never partial: what was made is removed. */
int sg_scope_new(struct sg_scope **ret, struct sg_backend *b, const struct sg_scope_request *req,
                 char **ret_why);
/* Finds the groups of an attempt that outlived the daemon. -ENOENT. */
int sg_scope_adopt(struct sg_scope **ret, struct sg_backend *b, const struct sg_scope_request *req);
/* Drops the object only; the groups stay. NULL is fine. */
struct sg_scope *sg_scope_free(struct sg_scope *s);
/* Removes the groups: 0, or -EBUSY while something lives in them. */
int sg_scope_remove(struct sg_scope *s);

const struct sg_group_dir *sg_scope_dirs(
        const struct sg_scope *s, size_t *ret_n); /* what the shim joins; empty for observe */
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
 * tried, and -EBUSY with the old value in force if the kernel refuses. */
int sg_scope_set_limits(struct sg_scope *s, const struct sg_limits *l, const struct sg_cpuset *cpus,
                        char **ret_why);
int sg_scope_freeze(struct sg_scope *s, bool frozen); /* returns when the write is accepted */
int sg_scope_frozen(const struct sg_scope *s);        /* 1, 0, -errno */
/* Sends sig to every process of `job`; SIGKILL in a way that nothing escapes (cgroup.kill, or
 * freeze+kill+thaw on v1), fork bombs included. 0 if there was nobody. Returns the number of
 * processes signalled (1 for cgroup.kill). */
int sg_scope_signal(struct sg_scope *s, int sig);
int sg_scope_populated(const struct sg_scope *s); /* 1 while `job` holds a process (zombies don't
                                                     count), 0, -errno */
void sg_scope_counters(struct sg_scope *s, struct sg_counters *ret);

/*
 * Scopes of this instance that still held processes at start: one that `owned` knows is its job's
 * from now on; any other is removed once it is empty. Returns how many of those are not yet.
 */
typedef bool (*sg_owned_cb)(const char *attempt, void *userdata);
int sg_backend_sweep(struct sg_backend *b, sg_owned_cb owned, void *userdata);
