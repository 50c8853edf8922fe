/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* One group's directory: making, removing, values, processes.
 * `group` is always an absolute path. */

#include "edge/cgroup/backend.h"

/* "dir/name" in a PATH_MAX buffer; -ENAMETOOLONG. */
int sg_group_join(char buf[PATH_MAX], const char *dir, const char *name);

int sg_group_mkdir(const char *group); /* an existing group is fine */
int sg_group_rmdir(const char *group); /* a missing one is fine; -EBUSY while it holds something */
int sg_group_remove_tree(const char *group); /* depth first, groups only, nothing is killed */

/* The long-lived groups (base, class), made and removed through libcgroup where it knows the
 * hierarchy; see group.c for why jobs' own groups are not. */
int sg_group_make_kept(const struct sg_backend *b, enum sg_hier h, const char *group);
int sg_group_remove_kept(const struct sg_backend *b, enum sg_hier h, const char *group);

/* memory.*: not for longer than a moment, whatever the kernel has to make room for. -EINTR. */
int sg_group_write(const char *group, const char *file, const char *value);
int sg_group_write_u64(const char *group, const char *file, uint64_t value);
int sg_group_read(const char *group, const char *file, char *buf, size_t size);
int sg_group_read_u64(const char *group, const char *file, uint64_t *ret); /* "max": SG_UNLIMITED */
/* The value of "key N" in a flat-keyed file such as cgroup.events; -ENOENT. */
int sg_group_read_key(const char *group, const char *file, const char *key, uint64_t *ret);
bool sg_group_has(const char *group, const char *file);

/* Calls cb for each process of the group and of groups below it until it returns non-zero, which is
 * returned. Processes of other pid namespaces, that we can't name, are skipped. */
typedef int (*sg_pid_cb)(pid_t pid, void *userdata);
int sg_group_foreach_pid(const char *group, sg_pid_cb cb, void *userdata);
/* Likewise the groups directly below; the name is valid for the call. */
typedef int (*sg_group_cb)(const char *name, void *userdata);
int sg_group_foreach_child(const char *group, sg_group_cb cb, void *userdata);

/* A callback for these that moves each process into `to`, and counts those that were still there;
 * userdata is a struct sg_group_mover. */
struct sg_group_mover {
        const char *to;
        unsigned moved;
};
int sg_group_move(pid_t pid, void *userdata);

/* Both as /proc/PID/cgroup names them: whether group is scope/sub, or below that. */
bool sg_group_is_in(const char *group, const char *scope, const char *sub, bool below_too);

/* Whether kill(2) would let a process of that user signal each of its processes. */
bool sg_group_is_signalable(const char *group, uid_t uid);
int sg_group_populated(const char *group); /* 1, 0 (also if there is none), -errno; no zombies */
bool sg_group_frozen(const char *group);   /* v2: it, or all that has processes directly below it */

/* Says what a failed mkdir of (file NULL) or write to a group means; returns r. */
int sg_group_explain(char **why, int r, const char *group, const char *file, const char *value);
