/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Turns, orders and caps of the queue, each by example; memory and patience are in
 * test_queue_memory.c. What must hold whatever happens is in test_queue_random.c.
 */

#include "tests/unit/core/queue/test_queue.h"

/* Turns */

static void test_empty(void **state)
{
        struct fixture *f = *state;

        f->retry_usec = 7;
        assert_int_equal(next(f), 0);
        assert_int_equal(f->retry_usec, 0);
        end(f, 1); /* was never added */
        assert_int_equal(why(f, 1), SG_PENDING_NONE);
        assert_null(sg_queue_free(NULL));
}

static void test_a_thousand_against_one(void **state)
{
        struct fixture *f = *state;

        f->settings->max_jobs = 4;
        configure(f);
        for (uint64_t n = 1; n <= 1000; n++)
                add(f, 1, n);
        for (uint64_t n = 1; n <= 4; n++)
                assert_int_equal(next(f), n);
        add(f, 2, 1001);
        assert_int_equal(next(f), 0);
        assert_int_equal(f->retry_usec, f->node.now_usec + MINUTE); /* one may be idle by then */
        end(f, 3);
        assert_int_equal(next(f), 1001);
        assert_int_equal(sg_queue_n_waiting(f->q), 996);
        assert_int_equal(sg_queue_n_running(f->q), 4);
}

static void test_fewest_running_first(void **state)
{
        struct fixture *f = *state;

        for (uint64_t n = 1; n <= 6; n++)
                add(f, n <= 4 ? 1 : 2, n);
        for (uint64_t i = 0; i < 4; i++)
                (void)next(f); /* 1 5 2 6 */
        assert_int_equal(next(f), 3);
        add(f, 3, 7);
        add(f, 3, 8);
        add(f, 3, 9);
        assert_int_equal(next(f), 7);
        assert_int_equal(next(f), 8);
        assert_int_equal(next(f), 9); /* two of user 2 and of user 3: 2 has nothing left */
        assert_int_equal(next(f), 4);
}

/* One place on the node and users who always want more: everybody in turn. */
static void test_round_robin(void **state)
{
        static const uint64_t expected[] = {1, 101, 201, 2, 102, 202, 3, 103, 203, 4};
        struct fixture *f = *state;

        f->settings->max_jobs = 1;
        configure(f);
        for (uint64_t n = 1; n <= 10; n++)
                for (uint64_t user = 0; user < 3; user++)
                        add(f, user, user * 100 + n);
        for (size_t i = 0; i < SG_ELEMENTSOF(expected); i++) {
                uint64_t n = next(f);

                assert_int_equal(n, expected[i]);
                end(f, n);
        }
}

/* Two users who submit the next job when one has ended are unknown to the queue in between; they
 * must not go before the one who has been waiting all the time. */
static void test_a_user_is_remembered_without_jobs(void **state)
{
        struct fixture *f = *state;
        unsigned starts_of_1 = 0;

        f->settings->max_jobs = 1;
        configure(f);
        for (uint64_t n = 1; n <= 100; n++)
                add(f, 1, n);
        add(f, 2, 1001);
        add(f, 3, 1002);
        for (uint64_t i = 0; i < 30; i++) {
                uint64_t n = next(f), uid = n == 1001 ? 2 : 3;

                end(f, n);
                if (n <= 1000)
                        starts_of_1++;
                else
                        add(f, uid, n);
        }
        assert_int_equal(starts_of_1, 10);
}

static void test_recovered_jobs_count(void **state)
{
        struct fixture *f = *state;

        f->entries[1] = (struct sg_queue_entry){.n = 1, .need = {5 * GIB}};
        assert_int_equal(sg_queue_add(f->q, &f->entries[1], "default", 1, true), 0);
        assert_int_equal(sg_queue_n_running(f->q), 1);
        add(f, 1, 2);
        add(f, 2, 3);
        add_to(f, "default", 3, 4, 0, 5 * GIB); /* 9 GiB may be promised */
        assert_int_equal(why(f, 4), SG_PENDING_SHORT);
        assert_int_equal(next(f), 3);
        assert_int_equal(next(f), 2);
        assert_int_equal(next(f), 0);
}

