/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who may start before a job that waits for memory: by example, and that nobody makes it wait for
 * longer, in random histories. The seed of a failure is printed.
 */
#include "tests/unit/core/queue/test_queue.h"

#include <inttypes.h>
#include <time.h>

#define INSTANCES 1500U
#define JOBS 40

static struct sg_queue_entry *limited(struct fixture *f, uint64_t uid, uint64_t n, uint64_t memory,
                                      uint64_t limit_usec)
{
        struct sg_queue_entry *e = add_to(f, "default", uid, n, 0, memory);

        e->limit_usec = limit_usec;
        return e;
}

/* 6 of 9 GiB are in use for an hour; job 2 waits for 8. */
static void one_waits(struct fixture *f)
{
        limited(f, 1, 1, 6 * GIB, 60 * MINUTE);
        assert_int_equal(next(f), 1);
        limited(f, 1, 2, 8 * GIB, SG_UNLIMITED);
        assert_int_equal(next(f), 0);
}

static void test_short_ones_pass(void **state)
{
        struct fixture *f = *state;

        one_waits(f);
        f->node.now_usec += 20 * MINUTE;
        limited(f, 1, 3, 3 * GIB, 60 * MINUTE); /* fits now, but not beside it */
        limited(f, 1, 4, 3 * GIB, 40 * MINUTE); /* has ended when it can start */
        assert_int_equal(why(f, 3), SG_PENDING_TURN);
        assert_int_equal(why(f, 4), SG_PENDING_NONE);
        assert_int_equal(next(f), 4);
        assert_int_equal(next(f), 0);
        assert_int_equal(why(f, 2), SG_PENDING_SHORT);
        end(f, 4);
        f->node.now_usec += 40 * MINUTE;
        end(f, 1);
        assert_int_equal(next(f), 2);
        assert_int_equal(next(f), 0);
}

static void test_small_ones_pass(void **state)
{
        struct fixture *f = *state;

        one_waits(f);
        limited(f, 1, 3, 2 * GIB, SG_UNLIMITED);
        limited(f, 1, 4, GIB / 2, 0);
        limited(f, 1, 5, GIB, 0);
        limited(f, 1, 6, GIB / 2, 0);
        assert_int_equal(next(f), 4);
        assert_int_equal(next(f), 6); /* 1 + 8 of 9 */
        assert_int_equal(next(f), 0);
        end(f, 4);
        end(f, 6);
        f->node.now_usec += 30 * MINUTE; /* however long it waits */
        assert_int_equal(next(f), 5);
        assert_int_equal(why(f, 3), SG_PENDING_TURN);
}

/* Nobody knows when the first ends: it is thought to end, those that have passed aren't. */
static void test_unknown_ends(void **state)
{
        struct fixture *f = *state;

        add_to(f, "default", 1, 1, 0, 5 * GIB);
        assert_int_equal(next(f), 1);
        add_to(f, "default", 1, 2, 0, 6 * GIB);
        for (uint64_t n = 3; n <= 9; n++)
                add_to(f, "default", 1, n, 0, GIB);
        assert_int_equal(next(f), 3);
        assert_int_equal(next(f), 4);
        assert_int_equal(next(f), 5);
        assert_int_equal(next(f), 0);   /* 3 + 6 of 9 */
        limited(f, 1, 10, GIB, MINUTE); /* short, but nobody knows whether it is short enough */
        assert_int_equal(next(f), 0);
        assert_int_equal(why(f, 10), SG_PENDING_TURN);
        end(f, 1);
        assert_int_equal(next(f), 2);
}

static void test_no_backfill(void **state)
{
        struct fixture *f = *state;

        draft(f, 0)->backfill = false;
        configure(f);
        one_waits(f);
        limited(f, 1, 3, GIB, MINUTE);
        limited(f, 2, 4, GIB, MINUTE);
        assert_int_equal(next(f), 4); /* user 2 has its turn before it */
        limited(f, 2, 5, GIB, MINUTE);
        limited(f, 3, 6, GIB, MINUTE);
        assert_int_equal(next(f), 6);
        assert_int_equal(next(f), 0);
        assert_int_equal(why(f, 3), SG_PENDING_TURN);
        assert_int_equal(why(f, 5), SG_PENDING_KEPT);
}

/* A slot counts as memory does. */
static void test_slots(void **state)
{
        struct fixture *f = *state;

        f->settings->max_jobs = 2;
        configure(f);
        one_waits(f);
        limited(f, 1, 3, GIB, SG_UNLIMITED);
        assert_int_equal(next(f), 3); /* of two, one is free once job 1 has ended */
        end(f, 3);
        f->settings->max_jobs = 100;
        draft(f, 0)->max_jobs_per_user = 2;
        configure(f);
        limited(f, 1, 4, GIB, SG_UNLIMITED);
        limited(f, 1, 5, GIB, SG_UNLIMITED);
        assert_int_equal(next(f), 4);
        assert_int_equal(next(f), 0);
        assert_int_equal(why(f, 5), SG_PENDING_CLASS_USER_FULL);
}

/* Far behind, nobody looks. */
static void test_depth(void **state)
{
        struct fixture *f = *state;

        one_waits(f);
        for (uint64_t n = 3; n < 66; n++)
                add_to(f, "default", 1, n, 0, 4 * GIB);
        limited(f, 1, 66, GIB, MINUTE);
        assert_int_equal(next(f), 0);
        assert_int_equal(why(f, 66), SG_PENDING_TURN);
        end(f, 3);
        assert_int_equal(next(f), 66);
}

