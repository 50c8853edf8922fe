/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How an adopted job ended. Its group only tells that it is empty; of a unit, systemd knows more
 * for a moment, and of one that failed for longer. systemd may hear later than we do that a unit is
 * empty, so it is asked again until it says that the unit isn't active. A few are asked about at a
 * time: many may end at once.
 */
#include "adopt/internal.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#define ASKING_MAX 8U
#define ASK_AGAIN_USEC (50ULL * 1000)
#define QUESTIONS_MAX 40U

static void take_counters(struct sg_live *l)
{
        struct sg_counters c;

        if (!l->groups.scope)
                return;
        sg_scope_counters(l->groups.scope, &c);
        l->job.cpu_usec = c.cpu_usec;
        l->job.memory_peak_bytes = c.memory_peak_bytes;
        l->job.oom_kills = c.oom_kills;
        if (l->adopted->oom_kills > 0 &&
            (c.oom_kills == SG_UNLIMITED || c.oom_kills < l->adopted->oom_kills))
                l->job.oom_kills = l->adopted->oom_kills;
        l->job.io_read_bytes = c.io_read_bytes;
        l->job.io_write_bytes = c.io_write_bytes;
}

static void say_result(struct sg_job *j, const struct sg_unit_facts *f)
{
        char signal[SG_SIGNAL_TEXT_MAX];

        if (strcmp(f->result, "success") == 0) {
                j->state = SG_JOB_EXITED;
                if (f->main_code == CLD_EXITED)
                        (void)sg_job_set_reason(j, "its main process exited with %" PRIi32,
                                                f->main_status);
        } else if (strcmp(f->result, "oom-kill") == 0) {
                j->state = SG_JOB_OOM;
                (void)sg_job_set_reason(j, "it was killed for lack of memory (oom-kill)");
        } else if (strcmp(f->result, "exit-code") == 0) {
                j->state = SG_JOB_FAILED;
                (void)sg_job_set_reason(j, "its main process exited with %" PRIi32, f->main_status);
        } else if (strcmp(f->result, "signal") == 0 || strcmp(f->result, "core-dump") == 0) {
                j->state = SG_JOB_KILLED;
                j->signal = f->main_status;
                (void)sg_job_set_reason(j, "its main process was killed by %s",
                                        sg_signal_text(signal, f->main_status));
        } else if (strcmp(f->result, "timeout") == 0) {
                j->state = SG_JOB_TIMEOUT;
                (void)sg_job_set_reason(j, "systemd ended it: timeout");
        } else {
                j->state = SG_JOB_FAILED;
                (void)sg_job_set_reason(j, "systemd says: %s", f->result);
        }
}

static void say_what_is_known(struct sg_job *j, bool away)
{
        if (j->oom_kills != SG_UNLIMITED && j->oom_kills > 0) {
                j->state = SG_JOB_OOM;
                (void)sg_job_set_reason(j, "processes of it were killed for lack of memory");
        } else {
                j->state = SG_JOB_EXITED;
                if (away)
                        (void)sg_job_set_reason(j, "it ended while the governor was away");
        }
}

/* Of a scope that succeeded systemd knows nothing: OOM kills within a delegated one aren't its
 * business. */
static bool is_telling(const struct sg_unit_facts *f)
{
        return f && f->result[0] && (strcmp(f->result, "success") != 0 || f->main_code != 0);
}

/* facts: NULL where systemd doesn't know it any more. */
static void conclude(struct sg_live *l, const struct sg_unit_facts *facts)
{
        struct sg_job *j = &l->job;

        if (j->intent == SG_INTENT_CANCEL)
                j->state = SG_JOB_KILLED;
        else if (j->intent == SG_INTENT_TIMEOUT)
                j->state = SG_JOB_TIMEOUT;
        else if (is_telling(facts))
                say_result(j, facts);
        else
                say_what_is_known(j, l->adopted->away);
        sg_live_tell_kind(l, SG_LIFE_E_TOLD);
}

/* --- asking */

static void ask_more(struct sg_adopter *a);

static void asked(struct sg_live *l)
{
        l->adopted->question = sg_unit_question_free(l->adopted->question);
        l->manager->adopter->n_asking--;
        sg_list_remove(&l->adopted->link);
}

static int on_ask_again(sd_event_source *source, uint64_t usec, void *userdata);

static bool ask_later(struct sg_live *l)
{
        struct sg_adopted *d = l->adopted;

        d->timer = sd_event_source_disable_unref(d->timer);
        return ++d->questions <= QUESTIONS_MAX &&
               sd_event_add_time_relative(l->manager->event, &d->timer, CLOCK_MONOTONIC,
                                          ASK_AGAIN_USEC, 0, on_ask_again, l) >= 0;
}

static bool is_over(const struct sg_unit_facts *f)
{
        return strcmp(f->state, "inactive") == 0 || strcmp(f->state, "failed") == 0;
}

/* An identity that isn't systemd's can't be compared with systemd's. */
static bool is_it(const struct sg_live *l, const struct sg_unit_facts *f)
{
        return f->invocation[0] && (strlen(l->job.invocation) != SG_INVOCATION_ID_MAX - 1 ||
                                    strcmp(l->job.invocation, f->invocation) == 0);
}

static void on_facts(const struct sg_unit_facts *f, const char *why, void *userdata)
{
        struct sg_live *l = userdata;
        struct sg_adopter *a = l->manager->adopter;
        bool refused = why, known = f && is_it(l, f);

        l->adopted->question = sg_unit_question_free(l->adopted->question);
        if ((refused || (known && !is_over(f))) && ask_later(l))
                return;
        asked(l);
        conclude(l, known ? f : NULL);
        ask_more(a);
}

static void ask(struct sg_live *l)
{
        int r = sg_unit_ask(&l->adopted->question, l->manager->backend, l->job.unit, on_facts, l);

        if (r >= 0 || (r == -ENOTCONN && ask_later(l)))
                return;
        asked(l);
        conclude(l, NULL);
}

static int on_ask_again(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_live *l = userdata;
        struct sg_adopter *a = l->manager->adopter;

        (void)source;
        (void)usec;
        l->adopted->timer = sd_event_source_disable_unref(l->adopted->timer);
        ask(l);
        ask_more(a);
        return 0;
}

static void ask_more(struct sg_adopter *a)
{
        struct sg_adopted *d, *next;

        sg_list_foreach_safe (d, next, &a->ending, link) {
                if (a->n_asking >= ASKING_MAX)
                        return;
                if (d->questions > 0)
                        continue;
                d->questions = 1;
                a->n_asking++;
                ask(d->live);
        }
}

void sg_adopted_end(struct sg_live *l, bool away)
{
        struct sg_adopter *a = l->manager->adopter;

        take_counters(l);
        l->adopted->away = away;
        sg_live_tell_kind(l, SG_LIFE_E_LEFT);
        if (!sg_list_empty(&l->adopted->link))
                a->n_jobs--;
        sg_list_remove(&l->adopted->link);
        if (!l->job.unit || !a->slice) {
                conclude(l, NULL);
                return;
        }
        sg_list_append(&a->ending, &l->adopted->link);
        ask_more(a);
}
