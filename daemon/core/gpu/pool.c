/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is left of each GPU: a pool, what is taken out of it and what comes back. */
#include "core/gpu/internal.h"
#include "core/job/limits.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a driver that doesn't say it keeps for itself. */
#define RESERVED_LEAST (UINT64_C(1) << 30)
#define RESERVED_PART 50

unsigned sg_gpu_apart(const struct sg_gpu_inventory *inventory, uint64_t i, uint64_t j)
{
        unsigned there = inventory->gpus[i].near[j].distance;
        unsigned back = inventory->gpus[j].near[i].distance;
        unsigned most = there > back ? there : back;

        if (i == j)
                return 0;
        return there == 0 || back == 0 || most > SG_GPU_SYSTEM ? SG_GPU_SYSTEM : most;
}

uint64_t sg_gpu_usable(const struct sg_gpu *g)
{
        uint64_t reserved = g->memory_reserved;

        if (g->memory_total == SG_GPU_UNKNOWN || g->memory_total == 0)
                return SG_GPU_UNKNOWN;
        if (reserved == SG_GPU_UNKNOWN) {
                reserved = g->memory_total / RESERVED_PART;
                if (reserved < RESERVED_LEAST)
                        reserved = RESERVED_LEAST;
        }
        return g->memory_total > reserved ? g->memory_total - reserved : 0;
}

uint64_t sg_gpu_instance_hundredths(const struct sg_gpu *g, uint8_t instance)
{
        uint64_t part = g->instances[instance].memory_total >> 20, all = g->memory_total >> 20;
        uint64_t n;

        if (g->memory_total == SG_GPU_UNKNOWN || all == 0 ||
            g->instances[instance].memory_total == SG_GPU_UNKNOWN)
                return SG_GPU_WHOLE / (g->n_instances ?: 1);
        n = part * SG_GPU_WHOLE / all;
        return n < 1 ? 1 : n > SG_GPU_WHOLE ? SG_GPU_WHOLE : n;
}

uint64_t sg_gpu_choice_hundredths(const struct sg_gpu_pool *pool, const struct sg_gpu_choice *c)
{
        if (c->instance != SG_GPU_NONE)
                return sg_gpu_instance_hundredths(sg_gpu_pool_at(pool, c->gpus[0]), c->instance);
        return c->n * c->share;
}

/* The place of the first of its name. */
static uint8_t type_of(const struct sg_gpu_inventory *inventory, size_t i)
{
        size_t first = 0;

        while (strcmp(inventory->gpus[first].name, inventory->gpus[i].name) != 0)
                first++;
        return (uint8_t)first;
}

/* Neighbours */

/* The nearer the less; of equally near ones those with more links. */
static unsigned farness(const struct sg_gpu_inventory *inventory, size_t i, size_t j)
{
        unsigned links = inventory->gpus[i].near[j].links;

        return (sg_gpu_apart(inventory, i, j) << 8) + (UINT8_MAX - links);
}

static bool may_pair(const struct sg_gpu_pool *pool, size_t i, size_t j)
{
        return pool->rooms[i].pair == SG_GPU_NONE && pool->rooms[j].pair == SG_GPU_NONE &&
               pool->rooms[i].type == pool->rooms[j].type &&
               sg_gpu_apart(pool->inventory, i, j) < SG_GPU_SYSTEM;
}

/* The nearest two of those that are in no pair yet; false: none are near. */
static bool pair_nearest(struct sg_gpu_pool *pool)
{
        size_t n = pool->inventory->n, a = n, b = n;

        for (size_t i = 0; i < n; i++)
                for (size_t j = i + 1; j < n; j++)
                        if (may_pair(pool, i, j) &&
                            (a == n ||
                             farness(pool->inventory, i, j) < farness(pool->inventory, a, b))) {
                                a = i;
                                b = j;
                        }
        if (a == n)
                return false;
        pool->rooms[a].pair = (uint8_t)b;
        pool->rooms[b].pair = (uint8_t)a;
        return true;
}

void sg_gpu_pool_init(struct sg_gpu_pool *ret, const struct sg_gpu_inventory *inventory)
{
        *ret = (struct sg_gpu_pool){.inventory = inventory, .known = inventory != NULL};
        for (size_t i = 0; i < sg_gpu_pool_n(ret); i++) {
                uint64_t usable = sg_gpu_usable(&inventory->gpus[i]);

                ret->rooms[i] = (struct sg_gpu_room){
                        .type = type_of(inventory, i),
                        .pair = SG_GPU_NONE,
                        .usable = usable,
                        .left = usable,
                };
        }
        while (inventory && pair_nearest(ret))
                ;
}

/* Given and taken back */

static void take_memory(struct sg_gpu_room *room, uint64_t bytes)
{
        if (room->left != SG_GPU_UNKNOWN)
                room->left -= bytes < room->left ? bytes : room->left;
}

