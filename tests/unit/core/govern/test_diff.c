/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/parse.h"
#include "core/govern/diff.h"
#include "tests/unit/test.h"
#include <math.h>

#define INTERVAL 2.

static const struct sg_applied have = {
        .weight = 100, .cap_pm = SG_UNLIMITED, .threads = 2, .cpus = 2};

/* What is written at `now`, when anything was last written at 10 and an allocation at `allocated`.
 */
static unsigned written(const struct sg_applied *want, double allocated, double now,
                        double *ret_due)
{
        const struct sg_changed changed = {10, allocated};
        const struct sg_planned p = {.want = *want, .now = now, .interval = INTERVAL, .most = 100};

        return sg_diff_writes(&have, &changed, &p, ret_due);
}

/* Other CPUs are written at once, and what else differs with them. */
static void test_cpus_leap(void **state)
{
        struct sg_applied want = have;
        double due;

        (void)state;
        want.weight = 120;
        assert_int_equal(written(&want, 0, 10.1, &due), 0);
        assert_true(due == 10 + INTERVAL);
        want.cpus = want.threads = 1;
        assert_int_equal(written(&want, 0, 10.1, &due), SG_WRITE_WEIGHT | SG_WRITE_ALLOCATION);
        assert_true(isinf(due));
        want.cpus = 0;
        want.threads = 2;
        assert_int_equal(written(&want, 0, 10.1, &due), SG_WRITE_WEIGHT | SG_WRITE_CPUS);
}

static void test_misplaced(void **state)
{
        static const struct sg_changed changed = {10, 10};
        struct sg_planned p = {.want = have, .misplaced = true, .now = 10.1, .most = 100};
        double due;

        (void)state;
        assert_int_equal(sg_diff_writes(&have, &changed, &p, &due), 0);
        assert_true(due == 10.25);
        p.now = due;
        assert_int_equal(sg_diff_writes(&have, &changed, &p, &due), SG_WRITE_CPUS);
        p.misplaced = false;
        assert_int_equal(sg_diff_writes(&have, &changed, &p, &due), 0);
        assert_true(isinf(due));
}

/* But never soon after they last were, whatever happens; what isn't about them doesn't wait. */
static void test_never_often(void **state)
{
        struct sg_applied want = have;
        double due;

        (void)state;
        want.cpus = 1;
        assert_int_equal(written(&want, 10, 10.2, &due), 0);
        assert_true(due == 10.25);
        assert_int_equal(written(&want, 10, 10.25, &due), SG_WRITE_CPUS);
        want.weight = 1000;
        assert_int_equal(written(&want, 10, 10.2, &due), SG_WRITE_WEIGHT);
        assert_true(due == 10.25);
        want = have;
        want.weight = 1000;
        want.threads = 1;
        assert_int_equal(written(&want, 10, 10.2, &due), SG_WRITE_WEIGHT);
        assert_true(due == 10.25);
}

/* Threads alone are a mere adjustment. */
static void test_threads(void **state)
{
        struct sg_applied want = have;
        double due;

        (void)state;
        want.threads = 3;
        assert_int_equal(written(&want, 0, 10.5, &due), 0);
        assert_true(due == 10 + INTERVAL);
        assert_int_equal(written(&want, 0, 10 + INTERVAL, &due), SG_WRITE_THREADS);
}

/* What is left out isn't in force. */
static void test_applied(void **state)
{
        const struct sg_applied want = {.weight = 7, .cap_pm = 8, .threads = 9, .cpus = 10};
        struct sg_applied a = sg_diff_applied(&have, &want, SG_WRITE_CAP);

        (void)state;
        assert_int_equal(a.weight, 7);
        assert_int_equal(a.cap_pm, 8);
        assert_int_equal(a.threads, 2);
        assert_int_equal(a.cpus, 2);
        a = sg_diff_applied(&have, &want, SG_WRITE_CPUS);
        assert_int_equal(a.weight, 100);
        assert_int_equal(a.cap_pm, SG_UNLIMITED);
        assert_int_equal(a.threads, 9);
        assert_int_equal(a.cpus, 10);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_cpus_leap),   cmocka_unit_test(test_misplaced),
                cmocka_unit_test(test_never_often), cmocka_unit_test(test_threads),
                cmocka_unit_test(test_applied),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
