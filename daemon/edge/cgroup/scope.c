/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One scope of the cgroupfs backend: its groups, who is in them, finding them again. A scope has
 * groups in the hierarchies that every job needs and in those that its own limits need; dirs[] and
 * cg[] are parallel. Groups that were there before are never taken over by sg_scope_new().
 */

#include "base/file.h"
#include "edge/cgroup/fs.h"
#include "edge/cgroup/group.h"
#include "edge/cgroup/layout.h"
#include "edge/cgroup/v2.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define MOVE_PASSES 100

const char *sg_scope_dir(const struct sg_scope *s, enum sg_hier h)
{
        for (size_t i = 0; i < s->n_dirs; i++)
                if (s->dirs[i].hier == h)
                        return s->dirs[i].path;
        return NULL;
}

static int add_dir(struct sg_scope *s, enum sg_hier h, char *path, char *cg)
{
        if (!path || !cg) {
                free(path);
                free(cg);
                return -ENOMEM;
        }
        return sg_scope_put_dir(s, h, path, cg);
}

static int expected_paths(const struct sg_scope *s, enum sg_hier h, char **ret_path, char **ret_cg)
{
        const struct sg_hierarchy *x = &s->backend->hier[h];
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s/%s/%s", x->base, s->class->name, s->name) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        if (asprintf(ret_cg, "%s%s", x->own_cg, path + strlen(x->own)) < 0)
                return -ENOMEM;
        *ret_path = TAKE_PTR(path);
        return 0;
}

static const char *const pair[] = {"keeper", "job"};

