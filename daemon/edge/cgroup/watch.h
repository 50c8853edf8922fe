/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Watching the cgroup tree for groups that others make. One inotify instance; watched are only the
 * directories that `look` wants to be looked into, and the few files of a wanted group that tell
 * when it fills, empties, freezes or loses a process to the OOM killer. Paths are those below the
 * mount. Where the kernel tells less (v1), wanted groups are looked at once a second.
 */

#include "edge/cgroup/cgroup.h"
#include "edge/cgroup/kills.h"
#include <limits.h>
#include <systemd/sd-event.h>

struct sg_watch;

/* A directory of the tree; what isn't private is read-only but for `owner`. */
struct sg_watched {
        struct sg_watch *watch;
        struct sg_watched *chain; /* private: with the same hash */
        char *path;
        uint64_t inode; /* tells it from a later group of the same name */
        void *owner;    /* whoever was told of it may leave a mark; NULL at first */
        bool populated, frozen;
        struct sg_kills kills;
        /* private */
        bool inside, wanted, named, adding;
        int wd, events_wd, memory_wd;
};

struct sg_watch_ops {
        /* What to do with a directory; both start as false. */
        void (*look)(const char *path, bool *ret_inside, bool *ret_wanted, void *userdata);
        /* A wanted group has processes now. */
        void (*populated)(struct sg_watched *g, void *userdata);
        /* It was frozen or thawed, or processes of it were killed for memory. */
        void (*changed)(struct sg_watched *g, void *userdata);
        /* The group was populated and has no process any more, or isn't there. Clears `owner`. */
        void (*ended)(struct sg_watched *g, void *userdata);
};

/* -ENOENT: there is no cgroup tree to be seen. */
int sg_watch_new(struct sg_watch **ret, const struct sg_backend *b, sd_event *event,
                 const struct sg_watch_ops *ops, void *userdata);
struct sg_watch *sg_watch_free(struct sg_watch *w); /* calls nobody back */
/* Walks through the tree: at first, and when `look` may have other answers. */
void sg_watch_scan(struct sg_watch *w);
/* A group by name, whatever `look` says of it; `populated` isn't called for it. -ENOENT, -ENOMEM,
 * -ENOSPC: too many. */
int sg_watch_add(struct sg_watch *w, const char *path, struct sg_watched **ret);
/* Looks again for what comes without an event: groups below that were frozen. May end the group. */
void sg_watched_refresh(struct sg_watched *g);
/* The watched group of that path; NULL: it isn't watched, or gone. */
struct sg_watched *sg_watch_find(struct sg_watch *w, const char *path);
/* Its directory in a hierarchy, whether it exists or not; -ENOENT: no such hierarchy, or a
 * co-mounted one that another stands for. */
int sg_watched_dir(const struct sg_watched *g, enum sg_hier h, char buf[PATH_MAX]);
