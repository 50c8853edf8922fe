/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Slots: who takes one (what wants the CPU), who needs none (`schedctl run`), and what is said to
 * those who lack one.
 */

#include "tests/unit/core/queue/test_queue.h"

#define SECOND (MINUTE / 60)

static struct sg_queue_entry *add_run(struct fixture *f, const char *class, uint64_t uid,
                                      uint64_t n, uint64_t memory)
{
        struct sg_queue_entry *e = &f->entries[n];

        *e = (struct sg_queue_entry){.n = n, .at_once = true, .need = {memory}};
        assert_int_equal(sg_queue_add(f->q, e, class, uid, false), 0);
        return e;
}

static void slots(struct fixture *f, uint64_t n)
{
        f->settings->max_jobs = n;
        configure(f);
}

/* Whether a slot has become free. */
static bool idle(struct fixture *f, uint64_t n, bool is)
{
        const struct sg_idle_view use = {
                .idle = is,
                .from_usec = is ? f->node.now_usec : f->node.now_usec + MINUTE,
        };

        return sg_queue_set_use(f->q, &f->entries[n], &use);
}

static void quiet(struct fixture *f, uint64_t n, uint64_t in_usec)
{
        const struct sg_idle_view use = {.quiet = true, .from_usec = f->node.now_usec + in_usec};

        assert_false(sg_queue_set_use(f->q, &f->entries[n], &use));
}

static struct sg_pending_info told(struct fixture *f, uint64_t n)
{
        struct sg_pending_info info;

        sg_queue_explain(f->q, &f->entries[n], &f->node, &info);
        return info;
}

/* What wants the CPU */

static void test_idle_ones_are_passed(void **state)
{
        struct fixture *f = *state;

        slots(f, 2);
        for (uint64_t n = 1; n <= 5; n++)
                add(f, 1, n);
        assert_int_equal(next(f), 1);
        assert_int_equal(next(f), 2);
        assert_int_equal(next(f), 0);
        assert_false(idle(f, 3, true)); /* it doesn't run */
        assert_true(idle(f, 1, true));
        assert_false(idle(f, 1, true)); /* once */
        assert_int_equal(next(f), 3);
        assert_int_equal(next(f), 0);
        assert_int_equal(sg_queue_n_running(f->q), 3);
        assert_false(idle(f, 1, false)); /* it computes again: three of two */
        assert_int_equal(told(f, 4).running, 3);
        assert_int_equal(told(f, 4).max, 2);
        end(f, 2);
        assert_int_equal(next(f), 0);
        end(f, 3);
        assert_int_equal(next(f), 4);
        assert_true(idle(f, 4, true));
        end(f, 4); /* as it is */
        assert_int_equal(next(f), 5);
}

/* Caps of a class are about all that run. */
static void test_classes_count_idle_ones(void **state)
{
        struct fixture *f = *state;

        draft(f, 0)->max_jobs = 2;
        draft(f, 0)->max_jobs_per_user = 1;
        configure(f);
        add(f, 1, 1);
        add(f, 1, 2);
        add(f, 2, 3);
        add(f, 3, 4);
        assert_int_equal(next(f), 1);
        assert_true(idle(f, 1, true));
        assert_int_equal(why(f, 2), SG_PENDING_CLASS_USER_FULL);
        assert_int_equal(next(f), 3);
        assert_true(idle(f, 3, true));
        assert_int_equal(next(f), 0);
        assert_int_equal(why(f, 4), SG_PENDING_CLASS_FULL);
        assert_int_equal(f->retry_usec, 0); /* no slot is lacking */
}

/* Whoever has many notebooks open has his turn all the same. */
static void test_turns_go_by_slots(void **state)
{
        struct fixture *f = *state;

        slots(f, 3);
        for (uint64_t n = 1; n <= 4; n++)
                add(f, 1, n);
        for (uint64_t n = 1; n <= 3; n++)
                assert_int_equal(next(f), n);
        for (uint64_t n = 1; n <= 3; n++)
                assert_true(idle(f, n, true));
        for (uint64_t n = 5; n <= 7; n++)
                add(f, 2, n);
        assert_int_equal(next(f), 5);
        assert_int_equal(next(f), 4);
        assert_int_equal(next(f), 6);
        assert_int_equal(next(f), 0);
}

/* One that hangs at its start takes its user's slot, and none while it is frozen. */
static void test_aside_and_idle(void **state)
{
        struct fixture *f = *state;

        slots(f, 1);
        add(f, 1, 1);
        add(f, 1, 2);
        add(f, 2, 3);
        assert_int_equal(next(f), 1);
        sg_queue_set_aside(f->q, &f->entries[1], true);
        assert_int_equal(why(f, 2), SG_PENDING_NODE_FULL);
        assert_int_equal(why(f, 3), SG_PENDING_NONE);
        assert_true(idle(f, 1, true));
        assert_int_equal(why(f, 2), SG_PENDING_NONE);
        sg_queue_set_aside(f->q, &f->entries[1], false);
        assert_int_equal(why(f, 2), SG_PENDING_NONE);
        assert_false(idle(f, 1, false));
        assert_int_equal(why(f, 2), SG_PENDING_NODE_FULL);
        assert_int_equal(why(f, 3), SG_PENDING_NODE_FULL);
}

