/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the files of placement share. A set of GPUs is a bit for each place in the inventory. */

#include "core/gpu/place.h"

#define SG_GPU_BIT(i) (UINT64_C(1) << (i))
#define sg_gpu_foreach(i, set)                                                                     \
        for (uint64_t _left_##i = (set), i;                                                        \
             _left_##i && (i = (uint64_t)__builtin_ctzll(_left_##i), true);                        \
             _left_##i &= _left_##i - 1)

static inline size_t sg_gpu_pool_n(const struct sg_gpu_pool *pool)
{
        return pool->inventory ? pool->inventory->n : 0;
}

static inline const struct sg_gpu *sg_gpu_pool_at(const struct sg_gpu_pool *pool, uint64_t i)
{
        return &pool->inventory->gpus[i];
}

/* Whether somebody uses it who wasn't given it. */
static inline bool sg_gpu_is_busy(const struct sg_gpu_room *room)
{
        return room->foreign || room->users > 0;
}

/* What is free now, or what would be if nobody held anything and all were in order. */
enum sg_gpu_view { SG_GPU_NOW, SG_GPU_BEST };

/* pool.c: how far two are apart; whom nobody said that of are so as if nothing were between. */
unsigned sg_gpu_apart(const struct sg_gpu_inventory *inventory, uint64_t i, uint64_t j);
/* The memory that jobs may have of a GPU; UNKNOWN. */
uint64_t sg_gpu_usable(const struct sg_gpu *g);
/* What an instance is of its GPU, by memory; at least 1. */
uint64_t sg_gpu_instance_hundredths(const struct sg_gpu *g, uint8_t instance);

/* suit.c: GPUs of which the request can have what it wants of one: all of it, its part, or an
 * instance. */
uint64_t sg_gpu_able(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                     enum sg_gpu_view view);
/* A bit for each instance of the GPU that it could have. */
uint16_t sg_gpu_able_instances(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                               uint64_t gpu, enum sg_gpu_view view);
/* Those of the same type as `like`. */
uint64_t sg_gpu_alike(const struct sg_gpu_pool *pool, uint64_t set, uint64_t like);
/* The most of one type among a set. */
size_t sg_gpu_most_alike(const struct sg_gpu_pool *pool, uint64_t set);
/* The GPUs that `ids` names, in its order; −1: the one in bad isn't there, or is named twice. */
int sg_gpu_named(const struct sg_gpu_pool *pool, const char *ids, uint8_t ret[SG_GPUS_MAX],
                 char bad[SG_GPU_TEXT_MAX]);

/* sets.c: the best set of n out of `free`, all of one type; 0: there is none. */
uint64_t sg_gpu_best_set(const struct sg_gpu_pool *pool, uint64_t free, size_t n);

/* mig.c: a profile as it says itself, "1c.3g.40gb+me". */
struct sg_gpu_profile {
        uint64_t slices, gb;
        const char *extra; /* "+me", or "" */
};
bool sg_gpu_profile_parse(const char *s, struct sg_gpu_profile *ret);
/* Whether an instance of `have` is as large as one of `want`. Names that aren't understood fit
 * only themselves. */
bool sg_gpu_profile_fits(const char *have, const char *want);
