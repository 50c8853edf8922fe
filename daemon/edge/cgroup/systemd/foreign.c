/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One writer per group: nothing here writes. */

#include "edge/cgroup/systemd/foreign.h"
#include "base/file.h"
#include "base/process.h"
#include "base/time-util.h"
#include "edge/cgroup/group.h"
#include "edge/cgroup/io.h"
#include "edge/cgroup/knob.h"
#include "edge/cgroup/systemd/call.h"
#include "edge/cgroup/systemd/internal.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
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

/* The backend counts the shim as one task more, and here is none. */
static uint64_t without_keeper(uint64_t tasks)
{
        return tasks == SG_UNLIMITED || tasks == 0 ? tasks : tasks - 1;
}

static int ask_limits(struct sg_scope *s, const struct sg_limits *l, const struct sg_cpuset *cpus,
                      sg_scope_done_cb done, void *userdata, char **ret_why)
{
        struct sg_limits limits = *l;

        if (!s->unit)
                return -EOPNOTSUPP;
        limits.tasks_max = without_keeper(l->tasks_max);
        return sg_unit_ask_limits(s, &limits, cpus, done, userdata, ret_why);
}

static int freeze(struct sg_scope *s, bool frozen)
{
        int r;

        if (!s->unit)
                return -EOPNOTSUPP;
        r = sg_unit_call(s, frozen ? "FreezeUnit" : "ThawUnit", 0, NULL, NULL);
        return r < 0 ? r : 0;
}

bool sg_unit_is_signalable(const struct sg_scope *s, uid_t uid)
{
        return sg_group_is_signalable(s->dirs[0].path, uid);
}

