/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a job's life makes of its row until it runs: times, reasons, what is tried again. */
#include "tests/unit/core/life/fixture.h"

static void test_times(void **state)
{
        const struct sg_exit record = {.exit_code = 0, .started_usec = 11, .ended_usec = 12};
        uint64_t begun;

        (void)state;
        waits();
        is_released();
        begun = w.row.changed_usec;
        assert_in_range(begun, 1, w.now - 1);
        assert_int_equal(w.row.started_usec, 0);
        assert_int_equal(w.row.pid, 17);
        assert_row(SG_JOB_STARTING, NULL);
        HAPPENS(STARTED);
        assert_int_equal(w.row.started_usec, w.now);
        assert_row(SG_JOB_RUNNING, NULL);
        ends_with(&record);
        assert_int_equal(w.row.started_usec, 11); /* its keeper knows better */
        assert_int_equal(w.row.ended_usec, 12);
        assert_int_equal(w.row.exit_code, 0);
        assert_ends(SG_JOB_EXITED, NULL);
}

static void test_new_attempt_is_clear(void **state)
{
        (void)state;
        waits();
        w.row.key.attempt = 2;
        w.row.started_usec = w.row.ended_usec = 5;
        w.row.exit_code = 3;
        w.row.signal = SIGKILL;
        w.row.pid = 4;
        strcpy(w.row.eval, "0.5");
        w.row.step = w.row.total = 10;
        w.row.net_rx_bytes = w.row.net_tx_bytes = 10;
        (void)sg_job_set_reason(&w.row, "attempt 2 exited with 3; trying again");
        w.life = (struct sg_life){.state = SG_LIFE_WAITING,
                                  .keeper = true,
                                  .placed = true,
                                  .ready = true,
                                  .gate = true,
                                  .released = true,
                                  .doomed = true,
                                  .killed = true,
                                  .again = true,
                                  .may_pass = true,
                                  .graceless = true,
                                  .failed_starts = 2};
        HAPPENS(TURN);
        assert_row(SG_JOB_STARTING, NULL);
        assert_int_equal(w.row.key.attempt, 3);
        assert_int_equal(w.row.started_usec, 0);
        assert_int_equal(w.row.ended_usec, 0);
        assert_int_equal(w.row.exit_code, -1);
        assert_int_equal(w.row.signal, 0);
        assert_int_equal(w.row.pid, 0);
        assert_string_equal(w.row.eval, "");
        assert_int_equal(w.row.step, SG_UNLIMITED);
        assert_int_equal(w.row.total, SG_UNLIMITED);
        assert_int_equal(w.row.net_rx_bytes, SG_UNLIMITED);
        assert_int_equal(w.row.net_tx_bytes, SG_UNLIMITED);
        assert_string_equal(w.row.boot_id, BOOT);
        assert_int_equal(w.row.changed_usec, w.now);
        assert_false(w.life.keeper);
        assert_false(w.life.placed);
        assert_false(w.life.ready);
        assert_false(w.life.gate);
        assert_false(w.life.released);
        assert_false(w.life.doomed);
        assert_false(w.life.killed);
        assert_false(w.life.again);
        assert_false(w.life.may_pass);
        assert_true(w.life.graceless);
        assert_int_equal(w.life.failed_starts, 2);
}

/* What is short on the node, or away for a moment: not the job's fault. */
static const int may_pass[] = {EAGAIN,       ENOMEM,     EMFILE, ENFILE,   ENOSPC,
                               ECONNREFUSED, ECONNRESET, EPIPE,  ENOTCONN, ETIMEDOUT};
static const int stays[] = {EINVAL, EACCES, EPERM, EIO, EBUSY, ESRCH, ENOENT};

