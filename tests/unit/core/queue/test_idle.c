/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a job wants the CPU, by what it used over a minute. */

#include "base/parse.h"
#include "core/queue/idle.h"
#include "tests/unit/test.h"

#define SECOND 1000000ULL
#define MINUTE (60 * SECOND)

/* A job that is looked at, and the CPU time that it has used. */
struct job {
        struct sg_idle idle;
        struct sg_idle_view view;
        uint64_t now_usec, cpu_usec;
};

static struct job begin(void)
{
        return (struct job){.now_usec = 1000 * MINUTE, .cpu_usec = 7 * SECOND};
}

/* It uses this part of a CPU, in 1/1000, for a time; it is looked at in the end. */
static void use(struct job *j, uint64_t usec, uint64_t permille)
{
        j->now_usec += usec;
        j->cpu_usec += usec / 1000 * permille;
        sg_idle_look(&j->idle, j->now_usec, j->cpu_usec, &j->view);
}

/* The same, with a look every second. */
static void use_for(struct job *j, uint64_t seconds, uint64_t permille)
{
        while (seconds-- > 0)
                use(j, SECOND, permille);
}

static void test_sleeps_from_its_start(void **state)
{
        struct job j = begin();
        uint64_t start = j.now_usec;

        (void)state;
        use(&j, 0, 0);
        assert_false(j.view.idle);
        assert_false(j.view.quiet);
        for (unsigned second = 1; second < 60; second++) {
                use_for(&j, 1, 0);
                assert_false(j.view.idle);
                assert_int_equal(j.view.quiet, second >= 5);
                assert_int_equal(j.view.from_usec, start + MINUTE);
        }
        use_for(&j, 1, 0);
        assert_true(j.view.idle);
        assert_false(j.view.quiet);
        use_for(&j, 1000, 0);
        assert_true(j.view.idle);
}

/* Just below and just above the twentieth. */
static void test_threshold(void **state)
{
        struct job little = begin(), much = begin();

        (void)state;
        use_for(&little, 61, 49);
        assert_true(little.view.idle);
        for (unsigned i = 0; i < 600; i++) {
                use_for(&much, 1, 51);
                assert_false(much.view.idle);
        }
}

static void test_trains_and_stops(void **state)
{
        struct job j = begin();
        unsigned quiet = 0;

        (void)state;
        use_for(&j, 600, 1000);
        assert_false(j.view.quiet);
        assert_int_equal(j.view.from_usec, j.now_usec + MINUTE);
        for (unsigned second = 1; second <= 80; second++) {
                use_for(&j, 1, 0);
                quiet += j.view.quiet;
                assert_true(!j.view.quiet || j.view.from_usec > j.now_usec);
                if (second < 57)
                        assert_false(j.view.idle);
        }
        assert_true(j.view.idle);
        assert_true(quiet >= 30);
}

/* A notebook: a cell that takes two seconds doesn't bring it back, one of five does. */
static void test_wakes_up(void **state)
{
        struct job j = begin();

        (void)state;
        use_for(&j, 300, 1);
        assert_true(j.view.idle);
        use_for(&j, 2, 1000);
        assert_true(j.view.idle);
        use_for(&j, 100, 0);
        assert_true(j.view.idle);
        use_for(&j, 5, 1000);
        assert_false(j.view.idle);
        use_for(&j, 85, 0);
        assert_true(j.view.idle);
}

/* Rounds are far apart while nothing happens: what was used long ago doesn't count. */
static void test_rare_looks(void **state)
{
        struct job j = begin();

        (void)state;
        use(&j, 0, 0);
        use(&j, 30 * SECOND, 0);
        assert_int_equal(j.view.from_usec, j.now_usec + 30 * SECOND);
        use(&j, 30 * SECOND, 0);
        assert_true(j.view.idle);
        use(&j, 600 * SECOND, 0);
        assert_true(j.view.idle);
        use(&j, 30 * SECOND, 200);
        use(&j, 30 * SECOND, 0);
        assert_false(j.view.idle); /* a tenth of the minute */
        use(&j, 30 * SECOND, 0);
        assert_true(j.view.idle);
}

static void test_unknown(void **state)
{
        struct job j = begin();

        (void)state;
        sg_idle_look(&j.idle, j.now_usec, SG_UNLIMITED, &j.view);
        assert_false(j.view.idle);
        assert_true(j.view.from_usec == SG_UNLIMITED);
        use_for(&j, 300, 0);
        assert_true(j.view.idle);
        j.cpu_usec = 0; /* another group: its minute begins anew */
        use(&j, SECOND, 0);
        assert_false(j.view.idle);
        assert_int_equal(j.view.from_usec, j.now_usec + MINUTE);
        use_for(&j, 60, 0);
        assert_true(j.view.idle);
}

/* Whenever it is looked at: who is found idle has used little for a minute at least, and who has
 * used nothing for 90 seconds is found idle. */
static void test_random(void **state)
{
        uint64_t random = 88172645463325252ULL;
        unsigned found = 0;

        (void)state;
        for (unsigned run = 0; run < 200; run++) {
                struct job j = begin(), past[400];
                unsigned n = 0;

                while (n < 400) {
                        uint64_t since_little = 0;

                        random ^= random << 13;
                        random ^= random >> 7;
                        random ^= random << 17;
                        use(&j, SECOND + random % (29 * SECOND),
                            random / 64 % 3 == 0 ? random / 4096 % 1000 : random / 64 % 60);
                        for (unsigned k = 0; k < n; k++)
                                if (j.now_usec - past[k].now_usec >= MINUTE &&
                                    (j.cpu_usec - past[k].cpu_usec) * 20 <
                                            j.now_usec - past[k].now_usec)
                                        since_little = past[k].now_usec;
                        assert_true(!j.view.idle || since_little > 0);
                        for (unsigned k = 0; k < n; k++)
                                if (j.now_usec - past[k].now_usec >= 90 * SECOND &&
                                    j.cpu_usec == past[k].cpu_usec)
                                        assert_true(j.view.idle);
                        found += j.view.idle;
                        past[n++] = j;
                }
        }
        assert_true(found > 1000);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_sleeps_from_its_start),
                cmocka_unit_test(test_threshold),
                cmocka_unit_test(test_trains_and_stops),
                cmocka_unit_test(test_wakes_up),
                cmocka_unit_test(test_rare_looks),
                cmocka_unit_test(test_unknown),
                cmocka_unit_test(test_random),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
