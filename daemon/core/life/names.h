/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The vocabulary of a job's life (life.h): what can happen, and what is to be done. */

#define SG_LIFE_EVENTS(X)                                                                          \
        X(STORED)      /* its submission is durable */                                             \
        X(MET_QUEUED)  /* found in the store by a daemon that comes back … */                    \
        X(MET_LIVE)    /* … as one that isn't only queued */                                     \
        X(MET_ADOPTED) /* … as one that somebody else runs */                                    \
        X(TURN)        /* the queue names it */                                                    \
        X(FAIL)        /* it can't start any more: `state`, the reason is in its row */            \
        X(GROUPS_MADE)                                                                             \
        X(GROUPS_FAILED) /* `what`, `error`, `why` */                                              \
        X(GROUPS_GONE)                                                                             \
        X(GROUPS_BUSY) /* something lives in them */                                               \
        X(START_STORED)                                                                            \
        X(START_UNSTORED) /* `error` */                                                            \
        X(ATTACH)         /* its terminal comes for it */                                          \
        X(HANDED)         /* … and is its keeper now */                                          \
        X(HAND_FAILED)    /* `error` */                                                            \
        X(LAUNCHED)       /* its keeper is there, and watched */                                   \
        X(LAUNCH_FAILED)  /* `what`, `error` */                                                    \
        X(PLACED)         /* its groups are there */                                               \
        X(PLACE_FAILED)   /* `what`, `error`, `why` */                                             \
        X(READY)          /* its process waits */                                                  \
        X(ADMITTED)       /* … and is where it should be: `pid` */                               \
        X(REFUSED)                                                                                 \
        X(FATE_RUN)  /* published by us */                                                         \
        X(FATE_VOID) /* … or not */                                                              \
        X(GO_FAILED)                                                                               \
        X(STARTED)   /* its keeper says so, or the job itself has reported */                      \
        X(SILENCE)   /* its keeper has said nothing for too long */                                \
        X(OVER)      /* nothing of it lives, as its keeper says */                                 \
        X(ENDED)     /* its record is durable, as its keeper says */                               \
        X(GATE_LOST) /* the gate is closed */                                                      \
        X(KEEPER_GONE)                                                                             \
        X(LOOKED) /* at its directory: `finding`, `reasons` */                                     \
        X(LOOK_DUE)                                                                                \
        X(FOLLOWED)    /* it runs, and is watched from now on: `pid` */                            \
        X(FOLLOW_GONE) /* its keeper has just gone */                                              \
        X(FOLLOW_FAILED)                                                                           \
        X(EMPTY)      /* nothing lives in its groups: `end` */                                     \
        X(LEFT)       /* an adopted one's group is empty or gone */                                \
        X(TOLD)       /* how it ended, in its row */                                               \
        X(LAST_WORDS) /* what it said last has been read, or isn't waited for any more */          \
        X(END_STORED)                                                                              \
        X(END_UNSTORED) /* `error` */                                                              \
        X(STORE_DUE)                                                                               \
        X(CLEAR_DUE)                                                                               \
        X(STOP) /* somebody wants it to end: `intent`, `why` or NULL */                            \
        X(INTENT_STORED)                                                                           \
        X(TIME_LIMIT) /* `why` */                                                                  \
        X(GRACE_OVER)                                                                              \
        X(HOLD)        /* in the queue, or no more: `on`, `asker` */                               \
        X(HOLD_STORED) /* … with the time of the request: `asked_usec` */                        \
        X(HOLD_UNSTORED)                                                                           \
        X(FREEZE) /* for `reasons`, or no more for these: `on`, `asker` */                         \
        X(FREEZE_STORED)                                                                           \
        X(FREEZE_UNSTORED) /* `error` */                                                           \
        X(FROZEN)                                                                                  \
        X(THAWED)                                                                                  \
        X(FREEZE_FAILED) /* or to thaw it: `error`, `why` */                                       \
        X(SEEN_FROZEN)   /* an adopted job is frozen, by whomever */                               \
        X(FREEZE_DUE) /* systemd couldn't be reached when it was to freeze an adopted one again */ \
        X(SEEN_THAWED)                                                                             \
        X(KEEPER_LATE) /* its job is dead, and it is still there */

