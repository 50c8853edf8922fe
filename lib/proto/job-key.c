/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proto/job-key.h"
#include "proto/shared.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A positive decimal number in its only form (no sign, no leading zero); moves *p behind it. */
static int take_number(const char **p, uint64_t *ret)
{
        const char *s = *p;
        uint64_t v = 0;

        if (*s < '1' || *s > '9')
                return -EINVAL;
        for (; *s >= '0' && *s <= '9'; s++) {
                unsigned digit = (unsigned)(*s - '0');

                if (v > (UINT64_MAX - digit) / 10)
                        return -EINVAL;
                v = v * 10 + digit;
        }
        *p = s;
        *ret = v;
        return 0;
}

static bool is_alnum(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Host names and nothing else: an origin becomes part of paths and of group names. */
static int take_origin(const char *s, size_t size, char buf[SG_NODE_NAME_MAX])
{
        if (size == 0 || size >= SG_NODE_NAME_MAX || !is_alnum(s[0]))
                return -EINVAL;
        for (size_t i = 0; i < size; i++)
                if (!is_alnum(s[i]) && s[i] != '-' && s[i] != '.' && s[i] != '_')
                        return -EINVAL;
        memcpy(buf, s, size);
        buf[size] = 0;
        return 0;
}

bool sg_job_key_is_same(const struct sg_job_key *a, const struct sg_job_key *b)
{
        return a->n == b->n && strcmp(a->origin, b->origin) == 0;
}

int sg_kept_key_init(struct sg_kept_key *k, const struct sg_job_key *key)
{
        const char *origin = sg_shared_get(key->origin, strlen(key->origin) + 1);

        if (!origin)
                return -ENOMEM;
        *k = (struct sg_kept_key){origin, key->n, key->attempt};
        return 0;
}

void sg_kept_key_deinit(struct sg_kept_key *k)
{
        k->origin = sg_shared_put(k->origin);
}

struct sg_job_key sg_kept_key_get(const struct sg_kept_key *k)
{
        struct sg_job_key key = {.n = k->n, .attempt = k->attempt};

        strcpy(key.origin, k->origin);
        return key;
}

bool sg_kept_key_is(const struct sg_kept_key *k, const struct sg_job_key *key)
{
        return k->n == key->n && k->attempt == key->attempt && strcmp(k->origin, key->origin) == 0;
}

void sg_job_id_format(char buf[SG_JOB_ID_MAX], const struct sg_job_key *key, const char *home)
{
        if (strcmp(key->origin, home) == 0)
                (void)snprintf(buf, SG_JOB_ID_MAX, "%" PRIu64, key->n);
        else
                (void)snprintf(buf, SG_JOB_ID_MAX, "%" PRIu64 "@%s", key->n, key->origin);
}

int sg_job_id_parse(const char *s, const char *home, struct sg_job_key *ret)
{
        struct sg_job_key key = {0};

        if (take_number(&s, &key.n) < 0)
                return -EINVAL;
        if (*s == '@')
                s++;
        else if (*s)
                return -EINVAL;
        else
                s = home;
        if (take_origin(s, strlen(s), key.origin) < 0)
                return -EINVAL;
        *ret = key;
        return 0;
}

void sg_attempt_name_format(char buf[SG_ATTEMPT_NAME_MAX], const struct sg_job_key *key)
{
        (void)snprintf(buf, SG_ATTEMPT_NAME_MAX, "%" PRIu64 "-%s-%" PRIu64, key->n, key->origin,
                       key->attempt);
}

int sg_attempt_name_parse(const char *s, struct sg_job_key *ret)
{
        struct sg_job_key key = {0};
        const char *last;

        if (take_number(&s, &key.n) < 0 || *s != '-')
                return -EINVAL;
        s++;
        last = strrchr(s, '-'); /* an origin may have dashes of its own */
        if (!last || take_origin(s, (size_t)(last - s), key.origin) < 0)
                return -EINVAL;
        last++;
        if (take_number(&last, &key.attempt) < 0 || *last)
                return -EINVAL;
        *ret = key;
        return 0;
}
