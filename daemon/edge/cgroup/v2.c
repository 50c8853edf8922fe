/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * On v2 a group other than the root holds either processes or children with controllers, never
 * both. So where our own group is not the root we move into BASE/daemon, with whatever of ours is
 * there. Processes of others are never moved: with them in place the controllers stay off and the
 * backend says so. (Threaded controllers could be switched on all the same, but that makes every
 * group below invalid for whole processes.) Reference: cgroup-v2.rst, "No Internal Process
 * Constraint".
 */

#include "edge/cgroup/v2.h"
#include "base/file.h"
#include "base/process.h"
#include "edge/cgroup/group.h"
#include "edge/cgroup/layout.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define ANCESTORS_MAX 64
#define MOVE_PASSES 16

const char *const sg_controller_names[_SG_CONTROLLER_MAX] = {
        [SG_CONTROLLER_CPU] = "cpu",   [SG_CONTROLLER_MEMORY] = "memory",
        [SG_CONTROLLER_PIDS] = "pids", [SG_CONTROLLER_CPUSET] = "cpuset",
        [SG_CONTROLLER_IO] = "io",
};

static uint32_t read_controllers(const char *group, const char *file)
{
        char text[256], *rest = text, *word;
        uint32_t bits = 0;

        if (sg_group_read(group, file, text, sizeof(text)) < 0)
                return 0;
        while ((word = strsep(&rest, " ")))
                for (unsigned c = 0; c < _SG_CONTROLLER_MAX; c++)
                        if (strcmp(word, sg_controller_names[c]) == 0)
                                bits |= sg_bit(c);
        return bits;
}

uint32_t sg_v2_available(const char *group)
{
        return read_controllers(group, "cgroup.controllers");
}

static int switch_together(const char *group, uint32_t controllers, char sign)
{
        char text[16 * _SG_CONTROLLER_MAX] = "";
        size_t n = 0;

        for (unsigned c = 0; c < _SG_CONTROLLER_MAX; c++)
                if (controllers & sg_bit(c))
                        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%c%s", n ? " " : "",
                                              sign, sg_controller_names[c]);
        return n > 0 ? sg_group_write(group, "cgroup.subtree_control", text) : 0;
}

/* One write, as each costs the kernel a pass over the groups below; one by one if that is refused,
 * so that one controller's refusal doesn't take the others along. */
static void switch_controllers(const char *group, uint32_t controllers, char sign)
{
        if (switch_together(group, controllers, sign) == 0)
                return;
        for (unsigned c = 0; c < _SG_CONTROLLER_MAX; c++)
                (void)switch_together(group, controllers & sg_bit(c), sign);
}

uint32_t sg_v2_enable(const char *group, uint32_t controllers)
{
        uint32_t have;

        if (controllers == 0) /* a bare tree, for every job */
                return 0;
        have = read_controllers(group, "cgroup.subtree_control");
        if (controllers & ~have) {
                switch_controllers(group, controllers & ~have, '+');
                have = read_controllers(group, "cgroup.subtree_control");
        }
        return have & controllers;
}

static pid_t parent_of(pid_t pid)
{
        struct sg_process_stat stat;

        return sg_process_stat(pid, &stat) < 0 ? 0 : stat.parent;
}

static bool is_ours(pid_t pid)
{
        for (unsigned i = 0; i < ANCESTORS_MAX && pid > 0; i++, pid = parent_of(pid))
                if (pid == getpid())
                        return true;
        return false;
}

/* Calls for processes of this very group only: children of it have their own. */
static int foreach_own_pid(const char *group, sg_pid_cb cb, void *userdata)
{
        _cleanup_free_ char *text = NULL;
        char path[PATH_MAX], *p, *end;
        int r;

        r = sg_group_join(path, group, "cgroup.procs");
        if (r < 0)
                return r;
        r = sg_read_file(AT_FDCWD, path, 1U << 20, &text, NULL);
        if (r < 0)
                return r;
        for (p = text; *p; p = end) {
                pid_t pid = (pid_t)strtol(p, &end, 10);

                if (end == p)
                        break;
                end += strspn(end, "\n");
                r = cb(pid, userdata);
                if (r != 0)
                        return r;
        }
        return 0;
}