/* Of each user so many: the next one keeps its slot until one of them has ended. */
static void test_passed_are_bounded(void **state)
{
        const uint64_t last = SG_QUEUE_PASSED_MAX + 1;
        struct fixture *f = *state;

        slots(f, 1);
        for (uint64_t n = 1; n <= last; n++) {
                add(f, 1, n);
                assert_int_equal(next(f), n);
                assert_int_equal(idle(f, n, true), n < last);
        }
        add(f, 1, 1000);
        assert_int_equal(next(f), 0);
        assert_int_equal(f->retry_usec, f->node.now_usec + MINUTE); /* not at once, over and over */
        quiet(f, last, SECOND);
        assert_int_equal(told(f, 1000).quiet, 0);
        end(f, 7);
        assert_int_equal(told(f, 1000).quiet, 1);
        assert_true(idle(f, last, true));
        assert_int_equal(next(f), 1000);
        end(f, 1000);
        add(f, 2, 1001);
        assert_int_equal(next(f), 1001);
        assert_true(idle(f, 1001, true)); /* each user has its own */
}

/* What is said, and when to look again */

static void test_why_and_when(void **state)
{
        struct fixture *f = *state;
        uint64_t now = f->node.now_usec;
        struct sg_pending_info info;

        slots(f, 4);
        for (uint64_t n = 1; n <= 9; n++)
                add(f, 1, n);
        for (uint64_t n = 1; n <= 4; n++)
                assert_int_equal(next(f), n);
        assert_int_equal(next(f), 0);
        assert_int_equal(f->retry_usec, now + MINUTE); /* nothing is known of them yet */
        info = told(f, 9);
        assert_int_equal(info.why, SG_PENDING_NODE_FULL); /* though it is far behind */
        assert_int_equal(info.running, 4);
        assert_int_equal(info.max, 4);
        assert_int_equal(info.quiet, 0);

        (void)idle(f, 1, false);
        quiet(f, 2, 40 * SECOND);
        quiet(f, 3, 37 * SECOND);
        assert_int_equal(next(f), 0);
        assert_int_equal(f->retry_usec, now + 37 * SECOND);
        info = told(f, 9);
        assert_int_equal(info.quiet, 2);
        assert_int_equal(info.first_usec, 37 * SECOND);
        assert_int_equal(info.last_usec, 40 * SECOND);
        assert_int_equal(why_new(f, "default", 2, 0, SG_UNLIMITED), SG_PENDING_NODE_FULL);

        f->node.now_usec += 39 * SECOND; /* nobody has looked since */
        assert_int_equal(next(f), 0);
        assert_int_equal(f->retry_usec, f->node.now_usec + SECOND);
        info = told(f, 9);
        assert_int_equal(info.first_usec, 0);
        assert_int_equal(info.last_usec, SECOND);
        assert_true(idle(f, 3, true));
        assert_int_equal(next(f), 5);
        assert_int_equal(next(f), 0);
        assert_int_equal(f->retry_usec, f->node.now_usec + SECOND);
}

/* Here and now */

static void test_run_needs_no_slot(void **state)
{
        struct fixture *f = *state;

        slots(f, 2);
        for (uint64_t n = 1; n <= 100; n++)
                add_to(f, "default", 1, n, 1000, SG_UNLIMITED);
        assert_int_equal(next(f), 1);
        assert_int_equal(next(f), 2);
        assert_int_equal(next(f), 0);
        add_run(f, "default", 1, 101, SG_UNLIMITED);
        assert_int_equal(why(f, 101), SG_PENDING_NONE);
        assert_int_equal(next(f), 101);
        assert_int_equal(told(f, 3).running, 3); /* it takes one */
        add_run(f, "default", 1, 102, SG_UNLIMITED);
        add_run(f, "default", 1, 103, SG_UNLIMITED);
        assert_int_equal(next(f), 102);
        assert_int_equal(next(f), 0); /* as many as there are slots */
        assert_int_equal(told(f, 103).why, SG_PENDING_USER_FULL);
        assert_int_equal(told(f, 103).running, 2);
        assert_int_equal(told(f, 103).max, 2);
        add_run(f, "default", 2, 104, SG_UNLIMITED);
        assert_int_equal(next(f), 104);  /* of each user */
        assert_true(idle(f, 101, true)); /* an open shell isn't in the way */
        assert_int_equal(next(f), 103);
        end(f, 1);
        end(f, 2);
        end(f, 104);
        assert_int_equal(next(f), 0);
        end(f, 102);
        assert_int_equal(next(f), 3);
}

