/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* There are few different ones, so that a table of a fixed size will do. */

#include "proto/shared.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 64

struct shared {
        struct shared *next;
        uint32_t hash, users;
        size_t size;
        max_align_t value[];
};

static struct shared *buckets[BUCKETS];

/* FNV-1a */
static uint32_t hash_of(const uint8_t *p, size_t size)
{
        uint32_t h = 2166136261U;

        for (size_t i = 0; i < size; i++)
                h = (h ^ p[i]) * 16777619U;
        return h;
}

static struct shared *find(uint32_t hash, const void *value, size_t size)
{
        struct shared *s;

        for (s = buckets[hash % BUCKETS]; s; s = s->next)
                if (s->hash == hash && s->size == size && memcmp(s->value, value, size) == 0)
                        break;
        return s;
}

const void *sg_shared_get(const void *value, size_t size)
{
        uint32_t hash = hash_of(value, size);
        struct shared *s = find(hash, value, size);

        if (!s) {
                s = malloc(sizeof(*s) + size);
                if (!s)
                        return NULL;
                *s = (struct shared){.next = buckets[hash % BUCKETS], .hash = hash, .size = size};
                memcpy(s->value, value, size);
                buckets[hash % BUCKETS] = s;
        }
        s->users++;
        return s->value;
}

const void *sg_shared_put(const void *shared)
{
        struct shared *s, **at;

        if (!shared)
                return NULL;
        s = (struct shared *)((uintptr_t)shared - offsetof(struct shared, value));
        if (--s->users > 0)
                return NULL;
        for (at = &buckets[s->hash % BUCKETS]; *at != s; at = &(*at)->next)
                ;
        *at = s->next;
        free(s);
        return NULL;
}

size_t sg_shared_count(void)
{
        size_t n = 0;

        for (size_t i = 0; i < BUCKETS; i++)
                for (const struct shared *s = buckets[i]; s; s = s->next)
                        n++;
        return n;
}
