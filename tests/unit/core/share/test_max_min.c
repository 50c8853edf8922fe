/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Levels and limits; exact cases are in tests/data/vectors/shares.json. */
#include "base/rng.h"
#include "core/share/max-min.h"
#include "core/share/share.h"
#include "tests/unit/test.h"

#include <math.h>

#define N 6

static double sum(const double *v)
{
        double s = 0;

        for (size_t i = 0; i < N; i++)
                s += v[i];
        return s;
}

/* Max-min: who has less for its weight than another has all that it can use. */
static void check_level(const double *weights, const double *limits, const double *shares,
                        uint64_t seed)
{
        for (size_t i = 0; i < N; i++) {
                if (shares[i] > limits[i] + 1e-12)
                        fail_msg("seed %d: %zu has more than its limit", (int)seed, i);
                for (size_t j = 0; j < N; j++)
                        if (shares[i] < limits[i] - 1e-9 &&
                            shares[i] / weights[i] < shares[j] / weights[j] - 1e-9)
                                fail_msg("seed %d: %zu has less than %zu", (int)seed, i, j);
        }
}

static void test_levels_at_random(void **state)
{
        (void)state;
        for (uint64_t seed = 1; seed <= 1000; seed++) {
                double weights[N], limits[N], shares[N], capacity;
                struct sg_rng rng;

                sg_rng_init(&rng, seed, 0);
                capacity = sg_rng_between(&rng, .1, 2);
                for (size_t i = 0; i < N; i++) {
                        weights[i] = exp2(sg_rng_between(&rng, -10, 10));
                        limits[i] = exp2(sg_rng_between(&rng, -10, 1));
                }
                sg_max_min_level(weights, limits, N, capacity, shares);
                check_level(weights, limits, shares, seed);
                assert_near(sum(shares), fmin(capacity, sum(limits)), 1e-9);
                sg_max_min_level(weights, limits, N, capacity, weights); /* in place */
                assert_memory_equal(weights, shares, sizeof(shares));
        }
}

static void test_modes_at_random(void **state)
{
        (void)state;
        for (uint64_t seed = 1; seed <= 1000; seed++) {
                double limits[N], widths[N], soft[N], hard[N], weight[N];
                struct sg_rng rng;

                sg_rng_init(&rng, seed, 1);
                for (size_t i = 0; i < N; i++) {
                        limits[i] = sg_rng_below(&rng, 5) ? sg_rng_double(&rng) : 0;
                        widths[i] = sg_rng_between(&rng, .02, 1);
                }
                limits[0] = .01;
                sg_max_min_shares(limits, widths, N, SG_FLOWCON_SOFT, soft);
                sg_max_min_shares(limits, widths, N, SG_FLOWCON_HARD, hard);
                sg_max_min_shares(limits, widths, N, SG_FLOWCON_WEIGHT, weight);
                assert_near(sum(soft), fmin(1, sum(widths)), 1e-6);
                for (size_t i = 0; i < N; i++) {
                        assert_true(soft[i] <= widths[i] + 1e-12);
                        assert_true(soft[i] >= hard[i] - 1e-7);
                        assert_true(hard[i] <= fmin(limits[i], widths[i]) + 1e-12);
                        assert_true(weight[i] <= widths[i] + 1e-12);
                }
        }
}

static void test_nobody_wants_anything(void **state)
{
        const double weights[] = {0, 0}, widths[] = {1, .5}, mixed[] = {0, 2};
        double shares[2] = {9, 9};

        (void)state;
        sg_share_by_weight(weights, widths, 2, shares);
        assert_true(shares[0] <= 0);
        assert_true(shares[1] <= 0);
        sg_share_by_weight(mixed, widths, 2, shares);
        assert_true(shares[0] <= 0);
        assert_near(shares[1], .5, 1e-12);
        sg_share_by_weight(weights, widths, 0, shares);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_levels_at_random),
                cmocka_unit_test(test_modes_at_random),
                cmocka_unit_test(test_nobody_wants_anything),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
