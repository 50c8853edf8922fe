/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One writer per group: nothing here writes. */

#include "edge/cgroup-unit.h"
#include "base/file.h"
#include "base/time-util.h"
#include "edge/cgroup-group.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/xattr.h>

struct observed {
        struct sg_scope scope; /* first: freed as one */
        struct sg_counters last;
};

static int refuse_remove(struct sg_scope *s)
{
        (void)s; /* its owner removes it */
        return 0;
}

static int refuse_move(struct sg_scope *s, pid_t pid, bool into_job)
{
        (void)s;
        (void)pid;
        (void)into_job;
        return -EOPNOTSUPP;
}

static int holds(const struct sg_scope *s, pid_t pid, bool in_job)
{
        (void)s;
        (void)pid;
        (void)in_job;
        return -EOPNOTSUPP;
}

static int refuse_limits(struct sg_scope *s, const struct sg_limits *l,
                         const struct sg_cpuset *cpus, char **ret_why)
{
        (void)s;
        (void)l;
        (void)cpus;
        (void)ret_why;
        return -EOPNOTSUPP;
}

static int refuse_freeze(struct sg_scope *s, bool frozen)
{
        (void)s;
        (void)frozen;
        return -EOPNOTSUPP;
}

static int refuse_signal(struct sg_scope *s, int sig)
{
        (void)s;
        (void)sig;
        return -EOPNOTSUPP;
}

static int frozen(const struct sg_scope *s)
{
        uint64_t v;
        int r;

        r = sg_group_read_key(s->dirs[0].path, "cgroup.events", "frozen", &v);
        return r < 0 ? r : v > 0;
}

static int populated(const struct sg_scope *s)
{
        return sg_group_populated(s->dirs[0].path);
}

/* Once the group has gone nothing can be read any more: what was read last stays. */
static void counters(struct sg_scope *s, struct sg_counters *ret)
{
        struct observed *o = (struct observed *)s;
        struct sg_counters now;

        sg_counters_read_whole(s->dirs, s->n_dirs, &now);
        if (now.cpu_usec != SG_UNLIMITED || now.memory_bytes != SG_UNLIMITED) {
                /* memory.peak came with 5.19 */
                if (now.memory_peak_bytes == SG_UNLIMITED && now.memory_bytes != SG_UNLIMITED)
                        now.memory_peak_bytes =
                                o->last.memory_peak_bytes != SG_UNLIMITED &&
                                                o->last.memory_peak_bytes > now.memory_bytes
                                        ? o->last.memory_peak_bytes
                                        : now.memory_bytes;
                o->last = now;
        }
        *ret = o->last;
}

static const struct sg_backend_ops observed_ops = {
        .name = "unit",
        .scope_remove = refuse_remove,
        .scope_move = refuse_move,
        .scope_holds = holds,
        .scope_set_limits = refuse_limits,
        .scope_freeze = refuse_freeze,
        .scope_frozen = frozen,
        .scope_signal = refuse_signal,
        .scope_populated = populated,
        .scope_counters = counters,
};

/* These scopes are of no backend: all of them share one that only dispatches. */
static struct sg_backend nobodys = {.ops = &observed_ops};

static int add_dir(struct sg_scope *s, const struct sg_watched *g, enum sg_hier h)
{
        char path[PATH_MAX];

        if (sg_watched_dir(g, h, path) < 0 || access(path, F_OK) < 0)
                return 0;
        s->dirs[s->n_dirs].path = strdup(path);
        if (!s->dirs[s->n_dirs].path)
                return -ENOMEM;
        s->dirs[s->n_dirs++].hier = h;
        return 0;
}

int sg_scope_observe(struct sg_scope **ret, const struct sg_watched *g)
{
        struct observed *o = calloc(1, sizeof(*o));
        int r = 0;

        if (!o)
                return -ENOMEM;
        memset(&o->last, 0xff, sizeof(o->last));
        o->scope.backend = &nobodys;
        sg_limits_default(&o->scope.limits);
        for (int h = 0; r >= 0 && h < SG_HIER_MAX; h++)
                r = add_dir(&o->scope, g, (enum sg_hier)h);
        if (r >= 0 && o->scope.n_dirs == 0)
                r = -ENOENT;
        if (r < 0) {
                (void)sg_scope_free(&o->scope);
                return r;
        }
        *ret = &o->scope;
        return 0;
}

/* --- who it is */

void sg_watched_identity(const struct sg_watched *g, char ret[SG_INVOCATION_ID_MAX])
{
        static const char *const names[] = {"user.invocation_id", "trusted.invocation_id"};
        char path[PATH_MAX];

        if (sg_watched_dir(g, SG_HIER_UNIFIED, path) >= 0)
                for (size_t i = 0; i < SG_ELEMENTSOF(names); i++)
                        if (getxattr(path, names[i], ret, 32) == 32) {
                                ret[32] = '\0';
                                return;
                        }
        (void)snprintf(ret, SG_INVOCATION_ID_MAX, "inode-%" PRIu64, g->inode);
}

static int smallest(pid_t pid, void *userdata)
{
        pid_t *least = userdata;

        if (*least == 0 || pid < *least)
                *least = pid;
        return 0;
}

static pid_t first_pid(const struct sg_watched *g)
{
        char path[PATH_MAX];
        pid_t pid = 0;

        for (int h = 0; h < SG_HIER_MAX && pid == 0; h++)
                if (sg_watched_dir(g, (enum sg_hier)h, path) >= 0)
                        (void)sg_group_foreach_pid(path, smallest, &pid);
        return pid;
}

static uint64_t started_usec(pid_t pid)
{
        uint64_t now = sg_now_realtime_usec(), up, tick = (uint64_t)sysconf(_SC_CLK_TCK);
        char path[32], stat[1024];
        unsigned long long begun;
        struct timespec boot;
        const char *rest;

        (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        if (sg_read_line_file(AT_FDCWD, path, stat, sizeof(stat)) < 0)
                return now;
        rest = strrchr(stat, ')');
        if (!rest ||
            sscanf(rest + 1,
                   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
                   "%llu",
                   &begun) != 1)
                return now;
        (void)clock_gettime(CLOCK_BOOTTIME, &boot);
        up = (uint64_t)boot.tv_sec * SG_USEC_PER_SEC + (uint64_t)boot.tv_nsec / 1000;
        begun = begun * SG_USEC_PER_SEC / tick;
        return begun < up && now > up - begun ? now - (up - begun) : now;
}

int sg_watched_member(const struct sg_watched *g, struct sg_member *ret)
{
        _cleanup_free_ char *status = NULL;
        _cleanup_close_ int fd = -1;
        struct sg_member m = {.pid = first_pid(g)};
        const char *uid, *gid;
        char path[32];
        ssize_t n;

        if (m.pid == 0)
                return -ESRCH;
        (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)m.pid);
        if (sg_read_file(AT_FDCWD, path, 16384, &status, NULL) < 0)
                return -ESRCH;
        uid = strstr(status, "\nUid:");
        gid = strstr(status, "\nGid:");
        if (!uid || sscanf(uid, "\nUid: %u", &m.uid) != 1 || !gid ||
            sscanf(gid, "\nGid: %u", &m.gid) != 1)
                return -EBADMSG;
        (void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)m.pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        n = fd < 0 ? 0 : read(fd, m.command, sizeof(m.command) - 1);
        m.command_size = n > 0 ? (size_t)n : 0;
        m.started_usec = started_usec(m.pid);
        *ret = m;
        return 0;
}
