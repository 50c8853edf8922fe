/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The backends' front: chooses one, owns the objects, passes calls on. */

#include "edge/cgroup-internal.h"
#include "edge/cgroup-layout.h"
#include <errno.h>
#include <string.h>

#define INSTANCE_MAX 32

const char *sg_limit_kind_to_string(enum sg_limit_kind k)
{
        static const char *const names[_SG_LIMIT_MAX] = {
                [SG_LIMIT_CPU_WEIGHT] = "cpu_weight", [SG_LIMIT_CPU_QUOTA] = "cpu_quota",
                [SG_LIMIT_CPUSET] = "cpus",           [SG_LIMIT_MEMORY_HIGH] = "memory_high",
                [SG_LIMIT_MEMORY_MAX] = "memory_max", [SG_LIMIT_TASKS] = "tasks_max",
                [SG_LIMIT_IO_WEIGHT] = "io_weight",   [SG_LIMIT_DEVICES] = "devices",
                [SG_LIMIT_FREEZE] = "freeze",
        };

        return k < _SG_LIMIT_MAX ? names[k] : NULL;
}

static bool instance_valid(const char *s)
{
        size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789");

        return n > 0 && n <= INSTANCE_MAX && !s[n];
}

static int start(struct sg_backend *b, const struct sg_backend_ops *ops, char **ret_why)
{
        int r;

        b->ops = ops;
        sg_layout_deinit(b->hier);
        r = ops->start(b, ret_why);
        if (r < 0)
                ops->stop(b);
        return r;
}

static int choose(struct sg_backend *b, const char *wanted, char **why)
{
        int r = -EINVAL;

        if (!wanted || strcmp(wanted, "cgroupfs") == 0)
                r = start(b, &sg_cgroupfs_ops, why);
        else if (strcmp(wanted, "observe") == 0)
                return start(b, &sg_observe_ops, why);
        else
                sg_why(why, "no backend '%s': use cgroupfs or observe", wanted);
        if (r < 0 && r != -ENOMEM && !wanted)
                r = start(b, &sg_observe_ops, why);
        return r;
}

static int backend_new(struct sg_backend **ret, const char *wanted, const char *instance,
                       char **why)
{
        struct sg_backend *b;
        int r;

        if (!instance_valid(instance)) {
                sg_why(why, "instance '%s' is not a word of at most %d of a-z and 0-9", instance,
                       INSTANCE_MAX);
                return -EINVAL;
        }
        b = calloc(1, sizeof(*b));
        if (!b)
                return -ENOMEM;
        sg_list_init(&b->classes);
        b->instance = strdup(instance);
        r = b->instance ? choose(b, wanted, why) : -ENOMEM;
        if (r < 0) {
                b->ops = NULL; /* stopped already */
                (void)sg_backend_free(b);
                return r;
        }
        *ret = b;
        return 0;
}

int sg_backend_new(struct sg_backend **ret, const char *wanted, const char *instance,
                   char **ret_why)
{
        /* The description of `observe` says why, also where the caller doesn't ask. */
        _cleanup_free_ char *why = NULL;
        int r;

        r = backend_new(ret, wanted, instance, &why);
        if (ret_why)
                *ret_why = TAKE_PTR(why);
        return r;
}

struct sg_backend *sg_backend_free(struct sg_backend *b)
{
        struct sg_class *c, *next;

        if (!b)
                return NULL;
        if (b->ops)
                b->ops->stop(b);
        sg_list_foreach_safe (c, next, &b->classes, list) {
                sg_list_remove(&c->list);
                free(c);
        }
        free(b->leftovers);
        free(b->describe);
        free(b->instance);
        free(b);
        return NULL;
}

const char *sg_backend_name(const struct sg_backend *b)
{
        return b->ops->name;
}

const char *sg_backend_describe(const struct sg_backend *b)
{
        return b->describe;
}

uint32_t sg_backend_unenforced(const struct sg_backend *b)
{
        return b->unenforced;
}

static struct sg_scope *scope_alloc(struct sg_backend *b)
{
        struct sg_scope *s = calloc(1, sizeof(*s));

        if (!s)
                return NULL;
        s->backend = b;
        /* What the kernel gives a new group. */
        s->limits = (struct sg_limits){
                .cpu_weight = 100,
                .cpu_quota_pm = SG_UNLIMITED,
                .memory_high = SG_UNLIMITED,
                .memory_max = SG_UNLIMITED,
                .tasks_max = SG_UNLIMITED,
                .io_weight = 100,
        };
        return s;
}

int sg_scope_new(struct sg_scope **ret, struct sg_backend *b, const struct sg_scope_request *req,
                 char **ret_why)
{
        struct sg_scope *s = scope_alloc(b);
        int r;

        if (!s)
                return -ENOMEM;
        r = b->ops->scope_new(s, req, ret_why);
        if (r < 0) {
                (void)sg_scope_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

int sg_scope_adopt(struct sg_scope **ret, struct sg_backend *b, const struct sg_scope_request *req)
{
        struct sg_scope *s = scope_alloc(b);
        int r;

        if (!s)
                return -ENOMEM;
        r = b->ops->scope_adopt(s, req);
        if (r < 0) {
                (void)sg_scope_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

struct sg_scope *sg_scope_free(struct sg_scope *s)
{
        if (!s)
                return NULL;
        for (size_t i = 0; i < s->n_dirs; i++) {
                free(s->dirs[i].path);
                free(s->cg[i]);
        }
        free(s);
        return NULL;
}

int sg_scope_remove(struct sg_scope *s)
{
        return s->backend->ops->scope_remove(s);
}

const struct sg_group_dir *sg_scope_dirs(const struct sg_scope *s, size_t *ret_n)
{
        *ret_n = s->n_dirs;
        return s->dirs;
}

uint32_t sg_scope_unenforced(const struct sg_scope *s)
{
        return s->unenforced;
}

int sg_scope_move(struct sg_scope *s, pid_t pid, bool into_job)
{
        return s->backend->ops->scope_move(s, pid, into_job);
}

int sg_scope_holds(const struct sg_scope *s, pid_t pid, bool in_job)
{
        return s->backend->ops->scope_holds(s, pid, in_job);
}

int sg_scope_set_limits(struct sg_scope *s, const struct sg_limits *l, const struct sg_cpuset *cpus,
                        char **ret_why)
{
        return s->backend->ops->scope_set_limits(s, l, cpus, ret_why);
}

int sg_scope_freeze(struct sg_scope *s, bool frozen)
{
        return s->backend->ops->scope_freeze(s, frozen);
}

int sg_scope_frozen(const struct sg_scope *s)
{
        return s->backend->ops->scope_frozen(s);
}

int sg_scope_signal(struct sg_scope *s, int sig)
{
        return s->backend->ops->scope_signal(s, sig);
}

int sg_scope_populated(const struct sg_scope *s)
{
        return s->backend->ops->scope_populated(s);
}

void sg_scope_counters(struct sg_scope *s, struct sg_counters *ret)
{
        s->backend->ops->scope_counters(s, ret);
}

int sg_backend_sweep(struct sg_backend *b, sg_owned_cb owned, void *userdata)
{
        return b->ops->sweep(b, owned, userdata);
}
