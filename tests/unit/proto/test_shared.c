/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proto/shared.h"
#include "tests/unit/test.h"
#include <stdint.h>
#include <string.h>

static void test_one_copy(void **state)
{
        char text[] = "a value", other[] = "another";
        const char *a, *b, *c;

        (void)state;
        a = sg_shared_get(text, sizeof(text));
        b = sg_shared_get(text, sizeof(text));
        c = sg_shared_get(other, sizeof(other));
        assert_ptr_equal(a, b);
        assert_ptr_not_equal(a, c);
        assert_int_equal(sg_shared_count(), 2);
        text[0] = 'A'; /* it isn't the caller's */
        assert_string_equal(a, "a value");
        assert_null(sg_shared_put(a));
        assert_int_equal(sg_shared_count(), 2);
        assert_string_equal(b, "a value");
        (void)sg_shared_put(b);
        (void)sg_shared_put(c);
        assert_int_equal(sg_shared_count(), 0);
        assert_null(sg_shared_put(NULL));
}

static void test_size_counts(void **state)
{
        const char text[] = "abc";
        const void *a = sg_shared_get(text, 2), *b = sg_shared_get(text, 3);

        (void)state;
        assert_ptr_not_equal(a, b);
        (void)sg_shared_put(a);
        assert_memory_equal(b, "abc", 3);
        (void)sg_shared_put(b);
        assert_int_equal(sg_shared_count(), 0);
}

/* More than the table has places, dropped in another order. */
static void test_many(void **state)
{
        enum { N = 1000 };
        const uint64_t *shared[N];

        (void)state;
        for (uint64_t i = 0; i < N; i++) {
                shared[i] = sg_shared_get(&i, sizeof(i));
                assert_ptr_equal(sg_shared_get(&i, sizeof(i)), shared[i]);
        }
        assert_int_equal(sg_shared_count(), N);
        for (uint64_t i = 0; i < N; i++) {
                uint64_t k = i * 7 % N;

                assert_int_equal(*shared[k], k);
                (void)sg_shared_put(shared[k]);
                (void)sg_shared_put(shared[k]);
        }
        assert_int_equal(sg_shared_count(), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_one_copy),
                cmocka_unit_test(test_size_counts),
                cmocka_unit_test(test_many),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
