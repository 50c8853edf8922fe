/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/account/ledger.h"
#include "tests/unit/test.h"

#define C SG_CHARGE_CONNECTIONS
#define ALICE 1000
#define BOB 1001
#define CAROL 1002

static struct sg_ledger *ledger(uint64_t per_user, uint64_t all)
{
        struct sg_ledger *l;

        assert_int_equal(sg_ledger_new(&l), 0);
        sg_ledger_bound(l, C, per_user, all);
        return l;
}

static void test_one_user_is_bounded(void **state)
{
        struct sg_ledger *l = ledger(10, 100);

        (void)state;
        assert_int_equal(sg_ledger_left(l, ALICE, C), 10);
        assert_int_equal(sg_ledger_take(l, ALICE, C, 7), 0);
        assert_int_equal(sg_ledger_take(l, ALICE, C, 4), SG_LEDGER_USER_FULL);
        assert_int_equal(sg_ledger_held(l, ALICE, C), 7);
        assert_int_equal(sg_ledger_left(l, ALICE, C), 3);
        assert_int_equal(sg_ledger_take(l, ALICE, C, 3), 0);
        assert_int_equal(sg_ledger_take(l, ALICE, C, 1), SG_LEDGER_USER_FULL);
        assert_int_equal(sg_ledger_take(l, ALICE, C, UINT64_MAX), SG_LEDGER_USER_FULL);
        assert_int_equal(sg_ledger_take(l, BOB, C, 10), 0);
        sg_ledger_give(l, ALICE, C, 10);
        assert_int_equal(sg_ledger_left(l, ALICE, C), 10);
        assert_int_equal(sg_ledger_held(l, BOB, C), 10);
        sg_ledger_free(l);
}

/* Kinds have nothing to do with each other. */
static void test_kinds(void **state)
{
        struct sg_ledger *l = ledger(1, 8);

        (void)state;
        sg_ledger_bound(l, SG_CHARGE_LOOKUPS, 1, 8);
        assert_int_equal(sg_ledger_take(l, ALICE, C, 1), 0);
        assert_int_equal(sg_ledger_take(l, ALICE, SG_CHARGE_LOOKUPS, 1), 0);
        sg_ledger_give(l, ALICE, C, 1);
        assert_int_equal(sg_ledger_held(l, ALICE, C), 0);
        assert_int_equal(sg_ledger_held(l, ALICE, SG_CHARGE_LOOKUPS), 1);
        sg_ledger_free(l);
}

/* 16 in all: an eighth, 2, is for those who hold nothing yet. */
static void test_newcomers_find_room(void **state)
{
        struct sg_ledger *l = ledger(10, 16);

        (void)state;
        assert_int_equal(sg_ledger_take(l, ALICE, C, 10), 0);
        assert_int_equal(sg_ledger_take(l, BOB, C, 4), 0);
        assert_int_equal(sg_ledger_left(l, BOB, C), 0);
        assert_int_equal(sg_ledger_take(l, BOB, C, 1), SG_LEDGER_FULL);
        assert_int_equal(sg_ledger_left(l, CAROL, C), 2);
        assert_int_equal(sg_ledger_take(l, CAROL, C, 1), 0);
        assert_int_equal(sg_ledger_take(l, CAROL, C, 1), SG_LEDGER_FULL);
        sg_ledger_give(l, ALICE, C, 2);
        assert_int_equal(sg_ledger_take(l, CAROL, C, 1), 0);
        sg_ledger_free(l);
}

static void test_root_is_apart(void **state)
{
        struct sg_ledger *l = ledger(4, 8);

        (void)state;
        assert_int_equal(sg_ledger_take(l, ALICE, C, 4), 0);
        assert_int_equal(sg_ledger_take(l, BOB, C, 4), 0);
        assert_int_equal(sg_ledger_left(l, 0, C), 8);
        for (int i = 0; i < 8; i++)
                assert_int_equal(sg_ledger_take(l, 0, C, 1), 0);
        assert_int_equal(sg_ledger_take(l, 0, C, 1), SG_LEDGER_USER_FULL);
        sg_ledger_give(l, BOB, C, 4);
        assert_int_equal(sg_ledger_left(l, CAROL, C), 4);
        sg_ledger_free(l);
}

static void test_who_gives_way(void **state)
{
        struct sg_ledger *l = ledger(10, 100);
        uint32_t uid = 7;

        (void)state;
        assert_false(sg_ledger_largest(l, C, &uid));
        assert_int_equal(sg_ledger_take(l, 0, C, 50), 0);
        assert_int_equal(sg_ledger_take(l, BOB, SG_CHARGE_LOOKUPS, 9), 0);
        assert_false(sg_ledger_largest(l, C, &uid));
        assert_int_equal(uid, 7);
        assert_int_equal(sg_ledger_take(l, BOB, C, 2), 0);
        assert_int_equal(sg_ledger_take(l, ALICE, C, 3), 0);
        assert_true(sg_ledger_largest(l, C, &uid));
        assert_int_equal(uid, ALICE);
        sg_ledger_give(l, ALICE, C, 2);
        assert_true(sg_ledger_largest(l, C, &uid));
        assert_int_equal(uid, BOB);
        sg_ledger_free(l);
}

