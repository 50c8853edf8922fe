/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How an attempt ended, from its exit record and what the kernel counted. */
#include "base/format.h"
#include "base/time-util.h"
#include "jobs/ending.h"
#include "manager.h"
#include <errno.h>
#include <signal.h>
#include <string.h>

/* What it is about, if that is known here. */
static const char *object_of(const struct sg_job *j, enum sg_stage stage, int *ret_size)
{
        const char *object = stage == SG_STAGE_EXEC                  ? j->command
                             : stage == SG_STAGE_OUTPUT && !j->error ? j->output
                                                                     : NULL;

        *ret_size =
                !object ? 0 : (int)(stage == SG_STAGE_EXEC ? strcspn(object, " ") : strlen(object));
        return object ?: "";
}

static void say_never_ran(struct sg_live *l, const struct sg_exit *e)
{
        int size;
        const char *object = object_of(&l->job, e->stage, &size);

        l->job.state = SG_JOB_FAILED;
        l->job.exit_code = e->stage != SG_STAGE_EXEC                   ? SG_EXIT_OWN_FAILURE
                           : e->error == ENOENT || e->error == ENOTDIR ? SG_EXIT_NOT_FOUND
                                                                       : SG_EXIT_NOT_EXECUTABLE;
        (void)sg_job_set_reason(&l->job, "cannot %s%s%.*s: %s", sg_stage_to_string(e->stage),
                                size > 0 ? " " : "", size, object, strerror(e->error));
}

/* A shell reports a child's SIGKILL as 137: an OOM kill stays one behind `sh -c`. */
static bool died_of_memory(const struct sg_exit *e)
{
        return e->main_oom_killed ||
               (e->oom_kills != SG_UNLIMITED && e->oom_kills > 0 && e->exit_code == 128 + SIGKILL);
}

bool sg_live_host_went_down(const struct sg_live *l)
{
        return strcmp(l->job.boot_id, l->manager->node.boot_id) != 0;
}

static void say_how_it_ended(struct sg_live *l, const struct sg_exit *e)
{
        char limit[SG_FORMAT_MAX];

        l->job.exit_code = e->exit_code;
        l->job.signal = e->signal;
        if (l->job.intent == SG_INTENT_TIMEOUT) {
                l->job.state = SG_JOB_TIMEOUT;
        } else if (l->job.intent == SG_INTENT_CANCEL) {
                l->job.state = SG_JOB_KILLED;
        } else if (died_of_memory(e)) {
                l->job.state = SG_JOB_OOM;
                (void)sg_job_set_reason(&l->job, "it needed more memory than its limit of %s",
                                        sg_format_bytes(limit, l->job.limits.memory_max));
        } else if (e->signal > 0) {
                l->job.state = SG_JOB_KILLED;
                (void)sg_job_set_reason(
                        &l->job, "killed by SIG%s%s", sg_signal_name(e->signal) ?: "?",
                        sg_live_host_went_down(l) ? " when the host went down" : "");
        } else {
                l->job.state = SG_JOB_EXITED;
                if (sg_live_host_went_down(l))
                        (void)sg_job_set_reason(&l->job, "it ended as the host went down");
        }
}

/* What an ordinary user's shim wrote is a claim: counters and OOM evidence come from the groups,
 * and times must fit. */
static void correct_foreground(struct sg_live *l, struct sg_exit *e)
{
        struct sg_counters c = l->counters;
        uint64_t now = sg_now_realtime_usec();

        if (l->scope) {
                if (sg_scope_populated(l->scope) > 0 || c.cpu_usec == SG_UNLIMITED)
                        sg_scope_counters(l->scope, &c);
                if (c.cpu_usec != SG_UNLIMITED)
                        e->cpu_usec = c.cpu_usec;
                e->memory_peak_bytes = c.memory_peak_bytes;
                e->oom_kills = c.oom_kills;
                e->io_read_bytes = c.io_read_bytes;
                e->io_write_bytes = c.io_write_bytes;
        }
        e->main_oom_killed =
                e->signal == SIGKILL && e->oom_kills != SG_UNLIMITED && e->oom_kills > 0;
        if (l->job.started_usec > 0)
                e->started_usec = l->job.started_usec;
        if (e->ended_usec < e->started_usec || e->ended_usec > now)
                e->ended_usec = now;
}

void sg_live_take_record(struct sg_live *l, const struct sg_exit *record)
{
        struct sg_exit e = *record;

        if (l->job.foreground)
                correct_foreground(l, &e);
        l->job.started_usec = e.stage == SG_STAGE_NONE ? e.started_usec : 0;
        l->job.ended_usec = e.ended_usec;
        l->job.cpu_usec = e.cpu_usec;
        l->job.memory_peak_bytes = e.memory_peak_bytes;
        l->job.oom_kills = e.oom_kills;
        l->job.io_read_bytes = e.io_read_bytes;
        l->job.io_write_bytes = e.io_write_bytes;
        if (e.stage != SG_STAGE_NONE)
                say_never_ran(l, &e);
        else
                say_how_it_ended(l, &e);
}
