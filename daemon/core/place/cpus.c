/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/place/cpus.h"
#include <stdlib.h>

/* How far a CPU is from home. A sibling is a CPU of a core of which the job gets another CPU
 * before. */
enum distance {
        SAME_CACHE,
        SAME_NODE,
        SIBLING_IN_NODE,
        SAME_PACKAGE,
        SIBLING_IN_PACKAGE,
        ELSEWHERE,
        SIBLING_ELSEWHERE,
};

struct view {
        const struct sg_cpus_place *place;
        struct sg_cpuset from, mine;
        uint32_t on_core[SG_CPUS_MAX]; /* CPUs of other jobs on each core, by the core's name */
        uint16_t first[SG_CPUS_MAX];   /* the CPU of each core that is taken before the others */
};

/* How many other jobs have a CPU. */
static uint32_t load(const struct view *v, unsigned cpu)
{
        uint32_t n = v->place->jobs[cpu];

        return n > 0 && sg_cpuset_has(&v->mine, cpu) ? n - 1 : n;
}

static uint16_t core_of(const struct view *v, unsigned cpu)
{
        return v->place->topology->of[SG_LEVEL_CORE][cpu];
}

static bool goes_before(const struct view *v, unsigned a, unsigned b)
{
        bool mine_a = sg_cpuset_has(&v->mine, a), mine_b = sg_cpuset_has(&v->mine, b);

        if (load(v, a) != load(v, b))
                return load(v, a) < load(v, b);
        return mine_a != mine_b ? mine_a : a < b;
}

static void look(struct view *v, const struct sg_cpus_place *p, const struct sg_cpuset *mine)
{
        *v = (struct view){.place = p, .from = *p->allowed, .mine = *mine};
        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++) {
                v->first[cpu] = SG_CPUS_MAX;
                if (p->stays && sg_cpuset_has(mine, cpu))
                        sg_cpuset_add(&v->from, cpu);
        }
        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++) {
                uint16_t core = core_of(v, cpu);

                v->on_core[core] += load(v, cpu);
                if (sg_cpuset_has(&v->from, cpu) &&
                    (v->first[core] == SG_CPUS_MAX || goes_before(v, cpu, v->first[core])))
                        v->first[core] = (uint16_t)cpu;
        }
}

/* Packs numbers into one key, the most important first. Less is better. */
static uint64_t rank(uint64_t key, unsigned bits, uint64_t value)
{
        uint64_t most = (UINT64_C(1) << bits) - 1;

        return key << bits | (value < most ? value : most);
}

/* Rules 1 and 2. */
static uint64_t rank_company(const struct view *v, uint64_t key, unsigned cpu)
{
        key = rank(key, 15, load(v, cpu));
        return rank(key, 15, v->on_core[core_of(v, cpu)] - load(v, cpu));
}

static enum distance distance(const struct view *v, uint16_t home, unsigned cpu)
{
        const struct sg_topology *t = v->place->topology;
        bool sibling = v->first[core_of(v, cpu)] != cpu;

        if (sg_topology_shares(t, SG_LEVEL_NODE, home, cpu))
                return sibling                                            ? SIBLING_IN_NODE
                       : sg_topology_shares(t, SG_LEVEL_CACHE, home, cpu) ? SAME_CACHE
                                                                          : SAME_NODE;
        if (sg_topology_shares(t, SG_LEVEL_PACKAGE, home, cpu))
                return sibling ? SIBLING_IN_PACKAGE : SAME_PACKAGE;
        return sibling ? SIBLING_ELSEWHERE : ELSEWHERE;
}

static uint64_t rank_cpu(const struct view *v, uint16_t home, unsigned cpu)
{
        uint64_t others = !sg_cpuset_has(&v->mine, cpu);
        uint64_t key = v->place->stays ? others : 0;

        key = rank_company(v, key, cpu);
        key = rank(key, 1, others);
        key = rank(key, 3, distance(v, home, cpu));
        return rank(key, 16, cpu);
}

static int compare(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return x < y ? -1 : x > y;
}

static void take_best(const struct view *v, uint64_t n, struct sg_own_cpus *own)
{
        uint64_t keys[SG_CPUS_MAX];
        size_t n_keys = 0;

        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++)
                if (sg_cpuset_has(&v->from, cpu))
                        keys[n_keys++] = rank_cpu(v, own->home, cpu);
        if (n_keys > 0)
                qsort(keys, n_keys, sizeof(*keys), compare);
        own->cpus = (struct sg_cpuset){0};
        for (size_t i = 0; i < n_keys && i < n; i++)
                sg_cpuset_add(&own->cpus, (unsigned)(keys[i] & UINT16_MAX));
}

/* Where to begin */

static void count_free_cores(const struct view *v, enum sg_level level,
                             uint16_t counts[SG_CPUS_MAX])
{
        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++)
                if (v->first[core_of(v, cpu)] == cpu && v->on_core[core_of(v, cpu)] == 0)
                        counts[v->place->topology->of[level][cpu]]++;
}

static uint16_t best_home(const struct view *v, uint64_t n)
{
        const struct sg_topology *t = v->place->topology;
        uint16_t in_cache[SG_CPUS_MAX] = {0}, in_node[SG_CPUS_MAX] = {0};
        uint64_t best = UINT64_MAX;

        count_free_cores(v, SG_LEVEL_CACHE, in_cache);
        count_free_cores(v, SG_LEVEL_NODE, in_node);
        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++) {
                uint16_t cache = in_cache[t->of[SG_LEVEL_CACHE][cpu]];
                uint16_t node = in_node[t->of[SG_LEVEL_NODE][cpu]];
                uint64_t key;

                if (!sg_cpuset_has(&v->from, cpu))
                        continue;
                key = rank_company(v, 0, cpu);
                key = rank(key, 2, cache >= n ? 0 : node >= n ? 1 : 2);
                key = rank(key, 11, (uint64_t)(SG_CPUS_MAX - node));
                key = rank(key, 11, (uint64_t)(SG_CPUS_MAX - cache));
                key = rank(key, 10, cpu);
                best = key < best ? key : best;
        }
        return best == UINT64_MAX ? 0 : (uint16_t)(best & (SG_CPUS_MAX - 1));
}

void sg_cpus_pick(const struct sg_cpus_place *p, uint64_t n, struct sg_own_cpus *ret)
{
        static const struct sg_cpuset none;
        struct sg_own_cpus own;
        struct view v;

        look(&v, p, &none);
        own.home = best_home(&v, n);
        take_best(&v, n, &own);
        *ret = own;
}

void sg_cpus_resize(const struct sg_cpus_place *p, uint64_t n, struct sg_own_cpus *own)
{
        struct view v;

        if (sg_cpuset_count(&own->cpus) == 0) {
                sg_cpus_pick(p, n, own);
                return;
        }
        look(&v, p, &own->cpus);
        take_best(&v, n, own);
}

uint16_t sg_cpus_home(const struct sg_topology *t, const struct sg_cpuset *cpus)
{
        uint16_t in_cache[SG_CPUS_MAX] = {0}, most = 0;
        unsigned home = 0;

        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++)
                if (sg_cpuset_has(cpus, cpu))
                        in_cache[t->of[SG_LEVEL_CACHE][cpu]]++;
        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++) {
                uint16_t n = in_cache[t->of[SG_LEVEL_CACHE][cpu]];

                if (sg_cpuset_has(cpus, cpu) && n > most) {
                        most = n;
                        home = cpu;
                }
        }
        return (uint16_t)home;
}