static void test_short_of_groups(void **state)
{
        (void)state;
        waits();
        for (size_t i = 0; i < SG_ELEMENTSOF(may_pass); i++) {
                char reason[128];

                HAPPENS(TURN);
                HAPPENS(GROUPS_FAILED, .error = -may_pass[i], .what = "make its groups");
                assert_plan("pause_starts drop_groups");
                HAPPENS(GROUPS_GONE);
                assert_plan("leave_queue enqueue");
                assert_life(SG_LIFE_WAITING);
                (void)snprintf(reason, sizeof(reason), "cannot make its groups: %s",
                               strerror(may_pass[i]));
                assert_row(SG_JOB_QUEUED, reason);
                assert_int_equal(w.row.begin_usec, w.now + SECOND);
                assert_int_equal(w.row.key.attempt, i + 1);
        }
}

static void test_groups_fail(void **state)
{
        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(stays); i++) {
                waits();
                HAPPENS(TURN);
                HAPPENS(GROUPS_FAILED, .error = -stays[i], .what = "make its groups",
                        .why = "there is no tree");
                assert_int_equal(w.row.exit_code, SG_EXIT_OWN_FAILURE);
                assert_ends(SG_JOB_FAILED, "cannot make its groups: there is no tree");
                (void)teardown(NULL);
                (void)setup(NULL);
        }
}

static void test_start_cannot_be_stored(void **state)
{
        (void)state;
        waits();
        begins();
        HAPPENS(START_UNSTORED, .error = -ENOSPC);
        assert_plan("say_unstored drop_groups");
        HAPPENS(GROUPS_GONE);
        assert_row(SG_JOB_QUEUED, "cannot store its start: No space left on device");
        assert_int_equal(w.row.begin_usec, w.now + SECOND);
}

/* The process of `run` is in its groups already. */
static void test_cannot_yield(void **state)
{
        (void)state;
        waits();
        begins();
        HAPPENS(START_UNSTORED, .error = -EIO);
        HAPPENS(GROUPS_BUSY);
        assert_int_equal(w.row.exit_code, SG_EXIT_OWN_FAILURE);
        assert_ends(SG_JOB_FAILED, "cannot store its start: Input/output error");
}

static void test_cancelled_as_it_yields(void **state)
{
        (void)state;
        waits();
        begins();
        HAPPENS(STOP, .intent = SG_INTENT_CANCEL, .why = "cancelled by root");
        assert_plan("store_intent");
        HAPPENS(START_UNSTORED, .error = -EIO);
        HAPPENS(GROUPS_GONE);
        assert_ends(SG_JOB_KILLED, "cannot store its start: Input/output error");
}

static void test_requeued_as_it_yields(void **state)
{
        (void)state;
        waits();
        begins();
        HAPPENS(STOP, .intent = SG_INTENT_REQUEUE, .why = "requeued by root");
        HAPPENS(START_UNSTORED, .error = -EIO);
        HAPPENS(GROUPS_GONE);
        assert_life(SG_LIFE_WAITING);
        assert_int_equal(w.row.intent, SG_INTENT_NONE);
        HAPPENS(INTENT_STORED);
        assert_false(w.life.doomed);
}

static void keeper_fails(const char *reason)
{
        is_launched();
        HAPPENS(KEEPER_GONE);
        assert_plan("look_void");
        HAPPENS(LOOKED, .finding = SG_FOUND_NEVER_RAN);
        assert_goes_back(reason);
}

static void test_keeper_fails_four_times(void **state)
{
        (void)state;
        waits();
        keeper_fails("attempt 1 did not get as far as running");
        keeper_fails("attempt 2 did not get as far as running");
        keeper_fails("attempt 3 did not get as far as running");
        assert_int_equal(w.row.begin_usec, 0);
        is_launched();
        HAPPENS(KEEPER_GONE);
        HAPPENS(LOOKED, .finding = SG_FOUND_NEVER_RAN);
        assert_int_equal(w.row.exit_code, SG_EXIT_OWN_FAILURE);
        assert_ends(SG_JOB_FAILED, "its keeper could not start it, 3 times");
}

