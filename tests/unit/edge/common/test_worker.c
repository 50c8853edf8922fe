/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Workers: what is said to them and by them. */

#include "tests/unit/edge/common/worker_fixture.h"

/* --- questions */

static void test_ask(void **state)
{
        struct bench *b = *state;

        start(b);
        ask(b, "echo one");
        assert_int_equal(b->answers, 0); /* never from within the call */
        wait_until(b, b->answers == 1);
        assert_string_equal(b->last, "one");
        ask(b, "echo two");
        wait_until(b, b->answers == 2);
        assert_string_equal(b->last, "two");
        assert_int_equal(b->deaths + b->failures, 0);
}

static void on_ordered(int result, const uint8_t *data, size_t size, void *userdata)
{
        struct bench *b = userdata;
        char expected[16];

        assert_int_equal(result, 0);
        (void)snprintf(expected, sizeof(expected), "%u", b->answers++);
        assert_int_equal(size, strlen(expected));
        assert_memory_equal(data, expected, size);
}

/* More than its socket takes, while it doesn't read. */
static void test_many(void **state)
{
        enum { MANY = 20000 };
        struct bench *b = *state;
        char question[FRAME_MAX];

        kind.main = stop_reading;
        start(b);
        for (unsigned i = 0; i < MANY; i++) {
                int n = snprintf(question, sizeof(question), "echo %u", i);

                assert_int_equal(
                        sg_worker_ask(b->worker, question, (size_t)n, PATIENCE_USEC, on_ordered, b),
                        0);
        }
        assert_true(sg_worker_is_behind(b->worker));
        assert_int_equal(kill(sg_worker_pid(b->worker), SIGCONT), 0);
        wait_until(b, b->answers == MANY);
        assert_false(sg_worker_is_behind(b->worker));
        assert_int_equal(b->deaths, 0);
}

static void test_deadline(void **state)
{
        struct bench *b = *state;
        uint64_t begin;

        start(b);
        pid_t pid = sg_worker_pid(b->worker);
        ask(b, "echo before");
        wait_until(b, b->answers == 1);
        begin = sg_now_monotonic_usec();
        ask_within(b, "hang", SHORT_USEC);
        ask(b, "echo behind");
        wait_until(b, b->deaths == 1);
        assert_true(sg_now_monotonic_usec() - begin >= SHORT_USEC);
        assert_int_equal(b->failures, 2);
        assert_int_equal(b->death, -ETIMEDOUT);
        assert_false(sg_worker_is_running(b->worker));
        assert_true(sg_worker_is_over(b->worker));
        wait_until(b, b->burials == 1);
        assert_true(WIFSIGNALED(b->status));
        assert_int_equal(WTERMSIG(b->status), SIGKILL);
        assert_int_equal(kill(pid, 0), -1);
}

/* It isn't to blame if the answers are there, more of them than are read at once, and we weren't.
 */
static void test_answers_lie_there(void **state)
{
        enum { MANY = 40 }; /* all of whose answers its socket takes */
        char question[FRAME_MAX] = "echo ";
        struct bench *b = *state;

        start(b);
        for (unsigned i = 0; i < MANY; i++)
                assert_int_equal(sg_worker_ask(b->worker, question, sizeof(question), SHORT_USEC,
                                               on_answer, b),
                                 0);
        while (sg_worker_is_behind(b->worker))
                assert_true(sg_worker_wait(b->worker, -1) > 0);
        (void)usleep(2 * SHORT_USEC);
        wait_until(b, b->answers + b->failures == MANY);
        assert_int_equal(b->answers, MANY);
        assert_int_equal(b->deaths, 0);
}

static void test_dies_in_a_question(void **state)
{
        struct bench *b = *state;

        start(b);
        ask(b, "die");
        ask(b, "echo behind");
        wait_until(b, b->deaths == 1);
        assert_int_equal(b->failures, 2);
        assert_int_equal(b->error, -EPIPE);
        assert_int_equal(b->death, -EPIPE);
        wait_until(b, b->burials == 1);
        assert_int_equal(sg_worker_pid(b->worker), 0);
}

