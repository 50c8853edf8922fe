/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CPUs of their own: jobs come, grow, shrink, move and go, on machines of all shapes. */
#include "core/place/cpus.h"
#include "tests/prop/prop.h"
#include <string.h>

#define JOBS_MAX 12
#define MANY 300
#define STEPS 40

struct machine {
        struct sg_topology topology;
        struct sg_cpuset allowed;
        uint32_t jobs[SG_CPUS_MAX];
        struct sg_own_cpus own[JOBS_MAX];
        unsigned n_cpus;
};

/* `per` CPUs each in a row, siblings half of all apart: as Linux numbers them. */
static void join(struct machine *m, enum sg_level level, unsigned per, unsigned threads)
{
        unsigned cores = m->n_cpus / threads;

        for (unsigned first = 0; first < cores; first += per) {
                struct sg_cpuset together = {0};

                for (unsigned i = first; i < first + per && i < cores; i++)
                        for (unsigned t = 0; t < threads; t++)
                                sg_cpuset_add(&together, i + t * cores);
                sg_topology_join(&m->topology, level, &together);
        }
}

static void make(struct machine *m, struct sg_rng *rng)
{
        unsigned threads = 1 + (unsigned)sg_rng_below(rng, 2),
                 cache = 1 + (unsigned)sg_rng_below(rng, 4);
        unsigned node = cache * (1 + (unsigned)sg_rng_below(rng, 3));
        unsigned package = node * (1 + (unsigned)sg_rng_below(rng, 2));

        memset(m, 0, sizeof(*m));
        m->n_cpus = package * threads * (1 + (unsigned)sg_rng_below(rng, 2));
        sg_topology_init(&m->topology);
        join(m, SG_LEVEL_CORE, 1, threads);
        join(m, SG_LEVEL_CACHE, cache, threads);
        join(m, SG_LEVEL_NODE, node, threads);
        join(m, SG_LEVEL_PACKAGE, package, threads);
        for (unsigned cpu = 0; cpu < m->n_cpus; cpu++)
                if (cpu == 0 || sg_rng_below(rng, 8) > 0)
                        sg_cpuset_add(&m->allowed, cpu);
}

static void count(struct machine *m, size_t job, int by)
{
        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++)
                if (sg_cpuset_has(&m->own[job].cpus, cpu))
                        m->jobs[cpu] += (uint32_t)by;
}

static bool resize(struct machine *m, size_t job, uint64_t n)
{
        const struct sg_cpus_place place = {
                .topology = &m->topology, .allowed = &m->allowed, .jobs = m->jobs};
        struct sg_own_cpus own = m->own[job];

        sg_cpus_resize(&place, n, &own);
        count(m, job, -1);
        memcpy(&m->own[job], &own, sizeof(own));
        count(m, job, 1);
        return true;
}

static unsigned size(const struct machine *m, size_t job)
{
        return sg_cpuset_count(&m->own[job].cpus);
}

/* Until nobody has a better place any more. */
static void settle(struct machine *m)
{
        bool moved = true;

        for (unsigned round = 0; moved; round++) {
                prop_check(round < 100);
                moved = false;
                for (size_t job = 0; job < JOBS_MAX; job++) {
                        struct sg_cpuset before = m->own[job].cpus;

                        if (size(m, job) > 0)
                                resize(m, job, size(m, job));
                        moved = moved || memcmp(&before, &m->own[job].cpus, sizeof(before)) != 0;
                }
        }
}

static bool core_is_free(const struct machine *m, unsigned cpu)
{
        for (unsigned i = 0; i < m->n_cpus; i++)
                if (sg_topology_shares(&m->topology, SG_LEVEL_CORE, i, cpu) && m->jobs[i] > 0)
                        return false;
        return true;
}

/* How many jobs have CPUs of its core. */
static unsigned jobs_on_core(const struct machine *m, unsigned cpu)
{
        unsigned n = 0;

        for (size_t job = 0; job < JOBS_MAX; job++)
                for (unsigned i = 0; i < m->n_cpus; i++)
                        if (sg_topology_shares(&m->topology, SG_LEVEL_CORE, i, cpu) &&
                            sg_cpuset_has(&m->own[job].cpus, i)) {
                                n++;
                                break;
                        }
        return n;
}

static void check(const struct machine *m)
{
        bool free_cpu = false, free_core = false, shared_cpu = false, shared_core = false;

        for (unsigned cpu = 0; cpu < m->n_cpus; cpu++) {
                prop_check(m->jobs[cpu] == 0 || sg_cpuset_has(&m->allowed, cpu));
                if (!sg_cpuset_has(&m->allowed, cpu))
                        continue;
                free_cpu = free_cpu || m->jobs[cpu] == 0;
                shared_cpu = shared_cpu || m->jobs[cpu] > 1;
                free_core = free_core || core_is_free(m, cpu);
                shared_core = shared_core || jobs_on_core(m, cpu) > 1;
        }
        prop_check(!(free_cpu && shared_cpu));
        prop_check(!(free_core && shared_core));
}

/* While others stay where they are it has what it had, and in between no other CPUs were needed. */
static void there_and_back(struct machine *m, size_t job, uint64_t to)
{
        struct sg_cpuset before = m->own[job].cpus;
        unsigned n = size(m, job);

        for (uint64_t i = n; i <= to; i++) {
                struct sg_cpuset smaller = m->own[job].cpus;

                resize(m, job, i);
                for (unsigned cpu = 0; cpu < m->n_cpus; cpu++)
                        prop_check(!sg_cpuset_has(&smaller, cpu) ||
                                   sg_cpuset_has(&m->own[job].cpus, cpu));
        }
        resize(m, job, n);
        prop_check(memcmp(&before, &m->own[job].cpus, sizeof(before)) == 0);
}

static void live(struct sg_rng *rng)
{
        struct machine m;
        unsigned all;

        make(&m, rng);
        all = sg_cpuset_count(&m.allowed);
        for (unsigned i = 0; i < STEPS; i++) {
                size_t job = sg_rng_below(rng, JOBS_MAX);
                uint64_t n =
                        sg_rng_below(rng, 2) ? sg_rng_below(rng, all + 1) : sg_rng_below(rng, 3);
                bool fresh = size(&m, job) == 0;

                resize(&m, job, n);
                prop_check(size(&m, job) == (n < all ? n : all));
                if (fresh && n > 0)
                        there_and_back(&m, job, sg_rng_below(rng, all + 1));
                settle(&m);
                check(&m);
        }
}

static void test_live(void **state)
{
        (void)state;
        prop_each(MANY, live);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_live),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