/* An end in order is systemd's to make: it sends the unit's own KillSignal, and continues it. */
static int send_signal(struct sg_scope *s, int sig, const uid_t *as)
{
        int r;

        if (!s->unit || as)
                return -EOPNOTSUPP;
        if (sig == SIGCONT)
                return 0;
        r = sig == SIGTERM ? sg_systemd_stop_unit(s->unit->systemd, s->unit->name)
                           : sg_unit_call(s, "KillUnit", sig, NULL, NULL);
        return r < 0 ? r : 1;
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

static void release(struct sg_scope *s)
{
        if (s->unit)
                sg_unit_forget_calls(s->unit);
        sg_unit_free(s);
}

static const struct sg_backend_ops observed_ops = {
        .name = "unit",
        .scope_remove = refuse_remove,
        .scope_move = refuse_move,
        .scope_holds = holds,
        .scope_ask_limits = ask_limits,
        .scope_freeze = freeze,
        .scope_frozen = frozen,
        .scope_signal = send_signal,
        .scope_free = release,
        .scope_populated = populated,
        .scope_counters = counters,
        .scope_net = sg_unit_net,
};

static int add_dir(struct sg_scope *s, const struct sg_watched *g, enum sg_hier h)
{
        char path[PATH_MAX], *copy;

        if (sg_watched_dir(g, h, path) < 0 || access(path, F_OK) < 0)
                return 0;
        copy = strdup(path);
        return copy ? sg_scope_put_dir(s, h, copy, NULL) : -ENOMEM;
}

/* The slice that the class has: another one keeps no holder and no weight. */
static int make_unit(struct sg_scope *s, const struct sg_unit_request *req)
{
        struct sg_systemd *sd = s->backend->systemd;
        int r;

        r = sg_unit_new(s, req->class ? req->class : "default");
        if (r < 0)
                return r;
        (void)snprintf(s->unit->name, sizeof(s->unit->name), "%s", req->unit);
        if (!req->class)
                return 0;
        if (s->class->weight != req->class_weight && s->class->held)
                sg_class_group_set_weight(sd, s->class, req->class_weight);
        s->class->weight = req->class_weight;
        sg_class_group_hold(sd, s->class);
        return 0;
}

int sg_scope_observe(struct sg_scope **ret, struct sg_backend *b, const struct sg_watched *g,
                     const struct sg_unit_request *unit)
{
        struct observed *o = calloc(1, sizeof(*o));
        struct sg_scope *s;
        int r = 0;

        if (!o)
                return -ENOMEM;
        s = &o->scope;
        memset(&o->last, 0xff, sizeof(o->last));
        s->backend = b;
        s->ops = &observed_ops;
        for (int h = 0; r >= 0 && h < SG_HIER_MAX; h++)
                r = add_dir(s, g, (enum sg_hier)h);
        if (r >= 0 && s->n_dirs == 0)
                r = -ENOENT;
        if (r >= 0 && unit && b->systemd)
                r = make_unit(s, unit);
        if (r < 0) {
                (void)sg_scope_free(s);
                return r;
        }
        sg_scope_read_limits(s, &s->limits);
        s->limits.tasks_max = without_keeper(s->limits.tasks_max);
        *ret = s;
        return 0;
}

static void read_quota(const char *dir, uint64_t *ret)
{
        char text[64], *end;
        uint64_t quota, period;

        if (sg_group_read(dir, "cpu.max", text, sizeof(text)) < 0 || strncmp(text, "max", 3) == 0)
                return;
        quota = strtoull(text, &end, 10);
        period = strtoull(end, NULL, 10);
        if (period > 0 && quota < SG_UNLIMITED / 10000)
                *ret = (quota * 10000 + period / 2) / period;
}

static uint64_t read_limit(const struct sg_scope *s, const char *dir, const struct sg_knob *k)
{
        uint64_t value = SG_UNIT_UNSET(k->unit);

        if (k->v2_key)
                return sg_io_lowest(dir, k->kind);
        if (k->kind == SG_LIMIT_CPU_QUOTA)
                read_quota(dir, &value);
        else if (k->kind != SG_LIMIT_IO_WEIGHT)
                (void)sg_group_read_u64(dir, k->v2_file, &value);
        else if (s->backend->io_weight_file)
                (void)sg_group_read_key(dir, s->backend->io_weight_file, "default", &value);
        return value;
}

static void read_limits(const struct sg_scope *s, const char *dir, struct sg_limits *ret)
{
        sg_limits_default(ret);
        for (size_t i = 0; i < sg_n_knobs; i++)
                *sg_knob_at(ret, &sg_knobs[i]) = read_limit(s, dir, &sg_knobs[i]);
}

static int only_child(const char *name, void *userdata)
{
        char *only = userdata;

        if (only[0] || strlen(name) > NAME_MAX)
                return 1;
        strcpy(only, name);
        return 0;
}

/* Engines limit the one group below their scope. */
static void read_inner_limits(const struct sg_scope *s, const char *dir, struct sg_limits *ret)
{
        char name[NAME_MAX + 1] = "", below[PATH_MAX];
        struct sg_limits inner;

        if (sg_group_foreach_child(dir, only_child, name) != 0 || !name[0] ||
            sg_group_join(below, dir, name) < 0)
                return;
        read_limits(s, below, &inner);
        for (size_t i = 0; i < sg_n_knobs; i++) {
                uint64_t *limit = sg_knob_at(ret, &sg_knobs[i]);
                uint64_t lower = sg_knob_value(&inner, &sg_knobs[i]);

                if (sg_knobs[i].unit != SG_UNIT_WEIGHT && lower < *limit)
                        *limit = lower;
        }
}

void sg_scope_read_limits(const struct sg_scope *s, struct sg_limits *ret)
{
        const char *dir = s->dirs[0].path;

        sg_limits_default(ret);
        if (s->dirs[0].hier != SG_HIER_UNIFIED)
                return;
        read_limits(s, dir, ret);
        if (!s->unit)
                read_inner_limits(s, dir, ret);
}

const char *sg_backend_slice(const struct sg_backend *b)
{
        const struct sg_hierarchy *x = &b->hier[SG_HIER_UNIFIED];

        return b->systemd ? x->base + strlen(x->mount) : NULL;
}

/* --- who it is */

static void identity_by_inode(const struct sg_watched *g, char ret[SG_INVOCATION_ID_MAX])
{
        (void)snprintf(ret, SG_INVOCATION_ID_MAX, "inode-%" PRIu64, g->inode);
}

bool sg_watched_identity(const struct sg_watched *g, char ret[SG_INVOCATION_ID_MAX])
{
        static const char *const names[] = {"user.invocation_id", "trusted.invocation_id"};
        char path[PATH_MAX];

        if (sg_watched_dir(g, SG_HIER_UNIFIED, path) >= 0)
                for (size_t i = 0; i < SG_ELEMENTSOF(names); i++)
                        if (getxattr(path, names[i], ret, 32) == 32) {
                                ret[32] = '\0';
                                return true;
                        }
        identity_by_inode(g, ret);
        return false;
}

bool sg_watched_is(const struct sg_watched *g, const char *identity)
{
        char by_inode[SG_INVOCATION_ID_MAX], now[SG_INVOCATION_ID_MAX];

        identity_by_inode(g, by_inode);
        (void)sg_watched_identity(g, now);
        return strcmp(identity, by_inode) == 0 || strcmp(identity, now) == 0;
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
        uint64_t now = sg_now_realtime_usec(), age;

        return sg_process_age_usec(pid, &age) >= 0 && now > age ? now - age : now;
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
