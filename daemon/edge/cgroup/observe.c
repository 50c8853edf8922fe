/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The backend without groups: limits are noted and said to be not enforced, but a job can still be
 * cancelled, suspended and measured. Its processes are the descendants of the shim, which is a
 * subreaper, so that orphans stay below it; once the shim is gone, the main process and what is
 * below that. Every look is one scan of /proc; signals go in rounds until a scan finds nobody new,
 * and SIGKILL is preceded by SIGSTOP, so that nobody forks away in between. Weaker than a freezer:
 * a job may continue itself, and a process whose ancestors below a dead shim are gone is lost.
 */

#include "base/file.h"
#include "base/process.h"
#include "edge/cgroup/backend.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#define SIGNAL_ROUNDS 100
#define CHASES_MAX 1000

struct process {
        pid_t pid;
        bool in_tree;
        struct sg_process_stat stat;
};

struct tree {
        struct process *list; /* by pid */
        size_t n, allocated;
};

static void tree_deinit(struct tree *t)
{
        free(t->list);
}

static int read_process(pid_t pid, struct process *ret)
{
        ret->pid = pid;
        ret->in_tree = false;
        return sg_process_stat(pid, &ret->stat);
}

static int tree_add(struct tree *t, const struct process *p)
{
        if (t->n == t->allocated) {
                size_t n = t->allocated ? 2 * t->allocated : 256;
                struct process *list = realloc(t->list, n * sizeof(*list));

                if (!list)
                        return -ENOMEM;
                t->list = list;
                t->allocated = n;
        }
        t->list[t->n++] = *p;
        return 0;
}

static int by_pid(const void *a, const void *b)
{
        const struct process *x = a, *y = b;

        return (x->pid > y->pid) - (x->pid < y->pid);
}

static void tree_sort(struct tree *t)
{
        if (t->n > 0)
                qsort(t->list, t->n, sizeof(*t->list), by_pid);
}

/* The pid that was given out last in our pid namespace. */
static int last_pid(uint32_t *ret)
{
        char line[128], *p;
        int r;

        r = sg_read_line_file(AT_FDCWD, "/proc/loadavg", line, sizeof(line));
        if (r < 0)
                return r;
        p = strrchr(line, ' ');
        return p ? sg_parse_u32(p + 1, ret) : -EBADMSG;
}

static int tree_add_pid(struct tree *t, uint32_t pid)
{
        struct process p;

        return read_process((pid_t)pid, &p) < 0 ? 0 : tree_add(t, &p);
}

/*
 * Who was born while we read the list. A chain of processes that fork and leave could run ahead of
 * a plain scan for ever, always between two looks; here it is followed until no pid was given out
 * since the last look, so one of the chain has been met alive.
 */
static int tree_chase(struct tree *t, uint32_t seen)
{
        uint32_t now;
        int r = 0;

        for (unsigned i = 0; r == 0 && i < CHASES_MAX; i++) {
                r = last_pid(&now);
                if (r < 0 || now == seen)
                        return r;
                if (now < seen) /* pids start over: the next look will do */
                        return 0;
                while (r == 0 && seen < now)
                        r = tree_add_pid(t, ++seen);
        }
        return r;
}

static void tree_unique(struct tree *t)
{
        size_t n = 0;

        tree_sort(t);
        for (size_t i = 0; i < t->n; i++)
                if (n == 0 || t->list[n - 1].pid != t->list[i].pid)
                        t->list[n++] = t->list[i];
        t->n = n;
}

static int tree_scan(struct tree *t)
{
        _cleanup_closedir_ DIR *d = opendir("/proc");
        uint32_t pid, before;
        struct dirent *e;
        int r;

        if (!d)
                return -errno;
        r = last_pid(&before);
        while (r == 0 && (e = readdir(d)))
                if (sg_parse_u32(e->d_name, &pid) == 0)
                        r = tree_add_pid(t, pid);
        if (r == 0)
                r = tree_chase(t, before);
        tree_unique(t);
        return r;
}

static struct process *tree_find(const struct tree *t, pid_t pid)
{
        struct process key = {.pid = pid};

        return t->n > 0 ? bsearch(&key, t->list, t->n, sizeof(*t->list), by_pid) : NULL;
}

static struct process *find_root(const struct tree *t, const struct sg_process *who)
{
        struct process *p = who->pid > 0 ? tree_find(t, who->pid) : NULL;

        return p && p->stat.start == who->start ? p : NULL;
}

/* Marks what is below a marked process. Recycled pids make children older than their parents, so
 * one pass in pid order is not enough. */
static void mark_descendants(struct tree *t)
{
        bool changed = true;

        while (changed) {
                changed = false;
                for (size_t i = 0; i < t->n; i++) {
                        struct process *p = &t->list[i];
                        const struct process *parent =
                                p->in_tree ? NULL : tree_find(t, p->stat.parent);

                        if (parent && parent->in_tree)
                                changed = p->in_tree = true;
                }
        }
}

