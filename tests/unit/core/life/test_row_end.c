/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a job's life makes of its row in the end: why it has ended, or is run again; and as a daemon
 * comes back. */
#include "tests/unit/core/life/fixture.h"

static void test_cancelled_in_the_queue(void **state)
{
        (void)state;
        waits();
        HAPPENS(STOP, .intent = SG_INTENT_CANCEL, .why = "cancelled by alice before it started");
        assert_int_equal(w.row.intent, SG_INTENT_CANCEL);
        assert_int_equal(w.row.ended_usec, w.now);
        assert_ends(SG_JOB_KILLED, "cancelled by alice before it started");
}

static void test_dependency_failed(void **state)
{
        (void)state;
        waits();
        (void)sg_job_set_reason(&w.row, "job 5, which it waited for, ended as killed");
        HAPPENS(FAIL, .state = SG_JOB_FAILED);
        assert_int_equal(w.row.exit_code, SG_EXIT_OWN_FAILURE);
        assert_ends(SG_JOB_FAILED, "job 5, which it waited for, ended as killed");
}

static void test_killed_without_start(void **state)
{
        (void)state;
        waits();
        HAPPENS(FAIL, .state = SG_JOB_KILLED);
        assert_int_equal(w.row.exit_code, -1);
        assert_ends(SG_JOB_KILLED, NULL);
}

static void test_stopped_as_it_starts(void **state)
{
        static const enum sg_job_intent intents[] = {SG_INTENT_CANCEL, SG_INTENT_REQUEUE};

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(intents); i++) {
                waits();
                is_launched();
                HAPPENS(STOP, .intent = intents[i], .why = "stopped by root");
                HAPPENS(INTENT_STORED);
                assert_plan("close_gate");
                HAPPENS(KEEPER_GONE);
                HAPPENS(LOOKED, .finding = SG_FOUND_NEVER_RAN);
                if (intents[i] == SG_INTENT_CANCEL)
                        assert_ends(SG_JOB_KILLED, "stopped by root");
                else
                        assert_goes_back("attempt 1 did not get as far as running");
                (void)teardown(NULL);
                (void)setup(NULL);
        }
}

static void test_cancelled(void **state)
{
        const struct sg_exit record = {.exit_code = -1, .signal = SIGTERM, .ended_usec = 9};

        (void)state;
        w.row.retry = 3;
        waits();
        runs();
        HAPPENS(STOP, .intent = SG_INTENT_CANCEL, .why = "cancelled by root");
        assert_plan("store_intent");
        assert_int_equal(w.row.changed_usec, w.now);
        assert_row(SG_JOB_RUNNING, "cancelled by root");
        HAPPENS(INTENT_STORED);
        assert_plan("term arm_grace");
        HAPPENS(STOP, .intent = SG_INTENT_CANCEL, .why = "cancelled by bob"); /* no more grace */
        assert_plan("acknowledge kill");
        HAPPENS(GRACE_OVER); /* SIGKILL is sent once */
        assert_plan("");
        ends_with(&record);
        assert_int_equal(w.row.signal, SIGTERM);
        assert_int_equal(w.row.retry, 3);
        assert_ends(SG_JOB_KILLED, "cancelled by root");
}

static void test_graceless(void **state)
{
        (void)state;
        w.life.graceless = true;
        waits();
        runs();
        HAPPENS(STOP, .intent = SG_INTENT_CANCEL);
        HAPPENS(INTENT_STORED);
        assert_plan("kill");
        HAPPENS(STOP, .intent = SG_INTENT_CANCEL);
        assert_plan("acknowledge");
}

static void test_graceless_run(void **state)
{
        (void)state;
        w.life.graceless = true;
        run_runs();
        HAPPENS(TIME_LIMIT, .why = "time limit of 1s");
        HAPPENS(INTENT_STORED);
        assert_plan("warn kill arm_keeper");
}

static void test_time_limit(void **state)
{
        const struct sg_exit record = {.exit_code = -1, .signal = SIGTERM, .ended_usec = 9};

        (void)state;
        w.row.retry = 3;
        waits();
        runs();
        HAPPENS(TIME_LIMIT, .why = "time limit of 1s");
        HAPPENS(TIME_LIMIT, .why = "time limit of 2s"); /* once is enough */
        assert_plan("");
        HAPPENS(INTENT_STORED);
        assert_plan("term arm_grace");
        ends_with(&record);
        assert_ends(SG_JOB_TIMEOUT, "time limit of 1s");
}