/* In a row. */
static void test_start_that_works_counts(void **state)
{
        const struct sg_exit record = {.exit_code = 1};

        (void)state;
        w.row.retry = 1;
        waits();
        for (unsigned i = 0; i < 3; i++)
                keeper_fails(i == 0   ? "attempt 1 did not get as far as running"
                             : i == 1 ? "attempt 2 did not get as far as running"
                                      : "attempt 3 did not get as far as running");
        assert_int_equal(w.life.failed_starts, 3);
        runs();
        assert_int_equal(w.life.failed_starts, 0);
        ends_with(&record);
        assert_goes_back("attempt 4 exited with 1; trying again");
        keeper_fails("attempt 5 did not get as far as running");
}

static void shim_is_not_started(int error, const char *reason)
{
        starts();
        HAPPENS(LAUNCH_FAILED, .what = "start its shim", .error = -error);
        assert_plan("close_gate say_not_started look_void");
        assert_row(SG_JOB_STARTING, reason);
        HAPPENS(LOOKED, .finding = SG_FOUND_NEVER_RAN);
}

static void test_shim_may_be_started_later(void **state)
{
        char reason[128];

        (void)state;
        waits();
        for (size_t i = 0; i <= SG_ELEMENTSOF(may_pass); i++) {
                /* (a socket's path may be missing for a moment) */
                int error = i < SG_ELEMENTSOF(may_pass) ? may_pass[i] : ENOENT;

                (void)snprintf(reason, sizeof(reason), "cannot start its shim: %s",
                               strerror(error));
                shim_is_not_started(error, reason);
                assert_int_equal(w.row.begin_usec, w.now + SECOND);
                assert_goes_back(reason);
                assert_int_equal(w.life.failed_starts, 0);
        }
}

static void test_shim_cannot_be_started(void **state)
{
        (void)state;
        waits();
        shim_is_not_started(EACCES, "cannot start its shim: Permission denied");
        assert_int_equal(w.row.begin_usec, 0);
        assert_goes_back("attempt 1 did not get as far as running");
        assert_int_equal(w.life.failed_starts, 1);
}

static void test_no_place(void **state)
{
        (void)state;
        waits();
        is_launched();
        HAPPENS(PLACE_FAILED, .what = "get a scope", .error = -EINVAL, .why = "no such slice");
        assert_plan("close_gate say_not_started");
        assert_row(SG_JOB_STARTING, "cannot get a scope: no such slice");
        HAPPENS(KEEPER_GONE);
        HAPPENS(LOOKED, .finding = SG_FOUND_NEVER_RAN);
        assert_goes_back("attempt 1 did not get as far as running");
}

/* It can't run: nothing that is heard of it makes it running. */
static void test_go_cannot_be_sent(void **state)
{
        (void)state;
        waits();
        is_released();
        assert_true(w.life.released);
        HAPPENS(GO_FAILED);
        assert_plan("close_gate");
        assert_life(SG_LIFE_DROPPED);
        assert_false(w.life.released);
        assert_true(sg_life_is_starting(&w.life, &w.row));
        HAPPENS(KEEPER_GONE);
        HAPPENS(LOOKED, .finding = SG_FOUND_NEVER_RAN);
        assert_goes_back("attempt 1 did not get as far as running");
}

/* `run` */

static void test_run_without_a_place(void **state)
{
        (void)state;
        w.row.foreground = 1;
        waits();
        begins();
        HAPPENS(PLACE_FAILED, .what = "get a scope", .error = -EINVAL, .why = "no such slice");
        assert_plan("say_not_started wind_up listen");
        assert_row(SG_JOB_FAILED, "cannot get a scope: no such slice");
        assert_int_equal(w.row.exit_code, SG_EXIT_OWN_FAILURE);
        HAPPENS(START_STORED); /* late */
        closes();
        assert_life(SG_LIFE_GONE);
}

