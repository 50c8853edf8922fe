/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The best place for a request. */
#include "core/gpu/internal.h"
#include "core/job/limits.h"

static void add_all(struct sg_gpu_choice *c, uint64_t set)
{
        sg_gpu_foreach (i, set)
                c->gpus[c->n++] = (uint8_t)i;
}

/* As many as there are of one type, up to what it wants at most. */
static bool place_whole(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                        struct sg_gpu_choice *c)
{
        uint64_t able = sg_gpu_able(pool, r, SG_GPU_NOW);
        size_t most = sg_gpu_most_alike(pool, able), n = most < r->max ? most : r->max;

        if (n == 0 || n < r->min)
                return false;
        add_all(c, sg_gpu_best_set(pool, able, n));
        return c->n > 0;
}

static bool place_named(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                        struct sg_gpu_choice *c)
{
        uint64_t able = sg_gpu_able(pool, r, SG_GPU_NOW);
        char bad[SG_GPU_TEXT_MAX];
        int n = sg_gpu_named(pool, r->ids, c->gpus, bad);

        for (int k = 0; k < n; k++)
                if (!(able & SG_GPU_BIT(c->gpus[k])))
                        return false;
        c->n = n > 0 ? (size_t)n : 0;
        return c->n > 0;
}

/* Parts */

static bool is_shared(const struct sg_gpu_pool *pool, uint64_t i)
{
        return pool->rooms[i].hundredths > 0 || sg_gpu_is_busy(&pool->rooms[i]);
}

/* Whether its neighbour could be given out as a whole, and with it. */
static bool has_free_pair(const struct sg_gpu_pool *pool, uint64_t i)
{
        uint8_t pair = pool->rooms[i].pair;

        return pair != SG_GPU_NONE && !pool->rooms[pair].closed && !pool->rooms[pair].excluded &&
               !is_shared(pool, pair);
}

static bool is_better_to_share(const struct sg_gpu_pool *pool, uint64_t a, uint64_t b)
{
        if (is_shared(pool, a) != is_shared(pool, b))
                return is_shared(pool, a);
        if (!is_shared(pool, a) && has_free_pair(pool, a) != has_free_pair(pool, b))
                return !has_free_pair(pool, a);
        return pool->rooms[a].left < pool->rooms[b].left;
}

static bool place_part(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                       struct sg_gpu_choice *c)
{
        uint64_t able = sg_gpu_able(pool, r, SG_GPU_NOW), best = SG_GPU_NONE;

        sg_gpu_foreach (i, able)
                if (best == SG_GPU_NONE || is_better_to_share(pool, i, best))
                        best = i;
        if (best == SG_GPU_NONE)
                return false;
        c->gpus[c->n++] = (uint8_t)best;
        return true;
}

/* Instances */

static uint64_t slices_of(const struct sg_gpu_instance *instance)
{
        struct sg_gpu_profile p;

        return sg_gpu_profile_parse(instance->profile, &p) ? p.slices : 0;
}

static unsigned n_free(const struct sg_gpu_pool *pool, uint64_t gpu)
{
        const struct sg_gpu_room *room = &pool->rooms[gpu];
        unsigned n = 0;

        for (size_t k = 0; k < sg_gpu_pool_at(pool, gpu)->n_instances; k++)
                n += !(room->instances & (1U << k));
        return n;
}

/* Slices before memory: of two that are large enough the one that computes less. */
static int compare_size(const struct sg_gpu_instance *a, const struct sg_gpu_instance *b)
{
        if (slices_of(a) != slices_of(b))
                return slices_of(a) < slices_of(b) ? -1 : 1;
        return a->memory_total < b->memory_total ? -1 : a->memory_total > b->memory_total;
}

static bool place_instance(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                           struct sg_gpu_choice *c)
{
        const struct sg_gpu_instance *best = NULL;

        sg_gpu_foreach (i, sg_gpu_able(pool, r, SG_GPU_NOW))
                sg_gpu_foreach (k, sg_gpu_able_instances(pool, r, i, SG_GPU_NOW)) {
                        const struct sg_gpu_instance *it = &sg_gpu_pool_at(pool, i)->instances[k];
                        int size = best ? compare_size(it, best) : -1;

                        if (size > 0 || (size == 0 && n_free(pool, i) >= n_free(pool, c->gpus[0])))
                                continue;
                        best = it;
                        c->gpus[0] = (uint8_t)i;
                        c->instance = (uint8_t)k;
                }
        c->n = best ? 1 : 0;
        return best != NULL;
}

bool sg_gpu_place(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                  struct sg_gpu_choice *ret)
{
        struct sg_gpu_choice c = {
                .instance = SG_GPU_NONE,
                .share = (uint8_t)r->share,
                .memory_bytes = r->memory_bytes == SG_UNLIMITED ? 0 : r->memory_bytes,
        };
        bool found;

        if (!pool->known)
                return false;
        if (r->mig)
                found = place_instance(pool, r, &c);
        else if (r->share < SG_GPU_WHOLE)
                found = place_part(pool, r, &c);
        else if (r->ids)
                found = place_named(pool, r, &c);
        else
                found = place_whole(pool, r, &c);
        if (found)
                *ret = c;
        return found;
}

uint64_t sg_gpu_least_hundredths(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r)
{
        struct sg_gpu_choice c;

        if (!r->mig)
                return r->min * r->share;
        return pool && sg_gpu_place(pool, r, &c) ? sg_gpu_choice_hundredths(pool, &c) : 1;
}

/* Keeping */

static void add_up_to(struct sg_gpu_choice *c, uint64_t set, size_t n)
{
        sg_gpu_foreach (i, set)
                if (c->n < n)
                        c->gpus[c->n++] = (uint8_t)i;
}

/* The type of which there are enough then, and of those the one with the most that are free now. */
static uint64_t type_to_keep(const struct sg_gpu_pool *pool, uint64_t able_then, uint64_t able_now,
                             size_t n)
{
        uint64_t best = 0;

        for (uint64_t rest = able_then; rest;) {
                uint64_t alike = sg_gpu_alike(pool, rest, (uint64_t)__builtin_ctzll(rest));

                rest &= ~alike;
                if ((size_t)__builtin_popcountll(alike) >= n &&
                    (!best || __builtin_popcountll(alike & able_now) >
                                      __builtin_popcountll(best & able_now)))
                        best = alike;
        }
        return best;
}

bool sg_gpu_keep(const struct sg_gpu_pool *now, const struct sg_gpu_pool *then,
                 const struct sg_gpu_request *r, bool free_first, struct sg_gpu_choice *ret)
{
        struct sg_gpu_choice c = {.instance = SG_GPU_NONE, .share = SG_GPU_WHOLE};
        uint64_t able_now, type, first;

        if (r->mig || r->share < SG_GPU_WHOLE || r->ids)
                return sg_gpu_place(then, r, ret);
        able_now = now->known ? sg_gpu_able(now, r, SG_GPU_NOW) : 0;
        type = then->known ? type_to_keep(then, sg_gpu_able(then, r, SG_GPU_NOW), able_now, r->min)
                           : 0;
        if (!type)
                return false;
        first = free_first ? type & able_now : type & ~able_now;
        add_up_to(&c, first, r->min);
        add_up_to(&c, type & ~first, r->min);
        *ret = c;
        return true;
}