/* The two groups below a scope's own; what was made stays for the caller to remove. */
static int make_pair(const struct sg_scope *s, enum sg_hier h, const char *path)
{
        const struct sg_backend *b = s->backend;
        bool cpuset = h == b->hier[SG_HIER_CPUSET].here;
        char parent[PATH_MAX], group[PATH_MAX];
        int r;

        if (cpuset) {
                r = sg_group_join(parent, b->hier[h].base, s->class->name);
                if (r == 0)
                        r = sg_fs_fill_cpuset(parent, path);
                if (r < 0)
                        return r;
        }
        if (h == SG_HIER_UNIFIED)
                (void)sg_v2_enable(path, b->v2_controllers & (sg_bit(SG_CONTROLLER_MEMORY) |
                                                              sg_bit(SG_CONTROLLER_PIDS) |
                                                              sg_bit(SG_CONTROLLER_IO)));
        for (size_t i = 0; i < SG_ELEMENTSOF(pair); i++) {
                r = sg_group_join(group, path, pair[i]);
                if (r == 0 && mkdir(group, 0755) < 0)
                        r = -errno;
                if (r == 0 && cpuset)
                        r = sg_fs_fill_cpuset(path, group);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int make_dir(struct sg_scope *s, enum sg_hier h, char **why)
{
        _cleanup_free_ char *path = NULL, *cg = NULL;
        int r;

        r = sg_fs_class_make(s->backend, s->class, h, why);
        if (r == 0)
                r = expected_paths(s, h, &path, &cg);
        if (r < 0)
                return r;
        r = mkdir(path, 0755) < 0 ? -errno : 0;
        if (r == -ENOENT) {
                /* Somebody tidied our class away: make it once more. */
                s->class->made &= ~sg_bit(h);
                s->class->weight = 100;
                s->backend->hier[h].base_made = false;
                r = sg_fs_class_make(s->backend, s->class, h, why);
                if (r == 0)
                        r = mkdir(path, 0755) < 0 ? -errno : 0;
        }
        if (r < 0)
                return sg_group_explain(why, r, path, NULL, NULL);
        r = make_pair(s, h, path);
        if (r < 0) {
                (void)sg_group_explain(why, r, path, NULL, NULL);
                (void)sg_group_remove_tree(path);
                return r;
        }
        return add_dir(s, h, TAKE_PTR(path), TAKE_PTR(cg));
}

struct counter {
        const struct sg_scope *scope;
        struct sg_group_mover mover;
        bool in_job;
};

/* Only who isn't there yet, so that a pass without news ends the moving. */
static int move_newcomer(pid_t pid, void *userdata)
{
        struct counter *c = userdata;
        int r = sg_fs_scope_holds(c->scope, pid, c->in_job);

        return r == 0 ? sg_group_move(pid, &c->mover) : 0;
}

static int move_members(struct sg_scope *s, const char *from, const char *to, bool job)
{
        const char *sub = job ? "job" : "keeper";
        char source[PATH_MAX], target[PATH_MAX];
        int r;

        r = sg_group_join(source, from, sub);
        if (r == 0)
                r = sg_group_join(target, to, sub);
        for (unsigned i = 0; r == 0 && i < MOVE_PASSES; i++) {
                struct counter c = {s, {target, 0}, job};

                r = sg_group_foreach_pid(source, move_newcomer, &c);
                if (r == 0 && c.mover.moved == 0)
                        return 0;
        }
        return r < 0 ? r : -EBUSY;
}

int sg_scope_extend(struct sg_scope *s, enum sg_hier h, char **why)
{
        const char *from = sg_scope_dir(s, s->backend->list_hier);
        const char *to;
        int r;

        if (sg_scope_dir(s, h))
                return 0;
        r = make_dir(s, h, why);
        if (r < 0 || !from)
                return r;
        to = sg_scope_dir(s, h);
        r = move_members(s, from, to, false);
        if (r == 0)
                r = move_members(s, from, to, true);
        if (r < 0)
                sg_why(why, "cannot move the job into %s: %s", to, strerror(-r));
        return r;
}

static uint32_t needed_hiers(const struct sg_backend *b, const struct sg_scope_request *req)
{
        uint32_t bits = b->default_hiers | sg_fs_limit_hiers(b, &req->limits);
        enum sg_hier devices = sg_fs_hier_of(b, SG_LIMIT_DEVICES);
        enum sg_hier cpuset = sg_fs_hier_of(b, SG_LIMIT_CPUSET);

        if (sg_device_list_restricts(&req->devices) && devices != SG_HIER_MAX)
                bits |= sg_bit(devices);
        /* It may get CPUs of its own at any time: to move what runs then takes a grace period of
         * the kernel's, up to 20 ms, in which we can do nothing else; a group from the start costs
         * 0.1 ms. */
        if (cpuset != SG_HIER_MAX)
                bits |= sg_bit(cpuset);
        return bits;
}

/* Leaves first, as nearly every scope has just the two. */
static int remove_dir(const char *scope)
{
        char group[PATH_MAX];

        for (size_t i = 0; i < SG_ELEMENTSOF(pair); i++)
                if (sg_group_join(group, scope, pair[i]) == 0)
                        (void)sg_group_rmdir(group);
        return sg_group_remove_tree(scope);
}

static int remove_dirs(struct sg_scope *s)
{
        int first = 0, r;

        for (size_t i = 0; i < s->n_dirs; i++) {
                r = remove_dir(s->dirs[i].path);
                if (r < 0 && first == 0)
                        first = r;
        }
        return first;
}

/* Scope names come from a job's key, whose origin another host may have chosen. */
static int set_name(struct sg_scope *s, const struct sg_scope_request *req)
{
        char attempt[SG_ATTEMPT_NAME_MAX];
        struct sg_job_key key;

        sg_attempt_name_format(attempt, req->key);
        if (strchr(attempt, '/') || sg_attempt_name_parse(attempt, &key) < 0)
                return -EINVAL;
        if (asprintf(&s->name, "schedgov-%s", attempt) < 0) {
                s->name = NULL;
                return -ENOMEM;
        }
        return sg_fs_class_get(s->backend, req->class, &s->class);
}

int sg_fs_scope_new(struct sg_scope *s, const struct sg_scope_request *req, char **ret_why)
{
        const struct sg_backend *b = s->backend;
        uint32_t needed = needed_hiers(b, req);
        int r;

        r = set_name(s, req);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                sg_why(ret_why, "job or class name '%s' can't be the name of a group", req->class);
                return r;
        }
        for (enum sg_hier h = 0; h < SG_HIER_MAX; h++) {
                if (!(needed & sg_bit(h)))
                        continue;
                r = make_dir(s, h, ret_why);
                if (r < 0 && b->default_hiers & sg_bit(h))
                        break;
                r = 0; /* an extra hierarchy: its limit is shown as not enforced */
        }
        if (r == 0)
                (void)sg_fs_class_weight(s->backend, s->class, req->class_weight, ret_why);
        if (r == 0)
                r = sg_fs_apply(s, &req->limits, &req->cpus, false, ret_why);
        if (r < 0) {
                (void)remove_dirs(s);
                return r;
        }
        if (sg_device_list_restricts(&s->devices))
                (void)sg_fs_scope_set_devices(s, NULL, ret_why);
        return 0;
}

/* The directory of a group that /proc/PID/cgroup names, if our mount shows it. */
static char *dir_of_cg(const struct sg_hierarchy *x, const char *cg)
{
        size_t below = strlen(x->own) - strlen(x->mount), root;
        char *path;

        if (below > strlen(x->own_cg))
                return NULL;
        root = strlen(x->own_cg) - below;
        if (strncmp(cg, x->own_cg, root) != 0 || asprintf(&path, "%s%s", x->mount, cg + root) < 0)
                return NULL;
        return path;
}

static int take_first(pid_t pid, void *userdata)
{
        *(pid_t *)userdata = pid;
        return 1;
}

/* The line's group, cut to the scope, if it is one of this scope's. */
static bool cut_to_scope(const struct sg_scope *s, char *cg)
{
        char tail[2 * NAME_MAX];
        char *p;
        int n = snprintf(tail, sizeof(tail), "/schedgov-%s/%s/%s/", s->backend->instance,
                         s->class->name, s->name);

        p = strstr(cg, tail);
        if (!p)
                return false;
        p[n - 1] = 0;
        return true;
}

/* The daemon that made it may have been in another group than we are, in some hierarchies or in
 * all: a process in the scope knows where it is. */
static int adopt_elsewhere(struct sg_scope *s, pid_t shim)
{
        _cleanup_free_ char *text = NULL;
        char proc[32], *rest, *controllers, *cg;
        pid_t pid = shim;
        int h, r;

        if (s->n_dirs > 0)
                (void)sg_group_foreach_pid(s->dirs[0].path, take_first, &pid);
        if (pid <= 0)
                return 0;
        (void)snprintf(proc, sizeof(proc), "/proc/%d/cgroup", pid);
        if (sg_read_file(AT_FDCWD, proc, 65536, &text, NULL) < 0)
                return 0;
        for (rest = text; sg_layout_next_line(&rest, &controllers, &cg);) {
                h = sg_layout_hier_of(controllers);
                if (h < 0 || !s->backend->hier[h].own || sg_scope_dir(s, (enum sg_hier)h) ||
                    !cut_to_scope(s, cg))
                        continue;
                r = add_dir(s, (enum sg_hier)h, dir_of_cg(&s->backend->hier[h], cg), strdup(cg));
                if (r < 0)
                        return r;
        }
        return 0;
}

int sg_fs_scope_adopt(struct sg_scope *s, const struct sg_scope_request *req)
{
        struct sg_backend *b = s->backend;
        struct sg_limits limits = req->limits;
        struct sg_cpuset cpus;
        int r;

        r = set_name(s, req);
        for (enum sg_hier h = 0; r == 0 && h < SG_HIER_MAX; h++) {
                _cleanup_free_ char *path = NULL, *cg = NULL;

                if (!b->hier[h].usable)
                        continue;
                r = expected_paths(s, h, &path, &cg);
                if (r == 0 && access(path, F_OK) == 0) {
                        s->class->made |= sg_bit(h);
                        r = add_dir(s, h, TAKE_PTR(path), TAKE_PTR(cg));
                }
        }
        if (r == 0)
                r = adopt_elsewhere(s, req->shim);
        if (r == 0 && s->n_dirs == 0)
                r = -ENOENT;
        if (r < 0)
                return r;
        (void)sg_fs_class_weight(b, s->class, req->class_weight, NULL);
        cpus = sg_fs_scope_cpus(s);
        limits.pin = true;
        r = sg_fs_apply(s, &limits, &cpus, true, NULL);
        if (r == -ENOMEM)
                return r;
        if (!req->devices_stay)
                s->devices_known = sg_fs_scope_set_devices(s, NULL, NULL) >= 0;
        return 0;
}

/* A group below another base than the present one: take that base along if nothing else
 * is there. */
static void remove_foreign_base(const struct sg_backend *b, const struct sg_group_dir *d)
{
        _cleanup_free_ char *path = strdup(d->path);
        const char *base = b->hier[d->hier].base;

        if (!path || strncmp(path, base, strlen(base)) == 0)
                return;
        for (int i = 0; i < 2; i++) {
                *strrchr(path, '/') = 0;
                (void)sg_group_rmdir(path);
        }
}

int sg_fs_scope_remove(struct sg_scope *s)
{
        int r = 0;

        /* Looked at first, so that a living scope doesn't lose half of its groups. */
        for (size_t i = 0; i < s->n_dirs; i++) {
                if (s->dirs[i].hier == s->backend->list_hier || s->n_dirs == 1)
                        r = sg_group_populated(s->dirs[i].path);
                if (r != 0)
                        return r < 0 ? r : -EBUSY;
        }
        (void)sg_fs_net_id(s); /* while there is a group to ask */
        r = remove_dirs(s);
        if (r < 0)
                return r == -ENOTEMPTY ? -EBUSY : r;
        sg_fs_net_forget(s);
        for (size_t i = 0; i < s->n_dirs; i++)
                remove_foreign_base(s->backend, &s->dirs[i]);
        return 0;
}

int sg_fs_scope_move(struct sg_scope *s, pid_t pid, bool into_job)
{
        char group[PATH_MAX], text[16];
        int r;

        (void)snprintf(text, sizeof(text), "%d", pid);
        for (size_t i = 0; i < s->n_dirs; i++) {
                r = sg_group_join(group, s->dirs[i].path, into_job ? "job" : "keeper");
                if (r == 0)
                        r = sg_group_write(group, "cgroup.procs", text);
                if (r < 0)
                        return r;
        }
        return 0;
}

int sg_fs_scope_holds(const struct sg_scope *s, pid_t pid, bool in_job)
{
        _cleanup_free_ char *text = NULL;
        char proc[32], *rest, *controllers, *cg;
        size_t found = 0;
        int h, r;

        (void)snprintf(proc, sizeof(proc), "/proc/%d/cgroup", pid);
        r = sg_read_file(AT_FDCWD, proc, 65536, &text, NULL);
        if (r < 0)
                return r == -ENOENT ? -ESRCH : r;
        for (rest = text; sg_layout_next_line(&rest, &controllers, &cg);) {
                h = sg_layout_hier_of(controllers);
                for (size_t i = 0; h >= 0 && i < s->n_dirs; i++)
                        if ((int)s->dirs[i].hier == h)
                                found += sg_group_is_in(cg, s->cg[i], in_job ? "job" : "keeper",
                                                        in_job);
        }
        return found == s->n_dirs;
}
