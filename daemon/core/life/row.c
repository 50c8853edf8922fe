/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What happens to a job, in its row: states, reasons, times. */
#include "base/cleanup.h"
#include "core/life/internal.h"
#include "proto/names.h"
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define FAILED_STARTS_MAX 3
/* A program that lasted longer than this wasn't refused by its dynamic loader. */
#define AT_ONCE_USEC (2ULL * 1000000)
/* How long a job waits that couldn't be started for want of something on the node. */
#define START_AGAIN_USEC (1ULL * 1000000)
/* From the start of an attempt that failed to the next one, before the second attempt; doubled for
 * each further one. Otherwise a job that fails at once would keep the node busy with its starts. */
#define RETRY_FIRST_USEC (1ULL * 1000000)
#define RETRY_LONGEST_USEC (300ULL * 1000000)

static const char *error_of(const struct sg_life_event *e)
{
        return e->why ?: strerror(-e->error);
}

bool sg_life_may_pass(int error)
{
        static const int errors[] = {EAGAIN,       ENOMEM,     EMFILE, ENFILE,   ENOSPC,
                                     ECONNREFUSED, ECONNRESET, EPIPE,  ENOTCONN, ETIMEDOUT};

        for (size_t i = 0; i < SG_ELEMENTSOF(errors); i++)
                if (error == -errors[i])
                        return true;
        return false;
}

/* The beginning */

static void row_begin(struct sg_life_step *s)
{
        struct sg_job *row = s->row;

        *s->life = (struct sg_life){.state = s->life->state,
                                    .graceless = s->life->graceless,
                                    .failed_starts = s->life->failed_starts};
        row->state = SG_JOB_STARTING;
        row->key.attempt++;
        row->pid = 0;
        row->frozen = 0;
        row->started_usec = row->ended_usec = 0;
        row->exit_code = -1;
        row->signal = 0;
        row->eval[0] = '\0';
        row->step = row->total = SG_UNLIMITED;
        row->net_rx_bytes = row->net_tx_bytes = SG_UNLIMITED;
        row->threads_given = row->follows = 0;
        if (row->gpu)
                sg_gpu_used_init(&row->gpu->used);
        sg_job_clear_reason(row);
        strcpy(row->boot_id, s->event->boot_id);
        row->changed_usec = s->event->now_usec;
        row->changed_by = row->stopped_by = (struct sg_who){0};
}

static void say_cannot(struct sg_life_step *s, const char *what)
{
        (void)sg_job_set_reason(s->row, "cannot %s: %s", what, error_of(s->event));
}

static void row_short(struct sg_life_step *s)
{
        say_cannot(s, s->event->what);
}

static void row_unstored(struct sg_life_step *s)
{
        say_cannot(s, "store its start");
}

/* What the node is short of may be there later. A requeue that was asked for has come true by this.
 */
static void row_back_in_queue(struct sg_life_step *s)
{
        s->row->state = SG_JOB_QUEUED;
        s->row->intent = SG_INTENT_NONE;
        s->row->begin_usec = s->event->now_usec + START_AGAIN_USEC;
        s->row->changed_by = s->row->stopped_by;
}

static void row_not_started(struct sg_life_step *s)
{
        /* (a socket's path may be missing for a moment) */
        s->life->may_pass = sg_life_may_pass(s->event->error) || s->event->error == -ENOENT;
        say_cannot(s, s->event->what);
}

static void row_admitted(struct sg_life_step *s)
{
        s->row->pid = s->event->pid;
}

/* A file that the user named may never open: a FIFO that nobody reads, a file system that doesn't
 * answer. A reason that is there already stays. */
static void row_hangs(struct sg_life_step *s)
{
        if (!s->row->reason)
                (void)sg_job_set_reason(s->row, "%s", SG_LIFE_HANGS);
}

static void row_started(struct sg_life_step *s)
{
        if (s->row->reason && strcmp(s->row->reason, SG_LIFE_HANGS) == 0)
                sg_job_clear_reason(s->row);
        s->life->failed_starts = 0;
        s->row->state = SG_JOB_RUNNING;
        s->row->started_usec = s->event->now_usec;
        s->row->changed_by = (struct sg_who){0};
}

/* Freezing and thawing are done before their state is stored, so that the row may not say it. The
 * row of a job that is to end keeps the state that it had. */
static void say_frozen(struct sg_life_step *s)
{
        if (!s->life->doomed)
                s->row->state = s->row->frozen ? SG_JOB_SUSPENDED : SG_JOB_RUNNING;
}

/* A daemon that died may not have stored pid and state of a job that runs. */
static void row_followed(struct sg_life_step *s)
{
        if (s->row->pid == 0)
                s->row->pid = s->event->pid;
        if (s->row->state == SG_JOB_STARTING)
                row_started(s);
        say_frozen(s);
}

