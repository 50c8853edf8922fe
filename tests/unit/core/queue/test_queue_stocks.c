/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A second stock beside memory: what waits for the one, and whom that holds up. There are 4 seats.
 */
#include "tests/unit/core/queue/test_queue.h"

static struct sg_queue_entry *seated(struct fixture *f, uint64_t uid, uint64_t n, uint64_t memory,
                                     uint64_t seats)
{
        struct sg_queue_entry *e = add_to(f, "default", uid, n, 0, memory);

        e->need[SEATS] = seats;
        return e;
}

/* Job 1 has 3 seats for an hour, job 2 waits for 2. */
static void one_waits(struct fixture *f)
{
        seated(f, 1, 1, GIB, 3)->limit_usec = 60 * MINUTE;
        assert_int_equal(next(f), 1);
        seated(f, 1, 2, GIB, 2);
        assert_int_equal(next(f), 0);
        assert_int_equal(f->retry_usec, f->node.now_usec + 1000000);
}

static void test_reason(void **state)
{
        struct fixture *f = *state;
        struct sg_pending_info info;
        char text[SG_FORMAT_MAX];

        one_waits(f);
        sg_queue_explain(f->q, &f->entries[2], &f->node, &info);
        assert_int_equal(info.why, SG_PENDING_SHORT);
        assert_string_equal(info.stock->name, "seats");
        assert_int_equal(info.need, 2);
        assert_string_equal(info.stock->format(text, info.free), "1");
        f->memory->available = 0; /* of two that are short the first is said */
        sg_queue_explain(f->q, &f->entries[2], &f->node, &info);
        assert_string_equal(info.stock->name, "memory");
}

/* A job that isn't in the queue is described by the same rows. */
static void test_foretold(void **state)
{
        struct fixture *f = *state;
        struct sg_job j = {.uid = 3, .limits = {.memory_max = GIB, .tasks_max = 5}};
        struct sg_pending_info info;

        strcpy(j.class, "default");
        sg_queue_would_start(f->q, &j, NULL, &f->node, &info);
        assert_int_equal(info.why, SG_PENDING_SHORT);
        assert_string_equal(info.stock->name, "seats");
        j.limits.tasks_max = 4;
        sg_queue_would_start(f->q, &j, NULL, &f->node, &info);
        assert_int_equal(info.why, SG_PENDING_NONE);
}

/* What is taken of one isn't taken of the other, and all of it comes back. */
static void test_accounts_are_apart(void **state)
{
        struct fixture *f = *state;
        const uint64_t fewer[SG_STOCKS_MAX] = {[SG_STOCK_MEMORY] = GIB, [SEATS] = 1};

        seated(f, 1, 1, GIB, 4);
        seated(f, 1, 2, 8 * GIB, 0);
        assert_int_equal(next(f), 1);
        assert_int_equal(next(f), 2);
        seated(f, 1, 3, SG_UNLIMITED, 1);
        assert_int_equal(next(f), 0);
        end(f, 2);
        assert_int_equal(next(f), 0);
        sg_queue_change(f->q, &f->entries[1], 0, fewer);
        assert_int_equal(next(f), 3);
        seated(f, 1, 4, 8 * GIB, 2);
        assert_int_equal(next(f), 4);
}

/* Others than jobs use it, as far as these don't say so themselves. */
static void test_used_by_others(void **state)
{
        struct fixture *f = *state;
        struct sg_stock *seats = &f->node.stocks[SEATS];

        seated(f, 1, 1, GIB, 2);
        assert_int_equal(next(f), 1);
        seats->available = 1;
        seats->declared_used = 2;
        seated(f, 1, 2, GIB, 2);
        assert_int_equal(next(f), 0);
        seats->available = 2;
        assert_int_equal(next(f), 2);
}

/* Who wants none waits for none: whatever the class says, and though the last slot goes with it. */
static void test_holds_up_only_its_own(void **state)
{
        struct fixture *f = *state;

        f->settings->max_jobs = 4;
        draft(f, 0)->backfill = false;
        configure(f);
        one_waits(f);
        seated(f, 1, 3, 7 * GIB, 0);
        seated(f, 1, 4, GIB, 1);
        seated(f, 2, 5, SG_UNLIMITED, 0);
        seated(f, 3, 6, SG_UNLIMITED, 1);
        assert_int_equal(next(f), 5);
        assert_int_equal(next(f), 6); /* its turn is before job 2's, as its user has nothing */
        assert_int_equal(next(f), 3);
        assert_int_equal(next(f), 0);
        assert_int_equal(why(f, 4), SG_PENDING_NODE_FULL);
        end(f, 5);
        assert_int_equal(next(f), 0); /* of the seats none is left */
        end(f, 6);
        assert_int_equal(next(f), 0);
        assert_int_equal(why(f, 4), SG_PENDING_TURN);
        end(f, 1);
        assert_int_equal(next(f), 2);
        assert_int_equal(next(f), 4);
}