/* The job's processes, marked; the shim itself is not one of them. */
static int tree_of(const struct sg_scope *s, struct tree *t, const struct process **ret_shim)
{
        struct process *shim, *root;
        int r;

        r = tree_scan(t);
        if (r < 0)
                return r;
        shim = find_root(t, &s->observed->shim);
        root = find_root(t, &s->observed->main);
        if (shim)
                shim->in_tree = true;
        if (root)
                root->in_tree = true;
        mark_descendants(t);
        if (shim)
                shim->in_tree = false;
        if (ret_shim)
                *ret_shim = shim;
        return 0;
}

static bool is_alive(const struct process *p)
{
        return p->in_tree && sg_process_is_alive(&p->stat);
}

/* Among the first n, which are sorted. */
static bool was_seen(const struct tree *seen, size_t n, const struct process *p)
{
        const struct process *q = tree_find(&(struct tree){.list = seen->list, .n = n}, p->pid);

        return q && q->stat.start == p->stat.start;
}

static int send_signal(const struct process *p, int sig, const uid_t *as)
{
        _cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
        struct process now;

        if (fd < 0 && errno != ENOSYS)
                return -errno;
        if (read_process(p->pid, &now) < 0 || now.stat.start != p->stat.start)
                return -ESRCH;
        if (as && !sg_process_may_be_signalled(p->pid, *as))
                return -EPERM;
        if (fd < 0)
                return kill(p->pid, sig) < 0 ? -errno : 0;
        return syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0) < 0 ? -errno : 0;
}

/* Signals whom nobody signalled before; how many, or -errno. */
static int signal_round(const struct sg_scope *s, struct tree *seen, int sig, const uid_t *as)
{
        _cleanup_(tree_deinit) struct tree t = {};
        size_t before = seen->n;
        int r;

        r = tree_of(s, &t, NULL);
        for (size_t i = 0; r == 0 && i < t.n; i++)
                if (is_alive(&t.list[i]) && !was_seen(seen, before, &t.list[i]) &&
                    send_signal(&t.list[i], sig, as) == 0)
                        r = tree_add(seen, &t.list[i]);
        tree_sort(seen);
        return r < 0 ? r : (int)(seen->n - before);
}

/* Everybody once; the number of processes signalled. */
static int signal_tree(const struct sg_scope *s, int sig, const uid_t *as)
{
        _cleanup_(tree_deinit) struct tree seen = {};
        int r = 1;

        for (unsigned i = 0; r > 0 && i < SIGNAL_ROUNDS; i++)
                r = signal_round(s, &seen, sig, as);
        return r < 0 ? r : (int)seen.n;
}

static int observe_start(struct sg_backend *b, const struct sg_backend_options *o, char **ret_why)
{
        (void)o;
        for (enum sg_limit_kind k = 0; k < _SG_LIMIT_MAX; k++)
                if (k != SG_LIMIT_FREEZE)
                        b->unenforced |= sg_bit(k);
        if (asprintf(&b->describe,
                     "observe (no limit is enforced%s%s; jobs are stopped by signals)",
                     ret_why && *ret_why ? ": " : "", ret_why && *ret_why ? *ret_why : "") < 0) {
                b->describe = NULL;
                return -ENOMEM;
        }
        return 0;
}

static void observe_stop(struct sg_backend *b)
{
        (void)b;
}

static void note_limits(struct sg_scope *s, const struct sg_limits *l)
{
        s->unenforced &= sg_bit(SG_LIMIT_DEVICES);
        s->unenforced |= sg_limits_asked(l);
        s->limits = *l;
}

static int observe_set_devices(struct sg_scope *s, const struct sg_device_list *old, char **ret_why)
{
        (void)old;
        (void)ret_why;
        s->unenforced &= ~sg_bit(SG_LIMIT_DEVICES);
        if (sg_device_list_restricts(&s->devices))
                s->unenforced |= sg_bit(SG_LIMIT_DEVICES);
        return 0;
}

static int observe_adopt(struct sg_scope *s, const struct sg_scope_request *req)
{
        s->observed = calloc(1, sizeof(*s->observed));
        if (!s->observed)
                return -ENOMEM;
        (void)observe_set_devices(s, NULL, NULL);
        note_limits(s, &req->limits);
        return 0;
}

static int observe_new(struct sg_scope *s, const struct sg_scope_request *req, char **ret_why)
{
        (void)ret_why;
        return observe_adopt(s, req);
}

static void observe_free(struct sg_scope *s)
{
        free(s->observed);
}

