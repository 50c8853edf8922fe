/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/life/fate.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "base/parse.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* The daemon died before the shim had joined its groups, which systemd then removed: a shim that
 * failed of that never ran its job. */
static bool failed_with_daemon(const struct sg_attempt_info *info, const struct sg_job *row,
                               const struct sg_circumstances *c)
{
        return c->met && !row->foreground && info->have_exit &&
               info->exit.stage == SG_STAGE_SETUP && info->fate != SG_ATTEMPT_RUN;
}

/* The record of a shim of the foreground counts once that shim can't write any more. */
static bool record_counts(const struct sg_attempt_info *info, const struct sg_job *row,
                          const struct sg_circumstances *c)
{
        if (!info->have_exit || (row->foreground && info->shim > 0))
                return false;
        return !info->exit_unnamed || !c->host_went_down;
}

enum sg_finding sg_fate_judge(const struct sg_attempt_info *info, const struct sg_job *row,
                              const struct sg_circumstances *c)
{
        if (failed_with_daemon(info, row, c))
                return SG_FOUND_NEVER_RAN;
        if (record_counts(info, row, c))
                return SG_FOUND_RECORD;
        if (info->fate == SG_ATTEMPT_RUN)
                return info->shim > 0 ? SG_FOUND_RUNNING : SG_FOUND_LOST;
        if (info->fate == SG_ATTEMPT_NO_DIR && row->state != SG_JOB_STARTING)
                return SG_FOUND_LOST;
        return SG_FOUND_NEVER_RAN;
}

/* The program or file that the stage is about, if the row has it. */
static const char *object_of(const struct sg_job *j, enum sg_stage stage, int *ret_size)
{
        const char *object = stage == SG_STAGE_EXEC                  ? j->command
                             : stage == SG_STAGE_OUTPUT && !j->error ? j->output
                                                                     : NULL;

        *ret_size =
                !object ? 0 : (int)(stage == SG_STAGE_EXEC ? strcspn(object, " ") : strlen(object));
        return object ?: "";
}

static void say_never_ran(struct sg_job *row, const struct sg_exit *e)
{
        int size;
        const char *object = object_of(row, e->stage, &size);

        row->state = SG_JOB_FAILED;
        row->exit_code = e->stage != SG_STAGE_EXEC                   ? SG_EXIT_OWN_FAILURE
                         : e->error == ENOENT || e->error == ENOTDIR ? SG_EXIT_NOT_FOUND
                                                                     : SG_EXIT_NOT_EXECUTABLE;
        (void)sg_job_set_reason(row, "cannot %s%s%.*s: %s",
                                sg_stage_to_string(e->stage) ?: "start it", size > 0 ? " " : "",
                                size, object, strerror(e->error));
}

/* A shell reports a child's SIGKILL as 137: an OOM kill stays one behind `sh -c`. */
static bool died_of_memory(const struct sg_exit *e)
{
        return e->main_oom_killed ||
               (e->oom_kills != SG_UNLIMITED && e->oom_kills > 0 && e->exit_code == 128 + SIGKILL);
}

/* For a job without a limit of its own it was its class's that it ran into, or the node had no
 * memory left. */
static void say_why_oom(struct sg_job *row)
{
        char peak[SG_FORMAT_MAX], limit[SG_FORMAT_MAX];

        if (row->limits.memory_max == SG_UNLIMITED)
                (void)sg_job_set_reason(row, "killed: out of memory, its class's or the node's");
        else if (row->memory_peak_bytes == SG_UNLIMITED)
                (void)sg_job_set_reason(row, "killed: out of memory, limit %s (--mem)",
                                        sg_format_bytes(limit, row->limits.memory_max));
        else
                (void)sg_job_set_reason(row, "killed: out of memory at %s of %s (--mem)",
                                        sg_format_bytes(peak, row->memory_peak_bytes),
                                        sg_format_bytes(limit, row->limits.memory_max));
}