static void test_run_is_not_handed_over(void **state)
{
        (void)state;
        run_is_offered();
        HAPPENS(ATTACH);
        assert_plan("hand_over");
        HAPPENS(HAND_FAILED, .error = -ESRCH);
        assert_int_equal(w.row.exit_code, SG_EXIT_OWN_FAILURE);
        assert_ends(SG_JOB_FAILED, "cannot hand it over to its shim: No such process");
}

static void test_run_goes_away(void **state)
{
        (void)state;
        run_is_offered();
        HAPPENS(ATTACH);
        HAPPENS(HANDED);
        HAPPENS(KEEPER_GONE);
        HAPPENS(LOOKED, .finding = SG_FOUND_NEVER_RAN);
        assert_ends(SG_JOB_KILLED, SG_LIFE_RUNNER_GONE);
}

/* Its keeper is its user's, who can stop it, or have another in its place. */
static void test_keeper_timer(void **state)
{
        (void)state;
        run_runs();
        HAPPENS(STOP, .intent = SG_INTENT_CANCEL);
        HAPPENS(INTENT_STORED);
        assert_plan("term arm_grace");
        HAPPENS(GRACE_OVER);
        assert_plan("kill arm_keeper");
        HAPPENS(STOP, .intent = SG_INTENT_CANCEL); /* SIGKILL is sent once */
        assert_plan("acknowledge");
        HAPPENS(KEEPER_LATE);
        assert_plan("kill_keeper");
        HAPPENS(KEEPER_GONE);
        HAPPENS(LOOKED, .finding = SG_FOUND_LOST);
        assert_plan("say_keeper_lost refreeze check_groups");
        HAPPENS(EMPTY);
        assert_ends(SG_JOB_KILLED, "its keeper was killed; how it ended is not known");
}

/* What its user named doesn't open: it says so, and goes on when it does. */
static void test_start_that_hangs(void **state)
{
        (void)state;
        waits();
        is_released();
        HAPPENS(SILENCE);
        assert_plan("set_aside arm_silence");
        assert_row(SG_JOB_STARTING, NULL);
        HAPPENS(SILENCE);
        assert_plan("changed");
        assert_row(SG_JOB_STARTING, SG_LIFE_HANGS);
        assert_life(SG_LIFE_RELEASED);
        HAPPENS(STARTED);
        assert_plan("begin_running arm_time_limit");
        assert_row(SG_JOB_RUNNING, NULL);
}

static void test_time_limit_of_a_start(void **state)
{
        (void)state;
        waits();
        is_released();
        HAPPENS(SILENCE);
        HAPPENS(TIME_LIMIT, .why = "time limit of 1s, before its program ran");
        assert_plan("store_intent");
        HAPPENS(SILENCE);
        assert_plan("");
        HAPPENS(INTENT_STORED);
        assert_plan("term arm_grace");
        HAPPENS(STARTED); /* its keeper can't tell that from its end */
        assert_plan("begin_running term arm_grace");
        HAPPENS(ENDED);
        HAPPENS(LOOKED, .finding = SG_FOUND_LOST);
        HAPPENS(EMPTY);
        assert_string_equal(w.row.reason, "its keeper was killed; how it ended is not known");
        assert_int_equal(w.row.state, SG_JOB_TIMEOUT);
}

static void test_run_is_warned(void **state)
{
        (void)state;
        run_runs();
        HAPPENS(TIME_LIMIT, .why = "time limit of 1s");
        assert_plan("store_intent");
        assert_int_equal(w.row.intent, SG_INTENT_TIMEOUT);
        assert_int_equal(w.row.changed_usec, w.now);
        HAPPENS(INTENT_STORED);
        assert_plan("warn term arm_grace");
}

/* It isn't run again: its terminal has what it said. */
static void test_run_has_no_retry(void **state)
{
        const struct sg_exit record = {.exit_code = 1, .started_usec = 1, .ended_usec = 1};

        (void)state;
        w.row.retry = 3;
        run_runs();
        HAPPENS(KEEPER_GONE);
        HAPPENS(LOOKED, .finding = SG_FOUND_RECORD);
        HAPPENS(EMPTY, .end = {.record = &record});
        assert_ends(SG_JOB_EXITED, NULL);
        assert_int_equal(w.row.retry, 3);
}

