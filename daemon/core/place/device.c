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
        size_t most = d.closed ? class->n + n_granted : 0;

        if (most > 0) {
                d.rules = calloc(most, sizeof(*d.rules));
                if (!d.rules)
                        return -ENOMEM;
        }
        for (size_t i = 0; d.closed && i < class->n; i++)
                add(&d, &class->rules[i]);
        for (size_t i = 0; d.closed && i < n_granted; i++)
                add(&d, &granted[i]);
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
        *d = (struct sg_device_list){0};
}

bool sg_device_list_has(const struct sg_device_list *d, const struct sg_device_rule *rule)
{
        for (size_t i = 0; i < d->n; i++)
                if (same_rule(&d->rules[i], rule))
                        return true;
        return false;
}

bool sg_device_list_equal(const struct sg_device_list *a, const struct sg_device_list *b)
{
        bool same = a->closed == b->closed && a->n == b->n;

        for (size_t i = 0; same && i < a->n; i++)
                same = sg_device_list_has(b, &a->rules[i]) && sg_device_list_has(a, &b->rules[i]);
        return same;
}
