/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Workers: how they die and start again, and that nothing is left of them. */

#include "tests/unit/edge/common/worker_fixture.h"

/* --- death */

static void test_closes(void **state)
{
        struct bench *b = *state;

        kind.main = close_and_live;
        start(b);
        wait_until(b, b->burials == 1);
        assert_int_equal(b->deaths, 1);
        assert_true(WIFSIGNALED(b->status));
}

static void test_exit_status(void **state)
{
        struct bench *b = *state;

        kind.main = exit_with_seven;
        start(b);
        for (unsigned i = 1; i <= 3; i++) {
                wait_until(b, b->burials == i);
                assert_true(WIFEXITED(b->status));
                assert_int_equal(WEXITSTATUS(b->status), 7);
                assert_int_equal(sg_worker_start(b->worker, -1), 0);
        }
}

static void test_stop(void **state)
{
        struct bench *b = *state;

        kind.restarts_max = SG_WORKER_FOR_EVER;
        start(b);
        pid_t pid = sg_worker_pid(b->worker);
        ask(b, "hang");
        sg_worker_stop(b->worker);
        assert_true(sg_worker_is_over(b->worker));
        assert_true(sg_worker_is_one(pid)); /* until it's buried */
        wait_until(b, b->burials == 1);
        assert_false(sg_worker_is_one(pid));
        assert_int_equal(b->deaths + b->failures + b->answers, 0);
        assert_int_equal(b->prepared, 1);
}

/* Each time later, and then not any more. */
static void test_back_off(void **state)
{
        struct bench *b = *state;

        kind.main = exit_with_seven;
        kind.restarts_max = RESTARTS_MAX;
        kind.delay_usec = DELAY_USEC;
        kind.delay_max_usec = PATIENCE_USEC;
        start(b);
        wait_until(b, sg_worker_is_over(b->worker) && b->burials == RESTARTS_MAX + 1);
        assert_int_equal(b->prepared, RESTARTS_MAX + 1);
        assert_int_equal(b->starts, RESTARTS_MAX);
        assert_int_equal(b->deaths, RESTARTS_MAX + 1);
        assert_int_equal(sg_worker_restarts(b->worker), RESTARTS_MAX);
        assert_true(b->born_usec[2] - b->born_usec[1] >= DELAY_USEC);
        assert_true(b->born_usec[3] - b->born_usec[2] >= 2 * DELAY_USEC);
        kind.main = serve;
        assert_int_equal(sg_worker_start(b->worker, -1), 0); /* its owner knows better */
        ask(b, "echo again");
        wait_until(b, b->answers == 1);
}

/* One that did well for long starts at once, however often that happens. */
static void test_no_back_off(void **state)
{
        struct bench *b = *state;

        kind.restarts_max = 1;
        kind.delay_usec = PATIENCE_USEC;
        kind.delay_max_usec = 1;
        start(b);
        for (unsigned i = 1; i <= 4; i++) {
                ask(b, "echo it works");
                wait_until(b, b->answers == i);
                sg_worker_fail(b->worker, -ETIMEDOUT);
                assert_int_equal(b->deaths, i);
                assert_int_equal(b->death, -ETIMEDOUT);
                wait_until(b, b->starts == i);
        }
}

static void test_hang_up(void **state)
{
        struct bench *b = *state;

        start(b);
        sg_worker_hang_up(b->worker);
        assert_int_equal(b->deaths, 0);
        wait_until(b, b->deaths == 1);
        assert_int_equal(b->death, -EPIPE);
}

/* --- what is left */

static void test_freed_in_callbacks(void **state)
{
        struct bench *b = *state;

        kind.frame = on_frame;
        b->free_it = true;
        start(b);
        ask(b, "echo one");
        ask(b, "echo never heard");
        wait_until(b, b->answers == 1);
        assert_null(b->worker);
        start(b);
        ask(b, "die");
        ask(b, "echo never heard");
        wait_until(b, b->failures == 1);
        assert_null(b->worker);
        make(b);
        ask_within(b, "echo never asked", 1);
        wait_until(b, b->failures == 2);
        assert_null(b->worker);
        kind.main = say;
        start(b);
        wait_until(b, b->frames == 1);
        assert_null(b->worker);
        kind.main = exit_with_seven;
        start(b);
        wait_until(b, b->burials == 1);
        assert_null(b->worker);
        assert_int_equal(b->answers, 1);
}

static void test_nothing_leaks(void **state)
{
        struct bench *b = *state;
        unsigned before = 0;

        for (unsigned i = 1; i <= 20; i++) {
                start(b);
                ask(b, i % 2 ? "die" : "echo fine");
                wait_until(b, b->answers + b->failures == i);
                if (i % 4 == 0)
                        sg_worker_stop(b->worker);
                b->worker = sg_worker_free(b->worker);
                assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
                if (i == 1)
                        before = count_fds(); /* with the loop's own timer */
        }
        assert_int_equal(count_fds(), before);
}

/* Standard streams, its socket, what it may keep, and the directory that is looked at. */
static void test_nothing_inherited(void **state)
{
        _cleanup_close_ int fd = open("/dev/null", O_RDONLY); /* not even CLOEXEC */
        _cleanup_close_ int kept = open("/dev/null", O_RDONLY);
        int others[2];
        struct bench *b = *state;

        assert_int_equal(pipe(others), 0);
        start(b);
        ask(b, "fds");
        wait_until(b, b->answers == 1);
        assert_string_equal(b->last, "7"); /* with . and .. */
        sg_worker_stop(b->worker);
        assert_int_equal(sg_worker_start(b->worker, kept), 0);
        ask(b, "fds");
        wait_until(b, b->answers == 2);
        assert_string_equal(b->last, "8");
        (void)close(others[0]);
        (void)close(others[1]);
}

static void test_ends_in_good_order(void **state)
{
        struct bench *b = *state;
        int ends[2];
        char byte;

        kind.end_usec = SG_WORKER_FOR_EVER;
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        assert_int_equal(sg_worker_new(&b->worker, &kind, b), 0);
        assert_int_equal(sg_worker_start(b->worker, ends[1]), 0);
        (void)close(ends[1]);
        b->worker = sg_worker_free(b->worker);
        assert_int_equal(read(ends[0], &byte, 1), 0);
        (void)close(ends[0]);
        assert_int_equal(b->deaths + b->burials, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_closes),
                TEST(test_exit_status),
                TEST(test_stop),
                TEST(test_back_off),
                TEST(test_no_back_off),
                TEST(test_hang_up),
                TEST(test_freed_in_callbacks),
                TEST(test_nothing_leaks),
                TEST(test_nothing_inherited),
                TEST(test_ends_in_good_order),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