#define SG_LIFE_ACTIONS(X)                                                                         \
        X(ANNOUNCE, announce) /* tell who has subscribed */                                        \
        X(AWAIT, await)       /* begin to wait for what it depends on, then into the queue */      \
        X(ENQUEUE, enqueue)                                                                        \
        X(LEAVE_QUEUE, leave_queue)                                                                \
        X(TAKE_PLACE, take_place)   /* in the queue, as one that runs */                           \
        X(MAKE_GROUPS, make_groups) /* → GROUPS_MADE, _SHORT, _FAILED */                         \
        X(FIND_GROUPS, find_groups)                                                                \
        X(DROP_GROUPS, drop_groups) /* → GROUPS_GONE, _BUSY */                                   \
        X(KILL_GROUPS, kill_groups)                                                                \
        X(PAUSE_STARTS, pause_starts) /* the node is short of something */                         \
        X(STORE_START, store_start)   /* → START_STORED, _UNSTORED */                            \
        X(SAY_STORED, say_stored)                                                                  \
        X(SAY_UNSTORED, say_unstored)                                                              \
        X(SAY_NOT_STARTED, say_not_started)                                                        \
        X(PUBLISH, publish)         /* its allocation */                                           \
        X(OFFER, offer)             /* → ATTACH, when its terminal comes */                      \
        X(HAND_OVER, hand_over)     /* → HANDED, HAND_FAILED */                                  \
        X(LAUNCH, launch)           /* its keeper → LAUNCHED, LAUNCH_FAILED */                   \
        X(PLACE, place)             /* → PLACED, PLACE_FAILED */                                 \
        X(VERIFY, verify)           /* → ADMITTED, REFUSED */                                    \
        X(PUBLISH_RUN, publish_run) /* → FATE_RUN, FATE_VOID */                                  \
        X(SEND_GO, send_go)         /* → GO_FAILED, if it can't be sent */                       \
        X(CLOSE_GATE, close_gate)                                                                  \
        X(COUNT, count)                 /* its counters, before its groups go */                   \
        X(SET_ASIDE, set_aside)         /* it counts for its own user alone */                     \
        X(BEGIN_RUNNING, begin_running) /* measure, govern, log */                                 \
        X(FOLLOW, follow)               /* → FOLLOWED, FOLLOW_GONE, FOLLOW_FAILED */             \
        X(TAKE_UP, take_up)             /* measure and govern it again */                          \
        X(CHANGED, changed)             /* its row: store it as a hint, and announce it */         \
        X(STAND_DOWN, stand_down)       /* others have its share from now on */                    \
        X(LOOK, look)                   /* at its directory → LOOKED */                          \
        X(LOOK_VOID, look_void)         /* … and see to it that it doesn't run any more */       \
        X(SAY_UNREADABLE, say_unreadable)                                                          \
        X(SAY_KEEPER_LOST, say_keeper_lost)                                                        \
        X(CHECK_GROUPS, check_groups) /* → EMPTY, when nothing lives in them */                  \
        X(STORE_INTENT, store_intent) /* → INTENT_STORED */                                      \
        X(ACKNOWLEDGE, acknowledge)   /* who wanted it to end */                                   \
        X(WARN, warn)                 /* its terminal, that its time is over */                    \
        X(TERM, term)                 /* and thaw it, if it is suspended */                        \
        X(KILL, kill)                 /* the same */                                               \
        X(KILL_KEEPER, kill_keeper)                                                                \
        X(KEEP_BACK, keep_back)       /* out of the queue until it is known whether it is held */  \
        X(STORE_HOLD, store_hold)     /* → HOLD_STORED, _UNSTORED */                             \
        X(STORE_FREEZE, store_freeze) /* → FREEZE_STORED, _UNSTORED */                           \
        X(UNSTORE_FREEZE,                                                                          \
          unstore_freeze)     /* it isn't frozen for these after all: the same results */          \
        X(FREEZE, freeze)     /* → FROZEN, FREEZE_FAILED */                                      \
        X(THAW, thaw)         /* → THAWED, FREEZE_FAILED */                                      \
        X(REFREEZE, refreeze) /* or thaw it, as its row says */                                    \
        X(PAUSE, pause) /* stop measuring and governing it, or go on with that, as its row says */ \
        X(ANSWER, answer)       /* who asked */                                                    \
        X(WIND_UP, wind_up)     /* out of the queue; nobody governs or watches it */               \
        X(LISTEN, listen)       /* → LAST_WORDS */                                               \
        X(STORE_END, store_end) /* → END_STORED, _UNSTORED */                                    \
        X(TELL_END, tell_end)   /* who waits for it */                                             \
        X(ARM_TIME_LIMIT, arm_time_limit)                                                          \
        X(ARM_GRACE, arm_grace)                                                                    \
        X(ARM_KEEPER, arm_keeper)                                                                  \
        X(ARM_SILENCE, arm_silence)                                                                \
        X(ARM_LOOK, arm_look)                                                                      \
        X(ARM_STORE, arm_store)                                                                    \
        X(ARM_CLEAR, arm_clear)                                                                    \
        X(FREE, free)

#define SG_LIFE_EVENT(name) SG_LIFE_E_##name,
enum sg_life_event_kind { SG_LIFE_E_NONE, SG_LIFE_EVENTS(SG_LIFE_EVENT) _SG_LIFE_EVENT_MAX };

#define SG_LIFE_ACTION(name, text) SG_LIFE_DO_##name,
enum sg_life_action { SG_LIFE_DO_NOTHING, SG_LIFE_ACTIONS(SG_LIFE_ACTION) _SG_LIFE_ACTION_MAX };

const char *sg_life_event_to_string(enum sg_life_event_kind kind); /* "START_STORED" */
const char *sg_life_action_to_string(enum sg_life_action action);
