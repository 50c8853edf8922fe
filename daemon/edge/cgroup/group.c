/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Directories of the cgroup file systems. libcgroup makes and removes what lives long, the base and
 * class groups. The groups of a job are made with plain calls: nine groups in cpu, memory and pids
 * take 0.60 ms with libcgroup, which checks and parses anew for each, and 0.24 ms without (medians
 * of 500 on two cores, 6.18), and a job's launch would have to wait for that. What libcgroup reads
 * and attaches is not used at all: it opens by path after parsing mount tables, and moves one
 * thread of a process only.
 */

#include "edge/cgroup/group.h"
#include "base/file.h"
#include "base/process.h"
#include "edge/cgroup/layout.h"
#include <errno.h>
#include <fcntl.h>
#include <libcgroup.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

/* cgroup.procs of a job that forks without bounds: pid_max processes of up to 8 bytes. */
#define PROCS_TEXT_MAX (64U * 1024 * 1024)
#define DEPTH_MAX 64
#define BRIEF_USEC 50000

void sg_why(char **why, const char *format, ...)
{
        va_list ap;

        if (!why || *why)
                return;
        va_start(ap, format);
        if (vasprintf(why, format, ap) < 0)
                *why = NULL;
        va_end(ap);
}

int sg_group_join(char buf[PATH_MAX], const char *dir, const char *name)
{
        return sg_path_join(buf, PATH_MAX, dir, name);
}

int sg_group_mkdir(const char *group)
{
        if (mkdir(group, 0755) < 0 && errno != EEXIST)
                return -errno;
        return 0;
}

int sg_group_rmdir(const char *group)
{
        if (rmdir(group) < 0 && errno != ENOENT)
                return -errno;
        return 0;
}

/* libcgroup names a group by what follows the mount point of the controller; NULL if it doesn't
 * know the hierarchy. */
static struct cgroup *lib_group(const struct sg_backend *b, enum sg_hier h, const char *group)
{
        _cleanup_free_ char *mount = NULL;
        const char *controller = sg_hier_name(h);
        struct cgroup *g;
        size_t n;

        if (h == SG_HIER_UNIFIED)
                controller = b->v2_controllers & sg_bit(SG_CONTROLLER_CPU) ? "cpu" : NULL;
        if (!controller || cgroup_init() != 0 ||
            cgroup_get_subsys_mount_point(controller, &mount) != 0)
                return NULL;
        n = strlen(mount);
        if (strcmp(mount, b->hier[h].mount) != 0 || strncmp(group, mount, n) != 0)
                return NULL;
        g = cgroup_new_cgroup(group + n + strspn(group + n, "/"));
        if (g && !cgroup_add_controller(g, controller))
                cgroup_free(&g);
        return g;
}

static void lib_make(struct cgroup *g)
{
        (void)cgroup_create_cgroup(g, 1); /* 1: owners and modes as the kernel makes them */
}

static void lib_remove(struct cgroup *g)
{
        /* Never the default: it moves survivors to the parent group. */
        (void)cgroup_delete_cgroup_ext(g, CGFLAG_DELETE_EMPTY_ONLY);
}

/* In a child: libcgroup's tables take 880 KiB, and are never given back. What came of it is seen in
 * the tree; its error codes don't tell what the kernel said. */
static void with_libcgroup(const struct sg_backend *b, enum sg_hier h, const char *group,
                           void (*act)(struct cgroup *g))
{
        pid_t pid = fork();

        if (pid == 0) {
                struct cgroup *g = lib_group(b, h, group);

                if (g)
                        act(g);
                _exit(0);
        }
        while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
}

int sg_group_make_kept(const struct sg_backend *b, enum sg_hier h, const char *group)
{
        with_libcgroup(b, h, group, lib_make);
        return access(group, F_OK) == 0 ? 0 : sg_group_mkdir(group);
}

int sg_group_remove_kept(const struct sg_backend *b, enum sg_hier h, const char *group)
{
        if (access(group, F_OK) < 0)
                return 0;
        with_libcgroup(b, h, group, lib_remove);
        return sg_group_rmdir(group);
}

static void on_alarm(int sig)
{
        (void)sig;
}

/* A limit below what is used makes the kernel throw things out in the write itself, for as long as
 * it finds some: minutes, with swap. A signal ends that: on v2 the limit stands by then, on v1 it
 * is -EINTR and nothing has changed. */
static int write_briefly(const char *path, const char *value)
{
        const struct itimerval often = {{0, BRIEF_USEC}, {0, BRIEF_USEC}}, never = {{0, 0}, {0, 0}};
        const struct sigaction interrupt = {.sa_handler = on_alarm};
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        struct sigaction before;
        ssize_t n;
        int error;

        if (fd < 0)
                return -errno;
        (void)sigaction(SIGALRM, &interrupt, &before);
        (void)setitimer(ITIMER_REAL, &often, NULL);
        n = write(fd, value, strlen(value));
        error = errno;
        (void)setitimer(ITIMER_REAL, &never, NULL);
        (void)sigaction(SIGALRM, &before, NULL);
        return n < 0 ? -error : 0;
}