static int find_foreign(pid_t pid, void *userdata)
{
        if (is_ours(pid))
                return 0;
        *(pid_t *)userdata = pid;
        return 1;
}

/* Until a pass finds nobody: children may be forked while we move. */
static int move_all(const char *from, const char *to)
{
        for (unsigned i = 0; i < MOVE_PASSES; i++) {
                struct sg_group_mover m = {.to = to};
                int r = foreach_own_pid(from, sg_group_move, &m);

                if (r < 0)
                        return r;
                if (m.moved == 0)
                        return 0;
        }
        return -EBUSY;
}

static void tell_foreign(const char *own, pid_t pid, char **note)
{
        char path[32], name[32] = "?";

        (void)snprintf(path, sizeof(path), "/proc/%d/comm", pid);
        (void)sg_read_line_file(AT_FDCWD, path, name, sizeof(name));
        sg_why(note,
               "v2 controllers stay off: process %d (%s) is in our own group %s; start the daemon "
               "in "
               "a group of its own",
               pid, name, own);
}

/* True once our own group may have children with controllers. */
static bool vacate_own_group(struct sg_backend *b, char **note)
{
        const struct sg_hierarchy *h = &b->hier[SG_HIER_UNIFIED];
        char leaf[PATH_MAX];
        pid_t foreign = 0;
        int r;

        /* Only the real root has no cgroup.events, and it may hold both. */
        if (!sg_group_has(h->own, "cgroup.events"))
                return true;
        r = foreach_own_pid(h->own, find_foreign, &foreign);
        if (r > 0) {
                tell_foreign(h->own, foreign, note);
                return false;
        }
        if (r == 0)
                r = sg_group_join(leaf, h->base, "daemon");
        if (r == 0)
                r = sg_group_mkdir(leaf);
        if (r == 0)
                r = move_all(h->own, leaf);
        if (r < 0)
                sg_why(note, "v2 controllers stay off: can't move from %s to its daemon group: %s",
                       h->own, strerror(-r));
        return r == 0;
}

int sg_v2_prepare(struct sg_backend *b, char **note)
{
        const struct sg_hierarchy *h = &b->hier[SG_HIER_UNIFIED];
        uint32_t available = read_controllers(h->own, "cgroup.controllers");
        uint32_t before = read_controllers(h->own, "cgroup.subtree_control");
        int r;

        r = sg_group_mkdir(h->base);
        if (r < 0)
                return r;
        /* A group `daemon` is there only if an earlier run of ours has switched the controllers
         * on. */
        if (sg_group_has(h->base, "daemon"))
                b->v2_enabled = before;
        if (available & ~before) {
                if (!vacate_own_group(b, note))
                        available = before;
                else
                        b->v2_enabled |= sg_v2_enable(h->own, available) & ~before;
        }
        b->v2_controllers = sg_v2_enable(h->base, available);
        if (available & ~b->v2_controllers)
                sg_why(note, "some v2 controllers of %s can't be switched on for groups below it",
                       h->own);
        return 0;
}

static int is_not_base(const char *name, void *userdata)
{
        const struct sg_backend *b = userdata;

        return strcmp(strrchr(b->hier[SG_HIER_UNIFIED].base, '/') + 1, name) != 0;
}

static int is_not_daemon(const char *name, void *userdata)
{
        (void)userdata;
        return strcmp(name, "daemon") != 0;
}

void sg_v2_restore(struct sg_backend *b)
{
        const struct sg_hierarchy *h = &b->hier[SG_HIER_UNIFIED];
        char leaf[PATH_MAX];

        if (!h->usable || sg_group_foreach_child(h->base, is_not_daemon, NULL) != 0)
                return; /* jobs live on in there */
        switch_controllers(h->base, b->v2_controllers, '-');
        /* Another group below ours may rely meanwhile on what we switched on. */
        if (sg_group_foreach_child(h->own, is_not_base, b) == 0)
                switch_controllers(h->own, b->v2_enabled, '-');
        if (sg_group_join(leaf, h->base, "daemon") < 0)
                return;
        (void)move_all(leaf, h->own);
        (void)sg_group_rmdir(leaf);
}
