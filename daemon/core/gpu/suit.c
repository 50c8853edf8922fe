/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which GPUs can serve a request, now or if nobody held anything; and if they are too few, what is
 * lacking. Nothing is compared here: that is place.c.
 */
#include "core/gpu/internal.h"
#include "core/job/limits.h"
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is wanted of one GPU */

static bool is_part(const struct sg_gpu_request *r)
{
        return r->share < SG_GPU_WHOLE;
}

static bool has_memory(uint64_t has, const struct sg_gpu_request *r)
{
        return r->memory_bytes == SG_UNLIMITED || (has != SG_GPU_UNKNOWN && has >= r->memory_bytes);
}

static bool has_left(const struct sg_gpu_room *room, const struct sg_gpu_request *r)
{
        if (is_part(r))
                return room->hundredths + r->share <= SG_GPU_WHOLE && has_memory(room->left, r);
        return room->hundredths == 0 && !sg_gpu_is_busy(room) && has_memory(room->left, r);
}

static bool can_serve(const struct sg_gpu *g, const struct sg_gpu_room *room,
                      const struct sg_gpu_request *r, enum sg_gpu_view view)
{
        if (g->mig || g->prohibited || (is_part(r) && g->exclusive))
                return false;
        return view == SG_GPU_NOW ? has_left(room, r) : has_memory(room->usable, r);
}

uint16_t sg_gpu_able_instances(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                               uint64_t gpu, enum sg_gpu_view view)
{
        const struct sg_gpu *g = sg_gpu_pool_at(pool, gpu);
        const struct sg_gpu_room *room = &pool->rooms[gpu];
        uint16_t able = 0;

        /* Whoever uses such a GPU as a whole may be on any of its instances. */
        if (!g->mig || g->prohibited || (view == SG_GPU_NOW && sg_gpu_is_busy(room)))
                return 0;
        for (size_t k = 0; k < g->n_instances; k++)
                if ((view == SG_GPU_BEST || !(room->instances & (1U << k))) &&
                    sg_gpu_profile_fits(g->instances[k].profile, r->mig) &&
                    has_memory(g->instances[k].memory_total, r))
                        able |= (uint16_t)(1U << k);
        return able;
}

/* Which GPUs at all */

static uint64_t of_type(const struct sg_gpu_pool *pool, const char *pattern)
{
        uint64_t set = 0;

        for (size_t i = 0; i < sg_gpu_pool_n(pool); i++) {
                uint8_t type = pool->rooms[i].type;
                bool fits = type < i ? (set & SG_GPU_BIT(type)) != 0
                                     : fnmatch(pattern, sg_gpu_pool_at(pool, i)->name,
                                               FNM_CASEFOLD) == 0;

                set |= fits ? SG_GPU_BIT(i) : 0;
        }
        return set;
}

/* The place of the GPU that the n characters at `id` name; NONE. */
static uint8_t named(const struct sg_gpu_pool *pool, const char *id, size_t n)
{
        char index[24];

        for (size_t i = 0; i < sg_gpu_pool_n(pool); i++) {
                const struct sg_gpu *g = sg_gpu_pool_at(pool, i);

                (void)snprintf(index, sizeof(index), "%llu", (unsigned long long)g->index);
                if ((strlen(g->uuid) == n && memcmp(g->uuid, id, n) == 0) ||
                    (strlen(index) == n && memcmp(index, id, n) == 0))
                        return (uint8_t)i;
        }
        return SG_GPU_NONE;
}

int sg_gpu_named(const struct sg_gpu_pool *pool, const char *ids, uint8_t ret[SG_GPUS_MAX],
                 char bad[SG_GPU_TEXT_MAX])
{
        uint64_t seen = 0;
        int count = 0;

        for (const char *id = ids; *id != '\0';) {
                size_t n = strcspn(id, ",");
                uint8_t i = named(pool, id, n);

                if (i == SG_GPU_NONE || (seen & SG_GPU_BIT(i))) {
                        (void)snprintf(bad, SG_GPU_TEXT_MAX, "%.*s", (int)n, id);
                        return -1;
                }
                seen |= SG_GPU_BIT(i);
                ret[count++] = i;
                id += id[n] == ',' ? n + 1 : n;
        }
        return count;
}

