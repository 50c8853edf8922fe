/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernfs tells inotify of directories made and removed by mkdir(2) and rmdir(2), in the parent's
 * watch only (a removed directory or file says nothing itself, so its watches are taken away by
 * hand), and of changes of cgroup.events and memory.events. An event is a hint: what counts is what
 * the files say when they are read after it, so that none can be too late, and an overflow of the
 * queue is cured by another walk.
 */

#include "edge/cgroup/watch.h"
#include "base/file.h"
#include "base/record.h"
#include "edge/cgroup/group.h"
#include "edge/cgroup/layout.h"
#include "edge/common/log.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <syslog.h>

#define BUCKETS 1024U
#define NODES_MAX 16384U /* three watches each at most: what the kernel lets a user have */
#define DIR_EVENTS (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR)
#define POLL_USEC (1ULL * 1000000)
#define EVENTS_SIZE (64U * 1024)

struct wd_entry {
        struct wd_entry *chain;
        int wd;
        struct sg_watched *node;
};

struct sg_watch {
        const struct sg_watch_ops *ops;
        void *userdata;
        int fd;
        char *mounts[SG_HIER_MAX]; /* of each hierarchy of its own */
        const char *mount;         /* the one that is watched */
        bool v2;
        sd_event_source *source, *poll;
        struct sg_watched *nodes[BUCKETS];
        struct wd_entry *wds[BUCKETS];
        size_t n_nodes;
        bool complained;
};

/* --- nodes by path, watches by number */

static struct sg_watched **bucket(struct sg_watch *w, const char *path)
{
        return &w->nodes[sg_crc32c(path, strlen(path)) % BUCKETS];
}

static struct sg_watched *find(struct sg_watch *w, const char *path)
{
        struct sg_watched *n = *bucket(w, path);

        while (n && strcmp(n->path, path) != 0)
                n = n->chain;
        return n;
}

static struct wd_entry **wd_slot(struct sg_watch *w, int wd)
{
        struct wd_entry **p = &w->wds[(unsigned)wd % BUCKETS];

        while (*p && (*p)->wd != wd)
                p = &(*p)->chain;
        return p;
}

static struct sg_watched *find_wd(struct sg_watch *w, int wd)
{
        struct wd_entry *e = *wd_slot(w, wd);

        return e ? e->node : NULL;
}