static void test_requeued(void **state)
{
        const struct sg_exit record = {.exit_code = -1, .signal = SIGTERM, .ended_usec = 9};

        (void)state;
        w.row.retry = 1;
        waits();
        runs();
        HAPPENS(STOP, .intent = SG_INTENT_REQUEUE, .why = "requeued by root");
        HAPPENS(INTENT_STORED);
        ends_with(&record);
        assert_int_equal(w.row.retry, 1);
        assert_goes_back("killed by SIGTERM");
        runs();
        assert_row(SG_JOB_RUNNING, NULL);
        assert_int_equal(w.row.key.attempt, 2);
}

/* Who cancels it doesn't want another attempt, whoever did before. */
static void test_requeued_and_cancelled(void **state)
{
        const struct sg_exit record = {.exit_code = -1, .signal = SIGTERM, .ended_usec = 9};

        (void)state;
        waits();
        runs();
        HAPPENS(STOP, .intent = SG_INTENT_REQUEUE, .why = "requeued by root");
        HAPPENS(INTENT_STORED);
        HAPPENS(STOP, .intent = SG_INTENT_CANCEL, .why = "cancelled by root");
        assert_plan("store_intent");
        HAPPENS(INTENT_STORED);
        assert_plan("term arm_grace");
        HAPPENS(STOP, .intent = SG_INTENT_REQUEUE, .why = "requeued by bob"); /* too late */
        assert_plan("acknowledge kill");
        ends_with(&record);
        assert_ends(SG_JOB_KILLED, "cancelled by root");
}

static void test_cancelled_on_its_way_back(void **state)
{
        const struct sg_exit record = {.exit_code = 0, .ended_usec = 9};

        (void)state;
        waits();
        runs();
        HAPPENS(STOP, .intent = SG_INTENT_REQUEUE, .why = "requeued by root");
        HAPPENS(INTENT_STORED);
        ends_with(&record);
        HAPPENS(STOP, .intent = SG_INTENT_REQUEUE, .why = "requeued by root");
        assert_plan("acknowledge");
        assert_int_equal(w.row.intent, SG_INTENT_NONE);
        HAPPENS(STOP, .intent = SG_INTENT_CANCEL, .why = "cancelled by root");
        assert_plan("");
        assert_int_equal(w.row.intent, SG_INTENT_CANCEL);
        HAPPENS(LAST_WORDS);
        HAPPENS(END_STORED);
        HAPPENS(KEEPER_GONE);
        HAPPENS(GROUPS_GONE);
        assert_ends(SG_JOB_KILLED, "requeued by root");
}

/* Retries */

static void fails(const struct sg_exit *record, const char *reason)
{
        runs();
        ends_with(record);
        assert_goes_back(reason);
}

static void test_retries(void **state)
{
        static const struct sg_exit exited = {.exit_code = 3, .ended_usec = 9},
                                    killed = {.exit_code = -1, .signal = SIGSEGV, .ended_usec = 9},
                                    oom = {.exit_code = -1,
                                           .signal = SIGKILL,
                                           .oom_kills = 1,
                                           .main_oom_killed = 1,
                                           .ended_usec = 9},
                                    failed = {.stage = SG_STAGE_EXEC,
                                              .error = ENOENT,
                                              .exit_code = -1,
                                              .ended_usec = 9};

        (void)state;
        w.row.retry = 5;
        waits();
        fails(&exited, "attempt 1 exited with 3; trying again");
        fails(&killed, "attempt 2 ended as killed; trying again");
        fails(&oom, "attempt 3 ended as oom; trying again");
        fails(&failed, "attempt 4 ended as failed; trying again");
        runs();
        HAPPENS(KEEPER_GONE);
        HAPPENS(LOOKED, .finding = SG_FOUND_LOST);
        HAPPENS(EMPTY);
        assert_int_equal(w.row.begin_usec, w.row.started_usec + 16 * SECOND);
        assert_goes_back("attempt 5 ended as lost; trying again");
        assert_int_equal(w.row.retry, 0);
        runs();
        ends_with(&exited);
        assert_int_equal(w.row.exit_code, 3);
        assert_ends(SG_JOB_EXITED, NULL);
}

