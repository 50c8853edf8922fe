/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of a job's life: in this state, when this happens (and that holds), its row changes so,
 * it is in that state, and this is to be done. What isn't here can't happen.
 *
 * Answers to what was asked may come late, when the job has gone on to another state: such lines
 * do nothing ("stays"). What a keeper says over its gate isn't believed beyond what it can do to
 * its own job, as that of `schedctl run` is its user's. The store answers in order, but says at
 * once what it can't even be asked, for want of memory.
 */
#include "base/cleanup.h"
#include "core/life/internal.h"

/* When */

static bool is_stopping(const struct sg_life_step *s)
{
        return s->row->intent != SG_INTENT_NONE;
}

/* (a cancel is more than a requeue) */
static bool is_asked_again(const struct sg_life_step *s)
{
        return is_stopping(s) &&
               (s->row->intent != SG_INTENT_REQUEUE || s->event->intent != SG_INTENT_CANCEL);
}

static bool is_doomed(const struct sg_life_step *s)
{
        return s->life->doomed;
}

static bool is_timed_out(const struct sg_life_step *s)
{
        return s->row->intent == SG_INTENT_TIMEOUT && s->row->foreground;
}

static bool is_cancelled(const struct sg_life_step *s)
{
        return s->row->intent == SG_INTENT_CANCEL;
}

static bool is_foreground(const struct sg_life_step *s)
{
        return s->row->foreground;
}

static bool is_short(const struct sg_life_step *s)
{
        return sg_life_may_pass(s->event->error);
}

static bool is_foreground_asked_again(const struct sg_life_step *s)
{
        return is_foreground(s) && is_asked_again(s);
}

static bool is_adopted(const struct sg_life_step *s)
{
        return s->row->adopted != SG_ADOPTED_NOT;
}

static bool has_keeper(const struct sg_life_step *s)
{
        return s->life->keeper;
}

static bool has_no_gate(const struct sg_life_step *s)
{
        return !s->life->gate || is_stopping(s);
}

static bool has_no_place(const struct sg_life_step *s)
{
        return !s->life->placed;
}

/* Three things have to be known, in whatever order they come: who its keeper is, that its groups
 * are there, and that its process waits. */
static bool is_complete(const struct sg_life_step *s)
{
        return s->life->keeper && s->life->placed && s->life->ready;
}

static bool is_to_be_dropped(const struct sg_life_step *s)
{
        return is_complete(s) && is_stopping(s);
}

/* Its start isn't known to have gone as far as its program. */
static bool is_at_start(const struct sg_life_step *s)
{
        return s->row->state == SG_JOB_STARTING;
}

static bool is_suspended(const struct sg_life_step *s)
{
        return s->row->state == SG_JOB_SUSPENDED;
}

static bool is_not_suspended(const struct sg_life_step *s)
{
        return !is_suspended(s);
}

/* Its row doesn't say what it does: that wasn't stored any more. */
static bool is_told_otherwise(const struct sg_life_step *s)
{
        return is_at_start(s) || is_suspended(s) != (s->row->frozen != 0);
}

static bool has_reason(const struct sg_life_step *s)
{
        return s->row->frozen != 0;
}

static bool has_no_reason(const struct sg_life_step *s)
{
        return !has_reason(s);
}

static bool is_to_be_frozen(const struct sg_life_step *s)
{
        return sg_freeze_change(s->row->frozen, s->event->reasons, s->event->on) != 0 &&
               !is_suspended(s) && !is_stopping(s);
}

static bool is_to_be_thawed(const struct sg_life_step *s)
{
        return sg_freeze_change(s->row->frozen, s->event->reasons, s->event->on) == 0 &&
               is_suspended(s);
}

/* What it isn't frozen for after all: who asked is told so. */
static bool is_not_frozen_for_that(const struct sg_life_step *s)
{
        return s->event->on && s->event->asker;
}

/* … and not by us: then nothing would be under way. */
static bool is_overruled(const struct sg_life_step *s)
{
        return has_reason(s) && s->life->asked == 0;
}

