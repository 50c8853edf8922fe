/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A job that is told what happens. The machine is the real one; its actions, the store and the
 * event loop are played here. */

#include <setjmp.h>
#include <stdlib.h>

#define sg_store_update fake_store_update
#define sg_life_step watched_life_step
#define sd_event_add_time_relative fake_add_time_relative
#define sd_event_source_disable_unref fake_disable_unref
#define abort fake_abort
void fake_abort(void);
#include "jobs/tell.c"
#undef sg_life_step

#include "tests/unit/test.h"

int sg_life_step(struct sg_life *life, struct sg_job *row, const struct sg_life_event *e,
                 struct sg_life_plan *ret);

#define LIMIT_USEC (60 * SG_USEC_PER_SEC)
#define GRACE_USEC (7 * SG_USEC_PER_SEC)

static struct {
        struct sg_manager manager;
        struct sg_jobs jobs;
        struct sg_settings settings;
        struct sg_live job;
        char log[512]; /* EVENTS and actions, as they came */
        void (*during[_SG_LIFE_ACTION_MAX])(struct sg_live *l); /* what else an action does */
        struct timer {
                clockid_t clock;
                uint64_t delay_usec;
                sd_event_time_handler_t handler; /* NULL = off */
        } timers[_SG_LIFE_TIMER_MAX];
        int timer_error;
        unsigned schedules, changes, stored, aborts;
        bool freed;
        jmp_buf *aborted;
} w;

static void note(const char *what)
{
        size_t n = strlen(w.log);

        (void)snprintf(w.log + n, sizeof(w.log) - n, "%s%s", n > 0 ? " " : "", what);
}

static inline void assert_log(const char *expected)
{
        assert_string_equal(w.log, expected);
        w.log[0] = 0;
}

/* What is played */

int watched_life_step(struct sg_life *life, struct sg_job *row, const struct sg_life_event *e,
                      struct sg_life_plan *ret)
{
        assert_false(w.freed);
        assert_true(e->now_usec > 0);
        assert_string_equal(e->boot_id, "boot");
        note(sg_life_event_to_string(e->kind));
        return sg_life_step(life, row, e, ret);
}

static void play(struct sg_live *l, enum sg_life_action action)
{
        assert_false(w.freed);
        note(sg_life_action_to_string(action));
        if (w.during[action])
                w.during[action](l);
}

/* All but those of tell.c itself. */
#define PLAYED(X)                                                                                  \
        X(KEEP_BACK, keep_back)                                                                    \
        X(STORE_HOLD, store_hold)                                                                  \
        X(STORE_FREEZE, store_freeze)                                                              \
        X(UNSTORE_FREEZE, unstore_freeze)                                                          \
        X(FREEZE, freeze)                                                                          \
        X(THAW, thaw)                                                                              \
        X(REFREEZE, refreeze)                                                                      \
        X(PAUSE, pause)                                                                            \
        X(ANSWER, answer)                                                                          \
        X(AWAIT, await)                                                                            \
        X(ENQUEUE, enqueue)                                                                        \
        X(LEAVE_QUEUE, leave_queue)                                                                \
        X(TAKE_PLACE, take_place)                                                                  \
        X(MAKE_GROUPS, make_groups)                                                                \
        X(FIND_GROUPS, find_groups)                                                                \
        X(DROP_GROUPS, drop_groups)                                                                \
        X(KILL_GROUPS, kill_groups)                                                                \
        X(PAUSE_STARTS, pause_starts)                                                              \
        X(STORE_START, store_start)                                                                \
        X(SAY_STORED, say_stored)                                                                  \
        X(SAY_UNSTORED, say_unstored)                                                              \
        X(SAY_NOT_STARTED, say_not_started)                                                        \
        X(PUBLISH, publish)                                                                        \
        X(OFFER, offer)                                                                            \
        X(HAND_OVER, hand_over)                                                                    \
        X(LAUNCH, launch)                                                                          \
        X(PLACE, place)                                                                            \
        X(VERIFY, verify)                                                                          \
        X(PUBLISH_RUN, publish_run)                                                                \
        X(SEND_GO, send_go)                                                                        \
        X(CLOSE_GATE, close_gate)                                                                  \
        X(COUNT, count)                                                                            \
        X(SET_ASIDE, set_aside)                                                                    \
        X(BEGIN_RUNNING, begin_running)                                                            \
        X(FOLLOW, follow)                                                                          \
        X(TAKE_UP, take_up)                                                                        \
        X(STAND_DOWN, stand_down)                                                                  \
        X(LOOK, look)                                                                              \
        X(LOOK_VOID, look_void)                                                                    \
        X(SAY_UNREADABLE, say_unreadable)                                                          \
        X(SAY_KEEPER_LOST, say_keeper_lost)                                                        \
        X(CHECK_GROUPS, check_groups)                                                              \
        X(STORE_INTENT, store_intent)                                                              \
        X(ACKNOWLEDGE, acknowledge)                                                                \
        X(WARN, warn)                                                                              \
        X(TERM, term)                                                                              \
        X(KILL, kill)                                                                              \
        X(KILL_KEEPER, kill_keeper)                                                                \
        X(WIND_UP, wind_up)                                                                        \
        X(LISTEN, listen)                                                                          \
        X(STORE_END, store_end)                                                                    \
        X(TELL_END, tell_end)
#define PLAY(name, text)                                                                           \
        void sg_do_##text(struct sg_live *l)                                                       \
        {                                                                                          \
                play(l, SG_LIFE_DO_##name);                                                        \
        }
PLAYED(PLAY)

void sg_do_free(struct sg_live *l)
{
        play(l, SG_LIFE_DO_FREE);
        w.freed = true;
        sg_job_deinit(&l->job);
        memset(l, 0xdb, sizeof(*l));
}
