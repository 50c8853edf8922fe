/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Backends: where jobs are placed and limits applied. Three implementations behind one vtable:
 * `systemd` (transient scopes of the system's or a user's manager), `cgroupfs` (libcgroup and our
 * own v2 groups below the daemon's own), `observe` (nothing writable: nothing is applied,
 * everything is said). A job's place there is a scope (scope.h).
 *
 * Calls are short, and synchronous but for those that take a callback: systemd is asked, and
 * answers later. Failures are re-diagnosed: the message names the object and what to do.
 */

#include "edge/cgroup/scope.h"
#include <stdio.h>
#include <systemd/sd-event.h>

struct sg_backend_options {
        const char *wanted;   /* "systemd", "cgroupfs", "observe", or NULL: the first that works */
        const char *instance; /* a short word of [a-z0-9] that names our groups */
        bool shared;     /* systemd: units have the instance in their names, as another daemon of
                            this manager may use the plain ones */
        bool user;       /* systemd: the user's own manager */
        sd_event *event; /* systemd only; NULL leaves it out */
};

/*
 * In all calls here, *ret_why (which may be NULL, else starts as NULL) is set to one line that the
 * caller frees: on failure, and on success if something asked for did not arrive.
 *
 * Leftovers of the same instance, and only those, that hold no process are removed here; scopes
 * that still hold processes are left for sg_scope_adopt().
 */
int sg_backend_new(struct sg_backend **ret, const struct sg_backend_options *o, char **ret_why);
struct sg_backend *sg_backend_free(struct sg_backend *b); /* removes our (empty) base groups */
const char *sg_backend_name(const struct sg_backend *b);
/* One line for `schedctl status`, e.g. "cgroupfs (hybrid: v1 cpu memory pids cpuset, v2 freeze kill
 * devices)". */
const char *sg_backend_describe(const struct sg_backend *b);
/* CPUs that all jobs together may use; INFINITY = no quota is seen. quota.c */
double sg_backend_cpu_quota(const struct sg_backend *b);
uint32_t sg_backend_unenforced(
        const struct sg_backend *b); /* bits of kinds that this kernel can't do at all */

/* Of a class that has scopes, if it differs; others get it with their first scope. */
int sg_backend_set_class_weight(struct sg_backend *b, const char *class, uint64_t weight,
                                char **ret_why);

/*
 * Scopes of this instance that still held processes at start: one that `owned` knows is its job's
 * from now on; any other is removed once it is empty. Returns how many of those are not yet.
 */
typedef bool (*sg_owned_cb)(const char *attempt, void *userdata);
int sg_backend_sweep(struct sg_backend *b, sg_owned_cb owned, void *userdata);