static void say_how_it_ended(struct sg_job *row, const struct sg_exit *e, bool host_went_down)
{
        char signal[SG_SIGNAL_TEXT_MAX];

        row->exit_code = e->exit_code;
        row->signal = e->signal;
        if (row->intent == SG_INTENT_TIMEOUT) {
                row->state = SG_JOB_TIMEOUT;
        } else if (row->intent == SG_INTENT_CANCEL) {
                row->state = SG_JOB_KILLED;
        } else if (row->intent == SG_INTENT_MEMORY) {
                row->state = SG_JOB_OOM;
        } else if (died_of_memory(e)) {
                row->state = SG_JOB_OOM;
                say_why_oom(row);
        } else if (e->signal > 0) {
                row->state = SG_JOB_KILLED;
                (void)sg_job_set_reason(row, "killed by %s%s", sg_signal_text(signal, e->signal),
                                        host_went_down ? " when the host went down" : "");
        } else {
                row->state = SG_JOB_EXITED;
                if (host_went_down)
                        (void)sg_job_set_reason(row, "it ended as the host went down");
        }
}

static void correct_times(struct sg_exit *e, const struct sg_job *row, uint64_t now_usec)
{
        if (row->started_usec > 0)
                e->started_usec = row->started_usec;
        else if (e->started_usec > now_usec)
                e->started_usec = now_usec;
        else if (e->started_usec < row->submitted_usec)
                e->started_usec = row->submitted_usec;
        if (e->ended_usec < e->started_usec || e->ended_usec > now_usec)
                e->ended_usec = now_usec;
}

/* The record of a foreground shim is its user's claim: counters and evidence of an OOM kill come
 * from the groups, and times must fit. CPU time and IO are the record's own only where the groups
 * weren't counted. */
static void correct_claim(struct sg_exit *e, const struct sg_job *row, const struct sg_end *end,
                          uint64_t now_usec)
{
        e->memory_peak_bytes = e->oom_kills = SG_UNLIMITED;
        if (end->counted) {
                if (end->cpu_usec != SG_UNLIMITED)
                        e->cpu_usec = end->cpu_usec;
                e->memory_peak_bytes = end->memory_peak_bytes;
                e->oom_kills = end->oom_kills;
                e->io_read_bytes = end->io_read_bytes;
                e->io_write_bytes = end->io_write_bytes;
        }
        e->main_oom_killed =
                e->signal == SIGKILL && e->oom_kills != SG_UNLIMITED && e->oom_kills > 0;
        correct_times(e, row, now_usec);
}

static void take_record(struct sg_job *row, const struct sg_end *end, uint64_t now_usec)
{
        struct sg_exit e = *end->record;

        if (row->foreground)
                correct_claim(&e, row, end, now_usec);
        row->started_usec = e.stage == SG_STAGE_NONE ? e.started_usec : 0;
        row->ended_usec = e.ended_usec;
        row->cpu_usec = e.cpu_usec;
        row->memory_peak_bytes = e.memory_peak_bytes;
        row->oom_kills = e.oom_kills;
        row->io_read_bytes = e.io_read_bytes;
        row->io_write_bytes = e.io_write_bytes;
        if (e.stage != SG_STAGE_NONE)
                say_never_ran(row, &e);
        else
                say_how_it_ended(row, &e, end->host_went_down);
}

void sg_fate_settle(struct sg_job *row, const struct sg_end *end, uint64_t now_usec)
{
        if (end->record) {
                take_record(row, end, now_usec);
                return;
        }
        row->state = row->intent == SG_INTENT_CANCEL    ? SG_JOB_KILLED
                     : row->intent == SG_INTENT_TIMEOUT ? SG_JOB_TIMEOUT
                     : row->intent == SG_INTENT_MEMORY  ? SG_JOB_OOM
                                                        : SG_JOB_LOST;
        (void)sg_job_set_reason(row, "%s; how it ended is not known",
                                end->host_went_down ? "the host was restarted"
                                                    : "its keeper was killed");
}

int sg_fate_in_words(const struct sg_job *row, const struct sg_end *end, uint64_t now_usec,
                     char **ret)
{
        struct sg_job ended;
        int r;

        sg_job_init(&ended);
        r = sg_job_copy(&ended, row);
        if (r < 0)
                return r;
        sg_fate_settle(&ended, end, now_usec);
        *ret = ended.state == SG_JOB_EXITED ? NULL : TAKE_PTR(ended.reason);
        sg_job_deinit(&ended);
        return 0;
}