/* Questions wait for the next start, but not for longer than they like. */
static void test_asked_before(void **state)
{
        struct bench *b = *state;

        make(b);
        ask_within(b, "echo nobody waits for it", SHORT_USEC);
        ask(b, "echo second");
        wait_until(b, b->failures == 1);
        assert_int_equal(b->error, -ETIMEDOUT);
        assert_int_equal(b->deaths, 0);
        assert_int_equal(sg_worker_start(b->worker, -1), 0);
        assert_int_equal(sg_worker_start(b->worker, -1), -EBUSY);
        wait_until(b, b->answers == 1);
        assert_string_equal(b->last, "second");
        assert_int_equal(b->failures, 1);
}

/* --- frames */

static void test_frames(void **state)
{
        struct bench *b = *state;

        kind.main = say;
        kind.frame = on_frame;
        start(b);
        wait_until(b, b->frames == 1);
        assert_string_equal(b->last, "word");
        assert_int_equal(b->deaths, 0);
}

static void test_frame_refused(void **state)
{
        struct bench *b = *state;

        kind.main = say;
        kind.frame = on_frame;
        b->frame_result = -ENOMEM;
        start(b);
        wait_until(b, b->deaths == 1);
        assert_int_equal(b->death, -ENOMEM);
}

static void test_frame_that_nobody_wants(void **state)
{
        struct bench *b = *state;

        kind.main = say;
        start(b);
        wait_until(b, b->deaths == 1);
        assert_int_equal(b->death, -EBADMSG);
}

static void test_frame_too_large(void **state)
{
        char large[FRAME_MAX + 1] = "";
        struct bench *b = *state;

        kind.main = serve_large;
        start(b);
        assert_int_equal(
                sg_worker_ask(b->worker, large, sizeof(large), PATIENCE_USEC, on_answer, b),
                -E2BIG);
        ask(b, "echo is fine");
        ask(b, "large");
        wait_until(b, b->deaths == 1);
        assert_int_equal(b->death, -EBADMSG);
        assert_int_equal(b->answers, 1);
        assert_int_equal(b->failures, 1);
}

static void test_frame_torn(void **state)
{
        struct bench *b = *state;

        kind.main = say_half;
        kind.frame = on_frame;
        start(b);
        wait_until(b, b->deaths == 1);
        assert_int_equal(b->death, -EPIPE);
        assert_int_equal(b->frames, 0);
}

/* Outside of the loop, and before there is one. */
static void test_wait(void **state)
{
        struct bench *b = *state;
        size_t mark;

        kind.frame = on_frame;
        assert_int_equal(sg_worker_new(&b->worker, &kind, b), 0);
        assert_int_equal(sg_worker_wait(b->worker, -1), -EPIPE);
        assert_int_equal(sg_worker_start(b->worker, -1), 0);
        assert_int_equal(sg_worker_wait(b->worker, 0), 0);
        mark = sg_worker_open(b->worker);
        sg_record_append(sg_worker_out(b->worker), "dropped", 7);
        sg_worker_drop(b->worker, mark);
        mark = sg_worker_open(b->worker);
        sg_record_append(sg_worker_out(b->worker), "echo word", 9);
        assert_int_equal(sg_worker_post(b->worker, mark), 0);
        while (b->frames == 0)
                assert_int_equal(sg_worker_wait(b->worker, -1), 1);
        assert_string_equal(b->last, "word");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_ask),
                TEST(test_many),
                TEST(test_deadline),
                TEST(test_answers_lie_there),
                TEST(test_dies_in_a_question),
                TEST(test_asked_before),
                TEST(test_frames),
                TEST(test_frame_refused),
                TEST(test_frame_that_nobody_wants),
                TEST(test_frame_too_large),
                TEST(test_frame_torn),
                TEST(test_wait),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