static uint64_t all_named(const struct sg_gpu_pool *pool, const char *ids)
{
        char bad[SG_GPU_TEXT_MAX];
        uint8_t places[SG_GPUS_MAX];
        int n = sg_gpu_named(pool, ids, places, bad);
        uint64_t set = 0;

        for (int k = 0; k < n; k++)
                set |= SG_GPU_BIT(places[k]);
        return set;
}

static uint64_t in_question(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r)
{
        size_t n = sg_gpu_pool_n(pool);
        uint64_t set = n >= SG_GPUS_MAX ? UINT64_MAX : SG_GPU_BIT(n) - 1;

        if (r->type)
                set &= of_type(pool, r->type);
        if (r->ids)
                set &= all_named(pool, r->ids);
        return set;
}

uint64_t sg_gpu_able(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                     enum sg_gpu_view view)
{
        uint64_t able = 0;

        sg_gpu_foreach (i, in_question(pool, r)) {
                const struct sg_gpu_room *room = &pool->rooms[i];

                if (room->excluded || (view == SG_GPU_NOW && room->closed))
                        continue;
                if (r->mig ? sg_gpu_able_instances(pool, r, i, view) != 0
                           : can_serve(sg_gpu_pool_at(pool, i), room, r, view))
                        able |= SG_GPU_BIT(i);
        }
        return able;
}

uint64_t sg_gpu_suited(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r)
{
        return sg_gpu_able(pool, r, SG_GPU_BEST);
}

/* How many, and of one type */

uint64_t sg_gpu_alike(const struct sg_gpu_pool *pool, uint64_t set, uint64_t like)
{
        uint64_t alike = 0;

        sg_gpu_foreach (i, set)
                if (pool->rooms[i].type == pool->rooms[like].type)
                        alike |= SG_GPU_BIT(i);
        return alike;
}

size_t sg_gpu_most_alike(const struct sg_gpu_pool *pool, uint64_t set)
{
        size_t most = 0;

        while (set) {
                uint64_t alike = sg_gpu_alike(pool, set, (uint64_t)__builtin_ctzll(set));
                size_t n = (size_t)__builtin_popcountll(alike);

                most = n > most ? n : most;
                set &= ~alike;
        }
        return most;
}

/* How many GPUs it must get at least. */
static size_t wanted(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r)
{
        if (r->mig || is_part(r))
                return 1;
        return r->ids ? (size_t)__builtin_popcountll(all_named(pool, r->ids)) : r->min;
}

/* The GPUs that it could have of those that are able: named ones may be of any type. */
static size_t together(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                       uint64_t able)
{
        return r->ids ? (size_t)__builtin_popcountll(able) : sg_gpu_most_alike(pool, able);
}

/* What is lacking */

static void list_profiles(const struct sg_gpu_pool *pool, struct sg_gpu_lack *ret)
{
        size_t used = 0;

        for (size_t i = 0; i < sg_gpu_pool_n(pool); i++) {
                const struct sg_gpu *g = sg_gpu_pool_at(pool, i);

                for (size_t k = 0; k < g->n_instances; k++) {
                        const char *p = g->instances[k].profile;
                        size_t n = strlen(p);

                        if (strstr(ret->profiles, p) || used + n + 3 > sizeof(ret->profiles))
                                continue;
                        used += (size_t)snprintf(ret->profiles + used, sizeof(ret->profiles) - used,
                                                 "%s%s", used > 0 ? ", " : "", p);
                }
        }
}

static void count_instances(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                            struct sg_gpu_lack *ret)
{
        sg_gpu_foreach (i, sg_gpu_suited(pool, r))
                ret->have += (uint64_t)__builtin_popcount(
                        sg_gpu_able_instances(pool, r, i, SG_GPU_BEST));
}

/* The first of those that it names which isn't among `able`. */
static void name_first(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                       uint64_t able, struct sg_gpu_lack *ret)
{
        uint8_t places[SG_GPUS_MAX];
        int n = sg_gpu_named(pool, r->ids, places, ret->id);

        for (int k = 0; k < n; k++)
                if (!(able & SG_GPU_BIT(places[k]))) {
                        (void)snprintf(ret->id, sizeof(ret->id), "%llu",
                                       (unsigned long long)sg_gpu_pool_at(pool, places[k])->index);
                        return;
                }
}

