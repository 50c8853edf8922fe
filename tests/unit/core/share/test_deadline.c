/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which deadlines are met: against all subsets of small sets, and for narrow jobs, whose bounds can
 * be worked out by hand.
 */

#include "core/share/deadline.h"
#include "tests/unit/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define JOBS 10
#define INSTANCES 2000U

static double draw(uint64_t *random, double lo, double hi)
{
        uint64_t z = *random += 0x9e3779b97f4a7c15ULL;

        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return lo + (hi - lo) * (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static struct sg_deadline_job job(uint64_t key, double remaining, double due)
{
        return (struct sg_deadline_job){
                .key = key, .remaining = remaining, .width = 1, .due = due, .origin = key};
}

static struct sg_deadline_job narrow(uint64_t key, double remaining, double width, double due)
{
        struct sg_deadline_job j = job(key, remaining, due);

        j.width = width;
        return j;
}

static void expect_order(const struct sg_deadline_job *jobs, size_t n, const uint64_t *keys)
{
        for (size_t i = 0; i < n; i++)
                assert_int_equal(jobs[i].key, keys[i]);
}

static void test_all_fit(void **state)
{
        struct sg_deadline_job jobs[] = {job(1, 30, 100), job(2, 10, 20), job(3, 5, INFINITY),
                                         job(4, 20, 100)};

        (void)state;
        assert_int_equal(sg_deadline_plan(jobs, 4, 0, 0), 4);
        expect_order(jobs, 4, (const uint64_t[]){2, 1, 4, 3});
        assert_true(jobs[0].slack == 10);
        assert_true(jobs[2].slack == 40);
        assert_true(isinf(jobs[3].slack));
        assert_true(sg_deadline_rate(jobs, 4, 0) == .6);
        assert_true(sg_deadline_rate(jobs, 1, 0) == .5);
        assert_true(sg_deadline_rate(jobs, 0, 0) == 0);
        assert_true(sg_deadline_rate(jobs, 1, 20) == 1);
        assert_int_equal(sg_deadline_plan(NULL, 0, 0, 0), 0);
}

static void test_the_largest_makes_way(void **state)
{
        struct sg_deadline_job jobs[] = {job(1, 50, 60), job(2, 20, 70), job(3, 30, 90),
                                         job(4, 5, 1)};

        (void)state;
        /* 4 can't make it whoever makes way; 1, 2 and 3 are 10 too much at 90 */
        assert_int_equal(sg_deadline_plan(jobs, 4, 0, 0), 2);
        expect_order(jobs, 4, (const uint64_t[]){2, 3, 4, 1});
        assert_true(jobs[2].dropped);
        assert_true(jobs[3].dropped);
        /* … and at 70, where 3 owes 10, too: an eighth of what is owed there */
        assert_int_equal(sg_deadline_plan(jobs, 4, 0, .124), 2);
        assert_int_equal(sg_deadline_plan(jobs, 4, 0, .126), 3);
        expect_order(jobs, 4, (const uint64_t[]){1, 2, 3, 4});
}

/* What a narrow job has to do before the deadline of another counts there. */
static void test_narrow(void **state)
{
        struct sg_deadline_job fits[] = {job(1, 80, 100), narrow(2, 50, .5, 160)};
        struct sg_deadline_job not [] = {job(1, 80, 100), narrow(2, 50, .5, 130)};
        struct sg_deadline_job alone[] = {narrow(1, 50, .5, 99)};
        struct sg_deadline_job beside[] = {narrow(1, 50, .5, 100), narrow(2, 50, .5, 100)};

        (void)state;
        assert_int_equal(sg_deadline_plan(fits, 2, 0, 0), 2);
        assert_true(fits[0].slack == 0); /* 20 of the 50 by then */
        assert_true(fits[1].slack == 30);
        assert_true(sg_deadline_own_slack(&fits[1], 0) == 60);
        assert_int_equal(sg_deadline_plan(not, 2, 0, 0), 1); /* 35: the larger one makes way */
        assert_int_equal(not [0].key, 2);
        assert_int_equal(sg_deadline_plan(alone, 1, 0, 0), 0);
        assert_int_equal(sg_deadline_plan(beside, 2, 0, 0), 2);
        assert_true(sg_deadline_rate(beside, 2, 0) == 1);
}

static bool feasible(const struct sg_deadline_job *by_due, size_t n, unsigned subset)
{
        double end = 0;

        for (size_t i = 0; i < n; i++) {
                if (!(subset & 1U << i))
                        continue;
                end += by_due[i].remaining;
                if (end > by_due[i].due)
                        return false;
        }
        return true;
}

static int by_due(const void *a, const void *b)
{
        const struct sg_deadline_job *x = a, *y = b;

        return x->due < y->due ? -1 : x->due > y->due;
}

static size_t most(struct sg_deadline_job *jobs, size_t n)
{
        size_t best = 0;

        qsort(jobs, n, sizeof(*jobs), by_due);
        for (unsigned subset = 0; subset < 1U << n; subset++)
                if ((size_t)__builtin_popcount(subset) > best && feasible(jobs, n, subset))
                        best = (size_t)__builtin_popcount(subset);
        return best;
}

static void test_as_many_as_can_be(void **state)
{
        (void)state;
        for (uint64_t seed = 1; seed <= INSTANCES; seed++) {
                struct sg_deadline_job jobs[JOBS];
                uint64_t random = seed;
                size_t n = 1 + (size_t)draw(&random, 0, JOBS), kept;
                double end = 0;

                for (size_t i = 0; i < n; i++)
                        jobs[i] = job(i + 1, draw(&random, 1, 40), draw(&random, 5, 150));
                kept = sg_deadline_plan(jobs, n, 0, 0);
                for (size_t i = 0; i < kept; i++) {
                        end += jobs[i].remaining;
                        if (jobs[i].dropped || end > jobs[i].due + 1e-6)
                                fail_msg("seed %" PRIu64 ": job %" PRIu64 " is late", seed,
                                         jobs[i].key);
                }
                if (kept != most(jobs, n))
                        fail_msg("seed %" PRIu64 ": %zu are kept", seed, kept);
        }
}

/* Whoever is kept is on time if always the most urgent one goes on, narrow ones beside it. */
static void test_slack_of_narrow_sets(void **state)
{
        (void)state;
        for (uint64_t seed = 1; seed <= INSTANCES; seed++) {
                struct sg_deadline_job jobs[JOBS];
                uint64_t random = seed;
                size_t n = 1 + (size_t)draw(&random, 0, JOBS), kept;

                for (size_t i = 0; i < n; i++)
                        jobs[i] = narrow(i + 1, draw(&random, 1, 40), draw(&random, .1, 1),
                                         draw(&random, 5, 250));
                kept = sg_deadline_plan(jobs, n, 0, 0);
                for (size_t i = 0; i < kept; i++) {
                        double owed = 0;

                        for (size_t k = 0; k < kept; k++)
                                owed += fmax(0, jobs[k].remaining -
                                                        jobs[k].width *
                                                                fmax(0, jobs[k].due - jobs[i].due));
                        if (fabs(jobs[i].due - owed - jobs[i].slack) > 1e-6 ||
                            jobs[i].slack < -1e-6)
                                fail_msg("seed %" PRIu64 ", job %" PRIu64 ": slack %g", seed,
                                         jobs[i].key, jobs[i].slack);
                }
        }
}

static void test_judge(void **state)
{
        struct sg_deadline_job jobs[] = {job(1, 50, 60), job(2, 20, 75), job(3, 10, 80)};
        struct sg_deadline_job small[] = {job(1, 50, 60), job(2, 20, 90), job(3, 5, 80)};
        struct sg_deadline_job late[] = {job(1, 50, 60), job(2, 20, 90), job(3, 25, 20)};
        struct sg_deadline_job beside[] = {narrow(1, 50, .5, 100), narrow(2, 40, .5, 100)};
        struct sg_deadline_judgement j;

        (void)state;
        assert_int_equal(sg_deadline_judge(jobs, 3, 0, &j), 0);
        assert_true(j.met); /* and 1, the largest, isn't any more */
        assert_int_equal(j.n_harmed, 0);
        assert_true(j.finish == 80);
        jobs[0] = job(1, 50, 60);
        jobs[1] = job(2, 20, 75);
        jobs[2] = job(3, 11, 80);
        assert_int_equal(sg_deadline_judge(jobs, 3, 0, &j), 0);
        assert_true(j.met);
        assert_int_equal(j.n_harmed, 1);
        assert_near(j.finish, 31, 0);
        assert_int_equal(sg_deadline_judge(small, 3, 0, &j), 0);
        assert_true(j.met);
        assert_int_equal(j.n_harmed, 0);
        assert_near(j.finish, 55, 0);
        assert_int_equal(sg_deadline_judge(late, 3, 0, &j), 0);
        assert_false(j.met);
        assert_int_equal(j.n_harmed, 0);
        assert_near(j.finish, 95, 0);
        assert_int_equal(sg_deadline_judge(beside, 2, 0, &j), 0);
        assert_true(j.met);
        assert_near(j.finish, 80, 1e-9);
        assert_int_equal(sg_deadline_judge(beside, 1, 0, &j), 0);
        assert_int_equal(sg_deadline_judge(beside, 0, 0, &j), -EINVAL);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_all_fit),
                cmocka_unit_test(test_the_largest_makes_way),
                cmocka_unit_test(test_narrow),
                cmocka_unit_test(test_as_many_as_can_be),
                cmocka_unit_test(test_slack_of_narrow_sets),
                cmocka_unit_test(test_judge),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
