/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Timers that come and go with a job's state, and what is counted of all jobs. */
#include "tests/unit/daemon/jobs/test_tell.h"

static uint64_t fires(enum sg_life_timer timer)
{
        sd_event_time_handler_t handler = w.timers[timer].handler;

        assert_non_null(handler);
        w.log[0] = 0;
        assert_true(handler(source_of(&w.timers[timer]), 0, &w.job) >= 0);
        return w.timers[timer].delay_usec;
}

static void test_each_timer(void **state)
{
        (void)state;
        w.job.job.intent = SG_INTENT_CANCEL;
        w.job.job.foreground = 1;
        is(SG_LIFE_RUNNING, SG_JOB_RUNNING);
        tell(SG_LIFE_E_INTENT_STORED);
        assert_int_equal(fires(SG_LIFE_TIMER_GRACE), GRACE_USEC);
        assert_log("GRACE_OVER kill");
        assert_int_equal(fires(SG_LIFE_TIMER_KEEPER), 10 * SG_USEC_PER_SEC);
        assert_log("KEEPER_LATE kill_keeper");
        is(SG_LIFE_PUBLISHING, SG_JOB_STARTING);
        w.job.life.keeper = true;
        tell(SG_LIFE_E_FATE_RUN);
        assert_int_equal(fires(SG_LIFE_TIMER_SILENCE), 5 * SG_USEC_PER_SEC);
        assert_log("SILENCE");
        is(SG_LIFE_LOOKING, SG_JOB_RUNNING);
        tell(SG_LIFE_E_LOOKED);
        assert_int_equal(fires(SG_LIFE_TIMER_LOOK), SG_USEC_PER_SEC);
        assert_log("LOOK_DUE look_void");
        is(SG_LIFE_ENDING, SG_JOB_EXITED);
        tell(SG_LIFE_E_END_UNSTORED);
        assert_int_equal(fires(SG_LIFE_TIMER_STORE), SG_USEC_PER_SEC);
        assert_log("STORE_DUE store_end");
        is(SG_LIFE_CLEARING, SG_JOB_EXITED);
        tell(SG_LIFE_E_GROUPS_BUSY);
        assert_int_equal(fires(SG_LIFE_TIMER_CLEAR), SG_USEC_PER_SEC / 10);
        assert_log("CLEAR_DUE drop_groups");
        for (size_t t = 0; t < SG_ELEMENTSOF(w.timers); t++)
                assert_true(!w.timers[t].handler || w.timers[t].clock == CLOCK_MONOTONIC);
}

static void starts_with_limit(void)
{
        w.job.job.limits.time_limit_usec = LIMIT_USEC;
        w.job.attempt.runs_since_usec = sg_now_boottime_usec();
        is(SG_LIFE_RELEASED, SG_JOB_STARTING);
        tell(SG_LIFE_E_STARTED);
        assert_log("STARTED begin_running");
}

static void test_time_limit(void **state)
{
        uint64_t delay;

        (void)state;
        starts_with_limit();
        assert_int_equal(w.timers[SG_LIFE_TIMER_TIME_LIMIT].clock, CLOCK_BOOTTIME);
        delay = fires(SG_LIFE_TIMER_TIME_LIMIT);
        assert_in_range(delay, LIMIT_USEC / 2 + 1, LIMIT_USEC);
        assert_log("TIME_LIMIT store_intent");
        assert_string_equal(w.job.job.reason, "time limit of 1min");
        assert_int_equal(w.job.job.intent, SG_INTENT_TIMEOUT);
}

/* From GO on, whether it begins or not. */
static void test_time_limit_of_a_start(void **state)
{
        uint64_t delay;

        (void)state;
        w.job.job.limits.time_limit_usec = LIMIT_USEC;
        w.job.attempt.runs_since_usec = sg_now_boottime_usec();
        is(SG_LIFE_STARTING, SG_JOB_STARTING);
        tell(SG_LIFE_E_ADMITTED);
        assert_log("ADMITTED send_go");
        assert_int_equal(w.timers[SG_LIFE_TIMER_SILENCE].delay_usec, 200 * SG_USEC_PER_MSEC);
        assert_int_equal(fires(SG_LIFE_TIMER_SILENCE), 10 * SG_USEC_PER_SEC); /* from now on */
        assert_log("SILENCE set_aside");
        assert_null(w.job.job.reason);
        (void)fires(SG_LIFE_TIMER_SILENCE);
        assert_log("SILENCE");
        assert_string_equal(w.job.job.reason, SG_LIFE_HANGS);
        delay = fires(SG_LIFE_TIMER_TIME_LIMIT);
        assert_in_range(delay, LIMIT_USEC / 2 + 1, LIMIT_USEC);
        assert_log("TIME_LIMIT store_intent");
        assert_string_equal(w.job.job.reason, "time limit of 1min, before its program ran");
}

