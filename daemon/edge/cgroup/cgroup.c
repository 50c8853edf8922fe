/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The backends' front: chooses one, owns the objects, passes calls on. */

#include "edge/cgroup/backend.h"
#include "edge/cgroup/layout.h"
#include "edge/cgroup/systemd/systemd.h"
#include <errno.h>
#include <string.h>

#define INSTANCE_MAX 32

_Static_assert(sizeof(struct sg_scope) <= 256, "there are thousands of them");

static bool instance_valid(const char *s)
{
        size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789");

        return n > 0 && n <= INSTANCE_MAX && !s[n];
}

static int start(struct sg_backend *b, const struct sg_backend_ops *ops,
                 const struct sg_backend_options *o, char **ret_why)
{
        int r;

        b->ops = ops;
        sg_layout_deinit(b->hier);
        r = ops->start(b, o, ret_why);
        if (r < 0)
                ops->stop(b);
        return r;
}

/* In order of preference. */
static const struct sg_backend_ops *const all_ops[] = {&sg_systemd_ops, &sg_cgroupfs_ops,
                                                       &sg_observe_ops};

static int choose(struct sg_backend *b, const struct sg_backend_options *o, char **why)
{
        int r = -EINVAL;

        for (size_t i = 0; i < SG_ELEMENTSOF(all_ops); i++) {
                if (o->wanted ? strcmp(o->wanted, all_ops[i]->name) != 0
                              : all_ops[i] == &sg_systemd_ops && !o->event)
                        continue;
                r = start(b, all_ops[i], o, why);
                if (r >= 0 || r == -ENOMEM || o->wanted)
                        return r;
                /* Not a failure, but another kind of host: the reason why nothing better works is
                 * still to come. */
                if (r == -ENOSYS) {
                        free(*why);
                        *why = NULL;
                }
        }
        if (o->wanted)
                sg_why(why, "no backend '%s': use systemd, cgroupfs or observe", o->wanted);
        return r;
}

static int backend_new(struct sg_backend **ret, const struct sg_backend_options *o, char **why)
{
        const char *instance = o->instance;
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
        r = b->instance ? choose(b, o, why) : -ENOMEM;
        if (r < 0) {
                b->ops = NULL; /* stopped already */
                (void)sg_backend_free(b);
                return r;
        }
        *ret = b;
        return 0;
}

int sg_backend_new(struct sg_backend **ret, const struct sg_backend_options *o, char **ret_why)
{
        /* The description of `observe` says why, also where the caller doesn't ask. */
        _cleanup_free_ char *why = NULL;
        int r;

        r = backend_new(ret, o, &why);
        if (ret_why)
                *ret_why = TAKE_PTR(why);
        return r;
}

struct sg_backend *sg_backend_free(struct sg_backend *b)
{
        struct sg_class_group *c, *next;

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

struct sg_class_group *sg_class_group_find(const struct sg_backend *b, const char *name)
{
        struct sg_class_group *c;

        sg_list_foreach (c, &b->classes, list)
                if (strcmp(c->name, name) == 0)
                        return c;
        return NULL;
}

int sg_class_group_get(struct sg_backend *b, const char *name, struct sg_class_group **ret)
{
        struct sg_class_group *c;

        if (strlen(name) > SG_CLASS_NAME_MAX)
                return -EINVAL;
        c = sg_class_group_find(b, name);
        if (c) {
                *ret = c;
                return 0;
        }
        c = calloc(1, sizeof(*c));
        if (!c)
                return -ENOMEM;
        strcpy(c->name, name);
        c->weight = 100;
        sg_list_append(&b->classes, &c->list);
        *ret = c;
        return 0;
}

static struct sg_scope *scope_alloc(struct sg_backend *b)
{
        struct sg_scope *s = calloc(1, sizeof(*s));

