/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Where the kernel put us: the hierarchies that are mounted, and our own group in each. */

#include "edge/cgroup/backend.h"

/* Fills the table from the text of /proc/self/cgroup and /proc/self/mountinfo; a hierarchy that is
 * not mounted, or whose mount doesn't show our own group, stays zero. -ENOMEM, -EBADMSG. */
int sg_layout_parse(struct sg_hierarchy h[SG_HIER_MAX], const char *proc_cgroup,
                    const char *mountinfo);
/* The same for this process, with `usable` and `base` set. */
int sg_layout_discover(struct sg_hierarchy h[SG_HIER_MAX], const char *instance);
void sg_layout_deinit(struct sg_hierarchy h[SG_HIER_MAX]);

const char *sg_hier_name(enum sg_hier h); /* "unified", "cpu" … */

/* Iterates over the lines of /proc/PID/cgroup text, which it cuts up: the controllers ("" on v2)
 * and the path. */
bool sg_layout_next_line(char **text, char **ret_controllers, char **ret_path);
bool sg_layout_list_has(const char *list, const char *word); /* comma-separated */
/* The hierarchy of the first known controller in such a list; -ENOENT. */
int sg_layout_hier_of(const char *controllers);

/* Where a process is in the v2 tree, as the kernel says. -ESRCH. */
int sg_group_of_process(pid_t pid, char buf[PATH_MAX]);
