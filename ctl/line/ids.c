/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See ids.h. */

#include "ctl/line/ids.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "proto/names.h"
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void sg_ids_deinit(struct sg_ids *ids)
{
        for (size_t i = 0; i < ids->n; i++)
                free(ids->v[i]);
        free(ids->v);
        *ids = (struct sg_ids){0};
}

static bool node_is_valid(const char *s)
{
        size_t len = strlen(s);

        return len > 0 && len < SG_NODE_NAME_MAX &&
               strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
                       len;
}

static int append(struct sg_ids *ids, uint64_t n, const char *node)
{
        char *id;

        if (asprintf(&id, "%" PRIu64 "%s%s", n, node ? "@" : "", node ? node : "") < 0)
                return -ENOMEM;
        ids->v[ids->n++] = id;
        return 0;
}

/* "7" or "5-9" */
static int parse_numbers(char *s, uint64_t *ret_first, uint64_t *ret_last)
{
        char *dash = strchr(s, '-');
        uint64_t first, last;

        if (dash)
                *dash = '\0';
        if (sg_parse_u64(s, &first) < 0)
                return -EINVAL;
        if (!dash)
                last = first;
        else if (sg_parse_u64(dash + 1, &last) < 0)
                return -EINVAL;
        if (first == 0 || last < first)
                return -EINVAL;
        if (last - first >= SG_ARRAY_MAX)
                return -ERANGE;
        *ret_first = first;
        *ret_last = last;
        return 0;
}

int sg_ids_add(struct sg_ids *ids, const char *word)
{
        _cleanup_free_ char *copy = strdup(word);
        uint64_t first, last;
        char *node, **grown;
        int r;

        if (!copy)
                return -ENOMEM;
        node = strchr(copy, '@');
        if (node) {
                *node++ = '\0';
                if (!node_is_valid(node))
                        return -EINVAL;
        }
        r = parse_numbers(copy, &first, &last);
        if (r < 0)
                return r;
        grown = reallocarray(ids->v, ids->n + (size_t)(last - first) + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        ids->v = grown;
        for (uint64_t i = first; r >= 0 && i <= last; i++)
                r = append(ids, i, node);
        return r;
}

/* The number of a single job. */
static int parse_job(const char *id, uint64_t *ret)
{
        _cleanup_(sg_ids_deinit) struct sg_ids ids = {0};
        int r = sg_ids_add(&ids, id);

        if (r < 0)
                return r;
        if (ids.n != 1 || strcmp(ids.v[0], id) != 0)
                return -EINVAL;
        *ret = strtoull(id, NULL, 10);
        return 0;
}

int sg_ids_parse_tasks(const char *word, struct sg_ids_tasks *ret)
{
        const char *open = strchr(word, '[');
        size_t prefix = open ? (size_t)(open - word) : 0, len = strlen(word);
        struct sg_ids_tasks t = {0};
        int r;

        if (prefix == 0 || prefix >= sizeof(t.id) || word[len - 1] != ']')
                return -EINVAL;
        memcpy(t.id, word, prefix);
        r = parse_job(t.id, &t.n);
        if (r < 0)
                return r;
        t.list = strndup(open + 1, len - prefix - 2);
        if (!t.list)
                return -ENOMEM;
        r = sg_array_parse(t.list, &t.array);
        if (r >= 0 && t.array.max > 0) /* so many at once: that is for submit */
                r = -EINVAL;
        if (r < 0)
                sg_ids_tasks_deinit(&t);
        else
                *ret = t;
        return r;
}

void sg_ids_tasks_deinit(struct sg_ids_tasks *t)
{
        free(t->list);
        *t = (struct sg_ids_tasks){0};
}

bool sg_id_matches(const char *asked, const char *id)
{
        size_t len = strcspn(id, "@");

        return strcmp(asked, id) == 0 ||
               (id[len] == '\0' && strncmp(asked, id, len) == 0 && asked[len] == '@');
}
