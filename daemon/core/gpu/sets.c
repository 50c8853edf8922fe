/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The best n of the free GPUs: the least largest distance, then the least sum of distances, the
 * fewest broken pairs, the least memory, the first bus ids.
 *
 * The largest distance is bounded, by less at first: two GPUs are near within the bound or they
 * aren't, and sets in which all are near grow one by one, in the order of bus ids. A branch is cut
 * as soon as it can't be better than the best set so far, which therefore is the first of those
 * that are as good. There is an end to that after so many steps, with what was found by then: the
 * daemon waits for this.
 */
#include "core/gpu/internal.h"

#define STEPS_MAX 10000U

/* Compared in this order. */
struct cost {
        uint64_t apart, broken, memory;
};

struct search {
        const struct sg_gpu_pool *pool;
        uint64_t free;
        size_t n;
        uint64_t near[SG_GPUS_MAX]; /* of each: those within the bound */
        unsigned steps;
        uint64_t best; /* 0 = none yet */
        struct cost least;
};

/* A set that grows. */
struct branch {
        uint64_t chosen, left; /* left: near all that are chosen, and behind them */
        size_t more;           /* so many are to be chosen yet */
        uint64_t sum, memory;
        uint32_t apart[SG_GPUS_MAX]; /* of each that is left: the sum of distances to the chosen */
};

static int compare(const struct cost *a, const struct cost *b)
{
        if (a->apart != b->apart)
                return a->apart < b->apart ? -1 : 1;
        if (a->broken != b->broken)
                return a->broken < b->broken ? -1 : 1;
        return a->memory < b->memory ? -1 : a->memory > b->memory;
}

/* In units that can be summed up. */
static uint64_t memory_of(const struct search *s, uint64_t i)
{
        uint64_t usable = s->pool->rooms[i].usable;

        return usable == SG_GPU_UNKNOWN ? 0 : usable >> 20;
}

/* The other one of its pair, if that is free; else none. */
static uint64_t free_pair(const struct search *s, uint64_t i)
{
        uint8_t pair = s->pool->rooms[i].pair;

        return pair == SG_GPU_NONE ? 0 : SG_GPU_BIT(pair) & s->free;
}

/* Bounds */

/* The least that what is still to be chosen adds to the sum of distances: the nearest to those that
 * are chosen, and the least that there is between any two. */
static uint64_t least_apart(const struct branch *b)
{
        uint32_t nearest[SG_GPUS_MAX];
        uint64_t sum = b->more * (b->more - 1) / 2;
        size_t n = 0;

        sg_gpu_foreach (i, b->left) {
                size_t at = n < b->more ? n++ : b->more;

                for (; at > 0 && nearest[at - 1] > b->apart[i]; at--)
                        if (at < b->more)
                                nearest[at] = nearest[at - 1];
                if (at < b->more)
                        nearest[at] = b->apart[i];
        }
        for (size_t k = 0; k < n; k++)
                sum += nearest[k];
        return sum;
}

/* Pairs of which one is chosen and the other can't be any more are broken. Of the others each takes
 * one more to be whole, and if an odd number remains, it takes a GPU without a free partner. */
static uint64_t fewest_broken(const struct search *s, const struct branch *b)
{
        uint64_t broken = 0, halves = 0;

        sg_gpu_foreach (i, b->chosen) {
                uint64_t other = free_pair(s, i) & ~b->chosen;

                broken += other && !(other & b->left);
                halves += (other & b->left) != 0;
        }
        if (b->more <= halves)
                return broken + halves - b->more;
        if ((b->more - halves) % 2 == 0)
                return broken;
        sg_gpu_foreach (i, b->left)
                if (!free_pair(s, i))
                        return broken;
        return broken + 1;
}

static uint64_t least_memory(const struct search *s, const struct branch *b)
{
        uint64_t least = UINT64_MAX;

        sg_gpu_foreach (i, b->left)
                least = memory_of(s, i) < least ? memory_of(s, i) : least;
        return b->more > 0 ? b->memory + b->more * least : b->memory;
}

