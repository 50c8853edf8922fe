/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proto/job-key.h"
#include "proto/shared.h"
#include "tests/unit/test.h"
#include <string.h>

static void test_as_the_key_was(void **state)
{
        struct sg_job_key key = {"node-1", 7, 2}, got;
        struct sg_kept_key a = {0}, b = {0};

        (void)state;
        assert_int_equal(sg_kept_key_init(&a, &key), 0);
        key.n = 8;
        assert_int_equal(sg_kept_key_init(&b, &key), 0);
        assert_int_equal(sg_shared_count(), 1); /* the origin */
        got = sg_kept_key_get(&a);
        assert_string_equal(got.origin, "node-1");
        assert_int_equal(got.n, 7);
        assert_int_equal(got.attempt, 2);
        sg_kept_key_deinit(&a);
        assert_string_equal(b.origin, "node-1");
        sg_kept_key_deinit(&b);
        sg_kept_key_deinit(&b); /* as of one that was never filled */
        assert_int_equal(sg_shared_count(), 0);
}

static void test_which_attempt(void **state)
{
        const struct sg_job_key key = {"node", 7, 2}, other = {"nod", 7, 2}, later = {"node", 7, 3},
                                next = {"node", 8, 2};
        struct sg_kept_key k;

        (void)state;
        assert_int_equal(sg_kept_key_init(&k, &key), 0);
        assert_true(sg_kept_key_is(&k, &key));
        assert_false(sg_kept_key_is(&k, &other));
        assert_false(sg_kept_key_is(&k, &later));
        assert_false(sg_kept_key_is(&k, &next));
        sg_kept_key_deinit(&k);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_as_the_key_was),
                cmocka_unit_test(test_which_attempt),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
