/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is said of a life by its state. */
#include "tests/unit/core/life/fixture.h"

static bool is_starting_in(enum sg_life_state state)
{
        return state == SG_LIFE_BEGINNING || state == SG_LIFE_STARTING ||
               state == SG_LIFE_DROPPED || state == SG_LIFE_LOOKING;
}

static void test_is_starting(void **state)
{
        (void)state;
        for (int s = 0; s < _SG_LIFE_STATE_MAX; s++) {
                struct sg_life life = {.state = (enum sg_life_state)s};

                w.row.state = SG_JOB_STARTING;
                w.row.foreground = 0;
                assert_int_equal(sg_life_is_starting(&life, &w.row), is_starting_in(life.state));
                w.row.foreground = 1;
                assert_false(sg_life_is_starting(&life, &w.row));
                w.row.foreground = 0;
                life.released = true;
                assert_false(sg_life_is_starting(&life, &w.row));
                life.released = false;
                w.row.state = SG_JOB_RUNNING; /* it is only looked at */
                assert_int_equal(sg_life_is_starting(&life, &w.row),
                                 is_starting_in(life.state) && s != SG_LIFE_LOOKING);
        }
}

static void test_predicates(void **state)
{
        (void)state;
        for (int s = 0; s < _SG_LIFE_STATE_MAX; s++) {
                struct sg_life life = {.state = (enum sg_life_state)s};
                bool closing = s == SG_LIFE_LISTENING || s == SG_LIFE_ENDING ||
                               s == SG_LIFE_CLEARING || s == SG_LIFE_GONE;

                assert_int_equal(sg_life_is_shown(&life), s != SG_LIFE_NEW);
                assert_int_equal(sg_life_is_closing(&life), closing);
                assert_int_equal(sg_life_is_settled(&life),
                                 closing || s == SG_LIFE_LINGERING || s == SG_LIFE_ASKING);
                assert_int_equal(sg_life_has_ended(&life), closing);
                assert_int_equal(sg_life_end_is_asked(&life), closing && s != SG_LIFE_LISTENING);
                assert_int_equal(sg_life_end_is_stored(&life),
                                 s == SG_LIFE_CLEARING || s == SG_LIFE_GONE);
                life.again = true;
                assert_false(sg_life_has_ended(&life));
                assert_false(sg_life_end_is_asked(&life));
                assert_false(sg_life_end_is_stored(&life));
        }
}

/* States that arm a timer, or go on with one. */
static void test_timers(void **state)
{
        enum {
                LIMIT = 1 << SG_LIFE_TIMER_TIME_LIMIT,
                GRACE = 1 << SG_LIFE_TIMER_GRACE,
                KEEPER = 1 << SG_LIFE_TIMER_KEEPER,
                SILENCE = 1 << SG_LIFE_TIMER_SILENCE,
                LOOK = 1 << SG_LIFE_TIMER_LOOK,
                STORE = 1 << SG_LIFE_TIMER_STORE,
                CLEAR = 1 << SG_LIFE_TIMER_CLEAR
        };
        static const unsigned expected[_SG_LIFE_STATE_MAX] = {
                [SG_LIFE_PUBLISHING] = GRACE | KEEPER,
                [SG_LIFE_RELEASED] = LIMIT | GRACE | KEEPER | SILENCE,
                [SG_LIFE_RUNNING] = LIMIT | GRACE | KEEPER,
                [SG_LIFE_DROPPED] = GRACE | KEEPER,
                [SG_LIFE_LOOKING] = LIMIT | GRACE | KEEPER | LOOK,
                [SG_LIFE_LINGERING] = LIMIT | GRACE | KEEPER,
                [SG_LIFE_ENDING] = STORE,
                [SG_LIFE_CLEARING] = CLEAR,
        };

        (void)state;
        for (int s = 0; s < _SG_LIFE_STATE_MAX; s++)
                assert_int_equal(sg_life_timers((enum sg_life_state)s), expected[s]);
}

static void test_names(void **state)
{
        (void)state;
        assert_string_equal(sg_life_state_to_string(SG_LIFE_NEW), "new");
        assert_string_equal(sg_life_state_to_string(SG_LIFE_GONE), "gone");
        assert_string_equal(sg_life_state_to_string(_SG_LIFE_STATE_MAX), "?");
        assert_string_equal(sg_life_event_to_string(SG_LIFE_E_NONE), "NONE");
        assert_string_equal(sg_life_event_to_string(SG_LIFE_E_START_STORED), "START_STORED");
        assert_string_equal(sg_life_event_to_string(_SG_LIFE_EVENT_MAX), "?");
        assert_string_equal(sg_life_action_to_string(SG_LIFE_DO_NOTHING), "nothing");
        assert_string_equal(sg_life_action_to_string(SG_LIFE_DO_FREE), "free");
        assert_string_equal(sg_life_action_to_string(_SG_LIFE_ACTION_MAX), "?");
        for (int s = 0; s < _SG_LIFE_STATE_MAX; s++)
                assert_true(sg_life_state_to_string((enum sg_life_state)s)[0] >= 'a');
        for (int k = 0; k < _SG_LIFE_EVENT_MAX; k++)
                assert_true(sg_life_event_to_string((enum sg_life_event_kind)k)[0] >= 'A');
        for (int a = 0; a < _SG_LIFE_ACTION_MAX; a++)
                assert_true(sg_life_action_to_string((enum sg_life_action)a)[0] >= 'a');
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_is_starting),
                TEST(test_predicates),
                TEST(test_timers),
                TEST(test_names),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