/* A start that hangs takes a place of its user's, and of nobody else's. */
static void test_set_aside(void **state)
{
        struct sg_pending_info info;
        struct fixture *f = *state;

        f->settings->max_jobs = 2;
        configure(f);
        for (uint64_t n = 1; n <= 3; n++)
                add(f, 1, n);
        for (uint64_t n = 4; n <= 6; n++)
                add(f, 2, n);
        assert_int_equal(next(f), 1);
        assert_int_equal(next(f), 4);
        end(f, 4);
        assert_int_equal(next(f), 5);
        end(f, 5);
        assert_int_equal(next(f), 6);
        end(f, 6);
        assert_int_equal(next(f), 2);
        add(f, 2, 7);
        assert_int_equal(next(f), 0);
        for (uint64_t n = 1; n <= 2; n++) {
                sg_queue_set_aside(f->q, &f->entries[n], true);
                sg_queue_set_aside(f->q, &f->entries[n], true); /* once is enough */
        }
        sg_queue_explain(f->q, &f->entries[3], &f->node, &info);
        assert_int_equal(info.why, SG_PENDING_NODE_FULL);
        assert_int_equal(info.running, 2);
        assert_int_equal(why(f, 7), SG_PENDING_NONE);
        assert_int_equal(next(f), 7); /* not user 1's */
        add(f, 2, 8);
        assert_int_equal(next(f), 8);
        add(f, 2, 9);
        assert_int_equal(next(f), 0);
        end(f, 8);
        sg_queue_set_aside(f->q, &f->entries[1], false); /* it has begun */
        assert_int_equal(why(f, 9), SG_PENDING_NODE_FULL);
        end(f, 1);
        assert_int_equal(next(f), 9);
        end(f, 2); /* as it is */
        end(f, 7);
        assert_int_equal(next(f), 3);
}

static void test_set_aside_in_class(void **state)
{
        struct fixture *f = *state;

        draft(f, 0)->max_jobs = 1;
        configure(f);
        add(f, 1, 1);
        add(f, 1, 2);
        add(f, 2, 3);
        assert_int_equal(next(f), 1);
        assert_int_equal(why(f, 3), SG_PENDING_CLASS_FULL);
        sg_queue_set_aside(f->q, &f->entries[1], true);
        assert_int_equal(why(f, 2), SG_PENDING_CLASS_FULL);
        assert_int_equal(next(f), 3);
        assert_int_equal(next(f), 0);
}

/* Orders */

static void test_priority_then_age(void **state)
{
        struct fixture *f = *state;

        add_to(f, "default", 1, 3, 0, SG_UNLIMITED);
        add_to(f, "default", 1, 1, -5, SG_UNLIMITED);
        add_to(f, "default", 1, 4, 7, SG_UNLIMITED);
        add_to(f, "default", 1, 2, 0, SG_UNLIMITED);
        add_to(f, "default", 1, 5, 7, SG_UNLIMITED);
        change(f, 1, 9, SG_UNLIMITED);
        assert_int_equal(next(f), 1);
        assert_int_equal(next(f), 4);
        assert_int_equal(next(f), 5);
        assert_int_equal(next(f), 2);
        assert_int_equal(next(f), 3);
}

/* Priority is between a user's own jobs: it never goes before another user. */
static void test_priority_is_within_a_user(void **state)
{
        struct fixture *f = *state;

        add(f, 1, 1);
        assert_int_equal(next(f), 1);
        add_to(f, "default", 1, 2, 1000, SG_UNLIMITED);
        add_to(f, "default", 2, 3, -1000, SG_UNLIMITED);
        assert_int_equal(next(f), 3);
        assert_int_equal(next(f), 2);
}