static void assert_by(bool is, uid_t uid)
{
        assert_int_equal(w.row.changed_by.is, is);
        if (is)
                assert_int_equal(w.row.changed_by.uid, uid);
}

/* Who asked is said of what was asked for, and of nothing else that happens to the job. */
static void test_who_asked(void **state)
{
        static const struct sg_exit record = {.signal = SIGTERM, .exit_code = -1};

        (void)state;
        w.row.changed_by = (struct sg_who){true, 1000};
        waits();
        assert_by(true, 1000);
        HAPPENS(HOLD, .on = false, .by = {true, 1001});
        HAPPENS(HOLD_STORED, .on = false, .asked_usec = 5, .by = {true, 1001});
        assert_by(true, 1001);
        runs();
        assert_by(false, 0);
        HAPPENS(FREEZE, .on = true, .reasons = SG_FREEZE_USER, .by = {true, 1002});
        HAPPENS(FREEZE_STORED, .on = true, .reasons = SG_FREEZE_USER, .by = {true, 1002});
        HAPPENS(FROZEN, .by = {true, 1002});
        assert_by(true, 1002);
        HAPPENS(STOP, .intent = SG_INTENT_REQUEUE, .why = "requeued by root", .by = {true, 0});
        assert_by(true, 0);
        HAPPENS(INTENT_STORED);
        ends_with(&record);
        assert_by(true, 0);
        assert_goes_back("killed by SIGTERM");
        runs();
        assert_by(false, 0);
        HAPPENS(TIME_LIMIT, .why = "it ran longer than its limit of 1s");
        assert_by(false, 0);
        ends_with(&record);
        assert_by(false, 0);
        assert_ends(SG_JOB_TIMEOUT, "it ran longer than its limit of 1s");
}

/* A unit may be seen frozen before systemd answers. */
static void test_who_froze_a_unit(void **state)
{
        (void)state;
        w.row.adopted = SG_ADOPTED_GOVERNED;
        w.row.state = SG_JOB_RUNNING;
        w.life.state = SG_LIFE_RUNNING;
        HAPPENS(FREEZE, .on = true, .reasons = SG_FREEZE_USER, .by = {true, 7}, .asker = &w);
        HAPPENS(FREEZE_STORED, .on = true, .reasons = SG_FREEZE_USER, .by = {true, 7}, .asker = &w);
        HAPPENS(SEEN_FROZEN);
        assert_row(SG_JOB_SUSPENDED, NULL);
        assert_by(true, 7);
        HAPPENS(FROZEN, .by = {true, 7}, .asker = &w);
        HAPPENS(SEEN_THAWED);
        assert_row(SG_JOB_RUNNING, NULL);
        assert_by(false, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_times),
                TEST(test_new_attempt_is_clear),
                TEST(test_short_of_groups),
                TEST(test_groups_fail),
                TEST(test_start_cannot_be_stored),
                TEST(test_cannot_yield),
                TEST(test_cancelled_as_it_yields),
                TEST(test_requeued_as_it_yields),
                TEST(test_keeper_fails_four_times),
                TEST(test_start_that_works_counts),
                TEST(test_shim_may_be_started_later),
                TEST(test_shim_cannot_be_started),
                TEST(test_no_place),
                TEST(test_go_cannot_be_sent),
                TEST(test_run_without_a_place),
                TEST(test_run_is_not_handed_over),
                TEST(test_run_goes_away),
                TEST(test_keeper_timer),
                TEST(test_start_that_hangs),
                TEST(test_time_limit_of_a_start),
                TEST(test_run_is_warned),
                TEST(test_run_has_no_retry),
                TEST(test_who_asked),
                TEST(test_who_froze_a_unit),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
