/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shim/groups.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/fork.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

static int write_group(const struct sg_group_dir *dir, const char *group, const char *file,
                       const char *value)
{
        char path[PATH_MAX];
        int n = snprintf(path, sizeof(path), "%s/%s/%s", dir->path, group, file);

        if (n < 0 || (size_t)n >= sizeof(path))
                return -ENAMETOOLONG;
        return sg_write_file(AT_FDCWD, path, value);
}

/* pid 0 = the caller. */
static int move(const struct sg_group_dir *dir, const char *group, const char *file, pid_t pid)
{
        char digits[16];

        (void)snprintf(digits, sizeof(digits), "%d", pid);
        return write_group(dir, group, file, digits);
}

static bool is_visited(const struct sg_group_dir *dir)
{
        return dir->hier != SG_HIER_UNIFIED && dir->hier != SG_HIER_PIDS &&
               dir->hier != SG_HIER_FREEZER;
}

/* Enters `group` of every hierarchy that the keeper visits. */
static int visit(const struct sg_spec *s, const char *group)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < s->n_dirs; i++)
                if (is_visited(&s->dirs[i]))
                        r = move(&s->dirs[i], group, "tasks", 0);
        return r;
}

int sg_groups_keep(const struct sg_spec *s, bool in_keeper)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < s->n_dirs; i++)
                if (!is_visited(&s->dirs[i]) && !(in_keeper && s->dirs[i].hier == SG_HIER_UNIFIED))
                        r = move(&s->dirs[i], "keeper", "cgroup.procs", 0);
        return r;
}

static const struct sg_group_dir *unified(const struct sg_spec *s)
{
        for (size_t i = 0; i < s->n_dirs; i++)
                if (s->dirs[i].hier == SG_HIER_UNIFIED)
                        return &s->dirs[i];
        return NULL;
}

/* *ret_placed: it was born in the v2 group. */
static pid_t fork_child(const struct sg_spec *s, bool after_end, bool *ret_placed)
{
        const struct sg_group_dir *dir = after_end ? NULL : unified(s);
        _cleanup_close_ int group = -1;
        char path[PATH_MAX];
        pid_t pid = -ENOENT;

        *ret_placed = false;
        if (dir && sg_path_join(path, sizeof(path), dir->path, "job") == 0)
                group = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (group >= 0)
                pid = sg_fork_into(group);
        if (pid >= 0) {
                *ret_placed = true;
                return pid;
        }
        pid = fork();
        return pid < 0 ? -errno : pid;
}

static int place_child(const struct sg_spec *s, pid_t pid, bool placed)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < s->n_dirs; i++)
                if (!is_visited(&s->dirs[i]) && !(placed && s->dirs[i].hier == SG_HIER_UNIFIED))
                        r = move(&s->dirs[i], "job", "cgroup.procs", pid);
        return r;
}

/* Also one that was suspended can end, by a SIGKILL. */
static void thaw(const struct sg_spec *s)
{
        for (size_t i = 0; i < s->n_dirs; i++)
                if (s->dirs[i].hier == SG_HIER_UNIFIED)
                        (void)write_group(&s->dirs[i], "job", "cgroup.freeze", "0");
                else if (s->dirs[i].hier == SG_HIER_FREEZER)
                        (void)write_group(&s->dirs[i], "job", "freezer.state", "THAWED");
}

pid_t sg_groups_fork(const struct sg_spec *s, bool after_end)
{
        bool placed;
        pid_t pid;
        int r, back;

        if (after_end)
                thaw(s);
        r = visit(s, "job");
        pid = r < 0 ? r : fork_child(s, after_end, &placed);
        if (pid == 0)
                return 0;
        back = visit(s, "keeper");
        if (pid < 0)
                return pid;
        r = back < 0 ? back : place_child(s, pid, placed);
        if (r == 0)
                return pid;
        (void)kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
        return r;
}
