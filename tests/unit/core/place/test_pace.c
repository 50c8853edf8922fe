/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/parse.h"
#include "core/place/pace.h"
#include "tests/unit/test.h"

#define MSEC 1000ULL
#define NOW (1000000 * MSEC)

/* One after the other, each answered after so long. Returns when the last of them was. */
static uint64_t answers(struct sg_pace *p, unsigned n, uint64_t took, uint64_t now)
{
        for (; n > 0; n--) {
                sg_pace_started(p);
                now += took;
                sg_pace_answered(p, now - took, now);
                sg_pace_over(p);
        }
        return now;
}

/* So many can be in flight at once. */
static unsigned room(struct sg_pace p, uint64_t now)
{
        unsigned n = 0;

        for (; sg_pace_wait(&p, now) == 0; n++)
                sg_pace_started(&p);
        assert_int_equal(sg_pace_wait(&p, now), SG_UNLIMITED); /* it is for another one's end */
        return n;
}

static void test_one_at_a_time(void **state)
{
        struct sg_pace p = {0};

        (void)state;
        assert_int_equal(sg_pace_wait(&p, 0), 0);
        assert_int_equal(room(p, NOW), 1);
        sg_pace_started(&p);
        assert_int_equal(sg_pace_wait(&p, NOW + 3600000 * MSEC), SG_UNLIMITED);
        sg_pace_over(&p);
        assert_int_equal(sg_pace_wait(&p, NOW), 0);
}

/* One more for each eight answers at once, and never more than four. */
static void test_more_if_it_is_quick(void **state)
{
        struct sg_pace p = {0};
        uint64_t now = NOW;

        (void)state;
        now = answers(&p, 7, 9 * MSEC, now);
        assert_int_equal(room(p, now), 1);
        now = answers(&p, 1, 0, now);
        assert_int_equal(room(p, now), 2);
        now = answers(&p, 8, 1, now);
        assert_int_equal(room(p, now), 3);
        now = answers(&p, 8, 9999, now);
        assert_int_equal(room(p, now), 4);
        now = answers(&p, 1000, MSEC, now);
        assert_int_equal(room(p, now), 4);
}

/* A slow answer is followed by as long a pause, and it begins anew. */
static void test_pause_if_it_is_slow(void **state)
{
        struct sg_pace p = {0};
        uint64_t now;

        (void)state;
        now = answers(&p, 24, MSEC, NOW);
        assert_int_equal(room(p, now), 4);
        now = answers(&p, 1, 10 * MSEC, now);
        assert_int_equal(sg_pace_wait(&p, now), 10 * MSEC);
        assert_int_equal(sg_pace_wait(&p, now + 4 * MSEC), 6 * MSEC);
        assert_int_equal(sg_pace_wait(&p, now + 10 * MSEC - 1), 1);
        assert_int_equal(room(p, now + 10 * MSEC), 1);
        now = answers(&p, 1, 10000 * MSEC, now);
        assert_int_equal(sg_pace_wait(&p, now), 200 * MSEC);
}

/* Those that are in flight as it gets slow, go on; the next waits for all of them. */
static void test_slow_with_others_in_flight(void **state)
{
        struct sg_pace p = {0};
        uint64_t now;

        (void)state;
        now = answers(&p, 24, MSEC, NOW);
        for (unsigned i = 0; i < 4; i++)
                sg_pace_started(&p);
        sg_pace_answered(&p, now, now + 50 * MSEC);
        now += 50 * MSEC;
        for (unsigned i = 0; i < 3; i++) {
                sg_pace_over(&p);
                assert_int_equal(sg_pace_wait(&p, now + 3600000 * MSEC), SG_UNLIMITED);
        }
        sg_pace_over(&p);
        assert_int_equal(sg_pace_wait(&p, now), 50 * MSEC);
}

static void test_refused(void **state)
{
        struct sg_pace p = {0};

        (void)state;
        sg_pace_refused(&p, NOW);
        assert_int_equal(sg_pace_wait(&p, NOW), SG_PACE_RETRY_USEC);
        assert_int_equal(sg_pace_wait(&p, NOW + SG_PACE_RETRY_USEC), 0);
        /* A longer pause isn't cut short by that. */
        sg_pace_answered(&p, NOW, NOW + 200 * MSEC);
        sg_pace_refused(&p, NOW + 200 * MSEC);
        assert_int_equal(sg_pace_wait(&p, NOW + 200 * MSEC), 200 * MSEC);
}

static unsigned times(struct sg_pace_setbacks *s, enum sg_pace_setback what)
{
        unsigned n = 0;

        while (n < 1000 && sg_pace_again(s, what))
                n++;
        return n;
}

static void test_again(void **state)
{
        struct sg_pace_setbacks s = {0};

        (void)state;
        assert_int_equal(times(&s, SG_PACE_NO), 0);
        assert_int_equal(times(&s, SG_PACE_AWAY), 1000);
        assert_int_equal(times(&s, SG_PACE_MISPLACED), 1);
        assert_int_equal(times(&s, SG_PACE_CONFLICT), 50);
        assert_int_equal(times(&s, SG_PACE_AWAY), 1000); /* … which is nobody's fault */
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_one_at_a_time),
                cmocka_unit_test(test_more_if_it_is_quick),
                cmocka_unit_test(test_pause_if_it_is_slow),
                cmocka_unit_test(test_slow_with_others_in_flight),
                cmocka_unit_test(test_refused),
                cmocka_unit_test(test_again),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
