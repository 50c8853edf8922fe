/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The life of a job, from its submission until nothing of it is left. It is a machine: what happens
 * to the job comes in as an event, the row changes, and what has to be done comes out as actions,
 * which the caller carries out in their order. The table in table.c has all of it.
 *
 *     new → waiting → beginning → starting → released → running → looking → lingering
 *              ↑                                                                ↓
 *              └─────────────────── clearing ← ending ← listening ←─────────────┘
 *                                      ↓
 *                                     gone
 *
 * `offered` and `publishing` are of `schedctl run`, `asking` (between running and listening) of
 * adopted jobs. A daemon that comes back has the same machine begin in `looking`.
 *
 * That it is held or frozen is stored before it is so. The reasons for which it is frozen
 * (core/job/freeze.h) are what counts, also when a daemon comes back: not whether its group is.
 * Only an adopted job, which others may freeze as well, is suspended without a reason of ours.
 *
 * It decides; it has no clock and does nothing. Of two results that one action can have, only one
 * comes; results may come at once or later.
 */

#include "core/job/freeze.h"
#include "core/job/job.h"
#include "core/life/fate.h"
#include "core/life/names.h"
#include "core/life/states.h"

/* Why a job of `run` ended before its start: Ctrl-C, the end of its terminal, or a governor that
 * was away for too long. */
#define SG_LIFE_RUNNER_GONE "its schedctl run went away before it started"

/* It was let go, and its program hasn't begun. */
#define SG_LIFE_HANGS                                                                              \
        "its start hangs: its working directory, its output or its program doesn't open"

/* Where it stands, and what of its attempt is there. */
struct sg_life {
        enum sg_life_state state;
        bool keeper;   /* its shim is known, and watched */
        bool placed;   /* its groups are there */
        bool ready;    /* its process waits to become the job */
        bool gate;     /* is open */
        bool released; /* GO was sent */
        bool aside;    /* … and its program takes its time to begin */
        bool doomed;   /* that it is to end is durable */
        bool killed;   /* SIGKILL was sent */
        bool again;    /* after this end it goes back to the queue */
        bool met;      /* found by a daemon that came back and doesn't know yet what became of it */
        bool may_pass; /* the obstacle that kept it from starting */
        bool graceless;         /* jobs aren't given time to end: set by the caller */
        unsigned asked;         /* requests to hold or to freeze it that aren't answered yet */
        unsigned failed_starts; /* starts in a row whose keeper never got as far as the gate */
};

/* Only what belongs to its kind is set; all is borrowed. */
struct sg_life_event {
        enum sg_life_event_kind kind;
        uint64_t now_usec; /* CLOCK_REALTIME */
        int error;
        const char *what, *why; /* "make its groups"; in words, NULL = as strerror(3) has it */
        pid_t pid;
        enum sg_job_state state;
        enum sg_job_intent intent;
        const char *boot_id;
        enum sg_finding finding;
        bool on;
        uint64_t reasons; /* enum sg_freeze */
        uint64_t asked_usec;
        void *asker;      /* who is to be answered: passed on, not looked into; NULL = nobody */
        struct sg_who by; /* who asked for it */
        struct sg_end end;
};

#define SG_LIFE_ACTIONS_MAX 8
struct sg_life_plan {
        enum sg_life_action actions[SG_LIFE_ACTIONS_MAX];
        unsigned n;
};

/* 0; -ENOTSUP, and nothing has changed: that can't happen in this state. */
int sg_life_step(struct sg_life *life, struct sg_job *row, const struct sg_life_event *e,
                 struct sg_life_plan *ret);

/* One timer for each purpose. Timers that the state has no use for are off. */
enum sg_life_timer {
        SG_LIFE_TIMER_TIME_LIMIT,
        SG_LIFE_TIMER_GRACE,
        SG_LIFE_TIMER_KEEPER,
        SG_LIFE_TIMER_SILENCE,
        SG_LIFE_TIMER_LOOK,
        SG_LIFE_TIMER_STORE,
        SG_LIFE_TIMER_CLEAR,
        _SG_LIFE_TIMER_MAX,
};
unsigned sg_life_timers(enum sg_life_state state); /* a bit for each timer that may be on */

/* Others may see the job. */
static inline bool sg_life_is_shown(const struct sg_life *life)
{
        return life->state != SG_LIFE_NEW;
}

/* How the attempt ended is settled, as far as that is possible; it isn't signalled any more. */
static inline bool sg_life_is_settled(const struct sg_life *life)
{
        return life->state >= SG_LIFE_LINGERING;
}

/* Its row, which says how it ended or that it is queued again, is on its way to the disk. */
static inline bool sg_life_is_closing(const struct sg_life *life)
{
        return life->state >= SG_LIFE_LISTENING;
}

/* If its gate is closed, its keeper may come back and bring another one. */
static inline bool sg_life_may_come_back(const struct sg_life *life)
{
        return life->state == SG_LIFE_RELEASED || life->state == SG_LIFE_RUNNING ||
               life->state == SG_LIFE_LOOKING || life->state == SG_LIFE_LINGERING;
}

/* For its user it is over. */
static inline bool sg_life_has_ended(const struct sg_life *life)
{
        return sg_life_is_closing(life) && !life->again;
}

static inline bool sg_life_end_is_asked(const struct sg_life *life)
{
        return life->state >= SG_LIFE_ENDING && !life->again;
}

static inline bool sg_life_end_is_stored(const struct sg_life *life)
{
        return life->state >= SG_LIFE_CLEARING && !life->again;
}

/* Whether HOLD or FREEZE may be sent to it now. HOLD: while it is queued. FREEZE: while it runs,
 * unless it is as asked for already and no other request is under way; a job that is to end isn't
 * frozen any more. */
bool sg_life_may_hold(const struct sg_life *life, const struct sg_job *row);
bool sg_life_may_freeze(const struct sg_life *life, const struct sg_job *row, uint64_t reasons,
                        bool on);

/* A background job on its way from the queue to GO. The number of these is bounded. What comes
 * after GO isn't counted, as it is up to the user: opening the output may take forever. */
bool sg_life_is_starting(const struct sg_life *life, const struct sg_job *row);