/* What is there already is charged over any bound; then nothing is left until it is less. */
static void test_booked(void **state)
{
        struct sg_ledger *l = ledger(10, 100);

        (void)state;
        assert_int_equal(sg_ledger_book(l, ALICE, C, 0), 0);
        assert_int_equal(sg_ledger_take(l, ALICE, C, 8), 0);
        assert_int_equal(sg_ledger_book(l, ALICE, C, 120), 0);
        assert_int_equal(sg_ledger_held(l, ALICE, C), 128);
        assert_int_equal(sg_ledger_left(l, ALICE, C), 0);
        assert_int_equal(sg_ledger_take(l, ALICE, C, 1), SG_LEDGER_USER_FULL);
        assert_int_equal(sg_ledger_left(l, BOB, C), 0);
        assert_int_equal(sg_ledger_take(l, BOB, C, 1), SG_LEDGER_FULL);
        sg_ledger_give(l, ALICE, C, 120);
        assert_int_equal(sg_ledger_left(l, ALICE, C), 2);
        assert_int_equal(sg_ledger_left(l, BOB, C), 10);
        sg_ledger_free(l);
}

/* A bound that is lowered takes nothing away. */
static void test_bounds_change(void **state)
{
        struct sg_ledger *l = ledger(10, 100);

        (void)state;
        assert_int_equal(sg_ledger_take(l, ALICE, C, 8), 0);
        sg_ledger_bound(l, C, 5, 7);
        assert_int_equal(sg_ledger_held(l, ALICE, C), 8);
        assert_int_equal(sg_ledger_left(l, ALICE, C), 0);
        assert_int_equal(sg_ledger_left(l, BOB, C), 0);
        sg_ledger_give(l, ALICE, C, 4);
        assert_int_equal(sg_ledger_take(l, ALICE, C, 1), 0);
        sg_ledger_free(l);
}

/* 1,000 users in a mixed order, each with what is its own; then they go in another one. */
static void test_many_users(void **state)
{
        struct sg_ledger *l = ledger(1000, 1000000);
        uint32_t largest;

        (void)state;
        for (uint32_t i = 0; i < 1000; i++)
                assert_int_equal(sg_ledger_take(l, 1 + i * 7 % 1000, C, 1 + i * 7 % 1000), 0);
        for (uint32_t uid = 1; uid <= 1000; uid++)
                assert_int_equal(sg_ledger_held(l, uid, C), uid);
        for (uint32_t i = 0; i < 1000; i++) {
                uint32_t uid = 1 + i * 13 % 1000;

                sg_ledger_give(l, uid, C, uid);
                assert_int_equal(sg_ledger_held(l, uid, C), 0);
        }
        assert_false(sg_ledger_largest(l, C, &largest));
        assert_int_equal(sg_ledger_left(l, 5, C), 1000);
        sg_ledger_free(l);
}

/* What is kept gives way to what is stored: of each user beyond the own bound, … */
static void test_kept_gives_way(void **state)
{
        struct sg_ledger *l = ledger(1, 1);
        uint64_t most;
        uint32_t uid;

        (void)state;
        sg_ledger_bound(l, SG_CHARGE_STORED, 800, 8000);
        assert_false(sg_ledger_yields(l, &uid, &most));
        assert_int_equal(sg_ledger_book(l, ALICE, SG_CHARGE_KEPT, 800), 0);
        assert_int_equal(sg_ledger_book(l, BOB, SG_CHARGE_KEPT, 100), 0);
        assert_false(sg_ledger_yields(l, &uid, &most));
        assert_int_equal(sg_ledger_take(l, ALICE, SG_CHARGE_STORED, 400), 0);
        assert_true(sg_ledger_yields(l, &uid, &most));
        assert_int_equal(uid, ALICE);
        assert_int_equal(most, 350); /* an eighth more than it must */
        sg_ledger_give(l, ALICE, SG_CHARGE_KEPT, 450);
        assert_false(sg_ledger_yields(l, &uid, &most));
        assert_int_equal(sg_ledger_take(l, ALICE, SG_CHARGE_STORED, 400), 0);
        assert_true(sg_ledger_yields(l, &uid, &most));
        assert_int_equal(uid, ALICE);
        assert_int_equal(most, 0);
        sg_ledger_free(l);
}

/* … and of all beyond theirs: then of who has most. Root's counts by itself. */
static void test_largest_kept_gives_way(void **state)
{
        struct sg_ledger *l = ledger(1, 1);
        uint64_t most;
        uint32_t uid;

        (void)state;
        sg_ledger_bound(l, SG_CHARGE_STORED, 1000, 1600);
        assert_int_equal(sg_ledger_book(l, 0, SG_CHARGE_KEPT, 1500), 0);
        assert_int_equal(sg_ledger_book(l, ALICE, SG_CHARGE_KEPT, 600), 0);
        assert_int_equal(sg_ledger_book(l, BOB, SG_CHARGE_KEPT, 900), 0);
        assert_false(sg_ledger_yields(l, &uid, &most));
        assert_int_equal(sg_ledger_take(l, CAROL, SG_CHARGE_STORED, 800), 0);
        assert_true(sg_ledger_yields(l, &uid, &most));
        assert_int_equal(uid, BOB);
        assert_int_equal(most, 100); /* 800 are left for both, and an eighth less */
        assert_int_equal(sg_ledger_book(l, 0, SG_CHARGE_KEPT, 200), 0);
        assert_true(sg_ledger_yields(l, &uid, &most));
        assert_int_equal(uid, 0);
        assert_int_equal(most, 1400);
        sg_ledger_free(l);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_one_user_is_bounded),
                cmocka_unit_test(test_kinds),
                cmocka_unit_test(test_newcomers_find_room),
                cmocka_unit_test(test_root_is_apart),
                cmocka_unit_test(test_who_gives_way),
                cmocka_unit_test(test_bounds_change),
                cmocka_unit_test(test_many_users),
                cmocka_unit_test(test_booked),
                cmocka_unit_test(test_kept_gives_way),
                cmocka_unit_test(test_largest_kept_gives_way),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
