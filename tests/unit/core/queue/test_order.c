/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Orders of waiting jobs, what they go by, and what of a job they get to know. */
#include "core/queue/order.h"
#include "tests/unit/core/queue/test_queue.h"

#include <math.h>

/* In which of the given order the entries start. */
static void expect_starts(struct fixture *f, enum sg_order order, const uint64_t *expected,
                          size_t n)
{
        draft(f, 0)->order = order;
        configure(f);
        for (size_t i = 0; i < n; i++) {
                uint64_t got = next(f);

                if (got != expected[i])
                        fail_msg("%s: %d goes as the %zuth", sg_order_policies[order]->name,
                                 (int)got, i + 1);
        }
        for (size_t i = 0; i < n; i++) {
                uint64_t k = expected[i];

                end(f, k);
                assert_int_equal(sg_queue_add(f->q, &f->entries[k], "default", 1, false), 0);
        }
}

static void entry(struct fixture *f, struct sg_queue_entry e)
{
        e.need[SG_STOCK_MEMORY] = SG_UNLIMITED;
        f->entries[e.n] = e;
        assert_int_equal(sg_queue_add(f->q, &f->entries[e.n], "default", 1, false), 0);
}

static void test_each(void **state)
{
        struct fixture *f = *state;

        entry(f, (struct sg_queue_entry){.n = 1, .size = 500, .used = 490, .deadline_usec = 0});
        entry(f, (struct sg_queue_entry){.n = 2, .size = 20, .deadline_usec = 80});
        entry(f, (struct sg_queue_entry){.n = 3, .used = 700, .priority = 3});
        entry(f, (struct sg_queue_entry){.n = 4, .size = 50, .deadline_usec = 70, .priority = -1});
        entry(f, (struct sg_queue_entry){.n = 5, .size = 20, .used = 80, .deadline_usec = 70});
        expect_starts(f, SG_ORDER_FIFO, (const uint64_t[]){1, 2, 3, 4, 5}, 5);
        expect_starts(f, SG_ORDER_PRIORITY, (const uint64_t[]){3, 1, 2, 5, 4}, 5);
        expect_starts(f, SG_ORDER_SJF, (const uint64_t[]){2, 5, 4, 1, 3}, 5);
        expect_starts(f, SG_ORDER_SRTF, (const uint64_t[]){5, 1, 2, 4, 3}, 5);
        expect_starts(f, SG_ORDER_EDF, (const uint64_t[]){4, 5, 2, 1, 3}, 5);
        expect_starts(f, SG_ORDER_LAS, (const uint64_t[]){2, 4, 1, 5, 3}, 5);
}

/* A change while it waits moves it. */
static void test_a_new_deadline(void **state)
{
        struct fixture *f = *state;

        draft(f, 0)->order = SG_ORDER_EDF;
        configure(f);
        for (uint64_t n = 1; n <= 3; n++)
                entry(f, (struct sg_queue_entry){.n = n, .deadline_usec = 10 * n});
        f->entries[3].deadline_usec = 5;
        change(f, 3, 0, SG_UNLIMITED);
        assert_int_equal(next(f), 3);
        assert_int_equal(next(f), 1);
}

static void test_names(void **state)
{
        (void)state;
        for (int i = 0; i < _SG_ORDER_MAX; i++) {
                assert_int_equal(sg_order_from_string(sg_order_policies[i]->name), i);
                assert_true(strlen(sg_order_policies[i]->summary) > 0);
        }
        assert_int_equal(sg_order_from_string("FIFO"), -EINVAL);
        assert_int_equal(sg_order_from_string(""), -EINVAL);
}

/* Whatever they go by, known or not: one of two is before the other, and who is before one that is
 * before a third is before that, too. */
static void test_all_are_orders(void **state)
{
        enum { N = 24 };
        struct sg_queue_entry e[N];

        (void)state;
        for (unsigned i = 0; i < N; i++)
                e[i] = (struct sg_queue_entry){.n = i + 1,
                                               .priority = i % 3,
                                               .size = 50.0 * (i % 5),
                                               .used = 40.0 * (i % 4),
                                               .deadline_usec = 10 * (i % 7),
                                               .limit_usec = 10 * (i % 2)};
        for (enum sg_order o = 0; o < _SG_ORDER_MAX; o++)
                for (unsigned i = 0; i < N * N * N; i++) {
                        const struct sg_queue_entry *a = &e[i % N], *b = &e[i / N % N],
                                                    *c = &e[i / N / N];

                        if (a != b && sg_order_before(o, a, b) == sg_order_before(o, b, a))
                                fail_msg("%s: %d and %d", sg_order_policies[o]->name, (int)a->n,
                                         (int)b->n);
                        if (a != b && b != c && a != c && sg_order_before(o, a, b) &&
                            sg_order_before(o, b, c) && !sg_order_before(o, a, c))
                                fail_msg("%s: %d, %d and %d", sg_order_policies[o]->name, (int)a->n,
                                         (int)b->n, (int)c->n);
                }
}

static void test_what_is_known(void **state)
{
        struct fixture *f = *state;
        struct sg_class_history h = {0};
        struct sg_queue_entry e = {.n = 7};
        struct sg_job j;

        sg_job_init(&j);
        sg_queue_describe(f->q, &e, &j, NULL);
        assert_int_equal(e.n, 7);
        assert_near(e.size, 0, 0);
        assert_near(e.used, 0, 0);
        assert_int_equal(e.limit_usec, 0);
        j.limits.time_limit_usec = 90 * 1000000ULL;
        j.limits.cpus = 2;
        j.limits.memory_max = GIB;
        j.deadline_usec = 12345;
        j.cpu_usec = 2500000;
        j.priority = -3;
        sg_queue_describe(f->q, &e, &j, &h);
        assert_near(e.size, 180, 0);
        assert_near(e.used, 2.5, 0);
        assert_int_equal(e.deadline_usec, 12345);
        assert_int_equal(e.limit_usec, 90000000);
        assert_int_equal(e.need[SG_STOCK_MEMORY], GIB);
        assert_int_equal(e.priority, -3);
        for (int i = 0; i < 3; i++)
                sg_history_add(&h, 30 + 10 * i, NAN);
        sg_queue_describe(f->q, &e, &j, &h);
        assert_true(e.size == 40);
        sg_job_deinit(&j);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_each),
                TEST(test_a_new_deadline),
                cmocka_unit_test(test_names),
                cmocka_unit_test(test_all_are_orders),
                TEST(test_what_is_known),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