static bool is_not_as_it_should_be(const struct sg_life_step *s)
{
        return has_reason(s) && !is_suspended(s);
}

static bool is_doomed_at_start(const struct sg_life_step *s)
{
        return is_at_start(s) && is_doomed(s);
}

static bool was_released(const struct sg_life_step *s)
{
        return is_at_start(s) && s->life->released;
}

static bool goes_back(const struct sg_life_step *s)
{
        return s->life->again;
}

static bool goes_back_cancelled(const struct sg_life_step *s)
{
        return goes_back(s) && is_cancelled(s);
}

static bool is_cancelled_on_its_way_back(const struct sg_life_step *s)
{
        return goes_back(s) && s->event->intent == SG_INTENT_CANCEL;
}

static bool can_go_now(const struct sg_life_step *s)
{
        return !s->life->keeper;
}

static bool can_go_back_now(const struct sg_life_step *s)
{
        return !s->life->keeper && goes_back(s);
}

#define FOUND(name, value)                                                                         \
        static bool name(const struct sg_life_step *s)                                             \
        {                                                                                          \
                return s->event->finding == (value);                                               \
        }

FOUND(found_nothing, SG_FOUND_UNREADABLE)
FOUND(found_record, SG_FOUND_RECORD)
FOUND(found_running, SG_FOUND_RUNNING)
FOUND(found_lost, SG_FOUND_LOST)
FOUND(found_never_ran, SG_FOUND_NEVER_RAN)

/* Lines */

#define LINE(state, event, when, row, next, ...)                                                   \
        {                                                                                          \
                SG_LIFE_##state, SG_LIFE_E_##event, when, row, SG_LIFE_##next,                     \
                {                                                                                  \
                        __VA_ARGS__                                                                \
                }                                                                                  \
        }
#define DO(action) SG_LIFE_DO_##action
#define STAYS(state, event) LINE(state, event, NULL, NULL, state, DO(NOTHING))

#define END DO(WIND_UP), DO(LISTEN)

/* Somebody wants it to end: what is wanted is stored before it is done; who asks again gets it at
 * once. */
#define STOPS(state, ...)                                                                          \
        LINE(state, STOP, is_asked_again, NULL, state, DO(ACKNOWLEDGE), __VA_ARGS__),              \
                LINE(state, STOP, NULL, sg_life_row_is_to_end, state, DO(STORE_INTENT))

/* While there is something to be signalled. */
#define IS_SIGNALLED(state)                                                                        \
        STOPS(state, DO(KILL)),                                                                    \
                LINE(state, INTENT_STORED, NULL, NULL, state, DO(TERM), DO(ARM_GRACE)),            \
                LINE(state, GRACE_OVER, NULL, NULL, state, DO(KILL)),                              \
                LINE(state, KEEPER_LATE, NULL, NULL, state, DO(KILL_KEEPER))

#define HAS_LIMIT(state)                                                                           \
        LINE(state, INTENT_STORED, is_timed_out, NULL, state, DO(WARN), DO(TERM), DO(ARM_GRACE)),  \
                LINE(state, TIME_LIMIT, is_stopping, NULL, state, DO(NOTHING)),                    \
                LINE(state, TIME_LIMIT, NULL, sg_life_row_time_is_over, state, DO(STORE_INTENT))

/* What is wanted is stored before it is done, and told when it is; of two that are asked for at the
 * same time each is, in their order. What is to end isn't frozen any more. */
