/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a class's ended jobs say of those that say nothing; and medians. */

#include "tests/unit/test.h"

#include "base/rng.h"
#include "core/job/history.h"
#include "core/job/median.h"
#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

static double sorted_median(double *v, size_t n)
{
        qsort(v, n, sizeof(*v), compare);
        return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static void medians_are_those_of_sorted_numbers(void **state)
{
        double v[64], w[64];
        struct sg_rng rng;

        (void)state;
        sg_rng_init(&rng, 1, 0);
        assert_true(isnan(sg_median(v, 0)));
        for (unsigned round = 0; round < 20000; round++) {
                size_t n = 1 + sg_rng_below(&rng, SG_ELEMENTSOF(v));

                for (size_t i = 0; i < n; i++) /* many are the same */
                        v[i] = w[i] = (double)sg_rng_below(&rng, round % 2 ? 5 : 1000);
                assert_true(sg_median(v, n) == sorted_median(w, n));
        }
}

static void the_size_is_of_those_that_took_longer(void **state)
{
        struct sg_class_history h = {0};

        (void)state;
        assert_true(isnan(sg_history_size(&h, 0)));
        for (unsigned i = 1; i <= 5; i++)
                sg_history_add(&h, i * 10, (double)NAN);
        assert_true(sg_history_size(&h, 0) == 30);
        assert_true(sg_history_size(&h, 10) == 35);
        assert_true(sg_history_size(&h, 29) == 40);
        assert_true(sg_history_size(&h, 49) == 50);
        assert_true(isnan(sg_history_size(&h, 50)));
}

static void the_newest_count(void **state)
{
        struct sg_class_history h = {0};
        double v[SG_HISTORY_JOBS], all[1000];
        struct sg_rng rng;

        (void)state;
        sg_rng_init(&rng, 2, 0);
        for (size_t i = 0; i < SG_ELEMENTSOF(all); i++) {
                size_t n = i < SG_HISTORY_JOBS ? i + 1 : SG_HISTORY_JOBS;

                all[i] = 1 + (double)sg_rng_below(&rng, 50);
                sg_history_add(&h, all[i], (double)NAN);
                memcpy(v, &all[i + 1 - n], n * sizeof(*v));
                assert_true(sg_history_size(&h, 0) == sorted_median(v, n));
        }
}

static void claims_are_corrected_once_there_are_five(void **state)
{
        struct sg_class_history h = {0};

        (void)state;
        for (unsigned i = 0; i < 4; i++) {
                sg_history_add(&h, 60, 100);
                assert_true(sg_history_correction(&h) == 1);
        }
        sg_history_add(&h, 60, (double)NAN);
        assert_true(sg_history_correction(&h) == 1);
        sg_history_add(&h, 100, 100);
        assert_near(sg_history_correction(&h), .6, 1e-6);
}

/* Fifty that say they are a millionth done, and end, mustn't make all others small. */
static void corrections_are_bounded(void **state)
{
        struct sg_class_history h = {0}, k = {0};

        (void)state;
        for (unsigned i = 0; i < 50; i++) {
                sg_history_add(&h, 1, 1e6);
                sg_history_add(&k, 1e6, 1);
        }
        assert_true(sg_history_correction(&h) == .25);
        assert_true(sg_history_correction(&k) == 4);
}

static void nonsense_is_not_remembered(void **state)
{
        struct sg_class_history h = {0};

        (void)state;
        sg_history_add(&h, (double)NAN, 1);
        sg_history_add(&h, 0, 1);
        sg_history_add(&h, -1, 1);
        sg_history_add(&h, (double)INFINITY, 1);
        assert_int_equal(h.n_cpu, 0);
        sg_history_add(&h, 1, 0);
        sg_history_add(&h, 1, -1);
        assert_int_equal(h.n_cpu, 2);
        assert_int_equal(h.n_ratio, 0);
}

/* Of what was kept, all that follows from the rest is made anew. */
static void a_kept_one_goes_on_as_it_was(void **state)
{
        struct sg_class_history h = {0}, kept, loaded;

        (void)state;
        for (unsigned i = 0; i < 3 * SG_HISTORY_JOBS / 2; i++) {
                kept = h;
                memset(kept.order, 0xff, sizeof(kept.order));
                kept.correction = 1e9F;
                assert_int_equal(sg_history_load(&loaded, &kept, sizeof(kept)), 0);
                assert_memory_equal(loaded.order, h.order,
                                    sizeof(float) * (i < SG_HISTORY_JOBS ? i : SG_HISTORY_JOBS));
                assert_true(loaded.correction == h.correction);
                assert_int_equal(loaded.n_cpu, h.n_cpu);
                assert_int_equal(loaded.n_ratio, h.n_ratio);
                sg_history_add(&loaded, 1 + i % 7, 3);
                sg_history_add(&h, 1 + i % 7, 3);
                assert_true(sg_history_size(&loaded, 0) == sg_history_size(&h, 0));
                assert_true(sg_history_correction(&loaded) == sg_history_correction(&h));
        }
}

static void a_broken_one_is_refused(void **state)
{
        static const float nonsense[] = {0, -1, NAN, INFINITY};
        struct sg_class_history h = {0}, kept, loaded;

        (void)state;
        memset(&loaded, 0x55, sizeof(loaded));
        kept = loaded;
        sg_history_add(&h, 1, 1);
        assert_int_equal(sg_history_load(&loaded, &h, sizeof(h) - 1), -EBADMSG);
        for (size_t i = 0; i < SG_ELEMENTSOF(nonsense); i++) {
                struct sg_class_history broken = h;

                broken.cpu[0] = nonsense[i];
                assert_int_equal(sg_history_load(&loaded, &broken, sizeof(broken)), -EBADMSG);
                broken = h;
                broken.ratio[0] = nonsense[i];
                assert_int_equal(sg_history_load(&loaded, &broken, sizeof(broken)), -EBADMSG);
        }
        assert_memory_equal(&loaded, &kept, sizeof(kept));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(medians_are_those_of_sorted_numbers),
                cmocka_unit_test(the_size_is_of_those_that_took_longer),
                cmocka_unit_test(the_newest_count),
                cmocka_unit_test(claims_are_corrected_once_there_are_five),
                cmocka_unit_test(corrections_are_bounded),
                cmocka_unit_test(nonsense_is_not_remembered),
                cmocka_unit_test(a_kept_one_goes_on_as_it_was),
                cmocka_unit_test(a_broken_one_is_refused),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
