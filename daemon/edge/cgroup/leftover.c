/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Leftovers: groups of this instance from an earlier run. Only names that we would have given are
 * touched (base/CLASS/schedgov-ATTEMPT), only by rmdir(2), and a scope only when none of its
 * hierarchies holds a process, so that what still runs can be adopted whole.
 */

#include "edge/cgroup/fs.h"
#include "edge/cgroup/group.h"
#include <errno.h>
#include <string.h>

#define SCOPE_PREFIX "schedgov-"

struct visit {
        struct sg_backend *b;
        const char *base;
        const char *class;
        int (*scope)(struct sg_backend *b, const char *class, const char *attempt);
};

static int visit_scope(const char *name, void *userdata)
{
        const struct visit *v = userdata;
        struct sg_job_key key;
        size_t n = strlen(SCOPE_PREFIX);

        if (strncmp(name, SCOPE_PREFIX, n) != 0 || sg_attempt_name_parse(name + n, &key) < 0)
                return 0;
        return v->scope(v->b, v->class, name + n);
}

static int visit_class(const char *name, void *userdata)
{
        const struct visit *v = userdata;
        struct visit below = *v;
        char path[PATH_MAX];
        int r;

        if (strcmp(name, "daemon") == 0)
                return 0;
        r = sg_group_join(path, v->base, name);
        if (r < 0)
                return r;
        below.class = name;
        return sg_group_foreach_child(path, visit_scope, &below);
}

static int remember(struct sg_backend *b, const char *class, const char *attempt)
{
        struct sg_leftover *l;

        for (size_t i = 0; i < b->n_leftovers; i++)
                if (strcmp(b->leftovers[i].attempt, attempt) == 0 &&
                    strcmp(b->leftovers[i].class, class) == 0)
                        return 0;
        l = realloc(b->leftovers, (b->n_leftovers + 1) * sizeof(*l));
        if (!l)
                return -ENOMEM;
        b->leftovers = l;
        l += b->n_leftovers++;
        *l = (struct sg_leftover){};
        (void)snprintf(l->attempt, sizeof(l->attempt), "%s", attempt);
        (void)snprintf(l->class, sizeof(l->class), "%s", class);
        return 0;
}

static int leftover_path(char path[PATH_MAX], const struct sg_hierarchy *h,
                         const struct sg_leftover *l)
{
        int n = snprintf(path, PATH_MAX, "%s/%s/" SCOPE_PREFIX "%s", h->base, l->class, l->attempt);

        return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static bool leftover_populated(const struct sg_backend *b, const struct sg_leftover *l)
{
        char path[PATH_MAX];

        for (enum sg_hier h = 0; h < SG_HIER_MAX; h++)
                if (b->hier[h].base && leftover_path(path, &b->hier[h], l) == 0 &&
                    access(path, F_OK) == 0 && sg_group_populated(path) != 0)
                        return true;
        return false;
}

static void leftover_remove(const struct sg_backend *b, const struct sg_leftover *l)
{
        char path[PATH_MAX];

        for (enum sg_hier h = 0; h < SG_HIER_MAX; h++)
                if (b->hier[h].base && leftover_path(path, &b->hier[h], l) == 0)
                        (void)sg_group_remove_tree(path);
}

int sg_fs_sweep(struct sg_backend *b, sg_owned_cb owned, void *userdata)
{
        size_t kept = 0;

        for (size_t i = 0; i < b->n_leftovers; i++) {
                struct sg_leftover *l = &b->leftovers[i];

                if (owned && owned(l->attempt, userdata))
                        continue;
                if (leftover_populated(b, l))
                        b->leftovers[kept++] = *l;
                else
                        leftover_remove(b, l);
        }
        b->n_leftovers = kept;
        return (int)kept;
}

struct sweep {
        const struct sg_backend *b;
        enum sg_hier h;
};

/* rmdir refuses a class that still has a scope. */
static int remove_class(const char *name, void *userdata)
{
        const struct sweep *s = userdata;
        char path[PATH_MAX];

        if (strcmp(name, "daemon") != 0 && sg_group_join(path, s->b->hier[s->h].base, name) == 0)
                (void)sg_group_remove_kept(s->b, s->h, path);
        return 0;
}

int sg_fs_collect(struct sg_backend *b)
{
        int r;

        b->n_leftovers = 0;
        for (enum sg_hier h = 0; h < SG_HIER_MAX; h++) {
                struct visit v = {.b = b, .base = b->hier[h].base, .scope = remember};

                r = v.base ? sg_group_foreach_child(v.base, visit_class, &v) : 0;
                if (r == -ENOMEM)
                        return r;
        }
        (void)sg_fs_sweep(b, NULL, NULL);
        for (enum sg_hier h = 0; h < SG_HIER_MAX; h++)
                if (b->hier[h].base) {
                        (void)sg_group_foreach_child(b->hier[h].base, remove_class,
                                                     &(struct sweep){b, h});
                        (void)sg_group_rmdir(b->hier[h].base);
                }
        return 0;
}