/* Once it has its seats, memory is waited for as ever. */
static void test_then_memory(void **state)
{
        struct fixture *f = *state;

        one_waits(f);
        seated(f, 2, 3, 6 * GIB, 0)->limit_usec = 90 * MINUTE;
        assert_int_equal(next(f), 3);
        f->entries[2].need[SG_STOCK_MEMORY] = 4 * GIB;
        end(f, 1);
        assert_int_equal(next(f), 0);
        seated(f, 1, 4, GIB, 0)->limit_usec = 91 * MINUTE;
        assert_int_equal(why(f, 2), SG_PENDING_SHORT);
        assert_int_equal(next(f), 4); /* 6 + 1 of 9 now, 1 + 4 then */
        seated(f, 1, 5, 2 * GIB, 1)->limit_usec = 89 * MINUTE;
        seated(f, 4, 6, 2 * GIB, 3)->limit_usec = 91 * MINUTE;
        assert_int_equal(next(f), 6); /* not behind it: user 4 has nothing */
        assert_int_equal(next(f), 0);
        end(f, 6);
        assert_int_equal(next(f), 5);
}

/* Of each stock what a passing job declares has to be left over beside the head. */
static void test_beside(void **state)
{
        struct fixture *f = *state;

        seated(f, 1, 1, GIB, 2)->limit_usec = 60 * MINUTE;
        assert_int_equal(next(f), 1);
        seated(f, 1, 2, 6 * GIB, 3);
        assert_int_equal(next(f), 0);
        seated(f, 1, 3, GIB, 2);                               /* 1 is left over */
        seated(f, 1, 4, 4 * GIB, 1);                           /* 3 GiB are */
        seated(f, 1, 5, 4 * GIB, 1)->limit_usec = 60 * MINUTE; /* has ended by then */
        seated(f, 1, 6, 2 * GIB, 1);
        assert_int_equal(next(f), 5);
        assert_int_equal(next(f), 6);
        assert_int_equal(next(f), 0);
        end(f, 1);
        end(f, 5);
        assert_int_equal(next(f), 2);
}

/* Nobody knows how long those go on that don't say how much they take. */
static void test_undeclared(void **state)
{
        struct fixture *f = *state;

        one_waits(f);
        seated(f, 1, 3, GIB, SG_UNLIMITED);
        seated(f, 1, 4, SG_UNLIMITED, 1);
        seated(f, 1, 5, GIB, SG_UNLIMITED);
        assert_int_equal(next(f), 3);
        f->node.now_usec += SG_QUEUE_PATIENCE_USEC;
        assert_int_equal(next(f), 0);
        assert_int_equal(why(f, 4), SG_PENDING_TURN);
        assert_int_equal(why(f, 5), SG_PENDING_TURN);
        end(f, 2);
        assert_int_equal(next(f), 4);
        end(f, 4);
        assert_int_equal(next(f), 5);
}

static uint64_t half(const struct sg_settings *s)
{
        (void)s;
        return 5000;
}

/* Others have more seats than they should: that is nothing to who waits for memory alone. */
static void test_in_vain_for_others(void **state)
{
        struct fixture *f = *state;

        f->types[SEATS].reserve_pm = half;
        configure(f);
        f->node.stocks[SEATS].available = 0;
        seated(f, 1, 1, 6 * GIB, 0)->limit_usec = 60 * MINUTE;
        assert_int_equal(next(f), 1);
        seated(f, 1, 2, 8 * GIB, 0);
        seated(f, 1, 3, 2 * GIB, 0); /* 1 GiB is left over */
        seated(f, 1, 4, GIB, 0);
        assert_int_equal(next(f), 4);
        assert_int_equal(next(f), 0);
        assert_int_equal(why(f, 3), SG_PENDING_TURN);
}

/* More than there is: nobody waits for that. */
static void test_impossible(void **state)
{
        struct fixture *f = *state;

        seated(f, 1, 1, GIB, 5);
        seated(f, 2, 2, GIB, 4);
        seated(f, 3, 3, GIB, 1);
        assert_int_equal(next(f), 2);
        assert_int_equal(next(f), 0);
        f->node.now_usec += 2 * SG_QUEUE_PATIENCE_USEC;
        end(f, 2);
        assert_int_equal(next(f), 3);
        assert_int_equal(why(f, 1), SG_PENDING_SHORT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_seats, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_reason),
                TEST(test_foretold),
                TEST(test_accounts_are_apart),
                TEST(test_used_by_others),
                TEST(test_holds_up_only_its_own),
                TEST(test_then_memory),
                TEST(test_beside),
                TEST(test_undeclared),
                TEST(test_in_vain_for_others),
                TEST(test_impossible),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
