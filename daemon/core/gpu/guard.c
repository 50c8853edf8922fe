/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What all jobs are kept from, and what else there is. */

#include "base/cleanup.h"
#include "core/gpu/nodes-internal.h"
#include <errno.h>
#include <string.h>

struct guarded {
        struct sg_device_rule *list;
        size_t n;
};

static bool covers(const struct guarded *g, int32_t major, int32_t minor)
{
        const struct sg_device_guard guard = {.guarded = g->list, .n_guarded = g->n};

        return sg_device_guard_covers(&guard, 'c', major, minor);
}

static void guard_node(struct guarded *g, int32_t major, int32_t minor)
{
        /* A whole driver comes before its nodes, and takes them along. */
        if (minor < 0 || !covers(g, major, minor))
                g->list[g->n++] = (struct sg_device_rule){'c', major, minor, "rwm"};
}

static void guard_major(struct guarded *g, int32_t major)
{
        for (size_t i = 0; i < g->n; i++)
                if (g->list[i].major == major && g->list[i].minor < 0)
                        return;
        guard_node(g, major, -1);
}

/* Also before anything is known of the GPUs: by what drives them. */
static bool is_of_gpu(const struct sg_drm_node *node, const struct sg_gpu_inventory *inventory)
{
        for (size_t i = 0; inventory && node->bus_id[0] && i < inventory->n; i++)
                if (strcmp(node->bus_id, inventory->gpus[i].bus_id) == 0)
                        return true;
        return sg_gpu_is_module(node->driver);
}

static bool is_somebodys(const struct sg_gpu_devices *d, const struct sg_device_rule *rule)
{
        if (rule->minor < 0) {
                for (size_t i = 0; i < d->n_drivers; i++)
                        if (d->drivers[i].major == rule->major)
                                return true;
                return false;
        }
        for (size_t i = 0; i < d->n_drm; i++)
                if (d->drm[i].major == rule->major && d->drm[i].minor == rule->minor)
                        return true;
        return false;
}

static int by_number(const void *a, const void *b)
{
        const struct sg_device_rule *x = a, *y = b;

        if (x->major != y->major)
                return x->major < y->major ? -1 : 1;
        return (x->minor > y->minor) - (x->minor < y->minor);
}

static void collect_guarded(struct guarded *g, const struct sg_gpu_devices *d,
                            const struct sg_gpu_inventory *inventory,
                            const struct sg_device_guard *before)
{
        int32_t major;

        for (size_t i = 0; (major = sg_gpu_assigned_major(i)) >= 0; i++)
                guard_major(g, major);
        for (size_t i = 0; i < d->n_drivers; i++)
                if (sg_gpu_is_driver(d->drivers[i].name))
                        guard_major(g, d->drivers[i].major);
        for (size_t i = 0; before && i < before->n_guarded; i++)
                if (before->guarded[i].minor < 0 && !is_somebodys(d, &before->guarded[i]))
                        guard_major(g, before->guarded[i].major);
        for (size_t i = 0; i < d->n_drm; i++)
                if (is_of_gpu(&d->drm[i], inventory))
                        guard_node(g, d->drm[i].major, d->drm[i].minor);
        for (size_t i = 0; before && i < before->n_guarded; i++)
                if (before->guarded[i].minor >= 0 && !is_somebodys(d, &before->guarded[i]))
                        guard_node(g, before->guarded[i].major, before->guarded[i].minor);
        qsort(g->list, g->n, sizeof(*g->list), by_number);
}

/* --- what else there is */

/* As char-NAME, where NAME is a pattern and a number is a major. */
static bool can_be_said(const char *name)
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
                          signs[] = "0123456789-_./:+@,";
        size_t n = strspn(name, signs);

        if (name[n] == '\0') /* no letter */
                return false;
        while (name[n] && (strchr(letters, name[n]) || strchr(signs, name[n])))
                n++;
        return name[n] == '\0';
}

static bool has_guarded_major(const struct sg_gpu_devices *d, const struct guarded *g,
                              const char *name)
{
        for (size_t i = 0; i < d->n_drivers; i++)
                if (strcmp(d->drivers[i].name, name) == 0 && covers(g, d->drivers[i].major, -1))
                        return true;
        return false;
}

static size_t collect_others(struct sg_device_other *others, const struct sg_gpu_devices *d,
                             const struct guarded *g)
{
        size_t n = 0;

        for (size_t i = 0; i < d->n_drivers; i++) {
                const struct sg_driver *driver = &d->drivers[i];

                if (covers(g, driver->major, -1))
                        continue;
                others[n].rule = (struct sg_device_rule){'c', driver->major, -1, "rwm"};
                if (can_be_said(driver->name) && !has_guarded_major(d, g, driver->name))
                        strcpy(others[n].name, driver->name);
                n++;
        }
        /* Of drivers with nodes on either side. */
        for (size_t i = 0; i < d->n_drm; i++) {
                const struct sg_drm_node *node = &d->drm[i];

                if (covers(g, node->major, -1) && !covers(g, node->major, node->minor))
                        others[n++].rule =
                                (struct sg_device_rule){'c', node->major, node->minor, "rwm"};
        }
        others[n++].rule = (struct sg_device_rule){'b', -1, -1, "rwm"};
        return n;
}

static size_t count_assigned(void)
{
        size_t n = 0;

        while (sg_gpu_assigned_major(n) >= 0)
                n++;
        return n;
}

int sg_gpu_guard(struct sg_device_guard **ret, const struct sg_gpu_devices *d,
                 const struct sg_gpu_inventory *inventory, struct sg_device_guard *before)
{
        size_t most = count_assigned() + d->n_drivers + d->n_drm;
        _cleanup_free_ struct sg_device_rule *list = NULL;
        _cleanup_free_ struct sg_device_other *others = NULL;
        struct sg_device_guard *fresh;
        struct guarded g = {0};
        int r;

        list = calloc(most + (before ? before->n_guarded : 0), sizeof(*list));
        others = calloc(most + 1, sizeof(*others));
        if (!list || !others)
                return -ENOMEM;
        g.list = list;
        collect_guarded(&g, d, inventory, before);
        r = sg_device_guard_new(&fresh, list, g.n, others, collect_others(others, d, &g));
        if (r < 0)
                return r;
        if (!sg_device_guard_equal(fresh, before)) {
                *ret = fresh;
                return 1;
        }
        sg_device_guard_unref(fresh);
        *ret = sg_device_guard_ref(before);
        return 0;
}
