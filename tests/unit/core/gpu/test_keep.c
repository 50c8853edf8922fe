/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When a worker is started and given up, under a clock of our own. */

#include "core/gpu/keep.h"
#include "tests/unit/test.h"

#define SECOND 1000000ULL
#define TIMEOUT (5 * SECOND)
#define LOOK (2 * SECOND + TIMEOUT)

/* A driver that is talked to, and what is done about it. */
struct world {
        struct sg_gpu_keep keep;
        uint64_t now, wake;
};

static struct world begin(void)
{
        struct world w = {.now = 1000 * SECOND};

        sg_gpu_keep_want(&w.keep, true);
        return w;
}

static enum sg_gpu_keep_do next(struct world *w)
{
        return sg_gpu_keep_next(&w->keep, w->now, &w->wake);
}

static void start(struct world *w)
{
        assert_int_equal(next(w), SG_GPU_KEEP_START);
        sg_gpu_keep_started(&w->keep, w->now, TIMEOUT);
}

/* Waits for what is due, which has to come after so long. */
static void sleep_for(struct world *w, uint64_t usec)
{
        assert_int_equal(next(w), SG_GPU_KEEP_WAIT);
        assert_int_equal(w->wake - w->now, usec);
        w->now = w->wake;
}

static void give_up(struct world *w)
{
        sleep_for(w, TIMEOUT);
        assert_int_equal(next(w), SG_GPU_KEEP_LET_GO);
        sg_gpu_keep_let_go(&w->keep, w->now);
}

static void test_nobody_is_started_without_a_driver(void **state)
{
        struct sg_gpu_keep keep = {0};
        uint64_t wake = 1;

        (void)state;
        assert_int_equal(sg_gpu_keep_next(&keep, 1000 * SECOND, &wake), SG_GPU_KEEP_WAIT);
        assert_int_equal(wake, 0); /* no timer, either */
}

static void test_who_answers_stays(void **state)
{
        struct world w = begin();

        (void)state;
        start(&w);
        for (unsigned look = 0; look < 1000; look++) {
                w.now += 2 * SECOND;
                sg_gpu_keep_heard(&w.keep, w.now, LOOK, true);
                assert_int_equal(next(&w), SG_GPU_KEEP_WAIT);
                assert_int_equal(w.wake, w.now + LOOK);
        }
        assert_int_equal(w.keep.silent_usec, 0);
}

static void test_who_ends_is_followed_later_each_time(void **state)
{
        static const uint64_t delays[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300};
        struct world w = begin();
        uint64_t since = 0;

        (void)state;
        for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
                start(&w);
                w.now += SECOND / 10;
                since = since ?: w.now;
                sg_gpu_keep_ended(&w.keep, w.now);
                assert_int_equal(w.keep.silent_usec, since);
                sleep_for(&w, delays[i] * SECOND);
        }
}

static void test_one_that_cannot_be_started_counts_as_one_that_ended(void **state)
{
        struct world w = begin();

        (void)state;
        for (uint64_t delay = 1; delay <= 16; delay *= 2) {
                assert_int_equal(next(&w), SG_GPU_KEEP_START);
                sg_gpu_keep_ended(&w.keep, w.now);
                sleep_for(&w, delay * SECOND);
        }
}

/* Each looks once and hangs then. */
static void test_a_short_life_with_a_look_is_no_success(void **state)
{
        struct world w = begin();

        (void)state;
        for (uint64_t delay = 1; delay <= 16; delay *= 2) {
                start(&w);
                w.now += SECOND;
                sg_gpu_keep_heard(&w.keep, w.now, TIMEOUT, true);
                assert_int_equal(w.keep.silent_usec, 0);
                give_up(&w);
                assert_int_equal(w.keep.silent_usec, w.now);
                sg_gpu_keep_gone(&w.keep);
                sleep_for(&w, delay * SECOND);
        }
}

static void test_a_long_life_is_a_success(void **state)
{
        struct world w = begin();

        (void)state;
        for (unsigned i = 0; i < 3; i++) {
                start(&w);
                w.now += SG_GPU_DELAY_MAX_USEC + SECOND;
                sg_gpu_keep_heard(&w.keep, w.now, LOOK, true);
                sg_gpu_keep_ended(&w.keep, w.now);
                sleep_for(&w, SECOND);
        }
}

static void test_at_most_two_are_given_up(void **state)
{
        struct world w = begin();

        (void)state;
        start(&w);
        give_up(&w);
        sleep_for(&w, SECOND);
        start(&w);
        give_up(&w);
        w.now += 3600 * SECOND;
        assert_int_equal(next(&w), SG_GPU_KEEP_WAIT);
        assert_int_equal(w.wake, 0);
        sg_gpu_keep_gone(&w.keep);
        start(&w);
        /* The third is given up as well: again nobody is started. */
        give_up(&w);
        w.now += 3600 * SECOND;
        assert_int_equal(next(&w), SG_GPU_KEEP_WAIT);
        assert_int_equal(w.wake, 0);
}

static void test_silence_lasts_until_one_does_its_work(void **state)
{
        struct world w = begin();
        uint64_t since;

        (void)state;
        start(&w);
        give_up(&w);
        since = w.now;
        sleep_for(&w, SECOND);
        start(&w);
        sg_gpu_keep_heard(&w.keep, w.now, TIMEOUT, false); /* it has begun, and not looked */
        assert_int_equal(w.keep.silent_usec, since);
        sg_gpu_keep_heard(&w.keep, w.now, LOOK, true);
        assert_int_equal(w.keep.silent_usec, 0);
}

static void test_a_driver_that_goes_and_comes_back(void **state)
{
        struct world w = begin();

        (void)state;
        start(&w);
        sg_gpu_keep_want(&w.keep, false);
        assert_int_equal(next(&w), SG_GPU_KEEP_LET_GO);
        sg_gpu_keep_let_go(&w.keep, w.now);
        assert_int_equal(w.keep.silent_usec, 0); /* that is no failure */
        assert_int_equal(next(&w), SG_GPU_KEEP_WAIT);
        assert_int_equal(w.wake, 0);
        sg_gpu_keep_gone(&w.keep);
        sg_gpu_keep_want(&w.keep, true);
        start(&w);
        for (unsigned i = 0; i < 10; i++) {
                sg_gpu_keep_ended(&w.keep, w.now);
                (void)next(&w);
                w.now = w.wake;
                start(&w);
        }
        sg_gpu_keep_ended(&w.keep, w.now);
        sg_gpu_keep_want(&w.keep, false);
        sg_gpu_keep_want(&w.keep, true);
        start(&w); /* what another driver did wrong counts no more */
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_nobody_is_started_without_a_driver),
                cmocka_unit_test(test_who_answers_stays),
                cmocka_unit_test(test_who_ends_is_followed_later_each_time),
                cmocka_unit_test(test_one_that_cannot_be_started_counts_as_one_that_ended),
                cmocka_unit_test(test_a_short_life_with_a_look_is_no_success),
                cmocka_unit_test(test_a_long_life_is_a_success),
                cmocka_unit_test(test_at_most_two_are_given_up),
                cmocka_unit_test(test_silence_lasts_until_one_does_its_work),
                cmocka_unit_test(test_a_driver_that_goes_and_comes_back),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