static void test_classes_of_one_user(void **state)
{
        struct fixture *f = *state;

        class(f, "fifo")->order = SG_ORDER_FIFO;
        class(f, "other");
        configure(f);
        add_to(f, "fifo", 1, 3, 9, SG_UNLIMITED); /* its priority means nothing there */
        add_to(f, "default", 1, 4, 1, SG_UNLIMITED);
        add_to(f, "other", 1, 5, 2, SG_UNLIMITED);
        add_to(f, "other", 1, 1, -1, SG_UNLIMITED);
        assert_int_equal(next(f), 5);
        assert_int_equal(next(f), 4);
        assert_int_equal(next(f), 3);
        assert_int_equal(next(f), 1);
}

static void test_order_changes_on_reload(void **state)
{
        static const uint64_t expected[] = {5, 8, 4, 7, 6, 9};
        struct fixture *f = *state;
        struct sg_class *c = class(f, "train");

        c->order = SG_ORDER_PRIORITY;
        configure(f);
        for (uint64_t n = 1; n <= 9; n++)
                add_to(f, "train", 1, n, (int64_t)(n % 3), SG_UNLIMITED);
        assert_int_equal(next(f), 2);
        c->order = SG_ORDER_FIFO;
        configure(f);
        assert_int_equal(next(f), 1);
        assert_int_equal(next(f), 3);
        c->order = SG_ORDER_PRIORITY;
        configure(f);
        for (size_t i = 0; i < SG_ELEMENTSOF(expected); i++)
                assert_int_equal(next(f), expected[i]);
}

/* Caps */

static void test_node_cap(void **state)
{
        struct fixture *f = *state;

        f->settings->max_jobs = SG_UNLIMITED;
        f->settings->jobs_per_cpu = 3;
        configure(f);
        assert_int_equal(sg_queue_slots(f->q, 2), 6);
        for (uint64_t n = 1; n <= 7; n++)
                add(f, 1, n);
        for (uint64_t n = 1; n <= 6; n++)
                assert_int_equal(next(f), n);
        assert_int_equal(next(f), 0);
        assert_int_equal(why(f, 7), SG_PENDING_NODE_FULL);
        assert_int_equal(why_new(f, "default", 2, 0, SG_UNLIMITED), SG_PENDING_NODE_FULL);

        f->settings->max_jobs = 7;
        configure(f);
        assert_int_equal(next(f), 7);
        f->settings->max_jobs = 2; /* below what runs */
        configure(f);
        add(f, 1, 8);
        for (uint64_t n = 1; n <= 5; n++) {
                end(f, n);
                assert_int_equal(next(f), 0);
        }
        end(f, 6);
        assert_int_equal(next(f), 8);
}

static void test_class_caps(void **state)
{
        struct fixture *f = *state;
        struct sg_class *c = class(f, "train");
        struct sg_pending_info info;

        c->max_jobs = 3;
        c->max_jobs_per_user = 2;
        configure(f);
        for (uint64_t n = 1; n <= 6; n++)
                add_to(f, "train", n <= 3 ? 1 : 2, n, 0, SG_UNLIMITED);
        assert_int_equal(next(f), 1);
        assert_int_equal(next(f), 4);
        assert_int_equal(next(f), 2);
        assert_int_equal(next(f), 0);
        sg_queue_explain(f->q, &f->entries[3], &f->node, &info);
        assert_int_equal(info.why, SG_PENDING_CLASS_FULL);
        assert_int_equal(info.running, 3);
        assert_int_equal(info.max, 3);
        end(f, 4);
        assert_int_equal(why(f, 3), SG_PENDING_CLASS_USER_FULL);
        assert_int_equal(why_new(f, "train", 1, 9, SG_UNLIMITED), SG_PENDING_CLASS_USER_FULL);
        assert_int_equal(why_new(f, "train", 3, 0, SG_UNLIMITED), SG_PENDING_NONE);
        add(f, 1, 7); /* another class of the same user goes on */
        assert_int_equal(next(f), 5);
        assert_int_equal(next(f), 7);
        assert_int_equal(next(f), 0);
}

