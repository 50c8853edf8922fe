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

/* (a cancel is more than what may come back to the queue) */
static bool is_asked_again(const struct sg_life_step *s)
{
        return is_stopping(s) &&
               ((s->row->intent != SG_INTENT_REQUEUE && s->row->intent != SG_INTENT_MEMORY) ||
                s->event->intent != SG_INTENT_CANCEL);
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

static bool is_aside(const struct sg_life_step *s)
{
        return s->life->aside;
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

/* Its row says something else than what the job does: the last change was not stored. */
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

/* Freezing has failed, and somebody asked for it: the reasons are taken back, and the asker is
 * told. */
static bool is_not_frozen_for_that(const struct sg_life_step *s)
{
        return s->event->on && s->event->asker;
}

/* Somebody else has thawed it: no request of ours is under way. */
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

#define WHENS(X)                                                                                   \
        X(IS_STOPPING, is_stopping)                                                                \
        X(IS_ASKED_AGAIN, is_asked_again)                                                          \
        X(IS_DOOMED, is_doomed)                                                                    \
        X(IS_TIMED_OUT, is_timed_out)                                                              \
        X(IS_CANCELLED, is_cancelled)                                                              \
        X(IS_FOREGROUND, is_foreground)                                                            \
        X(IS_ASIDE, is_aside)                                                                      \
        X(IS_SHORT, is_short)                                                                      \
        X(IS_FOREGROUND_ASKED_AGAIN, is_foreground_asked_again)                                    \
        X(IS_ADOPTED, is_adopted)                                                                  \
        X(HAS_KEEPER, has_keeper)                                                                  \
        X(HAS_NO_GATE, has_no_gate)                                                                \
        X(HAS_NO_PLACE, has_no_place)                                                              \
        X(IS_COMPLETE, is_complete)                                                                \
        X(IS_TO_BE_DROPPED, is_to_be_dropped)                                                      \
        X(IS_AT_START, is_at_start)                                                                \
        X(IS_SUSPENDED, is_suspended)                                                              \
        X(IS_NOT_SUSPENDED, is_not_suspended)                                                      \
        X(IS_TOLD_OTHERWISE, is_told_otherwise)                                                    \
        X(HAS_REASON, has_reason)                                                                  \
        X(HAS_NO_REASON, has_no_reason)                                                            \
        X(IS_TO_BE_FROZEN, is_to_be_frozen)                                                        \
        X(IS_TO_BE_THAWED, is_to_be_thawed)                                                        \
        X(IS_NOT_FROZEN_FOR_THAT, is_not_frozen_for_that)                                          \
        X(IS_OVERRULED, is_overruled)                                                              \
        X(IS_NOT_AS_IT_SHOULD_BE, is_not_as_it_should_be)                                          \
        X(IS_DOOMED_AT_START, is_doomed_at_start)                                                  \
        X(WAS_RELEASED, was_released)                                                              \
        X(GOES_BACK, goes_back)                                                                    \
        X(GOES_BACK_CANCELLED, goes_back_cancelled)                                                \
        X(IS_CANCELLED_ON_ITS_WAY_BACK, is_cancelled_on_its_way_back)                              \
        X(CAN_GO_NOW, can_go_now)                                                                  \
        X(CAN_GO_BACK_NOW, can_go_back_now)                                                        \
        X(FOUND_NOTHING, found_nothing)                                                            \
        X(FOUND_RECORD, found_record)                                                              \
        X(FOUND_RUNNING, found_running)                                                            \
        X(FOUND_LOST, found_lost)                                                                  \
        X(FOUND_NEVER_RAN, found_never_ran)

#define WHEN(name, text) WHEN_##name,
enum { WHEN_ALWAYS, WHENS(WHEN) };

#define WHEN_HOLDS(name, text) [WHEN_##name] = text,
static bool (*const whens[])(const struct sg_life_step *s) = {WHENS(WHEN_HOLDS)};

bool sg_life_holds(const struct sg_life_rule *rule, const struct sg_life_step *s)
{
        return rule->when == WHEN_ALWAYS || whens[rule->when](s);
}

#define LINE(state, event, when, row, next, ...)                                                   \
        {                                                                                          \
                SG_LIFE_##state, SG_LIFE_E_##event, WHEN_##when, SG_LIFE_ROW_##row,                \
                        SG_LIFE_##next,                                                            \
                {                                                                                  \
                        __VA_ARGS__                                                                \
                }                                                                                  \
        }
#define DO(action) SG_LIFE_DO_##action
#define STAYS(state, event) LINE(state, event, ALWAYS, AS_IS, state, DO(NOTHING))

#define END DO(WIND_UP), DO(LISTEN)

/* Somebody wants the job to end: the intent is stored before anything is done. Who asks again has
 * it done at once. */
#define STOPS(state, ...)                                                                          \
        LINE(state, STOP, IS_ASKED_AGAIN, AS_IS, state, DO(ACKNOWLEDGE), __VA_ARGS__),             \
                LINE(state, STOP, ALWAYS, IS_TO_END, state, DO(STORE_INTENT))

/* In states in which there is something to be signalled. */
#define IS_SIGNALLED(state)                                                                        \
        STOPS(state, DO(KILL)),                                                                    \
                LINE(state, INTENT_STORED, ALWAYS, AS_IS, state, DO(TERM), DO(ARM_GRACE)),         \
                LINE(state, GRACE_OVER, ALWAYS, AS_IS, state, DO(KILL)),                           \
                LINE(state, KEEPER_LATE, ALWAYS, AS_IS, state, DO(KILL_KEEPER))

#define HAS_LIMIT(state)                                                                           \
        LINE(state, INTENT_STORED, IS_TIMED_OUT, AS_IS, state, DO(WARN), DO(TERM), DO(ARM_GRACE)), \
                LINE(state, TIME_LIMIT, IS_STOPPING, AS_IS, state, DO(NOTHING)),                   \
                LINE(state, TIME_LIMIT, ALWAYS, TIME_IS_OVER, state, DO(STORE_INTENT))

/* A request to freeze is stored before it is carried out, and answered after that; requests that
 * come together are each carried out, in their order. A job that is to end isn't frozen any more.
 */
#define MAY_FREEZE(state)                                                                          \
        LINE(state, FREEZE, ALWAYS, AS_IS, state, DO(STORE_FREEZE)),                               \
                LINE(state, FREEZE_STORED, IS_TO_BE_FROZEN, FROZEN_FOR, state, DO(FREEZE)),        \
                LINE(state, FREEZE_STORED, IS_TO_BE_THAWED, FROZEN_FOR, state, DO(THAW)),          \
                LINE(state, FREEZE_STORED, ALWAYS, FROZEN_FOR, state, DO(ANSWER)),                 \
                LINE(state, FREEZE_UNSTORED, ALWAYS, AS_IS, state, DO(ANSWER)),                    \
                LINE(state, FROZEN, HAS_REASON, SUSPENDED, state, DO(PAUSE), DO(CHANGED),          \
                     DO(ANSWER)),                                                                  \
                LINE(state, THAWED, IS_SUSPENDED, RESUMED, state, DO(PAUSE), DO(CHANGED),          \
                     DO(ANSWER)),                                                                  \
                LINE(state, FREEZE_FAILED, IS_NOT_FROZEN_FOR_THAT, NOT_FROZEN_FOR, state,          \
                     DO(UNSTORE_FREEZE), DO(ANSWER)),                                              \
                LINE(state, FREEZE_FAILED, ALWAYS, AS_IS, state, DO(ANSWER))

/* On its way back to the queue it can be held as well. */
#define MAY_HOLD(state) LINE(state, HOLD, ALWAYS, AS_IS, state, DO(STORE_HOLD))

/* Answers that nobody waits for any more. */
#define KEEPER_SAYS(state)                                                                         \
        STAYS(state, READY), STAYS(state, STARTED), STAYS(state, OVER), STAYS(state, ENDED)

#define IS_CLOSING(state)                                                                          \
        LINE(state, STOP, IS_CANCELLED_ON_ITS_WAY_BACK, CANCELLED_LATER, state, DO(NOTHING)),      \
                LINE(state, STOP, ALWAYS, AS_IS, state, DO(ACKNOWLEDGE)), STAYS(state, PLACED),    \
                STAYS(state, PLACE_FAILED), STAYS(state, GATE_LOST)
/* Answers of the store to earlier requests. They come in order, so none comes after the end is
 * stored. */
#define STORED_LATE(state)                                                                         \
        LINE(state, HOLD_STORED, ALWAYS, HELD, state, DO(ANSWER)),                                 \
                LINE(state, HOLD_UNSTORED, ALWAYS, AS_IS, state, DO(ANSWER)),                      \
                LINE(state, FREEZE_STORED, ALWAYS, AS_IS, state, DO(ANSWER)),                      \
                LINE(state, FREEZE_UNSTORED, ALWAYS, AS_IS, state, DO(ANSWER)),                    \
                STAYS(state, INTENT_STORED), STAYS(state, START_STORED),                           \
                STAYS(state, START_UNSTORED)

/* clang-format off */
const struct sg_life_rule sg_life_rules[] = {
        /* In the beginning */
        LINE(NEW, STORED, IS_ADOPTED, AS_IS, RUNNING, DO(ANNOUNCE)),
        LINE(NEW, STORED, ALWAYS, AS_IS, WAITING, DO(ANNOUNCE), DO(AWAIT)),
        LINE(NEW, MET_QUEUED, ALWAYS, AS_IS, WAITING, DO(NOTHING)),
        LINE(NEW, MET_LIVE, ALWAYS, AS_IS, LOOKING, DO(FIND_GROUPS), DO(TAKE_PLACE), DO(LOOK_VOID)),
        LINE(NEW, MET_ADOPTED, IS_DOOMED, AS_IS, RUNNING, DO(TERM), DO(ARM_GRACE)),
        LINE(NEW, MET_ADOPTED, IS_NOT_AS_IT_SHOULD_BE, AS_IS, RUNNING, DO(FREEZE)),
        LINE(NEW, MET_ADOPTED, ALWAYS, AS_IS, RUNNING, DO(NOTHING)),
        LINE(NEW, SEEN_FROZEN, ALWAYS, SUSPENDED, NEW, DO(NOTHING)),
        LINE(NEW, SEEN_THAWED, ALWAYS, RESUMED, NEW, DO(NOTHING)),

        LINE(WAITING, TURN, ALWAYS, BEGIN, BEGINNING, DO(MAKE_GROUPS)),
        LINE(WAITING, STOP, ALWAYS, CANCELLED, LISTENING, END),
        LINE(WAITING, FAIL, ALWAYS, FAILED, LISTENING, END),
        STAYS(WAITING, INTENT_STORED),
        LINE(WAITING, HOLD, ALWAYS, AS_IS, WAITING, DO(KEEP_BACK), DO(STORE_HOLD)),
        LINE(WAITING, HOLD_STORED, ALWAYS, HELD_IN_QUEUE, WAITING, DO(ANNOUNCE), DO(ANSWER), DO(ENQUEUE)),
        LINE(WAITING, HOLD_UNSTORED, ALWAYS, AS_IS, WAITING, DO(ANSWER), DO(ENQUEUE)),

        /* Its groups, and that it starts is stored */
        LINE(BEGINNING, GROUPS_MADE, ALWAYS, AS_IS, BEGINNING, DO(STORE_START), DO(PUBLISH), DO(ANNOUNCE)),
        LINE(BEGINNING, GROUPS_FAILED, IS_SHORT, SHORT, YIELDING, DO(PAUSE_STARTS), DO(DROP_GROUPS)),
        LINE(BEGINNING, GROUPS_FAILED, ALWAYS, GIVEN_UP, LISTENING, END),
        LINE(BEGINNING, START_STORED, IS_STOPPING, AS_IS, LOOKING, DO(SAY_STORED), DO(LOOK_VOID)),
        LINE(BEGINNING, START_STORED, IS_FOREGROUND, AS_IS, OFFERED, DO(SAY_STORED), DO(OFFER)),
        LINE(BEGINNING, START_STORED, ALWAYS, AS_IS, STARTING, DO(SAY_STORED), DO(LAUNCH)),
        LINE(BEGINNING, START_UNSTORED, ALWAYS, UNSTORED, YIELDING, DO(SAY_UNSTORED), DO(DROP_GROUPS)),
        STAYS(BEGINNING, PLACED),
        LINE(BEGINNING, PLACE_FAILED, IS_STOPPING, AS_IS, BEGINNING, DO(NOTHING)),
        LINE(BEGINNING, PLACE_FAILED, ALWAYS, GIVEN_UP, LISTENING, DO(SAY_NOT_STARTED), END),
        STOPS(BEGINNING, DO(NOTHING)),
        STAYS(BEGINNING, INTENT_STORED),

        LINE(YIELDING, GROUPS_GONE, IS_CANCELLED, KILLED_AFTER_ALL, LISTENING, END),
        LINE(YIELDING, GROUPS_GONE, ALWAYS, BACK_IN_QUEUE, WAITING, DO(LEAVE_QUEUE), DO(ENQUEUE)),
        LINE(YIELDING, GROUPS_BUSY, ALWAYS, CANNOT_YIELD, LISTENING, END),

        /* `run`: its terminal becomes its keeper */
        LINE(OFFERED, ATTACH, ALWAYS, AS_IS, STARTING, DO(HAND_OVER)),
        STAYS(OFFERED, PLACED),
        LINE(OFFERED, PLACE_FAILED, IS_STOPPING, AS_IS, OFFERED, DO(NOTHING)),
        LINE(OFFERED, PLACE_FAILED, ALWAYS, GIVEN_UP, LISTENING, DO(SAY_NOT_STARTED), END),
        LINE(OFFERED, STOP, IS_ASKED_AGAIN, AS_IS, LOOKING, DO(ACKNOWLEDGE), DO(LOOK_VOID)),
        LINE(OFFERED, STOP, ALWAYS, IS_TO_END, OFFERED, DO(STORE_INTENT)),
        LINE(OFFERED, INTENT_STORED, ALWAYS, AS_IS, LOOKING, DO(LOOK_VOID)),

        /* Keeper, place and process, in whatever order */
        STAYS(STARTING, HANDED),
        LINE(STARTING, HAND_FAILED, ALWAYS, HAND_FAILED, LISTENING, END),
        LINE(STARTING, LAUNCHED, HAS_NO_GATE, AS_IS, DROPPED, DO(CLOSE_GATE)),
        LINE(STARTING, LAUNCHED, ALWAYS, AS_IS, STARTING, DO(PLACE)),
        LINE(STARTING, LAUNCH_FAILED, ALWAYS, NOT_STARTED, LOOKING, DO(CLOSE_GATE), DO(SAY_NOT_STARTED), DO(LOOK_VOID)),
        LINE(STARTING, PLACED, IS_TO_BE_DROPPED, AS_IS, DROPPED, DO(CLOSE_GATE)),
        LINE(STARTING, PLACED, IS_COMPLETE, AS_IS, STARTING, DO(VERIFY)),
        STAYS(STARTING, PLACED),
        LINE(STARTING, PLACE_FAILED, ALWAYS, NOT_STARTED, DROPPED, DO(CLOSE_GATE), DO(SAY_NOT_STARTED)),
        LINE(STARTING, READY, IS_TO_BE_DROPPED, AS_IS, DROPPED, DO(CLOSE_GATE)),
        LINE(STARTING, READY, IS_COMPLETE, AS_IS, STARTING, DO(VERIFY)),
        STAYS(STARTING, READY),
        LINE(STARTING, ADMITTED, IS_FOREGROUND, ADMITTED, PUBLISHING, DO(PUBLISH_RUN)),
        LINE(STARTING, ADMITTED, ALWAYS, ADMITTED, RELEASED, DO(SEND_GO), DO(ARM_SILENCE), DO(ARM_TIME_LIMIT)),
        LINE(STARTING, REFUSED, ALWAYS, AS_IS, DROPPED, DO(CLOSE_GATE)),
        STAYS(STARTING, STARTED),
        LINE(STARTING, OVER, ALWAYS, AS_IS, STARTING, DO(STAND_DOWN)),
        LINE(STARTING, ENDED, IS_FOREGROUND, AS_IS, STARTING, DO(COUNT)),
        LINE(STARTING, ENDED, ALWAYS, AS_IS, LOOKING, DO(LOOK)),
        LINE(STARTING, GATE_LOST, ALWAYS, AS_IS, DROPPED, DO(NOTHING)),
        LINE(STARTING, KEEPER_GONE, ALWAYS, AS_IS, LOOKING, DO(LOOK_VOID)),
        LINE(STARTING, STOP, IS_FOREGROUND_ASKED_AGAIN, AS_IS, DROPPED, DO(ACKNOWLEDGE), DO(CLOSE_GATE), DO(KILL_KEEPER)),
        LINE(STARTING, STOP, IS_ASKED_AGAIN, AS_IS, DROPPED, DO(ACKNOWLEDGE), DO(CLOSE_GATE)),
        LINE(STARTING, STOP, ALWAYS, IS_TO_END, STARTING, DO(STORE_INTENT)),
        LINE(STARTING, INTENT_STORED, IS_FOREGROUND, AS_IS, DROPPED, DO(CLOSE_GATE), DO(ARM_GRACE)),
        LINE(STARTING, INTENT_STORED, HAS_NO_PLACE, AS_IS, DROPPED, DO(CLOSE_GATE)),
        STAYS(STARTING, INTENT_STORED),

        LINE(PUBLISHING, FATE_RUN, HAS_KEEPER, AS_IS, RELEASED, DO(SEND_GO), DO(ARM_SILENCE), DO(ARM_TIME_LIMIT)),
        LINE(PUBLISHING, FATE_RUN, ALWAYS, AS_IS, LOOKING, DO(CLOSE_GATE), DO(LOOK_VOID)),
        LINE(PUBLISHING, FATE_VOID, HAS_KEEPER, AS_IS, DROPPED, DO(CLOSE_GATE)),
        LINE(PUBLISHING, FATE_VOID, ALWAYS, AS_IS, LOOKING, DO(CLOSE_GATE), DO(LOOK_VOID)),
        STAYS(PUBLISHING, READY),
        STAYS(PUBLISHING, STARTED),
        STAYS(PUBLISHING, OVER),
        LINE(PUBLISHING, ENDED, ALWAYS, AS_IS, PUBLISHING, DO(COUNT)),
        STAYS(PUBLISHING, GATE_LOST),
        STAYS(PUBLISHING, KEEPER_GONE),
        IS_SIGNALLED(PUBLISHING),

        LINE(RELEASED, GO_FAILED, ALWAYS, AS_IS, DROPPED, DO(CLOSE_GATE)),
        LINE(RELEASED, STARTED, IS_DOOMED, STARTED, RUNNING, DO(BEGIN_RUNNING), DO(TERM), DO(ARM_GRACE)),
        LINE(RELEASED, STARTED, ALWAYS, STARTED, RUNNING, DO(BEGIN_RUNNING), DO(ARM_TIME_LIMIT)),
        LINE(RELEASED, SILENCE, IS_STOPPING, AS_IS, RELEASED, DO(NOTHING)),
        LINE(RELEASED, SILENCE, IS_FOREGROUND, STARTED, RUNNING, DO(BEGIN_RUNNING), DO(ARM_TIME_LIMIT)),
        LINE(RELEASED, SILENCE, IS_ASIDE, HANGS, RELEASED, DO(CHANGED)),
        LINE(RELEASED, SILENCE, ALWAYS, AS_IS, RELEASED, DO(SET_ASIDE), DO(ARM_SILENCE)),
        STAYS(RELEASED, READY),
        LINE(RELEASED, OVER, ALWAYS, AS_IS, RELEASED, DO(STAND_DOWN)),
        LINE(RELEASED, ENDED, IS_FOREGROUND, AS_IS, RELEASED, DO(COUNT)),
        LINE(RELEASED, ENDED, ALWAYS, AS_IS, LOOKING, DO(LOOK)),
        STAYS(RELEASED, GATE_LOST),
        LINE(RELEASED, KEEPER_GONE, ALWAYS, AS_IS, LOOKING, DO(LOOK_VOID)),
        HAS_LIMIT(RELEASED),
        IS_SIGNALLED(RELEASED),

        /* It runs */
        STAYS(RUNNING, READY),
        STAYS(RUNNING, STARTED),
        LINE(RUNNING, OVER, ALWAYS, AS_IS, RUNNING, DO(STAND_DOWN)),
        LINE(RUNNING, ENDED, IS_FOREGROUND, AS_IS, RUNNING, DO(COUNT)),
        LINE(RUNNING, ENDED, ALWAYS, AS_IS, LOOKING, DO(LOOK)),
        STAYS(RUNNING, GATE_LOST),
        LINE(RUNNING, KEEPER_GONE, ALWAYS, AS_IS, LOOKING, DO(LOOK_VOID)),
        LINE(RUNNING, LEFT, ALWAYS, AS_IS, ASKING, DO(NOTHING)),
        LINE(RUNNING, FAIL, ALWAYS, FAILED, LISTENING, END),
        HAS_LIMIT(RUNNING),
        IS_SIGNALLED(RUNNING),
        /* (an adopted one: what systemd does takes a while, and others may do it, too) */
        LINE(RUNNING, FROZEN, HAS_NO_REASON, AS_IS, RUNNING, DO(THAW)),
        LINE(RUNNING, FROZEN, IS_SUSPENDED, AS_IS, RUNNING, DO(ANSWER)),
        LINE(RUNNING, THAWED, IS_NOT_SUSPENDED, AS_IS, RUNNING, DO(ANSWER)),
        LINE(RUNNING, FREEZE_DUE, IS_NOT_AS_IT_SHOULD_BE, AS_IS, RUNNING, DO(FREEZE)),
        STAYS(RUNNING, FREEZE_DUE),
        LINE(RUNNING, SEEN_FROZEN, ALWAYS, SUSPENDED, RUNNING, DO(PAUSE), DO(CHANGED)),
        LINE(RUNNING, SEEN_THAWED, IS_OVERRULED, OVERRULED, RUNNING, DO(PAUSE), DO(CHANGED), DO(UNSTORE_FREEZE)),
        LINE(RUNNING, SEEN_THAWED, ALWAYS, RESUMED, RUNNING, DO(PAUSE), DO(CHANGED)),
        MAY_FREEZE(RUNNING),

        LINE(ASKING, TOLD, ALWAYS, TOLD, LISTENING, END),
        LINE(ASKING, STOP, ALWAYS, AS_IS, ASKING, DO(ACKNOWLEDGE)),
        STAYS(ASKING, INTENT_STORED),
        LINE(ASKING, FREEZE_STORED, ALWAYS, FROZEN_FOR, ASKING, DO(ANSWER)),
        LINE(ASKING, FREEZE_UNSTORED, ALWAYS, AS_IS, ASKING, DO(ANSWER)),

        /* It won't run any more: until its keeper has gone */
        STAYS(DROPPED, LAUNCHED),
        LINE(DROPPED, LAUNCH_FAILED, ALWAYS, NOT_STARTED, LOOKING, DO(SAY_NOT_STARTED), DO(LOOK_VOID)),
        STAYS(DROPPED, PLACED),
        LINE(DROPPED, PLACE_FAILED, ALWAYS, NOT_STARTED, DROPPED, DO(SAY_NOT_STARTED)),
        LINE(DROPPED, KEEPER_GONE, ALWAYS, AS_IS, LOOKING, DO(LOOK_VOID)),
        LINE(DROPPED, STOP, IS_ASKED_AGAIN, AS_IS, DROPPED, DO(ACKNOWLEDGE), DO(KILL_KEEPER)),
        LINE(DROPPED, STOP, ALWAYS, IS_TO_END, DROPPED, DO(STORE_INTENT)),
        LINE(DROPPED, INTENT_STORED, IS_FOREGROUND, AS_IS, DROPPED, DO(ARM_GRACE)),
        STAYS(DROPPED, INTENT_STORED),
        LINE(DROPPED, GRACE_OVER, ALWAYS, AS_IS, DROPPED, DO(KILL_KEEPER)),
        LINE(DROPPED, KEEPER_LATE, ALWAYS, AS_IS, DROPPED, DO(KILL_KEEPER)),

        /* What has become of it */
        LINE(LOOKING, LOOKED, FOUND_NOTHING, AS_IS, LOOKING, DO(SAY_UNREADABLE), DO(ARM_LOOK)),
        LINE(LOOKING, LOOKED, FOUND_RECORD, LINGERS, LINGERING, DO(REFREEZE), DO(CHECK_GROUPS)),
        LINE(LOOKING, LOOKED, FOUND_LOST, LINGERS, LINGERING, DO(SAY_KEEPER_LOST), DO(REFREEZE), DO(CHECK_GROUPS)),
        LINE(LOOKING, LOOKED, FOUND_RUNNING, FOUND_FROZEN, LOOKING, DO(FOLLOW)),
        LINE(LOOKING, LOOKED, FOUND_NEVER_RAN, NEVER_RAN, LISTENING, END),
        LINE(LOOKING, LOOK_DUE, ALWAYS, AS_IS, LOOKING, DO(LOOK_VOID)),
        LINE(LOOKING, FOLLOWED, IS_DOOMED_AT_START, FOLLOWED, RUNNING, DO(CHANGED), DO(REFREEZE), DO(TAKE_UP), DO(TERM), DO(ARM_GRACE)),
        LINE(LOOKING, FOLLOWED, IS_DOOMED, FOLLOWED, RUNNING, DO(REFREEZE), DO(TAKE_UP), DO(TERM), DO(ARM_GRACE)),
        LINE(LOOKING, FOLLOWED, IS_TOLD_OTHERWISE, FOLLOWED, RUNNING, DO(REFREEZE), DO(CHANGED), DO(TAKE_UP), DO(ARM_TIME_LIMIT)),
        LINE(LOOKING, FOLLOWED, ALWAYS, FOLLOWED, RUNNING, DO(REFREEZE), DO(TAKE_UP), DO(ARM_TIME_LIMIT)),
        LINE(LOOKING, FOLLOW_GONE, ALWAYS, AS_IS, LOOKING, DO(LOOK)),
        LINE(LOOKING, FOLLOW_FAILED, ALWAYS, AS_IS, LOOKING, DO(ARM_LOOK)),
        LINE(LOOKING, STARTED, WAS_RELEASED, STARTED, LOOKING, DO(BEGIN_RUNNING)),
        STAYS(LOOKING, STARTED),
        STAYS(LOOKING, READY),
        LINE(LOOKING, OVER, ALWAYS, AS_IS, LOOKING, DO(STAND_DOWN)),
        LINE(LOOKING, ENDED, IS_FOREGROUND, AS_IS, LOOKING, DO(COUNT)),
        STAYS(LOOKING, ENDED),
        STAYS(LOOKING, GATE_LOST),
        STAYS(LOOKING, KEEPER_GONE),
        STAYS(LOOKING, LAUNCHED),
        STAYS(LOOKING, LAUNCH_FAILED),
        STAYS(LOOKING, PLACED),
        LINE(LOOKING, PLACE_FAILED, ALWAYS, NOT_STARTED, LOOKING, DO(SAY_NOT_STARTED)),
        LINE(LOOKING, INTENT_STORED, IS_AT_START, AS_IS, LOOKING, DO(NOTHING)),
        HAS_LIMIT(LOOKING),
        IS_SIGNALLED(LOOKING),
        MAY_FREEZE(LOOKING),

        LINE(LINGERING, EMPTY, ALWAYS, CONCLUDED, LISTENING, END),
        STAYS(LINGERING, READY),
        STAYS(LINGERING, STARTED),
        LINE(LINGERING, OVER, ALWAYS, AS_IS, LINGERING, DO(STAND_DOWN)),
        LINE(LINGERING, ENDED, IS_FOREGROUND, AS_IS, LINGERING, DO(COUNT)),
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
        LINE(LISTENING, LAST_WORDS, ALWAYS, AS_IS, ENDING, DO(STORE_END)),
        STAYS(LISTENING, KEEPER_GONE),
        IS_CLOSING(LISTENING),
        MAY_HOLD(LISTENING),
        STORED_LATE(LISTENING),
        KEEPER_SAYS(LISTENING),

        LINE(ENDING, END_STORED, CAN_GO_BACK_NOW, AS_IS, CLEARING, DO(SAY_STORED), DO(ANNOUNCE), DO(CLOSE_GATE), DO(DROP_GROUPS)),
        LINE(ENDING, END_STORED, GOES_BACK, AS_IS, CLEARING, DO(SAY_STORED), DO(ANNOUNCE)),
        LINE(ENDING, END_STORED, CAN_GO_NOW, AS_IS, CLEARING, DO(SAY_STORED), DO(ANNOUNCE), DO(TELL_END), DO(CLOSE_GATE), DO(DROP_GROUPS)),
        LINE(ENDING, END_STORED, ALWAYS, AS_IS, CLEARING, DO(SAY_STORED), DO(ANNOUNCE), DO(TELL_END)),
        LINE(ENDING, END_UNSTORED, ALWAYS, AS_IS, ENDING, DO(SAY_UNSTORED), DO(ARM_STORE)),
        LINE(ENDING, STORE_DUE, ALWAYS, AS_IS, ENDING, DO(STORE_END)),
        STAYS(ENDING, KEEPER_GONE),
        IS_CLOSING(ENDING),
        MAY_HOLD(ENDING),
        STORED_LATE(ENDING),
        KEEPER_SAYS(ENDING),

        LINE(CLEARING, KEEPER_GONE, ALWAYS, AS_IS, CLEARING, DO(CLOSE_GATE), DO(DROP_GROUPS)),
        LINE(CLEARING, GROUPS_BUSY, ALWAYS, AS_IS, CLEARING, DO(KILL_GROUPS), DO(ARM_CLEAR)),
        LINE(CLEARING, CLEAR_DUE, ALWAYS, AS_IS, CLEARING, DO(DROP_GROUPS)),
        LINE(CLEARING, GROUPS_GONE, GOES_BACK_CANCELLED, KILLED_AFTER_ALL, LISTENING, END),
        LINE(CLEARING, GROUPS_GONE, GOES_BACK, RELEASED, WAITING, DO(ENQUEUE)),
        LINE(CLEARING, GROUPS_GONE, ALWAYS, AS_IS, GONE, DO(FREE)),
        IS_CLOSING(CLEARING),
        MAY_HOLD(CLEARING),
        LINE(CLEARING, HOLD_STORED, ALWAYS, HELD_IN_QUEUE, CLEARING, DO(ANNOUNCE), DO(ANSWER)),
        LINE(CLEARING, HOLD_UNSTORED, ALWAYS, AS_IS, CLEARING, DO(ANSWER)),
};
/* clang-format on */

const size_t sg_life_n_rules = SG_ELEMENTSOF(sg_life_rules);
