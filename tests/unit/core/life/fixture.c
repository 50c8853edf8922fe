/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/core/life/fixture.h"

struct told w;

int setup(void **state)
{
        (void)state;
        memset(&w, 0, sizeof(w));
        sg_job_init(&w.row);
        w.row.key.n = 7;
        w.row.command = strdup("train");
        assert_non_null(w.row.command);
        return 0;
}

int teardown(void **state)
{
        (void)state;
        sg_job_deinit(&w.row);
        return 0;
}

void happens(struct sg_life_event e)
{
        w.now += SECOND;
        e.now_usec = w.now;
        e.boot_id = BOOT;
        if (sg_life_step(&w.life, &w.row, &e, &w.plan) < 0)
                fail_msg("%s while it is %s", sg_life_event_to_string(e.kind),
                         sg_life_state_to_string(w.life.state));
}

void assert_plan(const char *expected)
{
        char text[256] = "";

        for (unsigned i = 0; i < w.plan.n; i++) {
                strcat(text, i > 0 ? " " : "");
                strcat(text, sg_life_action_to_string(w.plan.actions[i]));
        }
        assert_string_equal(text, expected);
}

void assert_row(enum sg_job_state state, const char *reason)
{
        assert_string_equal(sg_job_state_to_string(w.row.state), sg_job_state_to_string(state));
        if (reason)
                assert_string_equal(w.row.reason, reason);
        else
                assert_null(w.row.reason);
}

void assert_life(enum sg_life_state state)
{
        assert_string_equal(sg_life_state_to_string(w.life.state), sg_life_state_to_string(state));
}

void closes(void)
{
        assert_life(SG_LIFE_LISTENING);
        HAPPENS(LAST_WORDS);
        assert_plan("store_end");
        HAPPENS(END_STORED);
        if (w.life.keeper)
                HAPPENS(KEEPER_GONE);
        HAPPENS(GROUPS_GONE);
}

void assert_ends(enum sg_job_state state, const char *reason)
{

        assert_row(state, reason);
        assert_life(SG_LIFE_LISTENING);
        assert_plan("wind_up listen");
        assert_string_equal(w.row.command, "train"); /* whether it stays is the store's to know */
        assert_int_equal(w.row.pid, 0);
        assert_int_equal(w.row.changed_usec, w.now);
        assert_true(w.row.ended_usec > 0);
        assert_true(sg_life_has_ended(&w.life));
        closes();
        assert_life(SG_LIFE_GONE);
        assert_plan("free");
}

void assert_goes_back(const char *reason)
{
        assert_row(SG_JOB_QUEUED, reason);
        assert_plan("wind_up listen");
        assert_int_equal(w.row.intent, SG_INTENT_NONE);
        assert_int_equal(w.row.pid, 0);
        assert_int_equal(w.row.changed_usec, w.now);
        assert_string_equal(w.row.command, "train");
        assert_false(sg_life_has_ended(&w.life));
        closes();
        assert_plan("enqueue");
        assert_life(SG_LIFE_WAITING);
}

/* The way to each state */

void waits(void)
{
        HAPPENS(STORED);
        assert_plan("announce await");
}

void begins(void)
{
        HAPPENS(TURN);
        assert_plan("make_groups");
        HAPPENS(GROUPS_MADE);
        assert_plan("store_start publish announce");
}

void starts(void)
{
        begins();
        HAPPENS(START_STORED);
        assert_plan("say_stored launch");
}

void is_launched(void)
{
        starts();
        HAPPENS(LAUNCHED);
        assert_plan("place");
}

void is_released(void)
{
        is_launched();
        HAPPENS(PLACED);
        HAPPENS(READY);
        assert_plan("verify");
        HAPPENS(ADMITTED, .pid = 17);
        assert_plan("send_go arm_silence arm_time_limit");
}

void runs(void)
{
        is_released();
        HAPPENS(STARTED);
        assert_plan("begin_running arm_time_limit");
}

void run_is_offered(void)
{
        w.row.foreground = 1;
        waits();
        begins();
        HAPPENS(PLACED);
        HAPPENS(START_STORED);
        assert_plan("say_stored offer");
}

void run_runs(void)
{
        run_is_offered();
        HAPPENS(ATTACH);
        HAPPENS(HANDED);
        HAPPENS(READY);
        HAPPENS(ADMITTED, .pid = 17);
        assert_plan("publish_run");
        HAPPENS(FATE_RUN);
        assert_plan("send_go arm_silence arm_time_limit");
        HAPPENS(STARTED);
}

void ends_with(const struct sg_exit *record)
{
        HAPPENS(ENDED);
        HAPPENS(LOOKED, .finding = SG_FOUND_RECORD);
        assert_plan("refreeze check_groups");
        HAPPENS(EMPTY, .end = {.record = record});
}
