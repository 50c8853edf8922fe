/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/place/device.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool same_node(const struct sg_device_rule *a, const struct sg_device_rule *b)
{
        return a->type == b->type && a->major == b->major && a->minor == b->minor;
}

static bool same_rule(const struct sg_device_rule *a, const struct sg_device_rule *b)
{
        return same_node(a, b) && strncmp(a->access, b->access, sizeof(a->access)) == 0;
}

static bool same_other(const struct sg_device_other *a, const struct sg_device_other *b)
{
        return same_rule(&a->rule, &b->rule) && strcmp(a->name, b->name) == 0;
}

static void *copy_array(const void *from, size_t n, size_t size)
{
        void *to = calloc(n ?: 1, size);

        if (to && n > 0)
                memcpy(to, from, n * size);
        return to;
}

int sg_device_guard_new(struct sg_device_guard **ret, const struct sg_device_rule *guarded,
                        size_t n_guarded, const struct sg_device_other *others, size_t n_others)
{
        struct sg_device_guard *g = calloc(1, sizeof(*g));

        if (!g)
                return -ENOMEM;
        *g = (struct sg_device_guard){
                .n_refs = 1,
                .guarded = copy_array(guarded, n_guarded, sizeof(*guarded)),
                .n_guarded = n_guarded,
                .others = copy_array(others, n_others, sizeof(*others)),
                .n_others = n_others,
        };
        if (!g->guarded || !g->others) {
                sg_device_guard_unref(g);
                return -ENOMEM;
        }
        *ret = g;
        return 0;
}

struct sg_device_guard *sg_device_guard_ref(struct sg_device_guard *g)
{
        if (g)
                g->n_refs++;
        return g;
}

struct sg_device_guard *sg_device_guard_unref(struct sg_device_guard *g)
{
        if (!g || --g->n_refs > 0)
                return NULL;
        free(g->guarded);
        free(g->others);
        free(g);
        return NULL;
}

static bool guards_same(const struct sg_device_guard *a, const struct sg_device_guard *b)
{
        bool same = a == b || (a && b && a->n_guarded == b->n_guarded);

        for (size_t i = 0; same && a != b && i < a->n_guarded; i++)
                same = same_rule(&a->guarded[i], &b->guarded[i]);
        return same;
}

bool sg_device_guard_equal(const struct sg_device_guard *a, const struct sg_device_guard *b)
{
        bool same = guards_same(a, b) && (a == b || a->n_others == b->n_others);

        for (size_t i = 0; same && a != b && i < a->n_others; i++)
                same = same_other(&a->others[i], &b->others[i]);
        return same;
}

static bool overlap(int32_t a, int32_t b)
{
        return a < 0 || b < 0 || a == b;
}

bool sg_device_guard_covers(const struct sg_device_guard *g, char type, int32_t major,
                            int32_t minor)
{
        for (size_t i = 0; i < g->n_guarded; i++) {
                const struct sg_device_rule *r = &g->guarded[i];

                if (r->type == type && overlap(r->major, major) && overlap(r->minor, minor))
                        return true;
        }
        return false;
}

/* What either allows. */
static void unite_access(char access[4], const char other[4])
{
        char both[4] = "";
        size_t n = 0;

        for (const char *p = "rwm"; *p; p++)
                if (memchr(access, *p, sizeof(both)) || memchr(other, *p, sizeof(both)))
                        both[n++] = *p;
        memcpy(access, both, sizeof(both));
}

/* There is room for it. */
static void add(struct sg_device_list *d, const struct sg_device_rule *rule)
{
        for (size_t i = 0; i < d->n; i++)
                if (same_node(&d->rules[i], rule)) {
                        unite_access(d->rules[i].access, rule->access);
                        return;
                }
        d->rules[d->n++] = *rule;
}

int sg_device_list_of_job(struct sg_device_list *ret, const struct sg_device_list *class,
                          const struct sg_device_rule *granted, size_t n_granted)
{
        struct sg_device_list d = {.closed = class->closed};
        bool restricts = sg_device_list_restricts(class);
        size_t most = restricts ? class->n + n_granted : 0;

        if (most > 0) {
                d.rules = calloc(most, sizeof(*d.rules));
                if (!d.rules)
                        return -ENOMEM;
        }
        for (size_t i = 0; restricts && i < class->n; i++)
                add(&d, &class->rules[i]);
        for (size_t i = 0; restricts && i < n_granted; i++)
                add(&d, &granted[i]);
        if (!d.closed)
                d.guard = sg_device_guard_ref(class->guard);
        *ret = d;
        return 0;
}

int sg_device_list_copy(struct sg_device_list *ret, const struct sg_device_list *d)
{
        return sg_device_list_of_job(ret, d, NULL, 0);
}

void sg_device_list_deinit(struct sg_device_list *d)
{
        free(d->rules);
        sg_device_guard_unref(d->guard);
        *d = (struct sg_device_list){0};
}

bool sg_device_list_restricts(const struct sg_device_list *d)
{
        return d->closed || d->guard;
}

int sg_device_list_close(struct sg_device_list *ret, const struct sg_device_list *d)
{
        struct sg_device_list closed = {.closed = true};
        size_t n_others = d->guard ? d->guard->n_others : 0;

        if (d->n + n_others > 0) {
                closed.rules = calloc(d->n + n_others, sizeof(*closed.rules));
                if (!closed.rules)
                        return -ENOMEM;
        }
        for (size_t i = 0; i < d->n; i++)
                add(&closed, &d->rules[i]);
        for (size_t i = 0; i < n_others; i++)
                add(&closed, &d->guard->others[i].rule);
        *ret = closed;
        return 0;
}

bool sg_device_list_has(const struct sg_device_list *d, const struct sg_device_rule *rule)
{
        for (size_t i = 0; i < d->n; i++)
                if (same_rule(&d->rules[i], rule))
                        return true;
        return false;
}

bool sg_device_list_denies_same(const struct sg_device_list *a, const struct sg_device_list *b)
{
        bool same = a->closed == b->closed && a->n == b->n && guards_same(a->guard, b->guard);

        for (size_t i = 0; same && i < a->n; i++)
                same = sg_device_list_has(b, &a->rules[i]) && sg_device_list_has(a, &b->rules[i]);
        return same;
}

bool sg_device_list_equal(const struct sg_device_list *a, const struct sg_device_list *b)
{
        return sg_device_list_denies_same(a, b) && sg_device_guard_equal(a->guard, b->guard);
}