#define MAY_FREEZE(state)                                                                          \
        LINE(state, FREEZE, NULL, NULL, state, DO(STORE_FREEZE)),                                  \
                LINE(state, FREEZE_STORED, is_to_be_frozen, sg_life_row_frozen_for, state,         \
                     DO(FREEZE)),                                                                  \
                LINE(state, FREEZE_STORED, is_to_be_thawed, sg_life_row_frozen_for, state,         \
                     DO(THAW)),                                                                    \
                LINE(state, FREEZE_STORED, NULL, sg_life_row_frozen_for, state, DO(ANSWER)),       \
                LINE(state, FREEZE_UNSTORED, NULL, NULL, state, DO(ANSWER)),                       \
                LINE(state, FROZEN, has_reason, sg_life_row_suspended, state, DO(PAUSE),           \
                     DO(CHANGED), DO(ANSWER)),                                                     \
                LINE(state, THAWED, is_suspended, sg_life_row_resumed, state, DO(PAUSE),           \
                     DO(CHANGED), DO(ANSWER)),                                                     \
                LINE(state, FREEZE_FAILED, is_not_frozen_for_that, sg_life_row_not_frozen_for,     \
                     state, DO(UNSTORE_FREEZE), DO(ANSWER)),                                       \
                LINE(state, FREEZE_FAILED, NULL, NULL, state, DO(ANSWER))

/* On its way back to the queue it can be held as well. */
#define MAY_HOLD(state) LINE(state, HOLD, NULL, NULL, state, DO(STORE_HOLD))

/* Answers that nobody waits for any more. */
#define KEEPER_SAYS(state)                                                                         \
        STAYS(state, READY), STAYS(state, STARTED), STAYS(state, OVER), STAYS(state, ENDED)

#define IS_CLOSING(state)                                                                          \
        LINE(state, STOP, is_cancelled_on_its_way_back, sg_life_row_cancelled_later, state,        \
             DO(NOTHING)),                                                                         \
                LINE(state, STOP, NULL, NULL, state, DO(ACKNOWLEDGE)), STAYS(state, PLACED),       \
                STAYS(state, PLACE_FAILED), STAYS(state, GATE_LOST)
/* The store answers in order: not behind its end. */
#define STORED_LATE(state)                                                                         \
        LINE(state, HOLD_STORED, NULL, sg_life_row_held, state, DO(ANSWER)),                       \
                LINE(state, HOLD_UNSTORED, NULL, NULL, state, DO(ANSWER)),                         \
                LINE(state, FREEZE_STORED, NULL, NULL, state, DO(ANSWER)),                         \
                LINE(state, FREEZE_UNSTORED, NULL, NULL, state, DO(ANSWER)),                       \
                STAYS(state, INTENT_STORED), STAYS(state, START_STORED),                           \
                STAYS(state, START_UNSTORED)