static double cpu_seconds(void)
{
        struct timespec now;

        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A list of all jobs asks of each why it waits. */
static void test_many(void **state)
{
        struct fixture *f = *state;
        double begin;

        for (uint64_t n = 1; n <= N_MAX / 2; n++)
                limited(f, n % 100, n, 9 * GIB / (N_MAX / 2), n * MINUTE);
        while (next(f) > 0)
                ;
        assert_int_equal(sg_queue_n_running(f->q), N_MAX / 2);
        for (uint64_t n = N_MAX / 2 + 1; n <= N_MAX; n++)
                limited(f, n % 100, n, (1 + n % 9) * GIB, n % 2 ? 0 : 2 * N_MAX * MINUTE);
        begin = cpu_seconds();
        assert_int_equal(next(f), 0);
        for (uint64_t n = N_MAX / 2 + 1; n <= N_MAX; n++)
                assert_int_not_equal(why(f, n), SG_PENDING_NONE);
        assert_true(cpu_seconds() - begin < .5); /* with sanitizers; else a hundredth of it */
}

/* --- nobody is made to wait longer --- */

struct run {
        struct fixture *f;
        uint64_t random, seed, promised[JOBS + 1];
};

static uint64_t draw(struct run *r, uint64_t below)
{
        uint64_t z = r->random += 0x9e3779b97f4a7c15ULL;

        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return (z ^ (z >> 31)) % below;
}

static uint64_t end_of(const struct sg_queue_entry *e)
{
        return e->started_usec + e->limit_usec;
}

/* Whether all that `e` needs is free once those have ended that do so before `at`, or then. */
static bool is_free_at(const struct run *r, const struct sg_queue_entry *e, uint64_t at)
{
        const uint64_t all[] = {[SG_STOCK_MEMORY] = 9 * GIB, [SEATS] = 4};

        for (size_t s = 0; s < SG_ELEMENTSOF(all); s++) {
                uint64_t left = all[s];

                for (size_t k = 1; k <= JOBS; k++)
                        if (r->f->entries[k].running && end_of(&r->f->entries[k]) > at)
                                left -= r->f->entries[k].need[s];
                if (left < e->need[s])
                        return false;
        }
        return true;
}

/* When `waiting` could start if nobody else did. */
static uint64_t free_at(const struct run *r, const struct sg_queue_entry *waiting)
{
        uint64_t at = UINT64_MAX;

        for (size_t i = 1; i <= JOBS; i++) {
                const struct sg_queue_entry *e = &r->f->entries[i];

                if (e->running && end_of(e) < at && is_free_at(r, waiting, end_of(e)))
                        at = end_of(e);
        }
        return at;
}

/* All that can start does; the first that can't is promised when it will. */
static void start_all(struct run *r)
{
        uint64_t n;

        while ((n = next(r->f)) > 0)
                if (r->promised[n] > 0 && r->f->node.now_usec > r->promised[n])
                        fail_msg("seed %" PRIu64 ": %" PRIu64 " starts late", r->seed, n);
        for (n = 1; n <= JOBS; n++) {
                const struct sg_queue_entry *e = &r->f->entries[n];

                if (!e->lane || e->running)
                        continue;
                if (r->promised[n] == 0)
                        r->promised[n] = free_at(r, e);
                return;
        }
}

static bool end_next(struct run *r)
{
        uint64_t first = 0;

        for (uint64_t n = 1; n <= JOBS; n++)
                if (r->f->entries[n].running &&
                    (first == 0 || end_of(&r->f->entries[n]) < end_of(&r->f->entries[first])))
                        first = n;
        if (first == 0)
                return false;
        r->f->node.now_usec = end_of(&r->f->entries[first]);
        end(r->f, first);
        return true;
}

/* In order of age, each taking as long as it may, and one to `seats` seats. Returns how long all of
 * them took. */
static uint64_t run_all(struct fixture *f, uint64_t seed, bool backfill, uint64_t seats)
{
        struct run r = {.f = f, .random = seed, .seed = seed};
        uint64_t begin = f->node.now_usec;

        draft(f, 0)->backfill = backfill;
        draft(f, 0)->order = SG_ORDER_FIFO;
        configure(f);
        for (uint64_t n = 1; n <= JOBS; n++) {
                struct sg_queue_entry *e =
                        limited(f, 1, n, (1 + draw(&r, 9)) * GIB, (1 + draw(&r, 100)) * MINUTE);

                e->need[SEATS] = seats > 0 ? 1 + draw(&r, seats) : 0;
        }
        do
                start_all(&r);
        while (end_next(&r));
        assert_int_equal(sg_queue_n_waiting(f->q), 0);
        return f->node.now_usec - begin;
}

static void expect_gain(struct fixture *f, uint64_t seats)
{
        double with = 0, without = 0;

        for (uint64_t seed = 1; seed <= INSTANCES; seed++) {
                with += (double)run_all(f, seed, true, seats);
                without += (double)run_all(f, seed, false, seats);
        }
        print_message("with backfill all end after %.3f of the time\n", with / without);
        assert_true(with < .95 * without);
}

static void test_nobody_waits_longer(void **state)
{
        expect_gain(*state, 0);
}

/* Nor where some wait for the one, others for the other, and some for both. */
static void test_nobody_waits_longer_for_two(void **state)
{
        expect_gain(*state, 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_SEATS(name) cmocka_unit_test_setup_teardown(name, setup_seats, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_short_ones_pass),
                TEST(test_small_ones_pass),
                TEST(test_unknown_ends),
                TEST(test_no_backfill),
                TEST(test_slots),
                TEST(test_depth),
                TEST(test_many),
                TEST(test_nobody_waits_longer),
                TEST_SEATS(test_nobody_waits_longer_for_two),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