/* Before all that its user has waiting, in whatever class and order. */
static void test_run_goes_first(void **state)
{
        for (enum sg_order order = 0; order < _SG_ORDER_MAX; order++) {
                struct fixture *f = *state;

                draft(f, 0)->order = order;
                if (f->settings->n_classes == 1)
                        class(f, "other");
                configure(f);
                for (uint64_t n = 1; n <= 3; n++) {
                        struct sg_queue_entry *e = &f->entries[n];

                        *e = (struct sg_queue_entry){.n = n,
                                                     .priority = 9,
                                                     .need = {SG_UNLIMITED},
                                                     .size = 1,
                                                     .deadline_usec = 1};
                        assert_int_equal(
                                sg_queue_add(f->q, e, n == 2 ? "other" : "default", 1, false), 0);
                }
                add_run(f, "default", 1, 4, SG_UNLIMITED);
                add_run(f, "default", 1, 5, SG_UNLIMITED);
                assert_int_equal(next(f), 4);
                assert_int_equal(next(f), 5);
                for (uint64_t n = 1; n <= 5; n++)
                        end(f, n);
        }
}

/* Memory and the caps of its class hold for it; what is kept for others doesn't. */
static void test_what_holds_for_run(void **state)
{
        struct fixture *f = *state;

        class(f, "small")->max_jobs = 1;
        configure(f);
        add_to(f, "default", 1, 1, 0, 5 * GIB);
        assert_int_equal(next(f), 1);
        add_to(f, "default", 2, 2, 0, 8 * GIB); /* 9 may be promised */
        assert_int_equal(next(f), 0);
        f->node.now_usec += SG_QUEUE_PATIENCE_USEC;
        add(f, 3, 3);
        assert_int_equal(next(f), 0);
        assert_int_equal(why(f, 3), SG_PENDING_KEPT);
        add_run(f, "small", 3, 4, SG_UNLIMITED);
        add_run(f, "small", 3, 5, SG_UNLIMITED);
        add_run(f, "default", 3, 6, 5 * GIB);
        add_run(f, "default", 3, 7, 3 * GIB);
        assert_int_equal(next(f), 4);
        assert_int_equal(next(f), 7); /* job 6 doesn't hold it up, either */
        assert_int_equal(next(f), 0);
        assert_int_equal(why(f, 5), SG_PENDING_CLASS_FULL);
        assert_int_equal(why(f, 6), SG_PENDING_SHORT);
        end(f, 4);
        assert_int_equal(next(f), 5);
}

/* One that is passed by what is behind it has no slot taken away: it needs none. */
static void test_short_run_reserves_no_slot(void **state)
{
        struct fixture *f = *state;

        slots(f, 2);
        add_to(f, "default", 1, 1, 0, 5 * GIB);
        assert_int_equal(next(f), 1);
        add_run(f, "default", 1, 2, 8 * GIB);
        add_to(f, "default", 1, 3, 0, GIB);
        add_to(f, "default", 1, 4, 0, GIB);
        assert_int_equal(next(f), 3);
        assert_int_equal(next(f), 0);
        assert_int_equal(why(f, 4), SG_PENDING_NODE_FULL);
        assert_int_equal(why(f, 2), SG_PENDING_SHORT);
}

/* A daemon that comes back finds them running. */
static void test_recovered_runs_count(void **state)
{
        struct fixture *f = *state;

        slots(f, 2);
        for (uint64_t n = 1; n <= 2; n++) {
                f->entries[n] = (struct sg_queue_entry){.n = n, .at_once = true};
                assert_int_equal(sg_queue_add(f->q, &f->entries[n], "default", 1, true), 0);
        }
        add_run(f, "default", 1, 3, SG_UNLIMITED);
        assert_int_equal(next(f), 0);
        assert_int_equal(why(f, 3), SG_PENDING_USER_FULL);
        assert_true(idle(f, 1, true)); /* it was suspended */
        assert_int_equal(next(f), 3);
}

static void test_describe(void **state)
{
        struct sg_queue_entry e = {0};
        struct fixture *f = *state;
        struct sg_job j;

        sg_job_init(&j);
        sg_queue_describe(f->q, &e, &j, NULL);
        assert_false(e.at_once);
        j.foreground = 1;
        sg_queue_describe(f->q, &e, &j, NULL);
        assert_true(e.at_once);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_idle_ones_are_passed), TEST(test_classes_count_idle_ones),
                TEST(test_turns_go_by_slots),    TEST(test_aside_and_idle),
                TEST(test_passed_are_bounded),   TEST(test_why_and_when),
                TEST(test_run_needs_no_slot),    TEST(test_run_goes_first),
                TEST(test_what_holds_for_run),   TEST(test_short_run_reserves_no_slot),
                TEST(test_recovered_runs_count), TEST(test_describe),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