/* clang-format off */
const struct sg_life_rule sg_life_rules[] = {
        /* In the beginning */
        LINE(NEW, STORED, is_adopted, NULL, RUNNING, DO(ANNOUNCE)),
        LINE(NEW, STORED, NULL, NULL, WAITING, DO(ANNOUNCE), DO(AWAIT)),
        LINE(NEW, MET_QUEUED, NULL, NULL, WAITING, DO(NOTHING)),
        LINE(NEW, MET_LIVE, NULL, NULL, LOOKING, DO(FIND_GROUPS), DO(TAKE_PLACE), DO(LOOK_VOID)),
        LINE(NEW, MET_ADOPTED, is_doomed, NULL, RUNNING, DO(TERM), DO(ARM_GRACE)),
        LINE(NEW, MET_ADOPTED, is_not_as_it_should_be, NULL, RUNNING, DO(FREEZE)),
        LINE(NEW, MET_ADOPTED, NULL, NULL, RUNNING, DO(NOTHING)),
        LINE(NEW, SEEN_FROZEN, NULL, sg_life_row_suspended, NEW, DO(NOTHING)),
        LINE(NEW, SEEN_THAWED, NULL, sg_life_row_resumed, NEW, DO(NOTHING)),

        LINE(WAITING, TURN, NULL, sg_life_row_begin, BEGINNING, DO(MAKE_GROUPS)),
        LINE(WAITING, STOP, NULL, sg_life_row_cancelled, LISTENING, END),
        LINE(WAITING, FAIL, NULL, sg_life_row_failed, LISTENING, END),
        STAYS(WAITING, INTENT_STORED),
        LINE(WAITING, HOLD, NULL, NULL, WAITING, DO(KEEP_BACK), DO(STORE_HOLD)),
        LINE(WAITING, HOLD_STORED, NULL, sg_life_row_held_in_queue, WAITING, DO(ANNOUNCE), DO(ANSWER), DO(ENQUEUE)),
        LINE(WAITING, HOLD_UNSTORED, NULL, NULL, WAITING, DO(ANSWER), DO(ENQUEUE)),

        /* Its groups, and that it starts is stored */
        LINE(BEGINNING, GROUPS_MADE, NULL, NULL, BEGINNING, DO(STORE_START), DO(PUBLISH), DO(ANNOUNCE)),
        LINE(BEGINNING, GROUPS_FAILED, is_short, sg_life_row_short, YIELDING, DO(PAUSE_STARTS), DO(DROP_GROUPS)),
        LINE(BEGINNING, GROUPS_FAILED, NULL, sg_life_row_given_up, LISTENING, END),
        LINE(BEGINNING, START_STORED, is_stopping, NULL, LOOKING, DO(SAY_STORED), DO(LOOK_VOID)),
        LINE(BEGINNING, START_STORED, is_foreground, NULL, OFFERED, DO(SAY_STORED), DO(OFFER)),
        LINE(BEGINNING, START_STORED, NULL, NULL, STARTING, DO(SAY_STORED), DO(LAUNCH)),
        LINE(BEGINNING, START_UNSTORED, NULL, sg_life_row_unstored, YIELDING, DO(SAY_UNSTORED), DO(DROP_GROUPS)),
        STAYS(BEGINNING, PLACED),
        LINE(BEGINNING, PLACE_FAILED, is_stopping, NULL, BEGINNING, DO(NOTHING)),
        LINE(BEGINNING, PLACE_FAILED, NULL, sg_life_row_given_up, LISTENING, DO(SAY_NOT_STARTED), END),
        STOPS(BEGINNING, DO(NOTHING)),
        STAYS(BEGINNING, INTENT_STORED),

        LINE(YIELDING, GROUPS_GONE, is_cancelled, sg_life_row_killed_after_all, LISTENING, END),
        LINE(YIELDING, GROUPS_GONE, NULL, sg_life_row_back_in_queue, WAITING, DO(LEAVE_QUEUE), DO(ENQUEUE)),
        LINE(YIELDING, GROUPS_BUSY, NULL, sg_life_row_cannot_yield, LISTENING, END),

        /* `run`: its terminal becomes its keeper */
        LINE(OFFERED, ATTACH, NULL, NULL, STARTING, DO(HAND_OVER)),
        STAYS(OFFERED, PLACED),
        LINE(OFFERED, PLACE_FAILED, is_stopping, NULL, OFFERED, DO(NOTHING)),
        LINE(OFFERED, PLACE_FAILED, NULL, sg_life_row_given_up, LISTENING, DO(SAY_NOT_STARTED), END),
        LINE(OFFERED, STOP, is_asked_again, NULL, LOOKING, DO(ACKNOWLEDGE), DO(LOOK_VOID)),
        LINE(OFFERED, STOP, NULL, sg_life_row_is_to_end, OFFERED, DO(STORE_INTENT)),
        LINE(OFFERED, INTENT_STORED, NULL, NULL, LOOKING, DO(LOOK_VOID)),

        /* Keeper, place and process, in whatever order */
        STAYS(STARTING, HANDED),
        LINE(STARTING, HAND_FAILED, NULL, sg_life_row_hand_failed, LISTENING, END),
        LINE(STARTING, LAUNCHED, has_no_gate, NULL, DROPPED, DO(CLOSE_GATE)),
        LINE(STARTING, LAUNCHED, NULL, NULL, STARTING, DO(PLACE)),
        LINE(STARTING, LAUNCH_FAILED, NULL, sg_life_row_not_started, LOOKING, DO(CLOSE_GATE), DO(SAY_NOT_STARTED), DO(LOOK_VOID)),
        LINE(STARTING, PLACED, is_to_be_dropped, NULL, DROPPED, DO(CLOSE_GATE)),
        LINE(STARTING, PLACED, is_complete, NULL, STARTING, DO(VERIFY)),
        STAYS(STARTING, PLACED),
        LINE(STARTING, PLACE_FAILED, NULL, sg_life_row_not_started, DROPPED, DO(CLOSE_GATE), DO(SAY_NOT_STARTED)),
        LINE(STARTING, READY, is_to_be_dropped, NULL, DROPPED, DO(CLOSE_GATE)),
        LINE(STARTING, READY, is_complete, NULL, STARTING, DO(VERIFY)),
        STAYS(STARTING, READY),
        LINE(STARTING, ADMITTED, is_foreground, sg_life_row_admitted, PUBLISHING, DO(PUBLISH_RUN)),
        LINE(STARTING, ADMITTED, NULL, sg_life_row_admitted, RELEASED, DO(SEND_GO)),
        LINE(STARTING, REFUSED, NULL, NULL, DROPPED, DO(CLOSE_GATE)),
        STAYS(STARTING, STARTED),
        LINE(STARTING, OVER, NULL, NULL, STARTING, DO(STAND_DOWN)),
        LINE(STARTING, ENDED, is_foreground, NULL, STARTING, DO(COUNT)),
        LINE(STARTING, ENDED, NULL, NULL, LOOKING, DO(LOOK)),
        LINE(STARTING, GATE_LOST, NULL, NULL, DROPPED, DO(NOTHING)),
        LINE(STARTING, KEEPER_GONE, NULL, NULL, LOOKING, DO(LOOK_VOID)),
        LINE(STARTING, STOP, is_foreground_asked_again, NULL, DROPPED, DO(ACKNOWLEDGE), DO(CLOSE_GATE), DO(KILL_KEEPER)),
        LINE(STARTING, STOP, is_asked_again, NULL, DROPPED, DO(ACKNOWLEDGE), DO(CLOSE_GATE)),
        LINE(STARTING, STOP, NULL, sg_life_row_is_to_end, STARTING, DO(STORE_INTENT)),
        LINE(STARTING, INTENT_STORED, is_foreground, NULL, DROPPED, DO(CLOSE_GATE), DO(ARM_GRACE)),
        LINE(STARTING, INTENT_STORED, has_no_place, NULL, DROPPED, DO(CLOSE_GATE)),
        STAYS(STARTING, INTENT_STORED),

        LINE(PUBLISHING, FATE_RUN, has_keeper, NULL, RELEASED, DO(SEND_GO), DO(ARM_SILENCE)),
        LINE(PUBLISHING, FATE_RUN, NULL, NULL, LOOKING, DO(CLOSE_GATE), DO(LOOK_VOID)),
        LINE(PUBLISHING, FATE_VOID, has_keeper, NULL, DROPPED, DO(CLOSE_GATE)),
        LINE(PUBLISHING, FATE_VOID, NULL, NULL, LOOKING, DO(CLOSE_GATE), DO(LOOK_VOID)),
        STAYS(PUBLISHING, READY),
        STAYS(PUBLISHING, STARTED),
        STAYS(PUBLISHING, OVER),
        LINE(PUBLISHING, ENDED, NULL, NULL, PUBLISHING, DO(COUNT)),
        STAYS(PUBLISHING, GATE_LOST),
        STAYS(PUBLISHING, KEEPER_GONE),
        IS_SIGNALLED(PUBLISHING),

        LINE(RELEASED, GO_FAILED, NULL, NULL, DROPPED, DO(CLOSE_GATE)),
        LINE(RELEASED, STARTED, is_doomed, sg_life_row_started, RUNNING, DO(BEGIN_RUNNING), DO(TERM), DO(ARM_GRACE)),
        LINE(RELEASED, STARTED, NULL, sg_life_row_started, RUNNING, DO(BEGIN_RUNNING), DO(ARM_TIME_LIMIT)),
        LINE(RELEASED, SILENCE, is_stopping, NULL, RELEASED, DO(NOTHING)),
        LINE(RELEASED, SILENCE, NULL, sg_life_row_started, RUNNING, DO(BEGIN_RUNNING), DO(ARM_TIME_LIMIT)),
        STAYS(RELEASED, READY),
        LINE(RELEASED, OVER, NULL, NULL, RELEASED, DO(STAND_DOWN)),
        LINE(RELEASED, ENDED, is_foreground, NULL, RELEASED, DO(COUNT)),
        LINE(RELEASED, ENDED, NULL, NULL, LOOKING, DO(LOOK)),
        STAYS(RELEASED, GATE_LOST),
        LINE(RELEASED, KEEPER_GONE, NULL, NULL, LOOKING, DO(LOOK_VOID)),
        IS_SIGNALLED(RELEASED),

        /* It runs */
        STAYS(RUNNING, READY),
        STAYS(RUNNING, STARTED),
        LINE(RUNNING, OVER, NULL, NULL, RUNNING, DO(STAND_DOWN)),
        LINE(RUNNING, ENDED, is_foreground, NULL, RUNNING, DO(COUNT)),
        LINE(RUNNING, ENDED, NULL, NULL, LOOKING, DO(LOOK)),
        STAYS(RUNNING, GATE_LOST),
        LINE(RUNNING, KEEPER_GONE, NULL, NULL, LOOKING, DO(LOOK_VOID)),
        LINE(RUNNING, LEFT, NULL, NULL, ASKING, DO(NOTHING)),
        LINE(RUNNING, FAIL, NULL, sg_life_row_failed, LISTENING, END),
        HAS_LIMIT(RUNNING),
        IS_SIGNALLED(RUNNING),
        /* (an adopted one: what systemd does takes a while, and others may do it, too) */
        LINE(RUNNING, FROZEN, has_no_reason, NULL, RUNNING, DO(THAW)),
        LINE(RUNNING, FROZEN, is_suspended, NULL, RUNNING, DO(ANSWER)),
        LINE(RUNNING, THAWED, is_not_suspended, NULL, RUNNING, DO(ANSWER)),
        LINE(RUNNING, FREEZE_DUE, is_not_as_it_should_be, NULL, RUNNING, DO(FREEZE)),
        STAYS(RUNNING, FREEZE_DUE),
        LINE(RUNNING, SEEN_FROZEN, NULL, sg_life_row_suspended, RUNNING, DO(PAUSE), DO(CHANGED)),
        LINE(RUNNING, SEEN_THAWED, is_overruled, sg_life_row_overruled, RUNNING, DO(PAUSE), DO(CHANGED), DO(UNSTORE_FREEZE)),
        LINE(RUNNING, SEEN_THAWED, NULL, sg_life_row_resumed, RUNNING, DO(PAUSE), DO(CHANGED)),
        MAY_FREEZE(RUNNING),

        LINE(ASKING, TOLD, NULL, sg_life_row_told, LISTENING, END),
        LINE(ASKING, STOP, NULL, NULL, ASKING, DO(ACKNOWLEDGE)),
        STAYS(ASKING, INTENT_STORED),
        LINE(ASKING, FREEZE_STORED, NULL, sg_life_row_frozen_for, ASKING, DO(ANSWER)),
        LINE(ASKING, FREEZE_UNSTORED, NULL, NULL, ASKING, DO(ANSWER)),

        /* It won't run any more: until its keeper has gone */
        STAYS(DROPPED, LAUNCHED),
        LINE(DROPPED, LAUNCH_FAILED, NULL, sg_life_row_not_started, LOOKING, DO(SAY_NOT_STARTED), DO(LOOK_VOID)),
        STAYS(DROPPED, PLACED),
        LINE(DROPPED, PLACE_FAILED, NULL, sg_life_row_not_started, DROPPED, DO(SAY_NOT_STARTED)),
        LINE(DROPPED, KEEPER_GONE, NULL, NULL, LOOKING, DO(LOOK_VOID)),
        LINE(DROPPED, STOP, is_asked_again, NULL, DROPPED, DO(ACKNOWLEDGE), DO(KILL_KEEPER)),
        LINE(DROPPED, STOP, NULL, sg_life_row_is_to_end, DROPPED, DO(STORE_INTENT)),
        LINE(DROPPED, INTENT_STORED, is_foreground, NULL, DROPPED, DO(ARM_GRACE)),
        STAYS(DROPPED, INTENT_STORED),
        LINE(DROPPED, GRACE_OVER, NULL, NULL, DROPPED, DO(KILL_KEEPER)),
        LINE(DROPPED, KEEPER_LATE, NULL, NULL, DROPPED, DO(KILL_KEEPER)),

        /* What has become of it */
        LINE(LOOKING, LOOKED, found_nothing, NULL, LOOKING, DO(SAY_UNREADABLE), DO(ARM_LOOK)),
        LINE(LOOKING, LOOKED, found_record, sg_life_row_lingers, LINGERING, DO(REFREEZE), DO(CHECK_GROUPS)),
        LINE(LOOKING, LOOKED, found_lost, sg_life_row_lingers, LINGERING, DO(SAY_KEEPER_LOST), DO(REFREEZE), DO(CHECK_GROUPS)),
        LINE(LOOKING, LOOKED, found_running, sg_life_row_found_frozen, LOOKING, DO(FOLLOW)),
        LINE(LOOKING, LOOKED, found_never_ran, sg_life_row_never_ran, LISTENING, END),
        LINE(LOOKING, LOOK_DUE, NULL, NULL, LOOKING, DO(LOOK_VOID)),
        LINE(LOOKING, FOLLOWED, is_doomed_at_start, sg_life_row_followed, RUNNING, DO(CHANGED), DO(REFREEZE), DO(TAKE_UP), DO(TERM), DO(ARM_GRACE)),
        LINE(LOOKING, FOLLOWED, is_doomed, sg_life_row_followed, RUNNING, DO(REFREEZE), DO(TAKE_UP), DO(TERM), DO(ARM_GRACE)),
        LINE(LOOKING, FOLLOWED, is_told_otherwise, sg_life_row_followed, RUNNING, DO(REFREEZE), DO(CHANGED), DO(TAKE_UP), DO(ARM_TIME_LIMIT)),
        LINE(LOOKING, FOLLOWED, NULL, sg_life_row_followed, RUNNING, DO(REFREEZE), DO(TAKE_UP), DO(ARM_TIME_LIMIT)),
        LINE(LOOKING, FOLLOW_GONE, NULL, NULL, LOOKING, DO(LOOK)),
        LINE(LOOKING, FOLLOW_FAILED, NULL, NULL, LOOKING, DO(ARM_LOOK)),
        LINE(LOOKING, STARTED, was_released, sg_life_row_started, LOOKING, DO(BEGIN_RUNNING)),
        STAYS(LOOKING, STARTED),
        STAYS(LOOKING, READY),
        LINE(LOOKING, OVER, NULL, NULL, LOOKING, DO(STAND_DOWN)),
        LINE(LOOKING, ENDED, is_foreground, NULL, LOOKING, DO(COUNT)),
        STAYS(LOOKING, ENDED),
        STAYS(LOOKING, GATE_LOST),
        STAYS(LOOKING, KEEPER_GONE),
        STAYS(LOOKING, LAUNCHED),
        STAYS(LOOKING, LAUNCH_FAILED),
        STAYS(LOOKING, PLACED),
        LINE(LOOKING, PLACE_FAILED, NULL, sg_life_row_not_started, LOOKING, DO(SAY_NOT_STARTED)),
        LINE(LOOKING, INTENT_STORED, is_at_start, NULL, LOOKING, DO(NOTHING)),
        HAS_LIMIT(LOOKING),
        IS_SIGNALLED(LOOKING),
        MAY_FREEZE(LOOKING),

        LINE(LINGERING, EMPTY, NULL, sg_life_row_concluded, LISTENING, END),
        STAYS(LINGERING, READY),
        STAYS(LINGERING, STARTED),
        LINE(LINGERING, OVER, NULL, NULL, LINGERING, DO(STAND_DOWN)),
        LINE(LINGERING, ENDED, is_foreground, NULL, LINGERING, DO(COUNT)),
        STAYS(LINGERING, ENDED),
        STAYS(LINGERING, GATE_LOST),
        STAYS(LINGERING, KEEPER_GONE),
        STAYS(LINGERING, LAUNCHED),
        STAYS(LINGERING, LAUNCH_FAILED),
        STAYS(LINGERING, PLACED),
        STAYS(LINGERING, PLACE_FAILED),
        HAS_LIMIT(LINGERING),
        IS_SIGNALLED(LINGERING),
        MAY_FREEZE(LINGERING),

        /* Its end, or its way back to the queue */
        LINE(LISTENING, LAST_WORDS, NULL, NULL, ENDING, DO(STORE_END)),
        STAYS(LISTENING, KEEPER_GONE),
        IS_CLOSING(LISTENING),
        MAY_HOLD(LISTENING),
        STORED_LATE(LISTENING),
        KEEPER_SAYS(LISTENING),

        LINE(ENDING, END_STORED, can_go_back_now, NULL, CLEARING, DO(SAY_STORED), DO(ANNOUNCE), DO(CLOSE_GATE), DO(DROP_GROUPS)),
        LINE(ENDING, END_STORED, goes_back, NULL, CLEARING, DO(SAY_STORED), DO(ANNOUNCE)),
        LINE(ENDING, END_STORED, can_go_now, NULL, CLEARING, DO(SAY_STORED), DO(ANNOUNCE), DO(TELL_END), DO(CLOSE_GATE), DO(DROP_GROUPS)),
        LINE(ENDING, END_STORED, NULL, NULL, CLEARING, DO(SAY_STORED), DO(ANNOUNCE), DO(TELL_END)),
        LINE(ENDING, END_UNSTORED, NULL, NULL, ENDING, DO(SAY_UNSTORED), DO(ARM_STORE)),
        LINE(ENDING, STORE_DUE, NULL, NULL, ENDING, DO(STORE_END)),
        STAYS(ENDING, KEEPER_GONE),
        IS_CLOSING(ENDING),
        MAY_HOLD(ENDING),
        STORED_LATE(ENDING),
        KEEPER_SAYS(ENDING),

        LINE(CLEARING, KEEPER_GONE, NULL, NULL, CLEARING, DO(CLOSE_GATE), DO(DROP_GROUPS)),
        LINE(CLEARING, GROUPS_BUSY, NULL, NULL, CLEARING, DO(KILL_GROUPS), DO(ARM_CLEAR)),
        LINE(CLEARING, CLEAR_DUE, NULL, NULL, CLEARING, DO(DROP_GROUPS)),
        LINE(CLEARING, GROUPS_GONE, goes_back_cancelled, sg_life_row_killed_after_all, LISTENING, END),
        LINE(CLEARING, GROUPS_GONE, goes_back, sg_life_row_released, WAITING, DO(ENQUEUE)),
        LINE(CLEARING, GROUPS_GONE, NULL, NULL, GONE, DO(FREE)),
        IS_CLOSING(CLEARING),
        MAY_HOLD(CLEARING),
        LINE(CLEARING, HOLD_STORED, NULL, sg_life_row_held_in_queue, CLEARING, DO(ANNOUNCE), DO(ANSWER)),
        LINE(CLEARING, HOLD_UNSTORED, NULL, NULL, CLEARING, DO(ANSWER)),
};
/* clang-format on */

const size_t sg_life_n_rules = SG_ELEMENTSOF(sg_life_rules);