static int full_path(const struct sg_watch *w, const char *path, const char *file,
                     char buf[PATH_MAX])
{
        int n = snprintf(buf, PATH_MAX, "%s%s%s%s", w->mount, path, file ? "/" : "",
                         file ? file : "");

        return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static void complain(struct sg_watch *w, const char *path, int error)
{
        if (!w->complained)
                sg_log(LOG_WARNING, "cannot watch group %s: %s; jobs of others may be missed", path,
                       strerror(-error));
        w->complained = true;
}

/* -ENOENT: it isn't there. */
static int watch_file(struct sg_watched *n, const char *file, uint32_t mask, int *wd)
{
        struct sg_watch *w = n->watch;
        char path[PATH_MAX];
        struct wd_entry *e;
        int r;

        if (*wd >= 0)
                return 0;
        r = full_path(w, n->path, file, path);
        if (r < 0)
                return r;
        e = calloc(1, sizeof(*e));
        if (!e)
                return -ENOMEM;
        e->wd = inotify_add_watch(w->fd, path, mask | IN_DONT_FOLLOW);
        if (e->wd < 0) {
                r = -errno;
                free(e);
                return r;
        }
        e->node = n;
        *wd_slot(w, e->wd) = e;
        *wd = e->wd;
        return 0;
}

static void unwatch(struct sg_watched *n, int *wd)
{
        struct wd_entry **p, *e;

        if (*wd < 0)
                return;
        (void)inotify_rm_watch(n->watch->fd, *wd);
        p = wd_slot(n->watch, *wd);
        e = *p;
        if (e) {
                *p = e->chain;
                free(e);
        }
        *wd = -1;
}

static int inode_of(const struct sg_watch *w, const char *path, uint64_t *ret)
{
        char full[PATH_MAX];
        struct stat st;

        if (full_path(w, path, NULL, full) < 0 || lstat(full, &st) < 0 || !S_ISDIR(st.st_mode))
                return -ENOENT;
        *ret = st.st_ino;
        return 0;
}

static int node_new(struct sg_watch *w, const char *path, struct sg_watched **ret)
{
        struct sg_watched *n;
        uint64_t inode;

        if (inode_of(w, path, &inode) < 0)
                return -ENOENT;
        if (w->n_nodes >= NODES_MAX)
                return -ENOSPC;
        n = calloc(1, sizeof(*n));
        if (!n)
                return -ENOMEM;
        n->path = strdup(path);
        if (!n->path) {
                free(n);
                return -ENOMEM;
        }
        n->watch = w;
        n->inode = inode;
        n->wd = n->events_wd = n->memory_wd = -1;
        n->chain = *bucket(w, path);
        *bucket(w, path) = n;
        w->n_nodes++;
        *ret = n;
        return 0;
}

static void node_free(struct sg_watched *n)
{
        struct sg_watched **p = bucket(n->watch, n->path);

        while (*p != n)
                p = &(*p)->chain;
        *p = n->chain;
        n->watch->n_nodes--;
        unwatch(n, &n->wd);
        unwatch(n, &n->events_wd);
        unwatch(n, &n->memory_wd);
        free(n->path);
        free(n);
}

/* --- what a wanted group's files say */

static size_t parent_length(const struct sg_watched *n)
{
        const char *slash = strrchr(n->path, '/');

        return slash ? (size_t)(slash - n->path) : 0;
}

/* So many more processes of this group were killed for memory: groups above it count them, too,
 * which is told to its neighbours. */
static void tell_neighbours(const struct sg_watched *n, uint64_t kills)
{
        size_t length = parent_length(n);
        char group[PATH_MAX];

        for (size_t i = 0; i < BUCKETS && kills > 0; i++)
                for (struct sg_watched *o = n->watch->nodes[i]; o; o = o->chain)
                        if (o != n && o->populated && parent_length(o) == length &&
                            memcmp(o->path, n->path, length) == 0 &&
                            full_path(o->watch, o->path, NULL, group) >= 0)
                                sg_kills_set_apart(&o->kills, group, kills);
}

static void settle(struct sg_watched *n, bool populated)
{
        struct sg_watch *w = n->watch;
        char group[PATH_MAX];

        if (populated == n->populated)
                return;
        n->populated = populated;
        if (!populated && full_path(w, n->path, NULL, group) >= 0)
                tell_neighbours(n, sg_kills_conclude(&n->kills, group));
        if (!populated)
                w->ops->ended(n, w->userdata);
        else if (!n->owner && !n->adding)
                w->ops->populated(n, w->userdata);
}

/* A figure that a file doesn't have stays as it was. */
static void refresh(struct sg_watched *n)
{
        struct sg_watch *w = n->watch;
        uint64_t populated = 0, kills;
        bool frozen = false, differs = false;
        char group[PATH_MAX];
        int r;

        if (full_path(w, n->path, NULL, group) < 0)
                return;
        if (w->v2) {
                r = sg_group_read_key(group, "cgroup.events", "populated", &populated);
                if (r < 0 && r != -ENOENT && r != -ENODEV)
                        return; /* that it can't be read says nothing */
                kills = sg_kills_read(&n->kills, group);
                tell_neighbours(n, kills);
                differs = kills > 0;
                frozen = sg_group_frozen(group);
        } else {
                populated = sg_group_populated(group) > 0;
        }
        differs |= n->frozen != frozen;
        n->frozen = frozen;
        if (differs && n->populated)
                w->ops->changed(n, w->userdata);
        settle(n, populated > 0);
}

/* The group is gone, or another group took its name. */
static void vanish(struct sg_watched *n)
{
        settle(n, false);
        node_free(n);
}

static bool is_same(const struct sg_watched *n)
{
        uint64_t inode;

        return inode_of(n->watch, n->path, &inode) >= 0 && inode == n->inode;
}

static void refresh_all(struct sg_watch *w)
{
        for (size_t i = 0; i < BUCKETS; i++)
                for (struct sg_watched *n = w->nodes[i], *next; n; n = next) {
                        next = n->chain;
                        if (!is_same(n))
                                vanish(n);
                        else if (n->events_wd >= 0)
                                refresh(n);
                }
}

static int on_poll(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_watch *w = userdata;

        (void)usec;
        refresh_all(w);
        (void)sd_event_source_set_time_relative(source, POLL_USEC);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

/* --- the walk */

static int want(struct sg_watched *n)
{
        struct sg_watch *w = n->watch;
        int r;

        r = watch_file(n, w->v2 ? "cgroup.events" : "cgroup.procs", IN_MODIFY, &n->events_wd);
        if (r >= 0 && w->v2) {
                r = watch_file(n, "memory.events", IN_MODIFY, &n->memory_wd);
                if (r == -ENOENT) /* no such controller there */
                        r = 0;
        }
        if (r >= 0 && !w->v2 && !w->poll)
                r = sd_event_add_time_relative(sd_event_source_get_event(w->source), &w->poll,
                                               CLOCK_MONOTONIC, POLL_USEC, 0, on_poll, w);
        return r;
}

static void visit(struct sg_watch *w, const char *path);

static void visit_children(struct sg_watched *n)
{
        _cleanup_closedir_ DIR *d = NULL;
        char path[PATH_MAX];
        struct dirent *e;

        if (full_path(n->watch, n->path, NULL, path) < 0)
                return;
        d = opendir(path);
        while (d && (e = readdir(d)))
                if (e->d_type == DT_DIR && strcmp(e->d_name, ".") != 0 &&
                    strcmp(e->d_name, "..") != 0 &&
                    snprintf(path, sizeof(path), "%s/%s", n->path, e->d_name) < PATH_MAX)
                        visit(n->watch, path);
}

/* A directory that was looked into before and isn't to be any more goes on being watched: that
 * costs nothing. */
static int visit_node(struct sg_watched *n, bool inside, bool wanted)
{
        int r = 0;

        if (inside) {
                n->inside = true;
                r = watch_file(n, NULL, DIR_EVENTS, &n->wd);
                if (r >= 0)
                        visit_children(n);
        } else if (wanted) {
                bool before = n->populated;

                n->wanted = true;
                r = want(n);
                if (r >= 0)
                        refresh(n);
                if (before && n->populated && !n->owner) /* nobody took it the last time */
                        n->watch->ops->populated(n, n->watch->userdata);
        }
        return r;
}

static void visit(struct sg_watch *w, const char *path)
{
        struct sg_watched *n = find(w, path);
        bool inside = false, wanted = false;
        int r = 0;

        w->ops->look(path, &inside, &wanted, w->userdata);
        if (n && !is_same(n)) {
                vanish(n);
                n = NULL;
        }
        if (n)
                n->wanted = n->inside = false;
        if (!inside && !wanted)
                return;
        if (!n)
                r = node_new(w, path, &n);
        if (r >= 0)
                r = visit_node(n, inside, wanted);
        if (r < 0 && r != -ENOENT) /* else it is gone already */
                complain(w, path, r);
}

void sg_watch_scan(struct sg_watch *w)
{
        visit(w, "");
        refresh_all(w);
}

/* The parent tells when a group goes. */
static int watch_parent(struct sg_watch *w, const char *path)
{
        char parent[PATH_MAX];
        const char *slash = strrchr(path, '/');
        struct sg_watched *n;
        int r = 0;

        if (!slash || slash - path >= PATH_MAX)
                return -EINVAL;
        memcpy(parent, path, (size_t)(slash - path));
        parent[slash - path] = '\0';
        n = find(w, parent);
        if (!n)
                r = node_new(w, parent, &n);
        return r < 0 ? r : watch_file(n, NULL, DIR_EVENTS, &n->wd);
}

int sg_watch_add(struct sg_watch *w, const char *path, struct sg_watched **ret)
{
        struct sg_watched *n = find(w, path);
        int r;

        if (n && !is_same(n)) {
                vanish(n);
                n = NULL;
        }
        r = watch_parent(w, path);
        if (r >= 0 && !n)
                r = node_new(w, path, &n);
        if (r < 0)
                return r;
        n->named = true;
        r = want(n);
        if (r < 0)
                return r;
        n->adding = true;
        refresh(n);
        n->adding = false;
        *ret = n;
        return 0;
}

void sg_watched_refresh(struct sg_watched *g)
{
        if (is_same(g))
                refresh(g);
        else
                vanish(g);
}

struct sg_watched *sg_watch_find(struct sg_watch *w, const char *path)
{
        return find(w, path);
}

int sg_watched_dir(const struct sg_watched *g, enum sg_hier h, char buf[PATH_MAX])
{
        const char *mount = g->watch->mounts[h];
        int n = mount ? snprintf(buf, PATH_MAX, "%s%s", mount, g->path) : -1;

        return n < 0 ? -ENOENT : n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* --- events */

static void child_event(struct sg_watched *parent, const char *name)
{
        struct sg_watch *w = parent->watch;
        char path[PATH_MAX];
        struct sg_watched *n;

        if (snprintf(path, sizeof(path), "%s/%s", parent->path, name) >= PATH_MAX)
                return;
        n = find(w, path);
        if (n && !is_same(n)) {
                vanish(n);
                n = NULL;
        }
        if (!n && parent->inside)
                visit(w, path);
}

static void handle(struct sg_watch *w, const struct inotify_event *e)
{
        struct sg_watched *n;

        if (e->mask & IN_Q_OVERFLOW) {
                sg_watch_scan(w);
                return;
        }
        n = find_wd(w, e->wd);
        if (!n || e->mask & IN_IGNORED)
                return;
        if (e->wd == n->memory_wd)
                sg_kills_hint(&n->kills);
        if (e->wd != n->wd)
                refresh(n);
        else if (e->len > 0)
                child_event(n, e->name);
}

static int on_events(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        struct sg_watch *w = userdata;
        _Alignas(struct inotify_event) char buf[EVENTS_SIZE];
        ssize_t n = read(fd, buf, sizeof(buf));

        (void)source;
        (void)revents;
        for (char *p = buf; n > 0 && p < buf + n;) {
                const struct inotify_event *e = (const struct inotify_event *)p;

                handle(w, e);
                p += sizeof(*e) + e->len;
        }
        return 0;
}

/* --- the object */

/* The hierarchy in which engines make their groups: v2, if it has controllers. Beside v1 the v2
 * tree may be empty, or a name for systemd only. */
static enum sg_hier choose(const struct sg_watch *w)
{
        static const enum sg_hier order[] = {SG_HIER_MEMORY, SG_HIER_CPU, SG_HIER_PIDS,
                                             SG_HIER_FREEZER, SG_HIER_UNIFIED};
        const char *mount = w->mounts[SG_HIER_UNIFIED];
        char line[1024];

        /* Elsewhere it may have such as hugetlb only. */
        if (mount && sg_group_read(mount, "cgroup.controllers", line, sizeof(line)) >= 0 &&
            (strstr(line, "memory") || strstr(line, "pids")))
                return SG_HIER_UNIFIED;
        for (size_t i = 0; i < SG_ELEMENTSOF(order); i++)
                if (w->mounts[order[i]])
                        return order[i];
        return SG_HIER_MAX;
}

static int find_mounts(struct sg_watch *w, const char *instance)
{
        struct sg_hierarchy hier[SG_HIER_MAX];
        enum sg_hier h;
        int r;

        memset(hier, 0, sizeof(hier));
        r = sg_layout_discover(hier, instance);
        for (int i = 0; i < SG_HIER_MAX; i++)
                if (hier[i].here == (enum sg_hier)i)
                        w->mounts[i] = TAKE_PTR(hier[i].mount);
        sg_layout_deinit(hier);
        if (r < 0)
                return r;
        h = choose(w);
        if (h == SG_HIER_MAX)
                return -ENOENT;
        w->mount = w->mounts[h];
        w->v2 = h == SG_HIER_UNIFIED;
        return 0;
}

int sg_watch_new(struct sg_watch **ret, const struct sg_backend *b, sd_event *event,
                 const struct sg_watch_ops *ops, void *userdata)
{
        struct sg_watch *w;
        int r;

        w = calloc(1, sizeof(*w));
        if (!w)
                return -ENOMEM;
        w->ops = ops;
        w->userdata = userdata;
        w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        r = w->fd < 0 ? -errno : find_mounts(w, b->instance);
        if (r >= 0)
                r = sd_event_add_io(event, &w->source, w->fd, EPOLLIN, on_events, w);
        if (r < 0) {
                (void)sg_watch_free(w);
                return r;
        }
        *ret = w;
        return 0;
}

struct sg_watch *sg_watch_free(struct sg_watch *w)
{
        if (!w)
                return NULL;
        for (size_t i = 0; i < BUCKETS; i++)
                while (w->nodes[i])
                        node_free(w->nodes[i]);
        sd_event_source_disable_unref(w->source);
        sd_event_source_disable_unref(w->poll);
        (void)sg_close(w->fd);
        for (int i = 0; i < SG_HIER_MAX; i++)
                free(w->mounts[i]);
        free(w);
        return NULL;
}