static void test_other_time_limit(void **state)
{
        struct timer *t = &w.timers[SG_LIFE_TIMER_TIME_LIMIT];

        (void)state;
        starts_with_limit();
        w.job.job.limits.time_limit_usec = 10 * LIMIT_USEC;
        sg_live_arm_time_limit(&w.job);
        assert_in_range(t->delay_usec, 9 * LIMIT_USEC + 1, 10 * LIMIT_USEC);
        w.job.attempt.runs_since_usec = 1;
        w.job.job.limits.time_limit_usec = 1; /* it is over */
        sg_live_arm_time_limit(&w.job);
        assert_int_equal(t->delay_usec, 0);
        w.job.attempt.runs_since_usec = 0; /* from before our time: as its row says */
        w.job.job.started_usec = sg_now_realtime_usec() - LIMIT_USEC;
        w.job.job.limits.time_limit_usec = 2 * LIMIT_USEC;
        sg_live_arm_time_limit(&w.job);
        assert_in_range(t->delay_usec, LIMIT_USEC / 2 + 1, LIMIT_USEC);
        w.job.job.started_usec = sg_now_realtime_usec() + LIMIT_USEC; /* the clock was set */
        sg_live_arm_time_limit(&w.job);
        assert_int_equal(t->delay_usec, 2 * LIMIT_USEC);
        w.job.job.started_usec = 0; /* nobody knows */
        sg_live_arm_time_limit(&w.job);
        assert_int_equal(t->delay_usec, 2 * LIMIT_USEC);
        w.job.job.limits.time_limit_usec = SG_UNLIMITED;
        sg_live_arm_time_limit(&w.job);
        assert_null(t->handler);
}

/* An adopted one is changed as systemd is asked how it has ended. */
static void test_time_limit_behind_its_end(void **state)
{
        (void)state;
        is(SG_LIFE_ASKING, SG_JOB_RUNNING);
        w.job.job.limits.time_limit_usec = LIMIT_USEC;
        sg_live_arm_time_limit(&w.job);
        assert_null(w.timers[SG_LIFE_TIMER_TIME_LIMIT].handler);
}

static unsigned timers_on(void)
{
        unsigned on = 0;

        for (unsigned t = 0; t < _SG_LIFE_TIMER_MAX; t++) {
                on |= w.timers[t].handler ? 1U << t : 0;
                assert_int_equal(w.timers[t].handler != NULL,
                                 w.job.timers && w.job.timers[t] != NULL);
        }
        return on;
}

/* A state that has no use for a timer has none. */
static void test_timers_go_with_their_state(void **state)
{
        (void)state;
        starts_with_limit();
        w.job.job.intent = SG_INTENT_CANCEL;
        tell(SG_LIFE_E_INTENT_STORED);
        assert_int_equal(timers_on(), 1U << SG_LIFE_TIMER_TIME_LIMIT | 1U << SG_LIFE_TIMER_GRACE);
        tell(SG_LIFE_E_KEEPER_GONE); /* to `looking`, which has use for both */
        assert_int_equal(timers_on(), 1U << SG_LIFE_TIMER_TIME_LIMIT | 1U << SG_LIFE_TIMER_GRACE);
        w.log[0] = 0;
        sg_live_tell(&w.job, &(struct sg_life_event){.kind = SG_LIFE_E_LOOKED,
                                                     .finding = SG_FOUND_NEVER_RAN});
        assert_log("LOOKED wind_up listen");
        assert_int_equal(timers_on(), 0);
}

/* It is logged, and it goes on without. */
static void test_timer_cannot_be_set(void **state)
{
        (void)state;
        w.timer_error = -ENOMEM;
        is(SG_LIFE_ENDING, SG_JOB_EXITED);
        tell(SG_LIFE_E_END_UNSTORED);
        assert_log("END_UNSTORED say_unstored");
        assert_int_equal(timers_on(), 0);
}

