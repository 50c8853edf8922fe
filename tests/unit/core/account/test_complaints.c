/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/account/complaints.h"
#include "tests/unit/test.h"

#define MINUTE 60000000ULL
#define ALICE 1000
#define BOB 1001

enum { LATE, LARGE };

static void test_one_a_minute(void **state)
{
        struct sg_complaints c = {0};
        uint64_t unsaid = 99;

        (void)state;
        assert_true(sg_complaints_say(&c, LATE, ALICE, 1, &unsaid));
        assert_int_equal(unsaid, 0);
        unsaid = 99;
        for (uint64_t t = 2; t < 12; t++)
                assert_false(sg_complaints_say(&c, LATE, ALICE, t, &unsaid));
        assert_false(sg_complaints_say(&c, LATE, ALICE, MINUTE, &unsaid));
        assert_int_equal(unsaid, 99);
        assert_true(sg_complaints_say(&c, LATE, ALICE, MINUTE + 1, &unsaid));
        assert_int_equal(unsaid, 11);
        assert_false(sg_complaints_say(&c, LATE, ALICE, MINUTE + 2, &unsaid));
        assert_true(sg_complaints_say(&c, LATE, ALICE, 3 * MINUTE, &unsaid));
        assert_int_equal(unsaid, 1);
}

static void test_of_each_kind_and_user(void **state)
{
        struct sg_complaints c = {0};
        uint64_t unsaid;

        (void)state;
        assert_true(sg_complaints_say(&c, LATE, ALICE, 1, &unsaid));
        assert_true(sg_complaints_say(&c, LARGE, ALICE, 1, &unsaid));
        assert_true(sg_complaints_say(&c, LATE, BOB, 1, &unsaid));
        assert_true(sg_complaints_say(&c, LATE, 0, 1, &unsaid));
        assert_false(sg_complaints_say(&c, LATE, ALICE, 2, &unsaid));
        assert_false(sg_complaints_say(&c, LARGE, ALICE, 2, &unsaid));
        assert_true(sg_complaints_say(&c, LARGE, ALICE, MINUTE + 2, &unsaid));
        assert_int_equal(unsaid, 1);
}

/* A user may have thousands of numbers, of subordinate ids. */
static void test_of_all(void **state)
{
        struct sg_complaints c = {0};
        uint64_t unsaid;
        unsigned n = 0;

        (void)state;
        for (uint32_t uid = 1; uid < 10 * SG_COMPLAINTS_MAX; uid++)
                n += sg_complaints_say(&c, LATE, uid, uid, &unsaid);
        assert_int_equal(n, SG_COMPLAINTS_MAX);
        /* The first minute that is over makes room for somebody else. */
        assert_true(sg_complaints_say(&c, LATE, 99999, MINUTE + 1, &unsaid));
        assert_int_equal(unsaid, 0);
        assert_false(sg_complaints_say(&c, LATE, 99998, MINUTE + 1, &unsaid));
        assert_false(sg_complaints_say(&c, LATE, 2, MINUTE + 1, &unsaid));
        assert_true(sg_complaints_say(&c, LATE, 3, MINUTE + 3, &unsaid));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_one_a_minute),
                cmocka_unit_test(test_of_each_kind_and_user),
                cmocka_unit_test(test_of_all),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
