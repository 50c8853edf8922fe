/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long one job's GPUs are looked for, on a node of 16 GPUs and 64 MIG instances, over random
 * sets of free GPUs, numbers of them and shapes of the node. Each is measured as the least of
 * three, as the machine does other things, too.
 */
#include "base/rng.h"
#include "tests/unit/core/gpu/node.h"
#include <time.h>

#define GPUS 16
#define SETS 4096

static struct gpu_node node;

/* A mesh in which each has some neighbours: the hardest shape, as no group stands out. */
static void make_mesh(struct sg_rng *rng)
{
        static const uint8_t levels[] = {1, 1, 10, 20, 30, 50};

        for (size_t i = 0; i < GPUS; i++)
                for (size_t j = 0; j < i; j++)
                        node_join(&node, i, j, levels[sg_rng_below(rng, sizeof(levels))]);
}

static void add_instances(void)
{
        node.inventory.n = GPUS + 16;
        for (size_t i = GPUS; i < node.inventory.n; i++) {
                node_board(&node, i, "A100-SXM4-80GB", 80 * GIB);
                for (size_t k = 0; k < 4; k++)
                        node_add_instance(&node, i, k ? "1g.10gb" : "3g.40gb", (k ? 10 : 40) * GIB);
        }
}

static uint64_t measure(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r)
{
        uint64_t least = UINT64_MAX;

        for (unsigned i = 0; i < 3; i++) {
                struct timespec from, to;
                struct sg_gpu_choice c;
                uint64_t took;

                (void)clock_gettime(CLOCK_MONOTONIC, &from);
                (void)(sg_gpu_fits(pool, r, NULL) && sg_gpu_place(pool, r, &c));
                (void)clock_gettime(CLOCK_MONOTONIC, &to);
                took = (uint64_t)(to.tv_sec - from.tv_sec) * 1000000000 + (uint64_t)to.tv_nsec -
                       (uint64_t)from.tv_nsec;
                least = took < least ? took : least;
        }
        return least;
}

static int by_size(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return x < y ? -1 : x > y;
}

static void report(const char *what, uint64_t *took, size_t n)
{
        qsort(took, n, sizeof(*took), by_size);
        printf("%-34s %9.1f us %9.1f us %9.1f us\n", what, (double)took[n / 2] / 1e3,
               (double)took[n * 99 / 100] / 1e3, (double)took[n - 1] / 1e3);
}

static void bench_sets(const char *what, struct sg_rng *rng, bool mesh)
{
        static uint64_t took[SETS];
        struct sg_gpu_pool pool;

        for (size_t k = 0; k < SETS; k++) {
                size_t n = 1 + sg_rng_below(rng, GPUS);
                struct sg_gpu_request r = want(n, n);
                uint32_t taken = sg_rng_u32(rng) & sg_rng_u32(rng) & sg_rng_u32(rng);

                if (mesh)
                        make_mesh(rng);
                sg_gpu_pool_init(&pool, &node.inventory);
                for (size_t i = 0; i < GPUS; i++)
                        pool.rooms[i].hundredths = taken & (1U << i) ? SG_GPU_WHOLE : 0;
                took[k] = measure(&pool, &r);
        }
        report(what, took, SETS);
}

static void bench_instances(struct sg_rng *rng)
{
        static uint64_t took[SETS];
        struct sg_gpu_request r = want_mig((char *)"2g.20gb");
        struct sg_gpu_pool pool;

        for (size_t k = 0; k < SETS; k++) {
                sg_gpu_pool_init(&pool, &node.inventory);
                for (size_t i = 0; i < node.inventory.n; i++)
                        pool.rooms[i].instances = (uint16_t)sg_rng_u32(rng);
                took[k] = measure(&pool, &r);
        }
        report("an instance", took, SETS);
}

int main(void)
{
        struct sg_rng rng;

        sg_rng_init(&rng, 1, 1);
        printf("%-34s %12s %12s %12s\n", "16 GPUs, 64 MIG instances; one job", "median",
               "99 of 100", "the worst");
        node_make(&node, GPUS);
        add_instances();
        bench_sets("1 to 16 GPUs, two sockets", &rng, false);
        bench_sets("1 to 16 GPUs, a mesh", &rng, true);
        bench_instances(&rng);
        return 0;
}