static void test_graceless(void **state)
{
        (void)state;
        w.settings.kill_grace_usec = 0; /* as it is now, whatever it was */
        w.job.job.intent = SG_INTENT_CANCEL;
        is(SG_LIFE_RUNNING, SG_JOB_RUNNING);
        tell(SG_LIFE_E_INTENT_STORED);
        assert_log("INTENT_STORED kill");
        assert_int_equal(timers_on(), 0);
}

/* What is counted of all */

static void test_n_starting(void **state)
{
        (void)state;
        w.jobs.n_starting = 3; /* others */
        is(SG_LIFE_WAITING, SG_JOB_QUEUED);
        tell(SG_LIFE_E_TURN);
        assert_int_equal(w.jobs.n_starting, 4);
        tell(SG_LIFE_E_GROUPS_MADE);
        tell(SG_LIFE_E_START_STORED);
        tell(SG_LIFE_E_LAUNCHED);
        tell(SG_LIFE_E_PLACED);
        tell(SG_LIFE_E_READY);
        assert_int_equal(w.jobs.n_starting, 4);
        assert_int_equal(w.schedules, 0);
        tell(SG_LIFE_E_ADMITTED); /* GO is sent */
        assert_int_equal(w.jobs.n_starting, 3);
        assert_int_equal(w.schedules, 1); /* another one may start */
        tell(SG_LIFE_E_STARTED);
        tell(SG_LIFE_E_KEEPER_GONE);
        assert_int_equal(w.jobs.n_starting, 3);
        assert_int_equal(w.schedules, 1);
}

static void test_n_starting_of_one_that_fails(void **state)
{
        (void)state;
        is(SG_LIFE_WAITING, SG_JOB_QUEUED);
        tell(SG_LIFE_E_TURN);
        sg_live_tell(&w.job, &(struct sg_life_event){.kind = SG_LIFE_E_GROUPS_FAILED,
                                                     .what = "make its groups",
                                                     .error = -EMFILE});
        assert_int_equal(w.jobs.n_starting, 0);
        tell(SG_LIFE_E_GROUPS_GONE);
        tell(SG_LIFE_E_TURN);
        assert_int_equal(w.jobs.n_starting, 1);
        sg_live_tell(&w.job, &(struct sg_life_event){.kind = SG_LIFE_E_GROUPS_FAILED,
                                                     .what = "make its groups",
                                                     .error = -EINVAL});
        assert_int_equal(w.jobs.n_starting, 0);
        assert_int_equal(w.schedules, 2);
}

/* It waits for its terminal: however long that takes, others start meanwhile. */
static void test_n_starting_in_foreground(void **state)
{
        (void)state;
        w.job.job.foreground = 1;
        is(SG_LIFE_WAITING, SG_JOB_QUEUED);
        tell(SG_LIFE_E_TURN);
        tell(SG_LIFE_E_GROUPS_MADE);
        tell(SG_LIFE_E_START_STORED);
        assert_int_equal(w.jobs.n_starting, 0);
}

static void test_n_recovering(void **state)
{
        (void)state;
        w.jobs.n_recovering = 1; /* another */
        is(SG_LIFE_NEW, SG_JOB_RUNNING);
        tell(SG_LIFE_E_MET_LIVE);
        assert_int_equal(w.jobs.n_recovering, 2);
        tell(SG_LIFE_E_LOOKED); /* can't be read: the others don't wait for that */
        assert_int_equal(w.jobs.n_recovering, 1);
        assert_int_equal(w.schedules, 0);
        tell(SG_LIFE_E_LOOK_DUE);
        tell(SG_LIFE_E_LOOKED);
        assert_int_equal(w.jobs.n_recovering, 1);
        is(SG_LIFE_NEW, SG_JOB_RUNNING);
        tell(SG_LIFE_E_MET_LIVE);
        w.jobs.n_recovering = 1; /* it is the last one */
        tell(SG_LIFE_E_LOOKED);
        assert_int_equal(w.jobs.n_recovering, 0);
        assert_int_equal(w.schedules, 1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_each_timer),
                TEST(test_time_limit),
                TEST(test_time_limit_of_a_start),
                TEST(test_other_time_limit),
                TEST(test_time_limit_behind_its_end),
                TEST(test_timers_go_with_their_state),
                TEST(test_timer_cannot_be_set),
                TEST(test_graceless),
                TEST(test_n_starting),
                TEST(test_n_starting_of_one_that_fails),
                TEST(test_n_starting_in_foreground),
                TEST(test_n_recovering),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