/* Whether nothing better than the best can come of it. */
static bool is_hopeless(const struct search *s, const struct branch *b)
{
        struct cost bound;

        if ((size_t)__builtin_popcountll(b->left) < b->more)
                return true;
        if (!s->best)
                return false;
        bound.apart = b->sum + least_apart(b);
        if (bound.apart != s->least.apart)
                return bound.apart > s->least.apart;
        bound.broken = fewest_broken(s, b);
        bound.memory = least_memory(s, b);
        return compare(&bound, &s->least) >= 0;
}

/* Growth */

static void choose(const struct search *s, struct branch *b, uint64_t i)
{
        b->left &= s->near[i] & ~SG_GPU_BIT(i);
        b->sum += b->apart[i];
        b->memory += memory_of(s, i);
        b->chosen |= SG_GPU_BIT(i);
        b->more--;
        sg_gpu_foreach (j, b->left)
                b->apart[j] += sg_gpu_apart(s->pool->inventory, i, j);
}

static void note(struct search *s, const struct branch *b)
{
        struct branch whole = *b;
        struct cost cost;

        whole.left = 0;
        cost = (struct cost){b->sum, fewest_broken(s, &whole), b->memory};
        if (s->best && compare(&cost, &s->least) >= 0)
                return;
        s->best = b->chosen;
        s->least = cost;
}

static void grow(struct search *s, struct branch *b)
{
        if (b->more == 0) {
                note(s, b);
                return;
        }
        while (!is_hopeless(s, b) && s->steps++ < STEPS_MAX) {
                uint64_t i = (uint64_t)__builtin_ctzll(b->left);
                struct branch with = *b;

                choose(s, &with, i);
                grow(s, &with);
                b->left &= ~SG_GPU_BIT(i);
        }
}

/* Bounds of the distance */

/* The least distance between any two that is greater than `than`; 0: there is none. */
static unsigned next_distance(const struct search *s, unsigned than)
{
        unsigned next = 0;

        sg_gpu_foreach (i, s->free)
                sg_gpu_foreach (j, s->free) {
                        unsigned apart = sg_gpu_apart(s->pool->inventory, i, j);

                        if (apart > than && (next == 0 || apart < next))
                                next = apart;
                }
        return next;
}

static void set_bound(struct search *s, unsigned bound)
{
        sg_gpu_foreach (i, s->free) {
                s->near[i] = 0;
                sg_gpu_foreach (j, s->free)
                        if (sg_gpu_apart(s->pool->inventory, i, j) <= bound)
                                s->near[i] |= SG_GPU_BIT(j);
        }
}

/* Of one type; the largest distance within it is *ret_bound. */
static void search(struct search *s, unsigned *ret_bound)
{
        for (unsigned bound = s->n == 1 ? 0 : next_distance(s, 0);;
             bound = next_distance(s, bound)) {
                struct branch all = {.left = s->free, .more = s->n};

                set_bound(s, bound);
                s->steps = 0;
                grow(s, &all);
                *ret_bound = bound;
                if (s->best || next_distance(s, bound) == 0)
                        return;
        }
}

/* Of two sets that are as good the one with the first GPU that isn't in both. */
static bool is_better(const struct search *a, unsigned a_bound, const struct search *b,
                      unsigned b_bound)
{
        uint64_t differ = a->best ^ b->best;
        int c = compare(&a->least, &b->least);

        if (!a->best || !b->best)
                return a->best != 0;
        if (a_bound != b_bound)
                return a_bound < b_bound;
        return c < 0 || (c == 0 && (a->best & differ & -differ));
}

uint64_t sg_gpu_best_set(const struct sg_gpu_pool *pool, uint64_t free, size_t n)
{
        struct search best = {0};
        unsigned best_bound = 0, bound = 0;

        while (free) {
                struct search s = {.pool = pool, .n = n};

                s.free = sg_gpu_alike(pool, free, (uint64_t)__builtin_ctzll(free));
                free &= ~s.free;
                if ((size_t)__builtin_popcountll(s.free) < n)
                        continue;
                search(&s, &bound);
                if (is_better(&s, bound, &best, best_bound)) {
                        best = s;
                        best_bound = bound;
                }
        }
        return best.best;
}