static int observe_set_limits(struct sg_scope *s, const struct sg_limits *l,
                              const struct sg_cpuset *cpus, char **ret_why)
{
        (void)cpus;
        (void)ret_why;
        note_limits(s, l);
        return 0;
}

static struct sg_process identify(pid_t pid)
{
        struct process p;

        if (pid <= 0 || read_process(pid, &p) < 0)
                return (struct sg_process){};
        return (struct sg_process){pid, p.stat.start};
}

void sg_scope_set_main(struct sg_scope *s, pid_t shim, pid_t main)
{
        if (!s->observed) /* its groups tell who belongs to it */
                return;
        s->observed->shim = identify(shim);
        s->observed->main = identify(main);
}

static int observe_move(struct sg_scope *s, pid_t pid, bool into_job)
{
        struct sg_process *who = into_job ? &s->observed->main : &s->observed->shim;

        *who = identify(pid);
        return who->pid > 0 ? 0 : -ESRCH;
}

static int observe_holds(const struct sg_scope *s, pid_t pid, bool in_job)
{
        struct process p;

        (void)s;
        (void)in_job;
        return read_process(pid, &p) < 0 ? -ESRCH : 1;
}

static int observe_freeze(struct sg_scope *s, bool frozen)
{
        int r = signal_tree(s, frozen ? SIGSTOP : SIGCONT, NULL);

        if (r < 0)
                return r;
        s->observed->stopped = frozen;
        return 0;
}

static int observe_frozen(const struct sg_scope *s)
{
        _cleanup_(tree_deinit) struct tree t = {};
        int r;

        if (!s->observed->stopped)
                return 0;
        r = tree_of(s, &t, NULL);
        for (size_t i = 0; r == 0 && i < t.n; i++)
                if (is_alive(&t.list[i]) && t.list[i].stat.state != 'T' &&
                    t.list[i].stat.state != 't')
                        return 0;
        return r < 0 ? r : 1;
}

static int observe_populated(const struct sg_scope *s)
{
        _cleanup_(tree_deinit) struct tree t = {};
        int r;

        r = tree_of(s, &t, NULL);
        for (size_t i = 0; r == 0 && i < t.n; i++)
                if (is_alive(&t.list[i]))
                        return 1;
        return r;
}

static int observe_signal(struct sg_scope *s, int sig, const uid_t *as)
{
        int r = sig == SIGKILL ? signal_tree(s, SIGSTOP, as) : 1;

        if (r > 0)
                r = signal_tree(s, sig, as);
        return r == 0 && as && observe_populated(s) > 0 ? -EPERM : r;
}

/* CPU time of the dead is in their parents' counts, at last in the shim's; memory is what is
 * resident, shared pages counted for each. */
static void observe_counters(struct sg_scope *s, struct sg_counters *ret)
{
        _cleanup_(tree_deinit) struct tree t = {};
        const struct process *shim = NULL;
        uint64_t ticks, pages = 0, page = (uint64_t)sysconf(_SC_PAGESIZE);

        memset(ret, 0xff, sizeof(*ret));
        if (tree_of(s, &t, &shim) < 0)
                return;
        ticks = shim ? shim->stat.child_ticks : 0;
        ret->pids = 0;
        for (size_t i = 0; i < t.n; i++) {
                if (!t.list[i].in_tree)
                        continue;
                ticks += t.list[i].stat.ticks + t.list[i].stat.child_ticks;
                pages += t.list[i].stat.rss_pages;
                ret->pids += is_alive(&t.list[i]) ? t.list[i].stat.threads : 0;
        }
        ret->cpu_usec = ticks * (1000000 / (uint64_t)sysconf(_SC_CLK_TCK));
        ret->memory_bytes = pages * page;
        if (ret->memory_bytes > s->observed->memory_peak)
                s->observed->memory_peak = ret->memory_bytes;
        ret->memory_peak_bytes = s->observed->memory_peak;
}

static int observe_remove(struct sg_scope *s)
{
        int r = observe_populated(s);

        return r > 0 ? -EBUSY : r;
}

static int observe_sweep(struct sg_backend *b, sg_owned_cb owned, void *userdata)
{
        (void)b;
        (void)owned;
        (void)userdata;
        return 0;
}

const struct sg_backend_ops sg_observe_ops = {
        .name = "observe",
        .start = observe_start,
        .stop = observe_stop,
        .scope_new = observe_new,
        .scope_adopt = observe_adopt,
        .scope_free = observe_free,
        .scope_remove = observe_remove,
        .scope_move = observe_move,
        .scope_holds = observe_holds,
        .scope_set_limits = observe_set_limits,
        .scope_set_devices = observe_set_devices,
        .scope_freeze = observe_freeze,
        .scope_frozen = observe_frozen,
        .scope_signal = observe_signal,
        .scope_populated = observe_populated,
        .scope_counters = observe_counters,
        .sweep = observe_sweep,
};
