/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/parse.h"
#include "core/measure/net-count.h"
#include "tests/unit/test.h"

#define SEC 1000000ULL

static bool answered(struct sg_net_count *u, uint64_t rx, uint64_t tx)
{
        const uint64_t answer[SG_NET_WAYS] = {rx, tx};

        return sg_net_count_answered(u, answer);
}

static void expect(const struct sg_net_count *u, uint64_t rx, uint64_t tx)
{
        assert_true(u->known);
        assert_int_equal(u->sum[SG_NET_RX], rx);
        assert_int_equal(u->sum[SG_NET_TX], tx);
}

static void test_every_ten_seconds(void **state)
{
        struct sg_net_counts all = {0};
        struct sg_net_count a = {0}, b = {0};

        (void)state;
        assert_true(sg_net_count_due(&all, &a, 50 * SEC));
        assert_false(sg_net_count_due(&all, &a, 50 * SEC));
        assert_true(sg_net_count_due(&all, &b, 55 * SEC));
        assert_false(sg_net_count_due(&all, &a, 60 * SEC - 1));
        assert_true(sg_net_count_due(&all, &a, 60 * SEC));
        assert_false(sg_net_count_due(&all, &b, 60 * SEC));
        assert_int_equal(all.n_units, 2);
}

/* Of a thousand, each third of a minute: fifty answers a second, which is a hundredth of PID 1. */
static void test_less_often_of_many(void **state)
{
        struct sg_net_counts all = {0};
        struct sg_net_count units[1000] = {0};

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(units); i++)
                assert_true(sg_net_count_due(&all, &units[i], 50 * SEC));
        assert_false(sg_net_count_due(&all, &units[7], 70 * SEC - 1));
        assert_true(sg_net_count_due(&all, &units[7], 70 * SEC));
        for (size_t i = 500; i < SG_ELEMENTSOF(units); i++)
                sg_net_count_forget(&all, &units[i]);
        assert_true(sg_net_count_due(&all, &units[8], 60 * SEC));
        sg_net_count_forget(&all, &units[999]); /* forgotten already, or never asked for */
        assert_int_equal(all.n_units, 500);
}

static void test_few_at_once(void **state)
{
        struct sg_net_counts all = {0};

        (void)state;
        for (; all.n_in_flight < 4; all.n_in_flight++)
                assert_true(sg_net_counts_may_ask(&all));
        assert_false(sg_net_counts_may_ask(&all));
}

static void test_sums(void **state)
{
        struct sg_net_count u = {0};

        (void)state;
        assert_true(answered(&u, 1000, 10));
        expect(&u, 1000, 10);
        assert_true(answered(&u, 1500, 10));
        expect(&u, 1500, 10);
        assert_true(answered(&u, 200, 11)); /* it has begun anew */
        expect(&u, 1700, 11);
        assert_true(answered(&u, 300, 0));
        expect(&u, 1800, 11);
}

/* One that doesn't count isn't asked for for ever; what was known stays. */
static void test_without_a_figure(void **state)
{
        struct sg_net_counts all = {0};
        struct sg_net_count u = {0};
        uint64_t now = 50 * SEC;

        (void)state;
        assert_true(sg_net_count_due(&all, &u, now));
        assert_true(answered(&u, 5, 6));
        for (unsigned i = 0; i < 2; i++)
                assert_false(answered(&u, SG_UNLIMITED, 7));
        assert_true(sg_net_count_due(&all, &u, now += 10 * SEC));
        assert_true(answered(&u, 5, 6));
        for (unsigned i = 0; i < 3; i++) {
                assert_true(sg_net_count_due(&all, &u, now += 10 * SEC));
                assert_false(answered(&u, 8, SG_UNLIMITED));
        }
        assert_false(sg_net_count_due(&all, &u, now + 1000 * SEC));
        expect(&u, 5, 6);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_every_ten_seconds), cmocka_unit_test(test_less_often_of_many),
                cmocka_unit_test(test_few_at_once),       cmocka_unit_test(test_sums),
                cmocka_unit_test(test_without_a_figure),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
