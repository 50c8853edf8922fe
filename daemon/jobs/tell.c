/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From an event to what has to be done: asks the machine (core/life/life.h) and carries out its
 * actions in their order. Events that come meanwhile wait until these are done.
 */
#include "base/cleanup.h"
#include "base/format.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "jobs/internal.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_USEC (1ULL * SG_USEC_PER_SEC)
/* How long a keeper of the foreground may live on after its job has died. */
#define KEEPER_USEC (10 * SG_USEC_PER_SEC)
/* How long STARTED may take after GO. In the foreground there is only an exec(2) between them. In
 * the background a disk has to write the fate and to open the files that the user named: after
 * ASIDE_USEC other jobs don't wait for its place any more, … */
#define SILENCE_USEC (5 * SG_USEC_PER_SEC)
#define ASIDE_USEC (200 * SG_USEC_PER_MSEC)
/* … and then it is called a start that hangs. */
#define HANGS_USEC (10 * SG_USEC_PER_SEC)

/* Few events wait at a time: an action has one result, and other calls come back at once only with
 * errors. */
#define INBOX_MAX 8

struct sg_inbox {
        struct sg_life_event now, events[INBOX_MAX];
        unsigned n;
        char why[512]; /* of the event at hand */
};

#define DO_ENTRY(name, text) [SG_LIFE_DO_##name] = sg_do_##text,
static void (*const carry_out[])(struct sg_live *l) = {SG_LIFE_ACTIONS(DO_ENTRY)};

static void put(struct sg_inbox *inbox, const struct sg_life_event *e, unsigned at)
{
        if (inbox->n == INBOX_MAX)
                abort(); /* a cycle in the table */
        memmove(&inbox->events[at + 1], &inbox->events[at],
                (inbox->n - at) * sizeof(inbox->events[0]));
        inbox->events[at] = *e;
        inbox->n++;
}

static void take(struct sg_inbox *inbox)
{
        inbox->now = inbox->events[0];
        inbox->n--;
        memmove(&inbox->events[0], &inbox->events[1], inbox->n * sizeof(inbox->events[0]));
}

const struct sg_life_event *sg_live_event(const struct sg_live *l)
{
        return &l->inbox->now;
}

void sg_live_result(struct sg_live *l, const struct sg_life_event *e)
{
        struct sg_inbox *inbox = l->inbox;

        put(inbox, e, 0);
        if (!e->why)
                return;
        (void)snprintf(inbox->why, sizeof(inbox->why), "%s", e->why);
        inbox->events[0].why = inbox->why;
}

void sg_live_stop_timers(struct sg_live *l, unsigned but)
{
        bool any = false;

        if (!l->timers)
                return;
        for (unsigned t = 0; t < _SG_LIFE_TIMER_MAX; t++) {
                if (!(but & (1U << t)))
                        l->timers[t] = sd_event_source_disable_unref(l->timers[t]);
                any |= l->timers[t] != NULL;
        }
        if (!any)
                free(TAKE_PTR(l->timers));
}

/* After a step: stops timers for which the new state has no use, and counts the job where it counts
 * now. */
static void settle(struct sg_live *l, bool was_starting, bool was_met)
{
        struct sg_jobs *jobs = l->manager->jobs;
        bool starting = sg_life_is_starting(&l->life, &l->job);

        sg_live_stop_timers(l, sg_life_timers(l->life.state));
        jobs->n_starting += (uint64_t)starting - was_starting;
        if (was_starting && !starting)
                sg_manager_schedule(l->manager);
        if (was_met == l->life.met)
                return;
        jobs->n_recovering += (uint64_t)l->life.met - was_met;
        if (jobs->n_recovering == 0)
                sg_manager_schedule(l->manager);
}

static void impossible(const struct sg_live *l, const struct sg_life_event *e)
{
        sg_log(LOG_CRIT, "job %" PRIu64 ": %s while it is %s: this is a bug in schedgovd; ignoring",
               l->job.key.n, sg_life_event_to_string(e->kind),
               sg_life_state_to_string(l->life.state));
#ifdef SG_FAULTS
        abort();
#endif
}

/* false: the job has been freed. */
static bool handle(struct sg_live *l, struct sg_life_event *e)
{
        bool was_starting = sg_life_is_starting(&l->life, &l->job), was_met = l->life.met;
        struct sg_life_plan plan;

        e->now_usec = sg_now_realtime_usec();
        e->boot_id = l->manager->node.boot_id;
        l->life.graceless = l->manager->settings->kill_grace_usec == 0;
        if (sg_life_step(&l->life, &l->job, e, &plan) < 0) {
                impossible(l, e);
                return true;
        }
        settle(l, was_starting, was_met);
        for (unsigned i = 0; i < plan.n; i++) {
                carry_out[plan.actions[i]](l);
                if (plan.actions[i] == SG_LIFE_DO_FREE)
                        return false;
        }
        return true;
}

void sg_live_tell(struct sg_live *l, const struct sg_life_event *e)
{
        struct sg_inbox inbox = {.n = 0};

        if (l->inbox) {
                put(l->inbox, e, l->inbox->n);
                l->inbox->events[l->inbox->n - 1].why = NULL; /* borrowed, for the call only */
                return;
        }
        l->inbox = &inbox; // cppcheck-suppress autoVariables; until this returns, or it is freed
        put(&inbox, e, 0);
        while (inbox.n > 0) {
                take(&inbox);
                if (!handle(l, &inbox.now))
                        return;
        }
        l->inbox = NULL;
}