static void row_found_frozen(struct sg_life_step *s)
{
        s->row->frozen = s->life->doomed ? 0 : s->event->reasons;
}

static void row_lingers(struct sg_life_step *s)
{
        row_found_frozen(s);
        if (s->row->state != SG_JOB_STARTING)
                say_frozen(s);
}

static void row_is_to_end(struct sg_life_step *s)
{
        if (s->event->why)
                (void)sg_job_set_reason(s->row, "%s", s->event->why);
        s->row->intent = s->event->intent;
        s->row->changed_usec = s->event->now_usec;
        s->row->changed_by = s->row->stopped_by = s->event->by;
}

static void row_time_is_over(struct sg_life_step *s)
{
        (void)sg_job_set_reason(s->row, "%s", s->event->why);
        s->row->intent = SG_INTENT_TIMEOUT;
        s->row->changed_usec = s->event->now_usec;
        s->row->changed_by = s->row->stopped_by = (struct sg_who){0};
}

/* The cancel is carried out as soon as the job is back in the queue. */
static void row_cancelled_later(struct sg_life_step *s)
{
        s->row->intent = SG_INTENT_CANCEL;
        s->row->stopped_by = s->event->by;
}

static void row_released(struct sg_life_step *s)
{
        s->life->again = false;
        s->life->killed = false;
}

/* Held, frozen */

static void row_held(struct sg_life_step *s)
{
        s->row->hold = s->event->on;
}

/* The change is announced with the time of the stored event. */
static void row_held_in_queue(struct sg_life_step *s)
{
        row_held(s);
        s->row->changed_usec = s->event->asked_usec;
        s->row->changed_by = s->event->by;
}

/* Others may see it done before systemd answers who asked for it. */
static void say_who(struct sg_life_step *s)
{
        if (s->event->by.is || s->life->asked == 0)
                s->row->changed_by = s->event->by;
}

static void row_frozen_for(struct sg_life_step *s)
{
        say_who(s);
        s->row->frozen = sg_freeze_change(s->row->frozen, s->event->reasons, s->event->on);
}

static void row_not_frozen_for(struct sg_life_step *s)
{
        s->row->frozen &= ~s->event->reasons;
}

static void row_suspended(struct sg_life_step *s)
{
        s->row->state = SG_JOB_SUSPENDED;
        say_who(s);
}

static void row_resumed(struct sg_life_step *s)
{
        s->row->state = SG_JOB_RUNNING;
        say_who(s);
}

/* Who manages its unit has thawed it: what we wanted doesn't count any more. */
static void row_overruled(struct sg_life_step *s)
{
        s->row->frozen = 0;
        row_resumed(s);
}

/* The end */

static void end_as(struct sg_life_step *s, enum sg_job_state state)
{
        struct sg_job *row = s->row;

        s->life->again = false;
        row->state = state;
        row->pid = 0;
        row->frozen = 0;
        row->changed_usec = s->event->now_usec;
        row->changed_by = row->stopped_by;
        if (row->ended_usec == 0)
                row->ended_usec = s->event->now_usec;
}

static void end_as_failure(struct sg_life_step *s)
{
        s->row->exit_code = SG_EXIT_OWN_FAILURE;
        end_as(s, SG_JOB_FAILED);
}

static void requeue(struct sg_life_step *s)
{
        struct sg_job *row = s->row;

        s->life->again = true;
        row->state = SG_JOB_QUEUED;
        row->intent = SG_INTENT_NONE;
        row->pid = 0;
        row->frozen = 0;
        row->changed_usec = s->event->now_usec;
        row->changed_by = row->stopped_by;
        row->stopped_by = (struct sg_who){0};
}

static void row_cancelled(struct sg_life_step *s)
{
        row_is_to_end(s);
        end_as(s, SG_JOB_KILLED);
}

static void row_failed(struct sg_life_step *s)
{
        if (s->event->state == SG_JOB_FAILED)
                end_as_failure(s);
        else
                end_as(s, s->event->state);
}

static void row_given_up(struct sg_life_step *s)
{
        row_not_started(s);
        end_as_failure(s);
}

static void row_hand_failed(struct sg_life_step *s)
{
        say_cannot(s, "hand it over to its shim");
        end_as_failure(s);
}

static void row_cannot_yield(struct sg_life_step *s)
{
        end_as_failure(s);
}