        if (!s)
                return NULL;
        s->backend = b;
        s->ops = b->ops;
        sg_limits_default(&s->limits); /* what the kernel gives a new group */
        return s;
}

int sg_scope_new(struct sg_scope **ret, struct sg_backend *b, const struct sg_scope_request *req,
                 char **ret_why)
{
        struct sg_scope *s = scope_alloc(b);
        int r;

        if (!s)
                return -ENOMEM;
        s->devices_known = true;
        r = sg_device_list_copy(&s->devices, &req->devices);
        if (r >= 0)
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
        r = sg_device_list_copy(&s->devices, &req->devices);
        if (r >= 0)
                r = b->ops->scope_adopt(s, req);
        if (r < 0) {
                (void)sg_scope_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

/* Where a hierarchy is mounted from its root the one path is the end of the other, and both are
 * kept as one string: with thousands of jobs that is a good part of all memory. */
static char *share(char *path, char *cg)
{
        size_t n = strlen(path), m = cg ? strlen(cg) : SIZE_MAX;

        if (m > n || strcmp(path + n - m, cg) != 0)
                return cg;
        free(cg);
        return path + n - m;
}

static int make_room(struct sg_scope *s)
{
        struct sg_group_dir *dirs = reallocarray(s->dirs, s->n_dirs + 1, sizeof(*dirs));
        char **cg;

        if (!dirs)
                return -ENOMEM;
        s->dirs = dirs;
        cg = reallocarray(s->cg, s->n_dirs + 1, sizeof(char *));
        if (!cg)
                return -ENOMEM;
        s->cg = cg;
        return 0;
}

int sg_scope_put_dir(struct sg_scope *s, enum sg_hier h, char *path, char *cg)
{
        int r = make_room(s);

        if (r < 0) {
                free(path);
                free(cg);
                return r;
        }
        s->dirs[s->n_dirs] = (struct sg_group_dir){h, path};
        s->cg[s->n_dirs++] = share(path, cg);
        return 0;
}

void sg_scope_drop_dir(struct sg_scope *s, size_t i)
{
        char *path = s->dirs[i].path, *cg = s->cg[i];

        if (cg && (cg < path || cg > path + strlen(path)))
                free(cg);
        free(path);
}

struct sg_scope *sg_scope_free(struct sg_scope *s)
{
        if (!s)
                return NULL;
        if (s->ops->scope_free)
                s->ops->scope_free(s);
        for (size_t i = 0; i < s->n_dirs; i++)
                sg_scope_drop_dir(s, i);
        free(s->dirs);
        free(s->cg);
        free(s->name);
        sg_device_list_deinit(&s->devices);
        free(s);
        return NULL;
}

bool sg_backend_gives_turns(const struct sg_backend *b)
{
        return b->ops->scope_place;
}

bool sg_scope_wants_place(const struct sg_scope *s)
{
        return s->ops->scope_place && s->n_dirs == 0;
}

int sg_scope_place(struct sg_scope *s, const struct sg_scope_placing *p)
{
        return sg_scope_wants_place(s) ? s->ops->scope_place(s, p) : 0;
}

int sg_scope_begin(struct sg_scope *s, const struct sg_limits *l, const struct sg_cpuset *cpus)
{
        return s->ops->scope_begin(s, l, cpus);
}

int sg_scope_remove(struct sg_scope *s)
{
        return s->ops->scope_remove(s);
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

struct sg_cpuset sg_scope_cpus(const struct sg_scope *s)
{
        return s->cpus ? *s->cpus : (struct sg_cpuset){0};
}

int sg_scope_move(struct sg_scope *s, pid_t pid, bool into_job)
{
        return s->ops->scope_move(s, pid, into_job);
}

int sg_scope_holds(const struct sg_scope *s, pid_t pid, bool in_job)
{
        return s->ops->scope_holds(s, pid, in_job);
}

int sg_scope_set_limits(struct sg_scope *s, const struct sg_limits *l, const struct sg_cpuset *cpus,
                        sg_scope_done_cb done, void *userdata, char **ret_why)
{
        if (s->ops->scope_ask_limits)
                return s->ops->scope_ask_limits(s, l, cpus, done, userdata, ret_why);
        return s->ops->scope_set_limits(s, l, cpus, ret_why);
}

int sg_scope_set_devices(struct sg_scope *s, const struct sg_device_list *d, char **ret_why)
{
        struct sg_device_list old = s->devices, fresh;
        int r;

        if ((s->devices_known && sg_device_list_equal(&old, d)) || !s->ops->scope_set_devices)
                return 0;
        r = sg_device_list_copy(&fresh, d);
        if (r < 0)
                return r;
        s->devices = fresh;
        r = s->ops->scope_set_devices(s, s->devices_known ? &old : NULL, ret_why);
        if (r < 0) { /* so that it is tried again */
                s->devices = old;
                sg_device_list_deinit(&fresh);
                return r;
        }
        s->devices_known = true;
        sg_device_list_deinit(&old);
        return 0;
}

int sg_backend_set_class_weight(struct sg_backend *b, const char *class, uint64_t weight,
                                char **ret_why)
{
        return b->ops->class_set_weight ? b->ops->class_set_weight(b, class, weight, ret_why) : 0;
}

int sg_scope_freeze(struct sg_scope *s, bool frozen)
{
        return s->ops->scope_freeze(s, frozen);
}

int sg_scope_frozen(const struct sg_scope *s)
{
        return s->ops->scope_frozen(s);
}

int sg_scope_signal(struct sg_scope *s, int sig)
{
        return s->ops->scope_signal(s, sig, NULL);
}

int sg_scope_signal_as(struct sg_scope *s, int sig, uid_t uid)
{
        return s->ops->scope_signal(s, sig, &uid);
}

int sg_scope_populated(const struct sg_scope *s)
{
        return s->ops->scope_populated(s);
}

void sg_scope_counters(struct sg_scope *s, struct sg_counters *ret)
{
        s->ops->scope_counters(s, ret);
}

int sg_scope_net(struct sg_scope *s, uint64_t *ret_rx, uint64_t *ret_tx)
{
        return s->ops->scope_net ? s->ops->scope_net(s, ret_rx, ret_tx) : -ENODATA;
}

int sg_backend_sweep(struct sg_backend *b, sg_owned_cb owned, void *userdata)
{
        return b->ops->sweep(b, owned, userdata);
}