void sg_live_stop(struct sg_live *l, struct sg_who by, enum sg_job_intent intent,
                  const char *reason)
{
        sg_live_tell(l, &(struct sg_life_event){
                                .kind = SG_LIFE_E_STOP, .by = by, .intent = intent, .why = reason});
}

void sg_live_speaks(struct sg_live *l)
{
        if (l->life.released)
                sg_live_tell_kind(l, SG_LIFE_E_STARTED);
}

void sg_do_changed(struct sg_live *l)
{
        l->job.changed_usec = sg_now_realtime_usec();
        sg_store_update(l->manager->store, &l->job, NULL, NULL);
        l->manager->jobs->calls->changed(l->manager, &l->job);
}

void sg_live_changed(struct sg_live *l)
{
        l->job.changed_by = (struct sg_who){0};
        sg_do_changed(l);
}

char *sg_held_text(const struct sg_job *row, const struct sg_life_event *e,
                   char buf[SG_HELD_TEXT_MAX])
{
        char name[SG_USER_NAME_MAX];

        (void)snprintf(buf, SG_HELD_TEXT_MAX, "%s by %s", e->on ? "held" : "released",
                       sg_job_who(row, &e->by, name) ?: "nobody");
        return buf;
}

static void announce_held(const struct sg_live *l, const struct sg_life_event *e)
{
        struct sg_job row = l->job; /* borrows the strings */
        char held[SG_HELD_TEXT_MAX];

        row.reason = sg_held_text(&row, e, held);
        l->manager->jobs->calls->changed(l->manager, &row);
}

void sg_do_announce(struct sg_live *l)
{
        if (sg_live_event(l)->kind == SG_LIFE_E_HOLD_STORED)
                announce_held(l, sg_live_event(l));
        else
                l->manager->jobs->calls->changed(l->manager, &l->job);
}

/* Timers */

static void arm(struct sg_live *l, enum sg_life_timer timer, clockid_t clock, uint64_t delay_usec,
                sd_event_time_handler_t handler)
{
        int r = 0;

        l->timers = l->timers ?: calloc(_SG_LIFE_TIMER_MAX, sizeof(sd_event_source *));
        if (!l->timers)
                r = -ENOMEM;
        else
                l->timers[timer] = sd_event_source_disable_unref(l->timers[timer]);
        if (r >= 0)
                r = sd_event_add_time_relative(l->manager->event, &l->timers[timer], clock,
                                               delay_usec, 0, handler, l);
        if (r < 0)
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot set a timer: %s", l->job.key.n,
                       strerror(-r));
}

#define TIMER(text, name, event, usec)                                                             \
        static int on_##text(sd_event_source *source, uint64_t at, void *userdata)                 \
        {                                                                                          \
                (void)source;                                                                      \
                (void)at;                                                                          \
                sg_live_tell_kind(userdata, SG_LIFE_E_##event);                                    \
                return 0;                                                                          \
        }                                                                                          \
        void sg_do_arm_##text(struct sg_live *l)                                                   \
        {                                                                                          \
                arm(l, SG_LIFE_TIMER_##name, CLOCK_MONOTONIC, usec, on_##text);                    \
        }

TIMER(grace, GRACE, GRACE_OVER, l->manager->settings->kill_grace_usec)
TIMER(keeper, KEEPER, KEEPER_LATE, KEEPER_USEC)
TIMER(silence, SILENCE, SILENCE,
      l->job.foreground ? SILENCE_USEC
      : l->life.aside   ? HANGS_USEC
                        : ASIDE_USEC)
TIMER(look, LOOK, LOOK_DUE, RETRY_USEC)
TIMER(store, STORE, STORE_DUE, RETRY_USEC)
TIMER(clear, CLEAR, CLEAR_DUE, RETRY_USEC / 10)

static int on_time_limit(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_live *l = userdata;
        char limit[SG_FORMAT_MAX], reason[128];

        (void)source;
        (void)usec;
        (void)snprintf(reason, sizeof(reason), "time limit of %s%s",
                       sg_format_usec(limit, l->job.limits.time_limit_usec),
                       l->job.state == SG_JOB_STARTING ? ", before its program ran" : "");
        sg_live_tell(l, &(struct sg_life_event){.kind = SG_LIFE_E_TIME_LIMIT, .why = reason});
        return 0;
}

/* By a clock that nobody sets, where GO was seen; else by the row. */
static uint64_t ran_usec(const struct sg_live *l)
{
        uint64_t now = sg_now_realtime_usec();

        if (l->attempt.runs_since_usec > 0)
                return sg_now_boottime_usec() - l->attempt.runs_since_usec;
        return l->job.started_usec > 0 && now > l->job.started_usec ? now - l->job.started_usec : 0;
}

void sg_live_arm_time_limit(struct sg_live *l)
{
        const unsigned others = ~(1U << SG_LIFE_TIMER_TIME_LIMIT);
        uint64_t limit = l->job.limits.time_limit_usec, ran = ran_usec(l);
        bool may_be_on = sg_life_timers(l->life.state) & (1U << SG_LIFE_TIMER_TIME_LIMIT);

        sg_live_stop_timers(l, others);
        if (limit != SG_UNLIMITED && may_be_on)
                arm(l, SG_LIFE_TIMER_TIME_LIMIT, CLOCK_BOOTTIME, ran < limit ? limit - ran : 0,
                    on_time_limit);
}

void sg_do_arm_time_limit(struct sg_live *l)
{
        sg_live_arm_time_limit(l);
}