/* What fails at once is started ever more rarely, what lasted longer than its pause at once. */
static void test_back_off(void **state)
{
        static const unsigned pauses[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300};
        struct sg_exit record = {.exit_code = 1};

        (void)state;
        w.row.retry = 1000;
        waits();
        for (size_t i = 0; i < SG_ELEMENTSOF(pauses); i++) {
                runs();
                record.started_usec = record.ended_usec = w.now + 3 * SECOND; /* as it concludes */
                ends_with(&record);
                assert_int_equal(w.row.begin_usec, w.now + pauses[i] * SECOND);
                closes();
        }
        runs();
        w.now += 200 * SECOND;
        ends_with(&(struct sg_exit){.exit_code = 1, .started_usec = w.now - 199 * SECOND});
        assert_int_equal(w.row.begin_usec, w.row.started_usec + 300 * SECOND);
        closes();
        runs();
        w.now += 400 * SECOND;
        ends_with(&(struct sg_exit){.exit_code = 1, .started_usec = w.now - 399 * SECOND});
        assert_int_equal(w.row.begin_usec, w.now);
        closes();
        runs(); /* a clock that was put back */
        ends_with(&(struct sg_exit){.exit_code = 1, .started_usec = w.now + 9000 * SECOND});
        assert_int_equal(w.row.begin_usec, w.now + 300 * SECOND);
}

/* Its user asks for that. */
static void test_requeued_at_once(void **state)
{
        const struct sg_exit record = {.exit_code = -1, .signal = SIGTERM, .ended_usec = 9};

        (void)state;
        waits();
        runs();
        HAPPENS(STOP, .intent = SG_INTENT_REQUEUE, .why = "requeued by root");
        HAPPENS(INTENT_STORED);
        ends_with(&record);
        assert_int_equal(w.row.begin_usec, 0);
}

#define WITHOUT ", with --threads start in case the preloaded library was the cause"

/* One that followed, and may have crashed of that, runs without from then on. */
static void test_crash_without_following(void **state)
{
        static const struct {
                struct sg_exit record;
                bool started_before; /* so long ago that its loader has nothing to do with it */
                const char *reason;
        } ends[] = {
                {{.exit_code = -1, .signal = SIGSEGV}, false, "attempt 1 ended as killed"},
                {{.exit_code = -1, .signal = SIGABRT}, true, "attempt 1 ended as killed"},
                {{.exit_code = 128 + SIGBUS}, true, "attempt 1 exited with 135"},
                {{.exit_code = 127}, false, "attempt 1 exited with 127"},
                {{.exit_code = 127}, true, NULL},
                {{.exit_code = 1}, false, NULL},
                {{.exit_code = -1, .signal = SIGKILL}, false, NULL},
        };

        (void)state;
        for (size_t i = 0; i < 2 * SG_ELEMENTSOF(ends); i++) {
                struct sg_exit record = ends[i / 2].record;
                bool followed = i % 2 == 0, without = followed && ends[i / 2].reason;
                char reason[128];

                w.row.retry = 1;
                w.row.limits.threads = followed ? SG_THREADS_FOLLOW : SG_THREADS_LEAVE;
                waits();
                runs();
                w.row.threads_given = 2;
                record.started_usec = w.now;
                record.ended_usec = w.now + (ends[i / 2].started_before ? 60000000 : 1000000);
                ends_with(&record);
                assert_int_equal(w.row.limits.threads, without    ? SG_THREADS_START
                                                       : followed ? SG_THREADS_FOLLOW
                                                                  : SG_THREADS_LEAVE);
                (void)snprintf(reason, sizeof(reason), "%s; trying again" WITHOUT,
                               ends[i / 2].reason ?: "");
                if (without)
                        assert_string_equal(w.row.reason, reason);
                else
                        assert_null(strstr(w.row.reason, "--threads"));
                (void)teardown(NULL);
                (void)setup(NULL);
        }
}

static void test_success_is_not_retried(void **state)
{
        const struct sg_exit record = {.exit_code = 0, .ended_usec = 9};

        (void)state;
        w.row.retry = 5;
        waits();
        runs();
        ends_with(&record);
        assert_int_equal(w.row.retry, 5);
        assert_ends(SG_JOB_EXITED, NULL);
}

/* The daemon's return */

static void comes_back(enum sg_job_state state)
{
        w.row.state = state;
        w.row.key.attempt = 1;
        HAPPENS(MET_LIVE);
        assert_plan("find_groups take_place look_void");
        assert_true(w.life.met);
}