static void explain_now(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                        uint64_t able, struct sg_gpu_lack *ret)
{
        *ret = (struct sg_gpu_lack){.kind = SG_GPU_LACK_FREE, .free = together(pool, r, able)};
        if (!pool->known) {
                ret->kind = SG_GPU_LACK_UNKNOWN;
        } else if (r->mig) {
                ret->kind = SG_GPU_LACK_INSTANCE;
                count_instances(pool, r, ret);
        } else if (r->ids) {
                ret->kind = SG_GPU_LACK_NAMED;
                name_first(pool, r, able, ret);
        } else if (is_part(r)) {
                ret->kind = SG_GPU_LACK_PART;
        } else {
                uint64_t suited = sg_gpu_suited(pool, r);

                ret->have = together(pool, r, suited);
                ret->mixed = r->min > 1 && ret->have < (uint64_t)__builtin_popcountll(suited);
        }
}

bool sg_gpu_fits(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                 struct sg_gpu_lack *ret)
{
        uint64_t able = pool->known ? sg_gpu_able(pool, r, SG_GPU_NOW) : 0;

        if (able != 0 && together(pool, r, able) >= wanted(pool, r))
                return true;
        if (ret)
                explain_now(pool, r, able, ret);
        return false;
}

static bool names_all(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                      struct sg_gpu_lack *ret)
{
        uint8_t places[SG_GPUS_MAX];
        char bad[SG_GPU_TEXT_MAX] = "";

        if (!r->ids || sg_gpu_named(pool, r->ids, places, bad) > 0)
                return true;
        if (ret) {
                *ret = (struct sg_gpu_lack){.kind = SG_GPU_LACK_NO_ID};
                strcpy(ret->id, bad);
        }
        return false;
}

static bool fits_best(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                      struct sg_gpu_lack *ret)
{
        uint64_t able = sg_gpu_suited(pool, r);

        if (!names_all(pool, r, ret))
                return false;
        if (able != 0 && together(pool, r, able) >= wanted(pool, r))
                return true;
        if (!ret)
                return false;
        *ret = (struct sg_gpu_lack){.kind = SG_GPU_LACK_NEVER, .have = together(pool, r, able)};
        ret->mixed = r->min > 1 && !r->type && !r->ids;
        if (r->mig)
                list_profiles(pool, ret);
        if (r->ids) {
                ret->kind = SG_GPU_LACK_NO_ID;
                name_first(pool, r, able, ret);
        }
        return false;
}

/* As if those that are gone were back, after those that are listed. -ENOMEM. */
static int bring_back(const struct sg_gpu_pool *pool, struct sg_gpu_inventory *all,
                      struct sg_gpu_pool *ret)
{
        size_t n = sg_gpu_pool_n(pool), gone = pool->n_gone;

        gone = gone < SG_GPUS_MAX - n ? gone : SG_GPUS_MAX - n;
        *all = (struct sg_gpu_inventory){.n = n + gone};
        all->gpus = calloc(all->n, sizeof(*all->gpus));
        if (!all->gpus)
                return -ENOMEM;
        if (n > 0)
                memcpy(all->gpus, pool->inventory->gpus, n * sizeof(*all->gpus));
        for (size_t i = 0; i < gone; i++)
                all->gpus[n + i] = *pool->gone[i];
        sg_gpu_pool_init(ret, all);
        for (size_t i = 0; i < n; i++)
                ret->rooms[i].excluded = pool->rooms[i].excluded;
        return 0;
}

bool sg_gpu_could_fit(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                      struct sg_gpu_lack *ret)
{
        struct sg_gpu_inventory all;
        struct sg_gpu_pool best;
        bool fits;

        if (!pool->inventory || fits_best(pool, r, ret))
                return true;
        if (pool->n_gone == 0)
                return false;
        if (bring_back(pool, &all, &best) < 0)
                return true; /* it waits, as far as anybody can tell */
        fits = fits_best(&best, r, ret);
        free(all.gpus);
        return fits;
}