/* The file of a class has gone: what holds for the default class holds for its jobs. */
static void test_a_class_that_has_gone(void **state)
{
        struct fixture *f = *state;
        struct sg_settings *without = f->settings, *with;
        struct sg_class *c;

        assert_int_equal(sg_settings_new(&with, "host"), 0);
        f->settings = with;
        c = class(f, "train");
        c->max_jobs = 1;
        c->order = SG_ORDER_FIFO;
        configure(f);
        for (uint64_t n = 1; n <= 4; n++)
                add_to(f, "train", 1, n, (int64_t)n, SG_UNLIMITED);
        assert_int_equal(next(f), 1);
        assert_int_equal(next(f), 0);
        f->settings = without;
        draft(f, 0)->max_jobs = 2;
        configure(f);
        sg_settings_free(with);
        assert_int_equal(next(f), 4);
        assert_int_equal(next(f), 0);
        assert_int_equal(why(f, 3), SG_PENDING_CLASS_FULL);
        assert_int_equal(why_new(f, "never-seen", 1, 0, SG_UNLIMITED), SG_PENDING_NONE);
}

/* Removal */

static void test_remove_in_any_state(void **state)
{
        struct fixture *f = *state;

        for (uint64_t n = 1; n <= 5; n++)
                add(f, 1, n);
        end(f, 1); /* the head */
        end(f, 3); /* within */
        end(f, 5); /* the tail */
        end(f, 5);
        assert_int_equal(sg_queue_n_waiting(f->q), 2);
        assert_int_equal(next(f), 2);
        end(f, 2);
        end(f, 2);
        assert_int_equal(sg_queue_n_running(f->q), 0);
        assert_int_equal(next(f), 4);
        assert_false(f->entries[2].running);
        assert_null(f->entries[2].lane);
        add(f, 1, 2); /* a requeue */
        assert_int_equal(next(f), 2);
}

static void test_ahead(void **state)
{
        struct fixture *f = *state;
        struct sg_pending_info info;

        draft(f, 0)->backfill = false;
        configure(f);
        for (uint64_t n = 1; n <= 9; n++)
                add_to(f, "default", n == 5 ? 2 : 1, n, n == 9, n == 9 ? 20 * GIB : SG_UNLIMITED);
        sg_queue_explain(f->q, &f->entries[8], &f->node, &info);
        assert_int_equal(info.why, SG_PENDING_TURN);
        assert_int_equal(info.ahead, 7); /* 1-4, 6, 7 and 9 */
        assert_int_equal(info.head, 9);
        assert_ptr_equal(info.stock, &f->types[SG_STOCK_MEMORY]);
        assert_int_equal(info.need, 20 * GIB);
        assert_int_equal(info.free, 9 * GIB);
        assert_int_equal(why(f, 9), SG_PENDING_SHORT);
        assert_int_equal(why_new(f, "default", 1, 2, SG_UNLIMITED), SG_PENDING_NONE);
        assert_int_equal(why_new(f, "default", 1, 1, SG_UNLIMITED), SG_PENDING_TURN);
        f->settings->max_jobs = 0; /* what they all lack is named to each of them */
        configure(f);
        for (uint64_t n = 1; n <= 9; n++)
                assert_int_equal(why(f, n), SG_PENDING_NODE_FULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_empty),
                TEST(test_a_thousand_against_one),
                TEST(test_fewest_running_first),
                TEST(test_round_robin),
                TEST(test_a_user_is_remembered_without_jobs),
                TEST(test_recovered_jobs_count),
                TEST(test_set_aside),
                TEST(test_set_aside_in_class),
                TEST(test_priority_then_age),
                TEST(test_priority_is_within_a_user),
                TEST(test_classes_of_one_user),
                TEST(test_order_changes_on_reload),
                TEST(test_node_cap),
                TEST(test_class_caps),
                TEST(test_a_class_that_has_gone),
                TEST(test_remove_in_any_state),
                TEST(test_ahead),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