static void test_met_at_its_start(void **state)
{
        (void)state;
        comes_back(SG_JOB_STARTING);
        w.life.failed_starts = 2;
        HAPPENS(LOOKED, .finding = SG_FOUND_RUNNING, .pid = 5);
        assert_plan("follow");
        assert_false(w.life.met);
        HAPPENS(FOLLOWED, .pid = 17);
        assert_plan("refreeze changed take_up arm_time_limit");
        assert_row(SG_JOB_RUNNING, NULL);
        assert_int_equal(w.row.pid, 17);
        assert_int_equal(w.row.started_usec, w.now);
        assert_int_equal(w.life.failed_starts, 0);
}

static void test_met_suspended(void **state)
{
        (void)state;
        w.row.pid = 16;
        w.row.started_usec = 5;
        comes_back(SG_JOB_SUSPENDED);
        HAPPENS(LOOKED, .finding = SG_FOUND_RUNNING, .pid = 5, .reasons = SG_FREEZE_USER);
        HAPPENS(FOLLOWED, .pid = 17);
        assert_plan("refreeze take_up arm_time_limit");
        assert_row(SG_JOB_SUSPENDED, NULL);
        assert_int_equal(w.row.pid, 16);
        assert_int_equal(w.row.started_usec, 5);
}

static void test_met_as_it_was_to_end(void **state)
{
        (void)state;
        w.row.intent = SG_INTENT_CANCEL;
        comes_back(SG_JOB_RUNNING);
        HAPPENS(LOOKED, .finding = SG_FOUND_RUNNING, .pid = 5);
        HAPPENS(FOLLOWED, .pid = 17);
        assert_plan("refreeze take_up term arm_grace");
}

static void test_met_after_its_time(void **state)
{
        (void)state;
        w.row.intent = SG_INTENT_TIMEOUT;
        comes_back(SG_JOB_STARTING);
        HAPPENS(LOOKED, .finding = SG_FOUND_NEVER_RAN);
        assert_ends(SG_JOB_KILLED, NULL);
}

/* What was sent before it was found may have reached nobody: its groups weren't known then. */
static void test_killed_before_it_is_found(void **state)
{
        (void)state;
        w.life.graceless = true;
        comes_back(SG_JOB_RUNNING);
        HAPPENS(STOP, .intent = SG_INTENT_CANCEL);
        HAPPENS(INTENT_STORED);
        assert_plan("kill");
        HAPPENS(LOOKED, .finding = SG_FOUND_RUNNING, .pid = 5);
        HAPPENS(FOLLOWED, .pid = 17);
        assert_plan("refreeze take_up kill");
        HAPPENS(STOP, .intent = SG_INTENT_CANCEL);
        assert_plan("acknowledge");
}

/* What others started */

static void test_adopted(void **state)
{
        (void)state;
        w.row.adopted = SG_ADOPTED_GOVERNED;
        w.row.state = SG_JOB_RUNNING;
        HAPPENS(STORED);
        assert_plan("announce");
        HAPPENS(LEFT);
        w.row.state = SG_JOB_OOM;
        HAPPENS(TOLD);
        assert_int_equal(w.row.ended_usec, w.now);
        assert_ends(SG_JOB_OOM, NULL);
}

static void test_adopted_is_lost(void **state)
{
        (void)state;
        w.row.adopted = SG_ADOPTED_OBSERVED;
        w.row.state = SG_JOB_RUNNING;
        HAPPENS(MET_ADOPTED);
        assert_plan("");
        (void)sg_job_set_reason(&w.row, "the machine was started anew");
        HAPPENS(FAIL, .state = SG_JOB_LOST);
        assert_ends(SG_JOB_LOST, "the machine was started anew");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_cancelled_in_the_queue),
                TEST(test_dependency_failed),
                TEST(test_killed_without_start),
                TEST(test_stopped_as_it_starts),
                TEST(test_cancelled),
                TEST(test_graceless),
                TEST(test_graceless_run),
                TEST(test_time_limit),
                TEST(test_requeued),
                TEST(test_requeued_and_cancelled),
                TEST(test_cancelled_on_its_way_back),
                TEST(test_retries),
                TEST(test_back_off),
                TEST(test_requeued_at_once),
                TEST(test_crash_without_following),
                TEST(test_success_is_not_retried),
                TEST(test_met_at_its_start),
                TEST(test_met_suspended),
                TEST(test_met_as_it_was_to_end),
                TEST(test_met_after_its_time),
                TEST(test_killed_before_it_is_found),
                TEST(test_adopted),
                TEST(test_adopted_is_lost),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