static void row_never_ran(struct sg_life_step *s)
{
        struct sg_job *row = s->row;

        if (row->intent == SG_INTENT_CANCEL || row->intent == SG_INTENT_TIMEOUT) {
                end_as(s, SG_JOB_KILLED);
        } else if (row->foreground) {
                (void)sg_job_set_reason(row, "%s", SG_LIFE_RUNNER_GONE);
                end_as(s, SG_JOB_KILLED);
        } else if (s->life->may_pass) {
                row->begin_usec = s->event->now_usec + START_AGAIN_USEC;
                requeue(s);
        } else if (++s->life->failed_starts > FAILED_STARTS_MAX) {
                (void)sg_job_set_reason(row, "its keeper could not start it, %d times",
                                        FAILED_STARTS_MAX);
                end_as_failure(s);
        } else {
                (void)sg_job_set_reason(row, "attempt %" PRIu64 " did not get as far as running",
                                        row->key.attempt);
                requeue(s);
        }
}

static bool is_worth_another(const struct sg_job *row)
{
        bool failed = row->state == SG_JOB_OOM || row->state == SG_JOB_KILLED ||
                      row->state == SG_JOB_FAILED || row->state == SG_JOB_LOST ||
                      (row->state == SG_JOB_EXITED && row->exit_code != 0);

        return failed && row->retry > 0 && !row->foreground &&
               (row->intent == SG_INTENT_NONE || row->intent == SG_INTENT_MEMORY);
}

static void say_retry(struct sg_job *row)
{
        row->retry--;
        if (row->state == SG_JOB_EXITED)
                (void)sg_job_set_reason(row,
                                        "attempt %" PRIu64 " exited with %" PRIi64 "; trying again",
                                        row->key.attempt, row->exit_code);
        else
                (void)sg_job_set_reason(row, "attempt %" PRIu64 " ended as %s; trying again",
                                        row->key.attempt, sg_job_state_to_string(row->state));
}

/* A job that ran for longer than the pause is tried again at once. */
static void back_off(struct sg_job *row, uint64_t now_usec)
{
        uint64_t begun_usec = row->started_usec > 0 && row->started_usec < now_usec
                                      ? row->started_usec
                                      : now_usec;
        uint64_t pause_usec = RETRY_FIRST_USEC;

        for (uint64_t i = 1; i < row->key.attempt && pause_usec < RETRY_LONGEST_USEC; i++)
                pause_usec *= 2;
        if (pause_usec > RETRY_LONGEST_USEC)
                pause_usec = RETRY_LONGEST_USEC;
        row->begin_usec = begun_usec + pause_usec;
        if (row->begin_usec < now_usec)
                row->begin_usec = now_usec;
}

/* Whether it ended as a program may that a preloaded library breaks. A shell passes its child's
 * signal on as an exit status; 127 is the dynamic loader's. */
static bool has_crashed(const struct sg_job *row)
{
        static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE};

        for (size_t i = 0; i < SG_ELEMENTSOF(signals); i++)
                if (row->signal == signals[i] || row->exit_code == 128 + signals[i])
                        return true;
        return row->exit_code == SG_EXIT_NOT_FOUND && row->state == SG_JOB_EXITED &&
               row->ended_usec < row->started_usec + AT_ONCE_USEC;
}

/* Nobody can tell whether the preload was the cause: the next attempt goes without it. */
static void doubt_threads(struct sg_job *row)
{
        _cleanup_free_ char *before = NULL;

        if (row->limits.threads != SG_THREADS_FOLLOW || row->threads_given == 0 ||
            !has_crashed(row))
                return;
        row->limits.threads = SG_THREADS_START;
        before = TAKE_PTR(row->reason);
        (void)sg_job_set_reason(
                row, "%s, with --threads start in case the preloaded library was the cause",
                before ?: "trying again");
}

/* The row says how the attempt ended: the job ends with it, or goes back to the queue. */
static void row_concluded(struct sg_life_step *s)
{
        struct sg_job *row = s->row;

        sg_fate_settle(row, &s->event->end, s->event->now_usec);
        if (row->intent == SG_INTENT_REQUEUE && !row->foreground) {
                requeue(s);
        } else if (is_worth_another(row)) {
                say_retry(row);
                back_off(row, s->event->now_usec);
                doubt_threads(row);
                requeue(s);
        } else {
                end_as(s, (enum sg_job_state)row->state);
        }
}

static void row_told(struct sg_life_step *s)
{
        end_as(s, (enum sg_job_state)s->row->state);
}

/* It was cancelled on its way back to the queue. */
static void row_killed_after_all(struct sg_life_step *s)
{
        end_as(s, SG_JOB_KILLED);
}

#define ROW(name, text) [SG_LIFE_ROW_##name] = text,
static void (*const rows[])(struct sg_life_step *s) = {SG_LIFE_ROWS(ROW)};

void sg_life_write_row(enum sg_life_row row, struct sg_life_step *s)
{
        if (row != SG_LIFE_ROW_AS_IS)
                rows[row](s);
}
