/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See array.h. */

#include "proto/array.h"
#include <errno.h>

static int parse_number(const char **s, uint64_t *ret)
{
        const char *p = *s;
        uint64_t v = 0;

        if (*p < '0' || *p > '9')
                return -EINVAL;
        for (; *p >= '0' && *p <= '9'; p++) {
                v = v * 10 + (uint64_t)(*p - '0');
                if (v > SG_ARRAY_INDEX_MAX)
                        return -ERANGE;
        }
        *s = p;
        *ret = v;
        return 0;
}

/* "3" or "3-5" */
static int parse_range(const char **s, uint64_t *ret_first, uint64_t *ret_last)
{
        int r = parse_number(s, ret_first);

        if (r < 0)
                return r;
        *ret_last = *ret_first;
        if (**s != '-')
                return 0;
        (*s)++;
        r = parse_number(s, ret_last);
        return r < 0 ? r : *ret_last < *ret_first ? -EINVAL : 0;
}

/* One range behind the others. */
static int add_range(struct sg_array *a, const char **s)
{
        uint64_t first, last;
        int r = parse_range(s, &first, &last);

        if (r < 0)
                return r;
        if (a->n > 0 && first <= a->last)
                return -EINVAL;
        if (a->n == 0)
                a->first = first;
        a->n += last - first + 1;
        a->last = last;
        return a->n > SG_ARRAY_MAX ? -ERANGE : 0;
}

int sg_array_parse(const char *s, struct sg_array *ret)
{
        struct sg_array a = {0};
        int r = add_range(&a, &s);

        while (r >= 0 && *s == ',') {
                s++;
                r = add_range(&a, &s);
        }
        if (r >= 0 && *s == '%') {
                s++;
                r = parse_number(&s, &a.max);
                if (r >= 0 && a.max == 0)
                        r = -EINVAL;
        }
        if (r < 0)
                return r;
        if (*s)
                return -EINVAL;
        *ret = a;
        return 0;
}

struct sg_array_walk sg_array_walk(const char *s)
{
        return (struct sg_array_walk){.rest = s, .next = 1};
}

bool sg_array_next(struct sg_array_walk *w, uint64_t *ret_index)
{
        if (w->next > w->last) {
                if (parse_range(&w->rest, &w->next, &w->last) < 0)
                        return false;
                if (*w->rest == ',')
                        w->rest++;
                else
                        w->rest = "";
        }
        *ret_index = w->next++;
        return true;
}