void sg_gpu_pool_take(struct sg_gpu_pool *pool, const struct sg_gpu_choice *choice)
{
        pool->changes++;
        for (size_t k = 0; k < choice->n; k++) {
                struct sg_gpu_room *room = &pool->rooms[choice->gpus[k]];

                if (choice->instance != SG_GPU_NONE) {
                        room->instances |= (uint16_t)(1U << choice->instance);
                        continue;
                }
                room->hundredths += choice->share;
                take_memory(room, choice->memory_bytes);
        }
}

static void give_back(struct sg_gpu_pool *pool, const struct sg_gpu_hold *h)
{
        struct sg_gpu_room *room = &pool->rooms[h->gpu];

        if (h->instance != SG_GPU_NONE) {
                room->instances &= (uint16_t) ~(1U << h->instance);
                return;
        }
        if (h->share == 0 && room->users > 0)
                room->users--;
        room->hundredths -= h->share < room->hundredths ? h->share : room->hundredths;
        if (room->left != SG_GPU_UNKNOWN && room->usable != SG_GPU_UNKNOWN)
                room->left = h->promised < room->usable - room->left ? room->left + h->promised
                                                                     : room->usable;
}

static size_t first_hold(const struct sg_gpu_pool *pool, uint64_t job)
{
        size_t low = 0, high = pool->n_holds;

        while (low < high) {
                size_t mid = low + (high - low) / 2;

                if (pool->holds[mid].job < job)
                        low = mid + 1;
                else
                        high = mid;
        }
        return low;
}

void sg_gpu_pool_release(struct sg_gpu_pool *pool, uint64_t job)
{
        pool->changes++;
        for (size_t i = first_hold(pool, job); i < pool->n_holds && pool->holds[i].job == job; i++)
                give_back(pool, &pool->holds[i]);
}

void sg_gpu_pool_settle(struct sg_gpu_pool *pool)
{
        pool->changes++;
        for (size_t i = 0; i < sg_gpu_pool_n(pool); i++) {
                struct sg_gpu_room *room = &pool->rooms[i];

                if (!room->leaving)
                        continue;
                room->closed = room->foreign = false;
                room->left = room->usable;
                for (size_t k = 0; k < pool->n_holds; k++)
                        if (pool->holds[k].gpu == i && room->left != SG_GPU_UNKNOWN)
                                take_memory(room, pool->holds[k].promised);
        }
}

/* Figures */

static bool is_free(const struct sg_gpu_room *room)
{
        return room->hundredths == 0 && !sg_gpu_is_busy(room) && !room->closed;
}

static uint64_t free_of_instances(const struct sg_gpu_pool *pool, uint64_t i)
{
        const struct sg_gpu *g = sg_gpu_pool_at(pool, i);
        uint64_t sum = 0;

        for (size_t k = 0; k < g->n_instances; k++)
                if (!(pool->rooms[i].instances & (1U << k)) &&
                    g->instances[k].memory_total != SG_GPU_UNKNOWN)
                        sum += g->instances[k].memory_total;
        return sum;
}

uint64_t sg_gpu_fragmentation_pm(const struct sg_gpu_pool *pool)
{
        uint64_t all = 0, whole = 0;

        if (!pool->known)
                return SG_GPU_UNKNOWN;
        for (size_t i = 0; i < sg_gpu_pool_n(pool); i++) {
                const struct sg_gpu_room *room = &pool->rooms[i];
                bool mig = sg_gpu_pool_at(pool, i)->mig;
                uint64_t left = mig ? free_of_instances(pool, i) : room->left;

                if (room->closed || room->excluded || left == SG_GPU_UNKNOWN ||
                    (!mig && room->hundredths >= SG_GPU_WHOLE))
                        continue;
                all += left >> 20;
                whole += is_free(room) && !mig ? left >> 20 : 0;
        }
        return all == 0 ? SG_GPU_UNKNOWN : 10000 - whole * 10000 / all;
}

int sg_gpu_choice_uuids(const struct sg_gpu_pool *pool, const struct sg_gpu_choice *choice,
                        char **ret)
{
        char *text = malloc(choice->n * SG_GPU_TEXT_MAX + 1), *end = text;

        if (!text)
                return -ENOMEM;
        *end = '\0';
        for (size_t k = 0; k < choice->n; k++) {
                const struct sg_gpu *g = sg_gpu_pool_at(pool, choice->gpus[k]);
                const char *uuid = choice->instance == SG_GPU_NONE
                                           ? g->uuid
                                           : g->instances[choice->instance].uuid;
                size_t n = strlen(uuid);

                if (k > 0)
                        *end++ = ',';
                memcpy(end, uuid, n + 1);
                end += n;
        }
        *ret = text;
        return 0;
}