int sg_group_write(const char *group, const char *file, const char *value)
{
        char path[PATH_MAX];
        int r;

        r = sg_group_join(path, group, file);
        if (r < 0)
                return r;
        return strncmp(file, "memory.", strlen("memory.")) == 0
                       ? write_briefly(path, value)
                       : sg_write_file(AT_FDCWD, path, value);
}

int sg_group_write_u64(const char *group, const char *file, uint64_t value)
{
        char text[24];

        (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
        return sg_group_write(group, file, value == SG_UNLIMITED ? "max" : text);
}

int sg_group_read(const char *group, const char *file, char *buf, size_t size)
{
        char path[PATH_MAX];
        int r;

        r = sg_group_join(path, group, file);
        if (r < 0)
                return r;
        return sg_read_line_file(AT_FDCWD, path, buf, size);
}

int sg_group_read_u64(const char *group, const char *file, uint64_t *ret)
{
        char text[64];
        int r;

        r = sg_group_read(group, file, text, sizeof(text));
        if (r < 0)
                return r;
        if (strcmp(text, "max") == 0 || text[0] == '-') {
                *ret = SG_UNLIMITED;
                return 0;
        }
        return sg_parse_u64(text, ret);
}

int sg_group_read_key(const char *group, const char *file, const char *key, uint64_t *ret)
{
        _cleanup_free_ char *text = NULL;
        char path[PATH_MAX], *rest, *line;
        size_t n = strlen(key);
        int r;

        r = sg_group_join(path, group, file);
        if (r < 0)
                return r;
        r = sg_read_file(AT_FDCWD, path, 65536, &text, NULL);
        if (r < 0)
                return r;
        rest = text;
        while ((line = strsep(&rest, "\n")))
                if (strncmp(line, key, n) == 0 && line[n] == ' ')
                        return sg_parse_u64(line + n + 1, ret);
        return -ENOENT;
}

bool sg_group_has(const char *group, const char *file)
{
        char path[PATH_MAX];

        return sg_group_join(path, group, file) == 0 && access(path, F_OK) == 0;
}

/* kernfs counts as directories on disks do, their own name and each child's "..". */
static bool has_no_child(const char *group)
{
        struct stat st;

        return stat(group, &st) == 0 && st.st_nlink == 2;
}

int sg_group_foreach_child(const char *group, sg_group_cb cb, void *userdata)
{
        _cleanup_closedir_ DIR *d = NULL;
        struct dirent *e;
        int r = 0;

        if (has_no_child(group))
                return 0;
        d = opendir(group);
        if (!d)
                return errno == ENOENT ? 0 : -errno;
        while (r == 0 && (errno = 0, e = readdir(d)))
                if (e->d_type == DT_DIR && e->d_name[0] != '.')
                        r = cb(e->d_name, userdata);
        return r != 0 ? r : -errno;
}

struct walk {
        const char *group;
        sg_pid_cb cb;
        void *userdata;
        unsigned depth;
};

static int walk_pids(const struct walk *w);

static int walk_child(const char *name, void *userdata)
{
        const struct walk *w = userdata;
        char path[PATH_MAX];
        int r;

        if (w->depth >= DEPTH_MAX)
                return -ELOOP;
        r = sg_group_join(path, w->group, name);
        if (r < 0)
                return r;
        return walk_pids(&(struct walk){path, w->cb, w->userdata, w->depth + 1});
}

static int walk_pids(const struct walk *w)
{
        _cleanup_free_ char *text = NULL;
        char path[PATH_MAX], *p, *end;
        int r;

        r = sg_group_join(path, w->group, "cgroup.procs");
        if (r < 0)
                return r;
        r = sg_read_file(AT_FDCWD, path, PROCS_TEXT_MAX, &text, NULL);
        if (r == -ENOENT || r == -ENODEV)
                return 0; /* removed meanwhile */
        if (r < 0)
                return r;
        for (p = text; *p; p = end) {
                long pid = strtol(p, &end, 10);

                if (end == p)
                        break;
                end += strspn(end, "\n");
                r = pid > 0 ? w->cb((pid_t)pid, w->userdata) : 0;
                if (r != 0)
                        return r;
        }
        return sg_group_foreach_child(w->group, walk_child, (void *)w);
}

int sg_group_foreach_pid(const char *group, sg_pid_cb cb, void *userdata)
{
        return walk_pids(&(struct walk){group, cb, userdata, 0});
}

int sg_group_move(pid_t pid, void *userdata)
{
        struct sg_group_mover *m = userdata;
        char text[16];
        int r;

        (void)snprintf(text, sizeof(text), "%d", pid);
        r = sg_group_write(m->to, "cgroup.procs", text);
        if (r == -ESRCH)
                return 0;
        m->moved += r == 0;
        return r;
}

static int remove_child(const char *name, void *userdata)
{
        char path[PATH_MAX];
        int r;

        r = sg_group_join(path, userdata, name);
        return r < 0 ? r : sg_group_remove_tree(path);
}

int sg_group_remove_tree(const char *group)
{
        int r;

        r = sg_group_rmdir(group);
        if (r != -EBUSY && r != -ENOTEMPTY)
                return r;
        r = sg_group_foreach_child(group, remove_child, (void *)group);
        return r < 0 ? r : sg_group_rmdir(group);
}

/* v1 lists a process until it has been waited for on some kernels: look at its state. */
static int is_alive(pid_t pid, void *userdata)
{
        struct sg_process_stat stat;

        (void)userdata;
        return sg_process_stat(pid, &stat) == 0 && sg_process_is_alive(&stat);
}

static int is_anothers(pid_t pid, void *uid)
{
        return !sg_process_may_be_signalled(pid, *(const uid_t *)uid);
}

bool sg_group_is_signalable(const char *group, uid_t uid)
{
        return sg_group_foreach_pid(group, is_anothers, &uid) == 0;
}

int sg_group_populated(const char *group)
{
        uint64_t populated;
        int r;

        r = sg_group_read_key(group, "cgroup.events", "populated", &populated);
        if (r == 0)
                return populated != 0;
        if (r != -ENOENT)
                return r;
        return sg_group_foreach_pid(group, is_alive, NULL);
}

struct freezing {
        const char *group;
        unsigned frozen, others;
};

static int note_frozen(const char *name, void *userdata)
{
        struct freezing *f = userdata;
        uint64_t populated = 0, frozen = 0;
        char child[PATH_MAX];

        if (sg_group_join(child, f->group, name) < 0)
                return 0;
        (void)sg_group_read_key(child, "cgroup.events", "populated", &populated);
        (void)sg_group_read_key(child, "cgroup.events", "frozen", &frozen);
        if (populated)
                *(frozen ? &f->frozen : &f->others) += 1;
        return 0;
}

/* Engines freeze the group below their scope in which the container is. */
bool sg_group_frozen(const char *group)
{
        struct freezing f = {.group = group};
        uint64_t frozen = 0;
        char pid[16];

        (void)sg_group_read_key(group, "cgroup.events", "frozen", &frozen);
        if (frozen)
                return true;
        if (sg_group_foreach_child(group, note_frozen, &f) < 0 || f.frozen == 0 || f.others > 0)
                return false;
        return sg_group_read(group, "cgroup.procs", pid, sizeof(pid)) >= 0 && !pid[0];
}

static void explain_missing(char **why, const char *group, const char *file)
{
        _cleanup_free_ char *controller = strndup(file, strcspn(file, "."));
        char enabled[256];

        if (!controller)
                return;
        if (access(group, F_OK) < 0)
                sg_why(why, "group %s is gone: another program removed it", group);
        else if (sg_group_read(group, "cgroup.controllers", enabled, sizeof(enabled)) == 0)
                sg_why(why, "no %s in %s: controller %s is not available there (available: %s)",
                       file, group, controller, *enabled ? enabled : "none");
        else
                sg_why(why, "no %s in %s: this kernel doesn't have it", file, group);
}

static void explain_write(char **why, int r, const char *group, const char *file, const char *value)
{
        switch (r) {
        case -ENOENT:
                explain_missing(why, group, file);
                break;
        case -EINVAL:
        case -ERANGE:
                sg_why(why,
                       "cannot set %s of %s to %s: out of the kernel's range, or of what the group "
                       "above has",
                       file, group, value);
                break;
        case -ENOSPC:
                sg_why(why, "cannot set %s of %s to %s: the group has no CPUs or memory nodes",
                       file, group, value);
                break;
        default:
                sg_why(why, "cannot set %s of %s to %s: %s", file, group, value, strerror(-r));
        }
}

int sg_group_explain(char **why, int r, const char *group, const char *file, const char *value)
{
        const char *what = file ? "change" : "make";

        switch (r) {
        case -EROFS:
                sg_why(why, "cannot %s group %s: the cgroup tree is mounted read-only", what,
                       group);
                return r;
        case -EACCES:
        case -EPERM:
                sg_why(why, "cannot %s group %s: not permitted to user %u; delegate it to them",
                       what, group, (unsigned)geteuid());
                return r;
        }
        if (file)
                explain_write(why, r, group, file, value);
        else if (r == -EAGAIN || r == -ENOSPC)
                sg_why(why,
                       "cannot make group %s: too many groups; see cgroup.max.descendants above it "
                       "and remove unused ones",
                       group);
        else if (r == -ENOENT)
                sg_why(why, "cannot make group %s: the group above it is gone", group);
        else
                sg_why(why, "cannot make group %s: %s", group, strerror(-r));
        return r;
}
