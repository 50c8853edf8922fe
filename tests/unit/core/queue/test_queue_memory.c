/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The queue when memory is short, and how long others may pass a job that does not fit. */

#include "tests/unit/core/queue/test_queue.h"

/* Memory */

static void test_reserve_is_exact(void **state)
{
        struct fixture *f = *state;

        f->memory->total = f->memory->available = 123456789;
        f->settings->memory_reserve_pm = 1234; /* 15234567.8 bytes */
        configure(f);
        assert_int_equal(why_new(f, "default", 1, 0, 123456789 - 15234568), SG_PENDING_NONE);
        assert_int_equal(why_new(f, "default", 1, 0, 123456789 - 15234567), SG_PENDING_SHORT);
}

static void test_declared_and_used(void **state)
{
        struct fixture *f = *state;
        struct sg_pending_info info;

        add_to(f, "default", 1, 1, 0, 4 * GIB);
        add_to(f, "default", 1, 2, 0, 4 * GIB);
        add_to(f, "default", 1, 3, 0, 2 * GIB);
        assert_int_equal(next(f), 1);
        assert_int_equal(next(f), 2);
        assert_int_equal(next(f), 0);
        assert_int_equal(f->retry_usec, f->node.now_usec + 1000000);
        sg_queue_explain(f->q, &f->entries[3], &f->node, &info);
        assert_int_equal(info.why, SG_PENDING_SHORT);
        assert_string_equal(info.stock->name, "memory");
        assert_int_equal(info.need, 2 * GIB);
        assert_int_equal(info.free, GIB);

        /* What declared jobs use is in their declaration already. */
        f->memory->available = 4 * GIB;
        f->memory->declared_used = 6 * GIB;
        assert_int_equal(why_new(f, "default", 2, 0, GIB), SG_PENDING_NONE);
        f->memory->declared_used = 5 * GIB;
        assert_int_equal(why_new(f, "default", 2, 0, GIB), SG_PENDING_SHORT);
        assert_int_equal(why_new(f, "default", 2, 0, SG_UNLIMITED), SG_PENDING_SHORT);

        f->memory->available = 10 * GIB;
        change(f, 2, 0, 3 * GIB); /* a running one lets go of some */
        assert_int_equal(next(f), 3);
        change(f, 1, 0, SG_UNLIMITED);
        assert_int_equal(why_new(f, "default", 2, 0, 4 * GIB), SG_PENDING_NONE);
}

static void test_undeclared_waits_for_the_reserve(void **state)
{
        struct fixture *f = *state;
        struct sg_pending_info info;

        add(f, 1, 1);
        f->memory->available = GIB;
        assert_int_equal(next(f), 0);
        assert_true(f->retry_usec > f->node.now_usec);
        sg_queue_explain(f->q, &f->entries[1], &f->node, &info);
        assert_int_equal(info.why, SG_PENDING_SHORT);
        assert_int_equal(info.need, 0);
        f->memory->available = GIB + 1;
        assert_int_equal(next(f), 1);
}

/* Declarations that no node could hold must not wrap around to a small sum. */
static void test_absurd_declarations(void **state)
{
        struct fixture *f = *state;

        for (uint64_t n = 1; n <= 4; n++) {
                f->entries[n] = (struct sg_queue_entry){.n = n, .need = {1ULL << 62}};
                assert_int_equal(sg_queue_add(f->q, &f->entries[n], "default", 1, true), 0);
        }
        assert_int_equal(why_new(f, "default", 1, 0, 1), SG_PENDING_SHORT);
        change(f, 1, 0, SG_UNLIMITED - 1);
        for (uint64_t n = 1; n <= 4; n++) {
                assert_int_equal(why_new(f, "default", 1, 0, 1), SG_PENDING_SHORT);
                end(f, n);
        }
        assert_int_equal(why_new(f, "default", 1, 0, 9 * GIB), SG_PENDING_NONE);
}

static void test_more_available_than_there_is(void **state)
{
        struct fixture *f = *state;

        f->memory->available = 11 * GIB;
        assert_int_equal(why_new(f, "default", 1, 0, 9 * GIB), SG_PENDING_NONE);
}

/* Patience */

/* User 2 has 4 GiB running, user 1 wants 8 more; user 2 has many that are small. */
static void big_and_small(struct fixture *f, uint64_t small)
{
        add_to(f, "default", 2, 1, 0, 4 * GIB);
        assert_int_equal(next(f), 1);
        add_to(f, "default", 1, 2, 0, 8 * GIB);
        for (uint64_t n = 10; n < 20; n++)
                add_to(f, "default", 2, n, 0, small);
}

