/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Inside of the cgroupfs backend: base and class groups, a scope's groups, its limits. */

#include "edge/cgroup/backend.h"

/* fs.c */
/* The file that holds I/O weights here; NULL if no block device honours them. */
const char *sg_fs_find_io_weight(const struct sg_backend *b, bool v2);
bool sg_fs_usable(const struct sg_backend *b, enum sg_hier h);
/* Where limits of that kind are held: SG_HIER_MAX if nowhere. */
enum sg_hier sg_fs_hier_of(const struct sg_backend *b, enum sg_limit_kind kind);
int sg_fs_class_get(struct sg_backend *b, const char *name, struct sg_class_group **ret);
/* Makes the class's group in a hierarchy, and the base above it, unless they are there. */
int sg_fs_class_make(struct sg_backend *b, struct sg_class_group *c, enum sg_hier h, char **why);
/* The group a class has: its name, with '_' before what could be taken for one of our or the
 * kernel's own names. -EINVAL for a name that can't be a group at all. */
int sg_fs_class_name(char buf[SG_CLASS_NAME_MAX + 1], const char *name);
/* v1: a group without CPUs and memory nodes takes no process. */
int sg_fs_fill_cpuset(const char *parent, const char *group);

/* leftover.c */
int sg_fs_collect(struct sg_backend *b); /* removes empty scopes, classes and bases of ours */
int sg_fs_sweep(struct sg_backend *b, sg_owned_cb owned, void *userdata);

/* scope.c: the scope's group in a hierarchy, NULL if it has none */
const char *sg_scope_dir(const struct sg_scope *s, enum sg_hier h);
/* Makes the groups in one more hierarchy, moving what runs already. */
int sg_scope_extend(struct sg_scope *s, enum sg_hier h, char **why);
int sg_fs_scope_new(struct sg_scope *s, const struct sg_scope_request *req, char **ret_why);
int sg_fs_scope_adopt(struct sg_scope *s, const struct sg_scope_request *req);
int sg_fs_scope_remove(struct sg_scope *s);
int sg_fs_scope_move(struct sg_scope *s, pid_t pid, bool into_job);
int sg_fs_scope_holds(const struct sg_scope *s, pid_t pid, bool in_job);

/* limits.c */
uint32_t sg_fs_limit_hiers(const struct sg_backend *b, const struct sg_limits *l);
/* all: look at the kernel's values even where nothing differs from s->limits */
int sg_fs_apply(struct sg_scope *s, const struct sg_limits *l, const struct sg_cpuset *cpus,
                bool all, char **why);
int sg_fs_scope_set_limits(struct sg_scope *s, const struct sg_limits *l,
                           const struct sg_cpuset *cpus, char **ret_why);
void sg_fs_scope_free(struct sg_scope *s); /* of the backend */
/* The set that was given to the scope's job, or to this group; none if it can't be read. */
struct sg_cpuset sg_fs_scope_cpus(const struct sg_scope *s);
struct sg_cpuset sg_group_cpus(const char *group);
/* Values as files read them; "max" and what v1 has for it are SG_UNLIMITED. */
int sg_limit_read(const char *group, const char *file, uint64_t *ret);
uint64_t sg_limit_whole_pages(uint64_t bytes); /* as limits of memory are held */
/* Writes where it differs, and reads back: -ERANGE if the kernel made something else of it. */
int sg_limit_write(const char *group, const char *file, uint64_t value, char **why);
/* v2: whether the file holds what a limit of that kind should have become. */
bool sg_limit_stands(const char *group, enum sg_limit_kind kind, const char *file, uint64_t value);
int sg_fs_class_weight(struct sg_backend *b, struct sg_class_group *c, uint64_t weight, char **why);

/* memory.c: -EBUSY with the old values in force where the job can't be brought below */

/* v1: memory and swap as `l` says; fails where that of `kind` isn't held. */
int sg_memory_set_v1(const char *group, enum sg_limit_kind kind, const struct sg_limits *l,
                     char **why);
int sg_memory_set_v2(const char *group, uint64_t value, char **why);
/* v2: brings the group's use below value by memory.high, whose write reclaims and which slows
 * further growth until the caller, having set its limit, puts the old value back. -EBUSY. */
int sg_limit_reclaim(const char *group, uint64_t value, char **why);

/* The scope's group there, or its `job`. */
int sg_fs_limit_group(const struct sg_scope *s, enum sg_hier h, bool on_job, char path[PATH_MAX]);
void sg_fs_set_unenforced(struct sg_scope *s, enum sg_limit_kind kind, bool on);

/* device.c */
/* Puts s->devices in force, in place of `old`, or of what may be there (NULL). */
int sg_fs_scope_set_devices(struct sg_scope *s, const struct sg_device_list *old, char **ret_why);

/* net.c */
int sg_fs_net_start(struct sg_backend *b);
int sg_fs_scope_net(struct sg_scope *s, uint64_t *ret_rx, uint64_t *ret_tx);
/* The name by which the scope is counted, kept in it; 0: it isn't counted. */
uint64_t sg_fs_net_id(struct sg_scope *s);
void sg_fs_net_forget(struct sg_scope *s); /* its groups are gone; takes the id to be known */

/* signal.c */
int sg_fs_scope_freeze(struct sg_scope *s, bool frozen);
int sg_fs_scope_frozen(const struct sg_scope *s);
int sg_fs_scope_signal(struct sg_scope *s, int sig, const uid_t *as);
int sg_fs_scope_populated(const struct sg_scope *s);
