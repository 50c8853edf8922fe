/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where GPUs are given out: the best set is the best of all, and it isn't told by its place. */
#include "tests/prop/prop.h"
#include "tests/unit/core/gpu/node.h"

#define MANY 2000
#define GPUS 10

static struct gpu_node node;
static struct sg_gpu_pool pool;

static size_t n_gpus(void)
{
        return node.inventory.n;
}

static unsigned apart(size_t i, size_t j)
{
        return node.gpus[i].near[j].distance;
}

static void make(struct sg_rng *rng)
{
        static const uint8_t levels[] = {1, 10, 20, 30, 40, 50};
        unsigned n_levels = 1 + sg_rng_below(rng, 6), types = 1 + sg_rng_below(rng, 2);

        node_make(&node, 2 + sg_rng_below(rng, GPUS - 1));
        for (size_t i = 0; i < n_gpus(); i++) {
                bool second = types == 2 && sg_rng_below(rng, 3) == 0;

                node_board(&node, i, second ? "T4" : "A100",
                           (sg_rng_below(rng, 4) ? 80 : 40) * GIB);
                for (size_t j = 0; sg_rng_below(rng, 2) && j < i; j++)
                        node_join(&node, i, j, levels[sg_rng_below(rng, n_levels)]);
        }
        for (size_t i = 0; i < n_gpus(); i++)
                for (size_t j = 0; j < i; j++)
                        node_join(&node, i, j, levels[sg_rng_below(rng, n_levels)]);
        sg_gpu_pool_init(&pool, &node.inventory);
        for (size_t i = 0; i < n_gpus(); i++) {
                pool.rooms[i].closed = sg_rng_below(rng, 8) == 0;
                pool.rooms[i].foreign = sg_rng_below(rng, 8) == 0;
                pool.rooms[i].hundredths = sg_rng_below(rng, 4) == 0 ? 100 : 0;
        }
}

static bool is_free(size_t i)
{
        return !pool.rooms[i].closed && !pool.rooms[i].foreign && pool.rooms[i].hundredths == 0;
}

struct cost {
        unsigned values[4]; /* the largest distance, their sum, broken pairs, memory */
};

static bool cost_of(unsigned set, struct cost *ret)
{
        struct cost c = {0};

        for (size_t i = 0; i < n_gpus(); i++) {
                uint8_t pair = pool.rooms[i].pair;

                if (!(set & (1U << i)))
                        continue;
                if (!is_free(i) ||
                    pool.rooms[i].type != pool.rooms[(size_t)__builtin_ctz(set)].type)
                        return false;
                c.values[2] += pair != SG_GPU_NONE && is_free(pair) && !(set & (1U << pair));
                c.values[3] += (unsigned)(pool.rooms[i].usable / GIB);
                for (size_t j = 0; j < i; j++)
                        if (set & (1U << j)) {
                                c.values[1] += apart(i, j);
                                if (apart(i, j) > c.values[0])
                                        c.values[0] = apart(i, j);
                        }
        }
        *ret = c;
        return true;
}

static int compare(const struct cost *a, const struct cost *b)
{
        for (size_t k = 0; k < 4; k++)
                if (a->values[k] != b->values[k])
                        return a->values[k] < b->values[k] ? -1 : 1;
        return 0;
}

/* Of two sets the one with the lowest GPU that isn't in both. */
static bool is_before(unsigned a, unsigned b)
{
        return a & ((a ^ b) & -(a ^ b));
}

static unsigned best_of_all(unsigned n)
{
        struct cost least = {0}, c;
        unsigned best = 0;

        for (unsigned set = 1; set < 1U << n_gpus(); set++)
                if ((unsigned)__builtin_popcount(set) == n && cost_of(set, &c) &&
                    (!best || compare(&c, &least) < 0 ||
                     (compare(&c, &least) == 0 && is_before(set, best)))) {
                        best = set;
                        least = c;
                }
        return best;
}

static void best_set_is_best(struct sg_rng *rng)
{
        struct sg_gpu_choice c = {0};
        unsigned set = 0, n;

        make(rng);
        for (n = 1; n <= n_gpus(); n++) {
                struct sg_gpu_request r = want(n, n);

                set = 0;
                c.n = 0;
                (void)sg_gpu_place(&pool, &r, &c);
                for (size_t k = 0; k < c.n; k++)
                        set |= 1U << c.gpus[k];
                prop_check(set == best_of_all(n));
        }
}

static void test_best_set_is_best(void **state)
{
        (void)state;
        prop_each(MANY, best_set_is_best);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_best_set_is_best),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