/* Nobody knows what jobs use that don't say it: they pass for a while. */
static void test_patience(void **state)
{
        struct fixture *f = *state;
        uint64_t start = f->node.now_usec;

        big_and_small(f, SG_UNLIMITED);
        assert_int_equal(next(f), 10);
        f->node.now_usec = start + SG_QUEUE_PATIENCE_USEC - 1;
        assert_int_equal(next(f), 11);
        f->node.now_usec++;
        assert_int_equal(why_new(f, "default", 2, 9, SG_UNLIMITED), SG_PENDING_KEPT);
        assert_int_equal(next(f), 0);
        assert_int_equal(f->retry_usec, f->node.now_usec + 1000000);
        assert_int_equal(why(f, 2), SG_PENDING_SHORT);
        assert_int_equal(why(f, 12), SG_PENDING_KEPT);
        assert_int_equal(why(f, 13), SG_PENDING_KEPT); /* as the one that is before it */
        assert_int_equal(why_new(f, "default", 3, 0, SG_UNLIMITED), SG_PENDING_KEPT);
        assert_int_equal(why_new(f, "default", 3, 0, GIB), SG_PENDING_NONE); /* beside the 8 */
        assert_int_equal(why_new(f, "default", 3, 0, 8 * GIB), SG_PENDING_SHORT);
        end(f, 10);
        assert_int_equal(next(f), 0);
        end(f, 1);
        assert_int_equal(next(f), 2);
        assert_int_equal(next(f), 12);
}

/* A reload or a removal while the node is kept. */
static void test_patience_ends_with_its_job(void **state)
{
        struct fixture *f = *state;

        big_and_small(f, GIB);
        assert_int_equal(next(f), 10);
        f->node.now_usec += SG_QUEUE_PATIENCE_USEC;
        assert_int_equal(next(f), 0);
        change(f, 2, 0, 4 * GIB);
        assert_int_equal(next(f), 2);
        end(f, 2);
        add_to(f, "default", 1, 3, 0, 8 * GIB);
        assert_int_equal(next(f), 11);
        f->node.now_usec += SG_QUEUE_PATIENCE_USEC;
        assert_int_equal(next(f), 0);
        end(f, 3);
        assert_int_equal(next(f), 12);
}

/* The patience of a user who has more than others does not hold those up. */
static void test_patience_only_in_turn(void **state)
{
        struct fixture *f = *state;

        for (uint64_t n = 1; n <= 3; n++)
                add_to(f, "default", 1, n, 0, GIB);
        for (uint64_t n = 1; n <= 3; n++)
                assert_int_equal(next(f), n);
        add_to(f, "default", 1, 4, 0, 8 * GIB);
        assert_int_equal(next(f), 0); /* patience begins */
        f->node.now_usec += 2 * SG_QUEUE_PATIENCE_USEC;
        add_to(f, "default", 2, 5, 0, GIB);
        assert_int_equal(why_new(f, "default", 3, 0, GIB), SG_PENDING_NONE);
        assert_int_equal(next(f), 5);
        assert_int_equal(next(f), 0);
}

/* No end of a job would make room for it, so nothing is kept. */
static void test_never_kept_for_the_impossible(void **state)
{
        struct fixture *f = *state;

        add_to(f, "default", 1, 1, 0, 9 * GIB + 1);
        for (uint64_t n = 2; n <= 5; n++) {
                add_to(f, "default", 2, n, 0, GIB);
                assert_int_equal(next(f), n);
                assert_int_equal(next(f), 0);
                f->node.now_usec += 2 * SG_QUEUE_PATIENCE_USEC;
        }
        assert_int_equal(why(f, 1), SG_PENDING_SHORT);
}

/* Others than our jobs hold the memory: the node is emptied for it once per PATIENCE, and never
 * stands idle. */
static void test_not_kept_on_an_empty_node(void **state)
{
        struct fixture *f = *state;

        f->memory->available = 5 * GIB;
        add_to(f, "default", 1, 1, 0, 8 * GIB);
        for (uint64_t n = 2; n <= 9; n++)
                add_to(f, "default", 2, n, 0, GIB);
        assert_int_equal(next(f), 2);
        f->node.now_usec += SG_QUEUE_PATIENCE_USEC;
        assert_int_equal(next(f), 0);
        end(f, 2);
        assert_int_equal(next(f), 3);
        assert_int_equal(next(f), 4);
        f->node.now_usec += SG_QUEUE_PATIENCE_USEC;
        assert_int_equal(next(f), 0);
        end(f, 3);
        assert_int_equal(next(f), 0);
        end(f, 4);
        assert_int_equal(why_new(f, "default", 3, 0, GIB), SG_PENDING_NONE);
        f->memory->available = 10 * GIB;
        assert_int_equal(next(f), 1);
}

/* The clock was set back: patience is longer, and nothing else happens. */
static void test_clock_set_back(void **state)
{
        struct fixture *f = *state;

        big_and_small(f, SG_UNLIMITED);
        assert_int_equal(next(f), 10);
        f->node.now_usec -= 60 * MINUTE;
        assert_int_equal(next(f), 11);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_reserve_is_exact),
                TEST(test_declared_and_used),
                TEST(test_undeclared_waits_for_the_reserve),
                TEST(test_absurd_declarations),
                TEST(test_more_available_than_there_is),
                TEST(test_patience),
                TEST(test_patience_ends_with_its_job),
                TEST(test_patience_only_in_turn),
                TEST(test_never_kept_for_the_impossible),
                TEST(test_not_kept_on_an_empty_node),
                TEST(test_clock_set_back),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
