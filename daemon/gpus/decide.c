/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the account decides of a look is carried out: told, or done to a job through its group. */
#include "edge/common/log.h"
#include "gpus/internal.h"
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <syslog.h>

/* The job as it was when the decision was made: NULL if that attempt is over. */
static struct sg_live *job_of(const struct sg_gpus *g, const struct sg_gpu_decision *d)
{
        struct sg_live *l = d->job ? sg_manager_find(g->manager, d->job) : NULL;

        return l && l->job.key.attempt == d->attempt && l->groups.scope ? l : NULL;
}

static void log_at(const struct sg_gpus *g, const struct sg_live *l, int level, const char *text)
{
        char id[SG_JOB_ID_MAX];

        if (!l) {
                sg_log(level, "GPUs: %s", text);
                return;
        }
        sg_job_id_format(id, &l->job.key, g->manager->node.name);
        sg_log_job(level, SG_MESSAGE_GPU, id, text, "%s", text);
}

/* Its row says it, and so do events. */
static void show_at(struct sg_live *l, const char *text)
{
        if (!l || l->job.intent != SG_INTENT_NONE)
                return;
        if (sg_job_set_reason(&l->job, "%s", text) >= 0)
                sg_live_changed(l);
}

static void kill_it(struct sg_live *l)
{
        int r = sg_scope_signal(l->groups.scope, SIGKILL);

        if (r < 0)
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot send SIGKILL to its processes: %s",
                       l->job.key.n, strerror(-r));
}

static void carry_out(struct sg_gpus *g, const struct sg_gpu_decision *d)
{
        static const struct sg_who nobody;
        struct sg_live *l = job_of(g, d);

        switch (d->kind) {
        case SG_GPU_TELL_STATE:
                log_at(g, NULL, d->state == SG_GPU_STATE_OK ? LOG_NOTICE : LOG_WARNING, d->text);
                sg_gpu_drain_note(g->drain);
                break;
        case SG_GPU_TELL_LEAK:
        case SG_GPU_TELL_CROWDED:
        case SG_GPU_TELL_LOST_EVENTS:
                log_at(g, NULL, LOG_WARNING, d->text);
                break;
        case SG_GPU_TELL_ERROR:
        case SG_GPU_TELL_OVER:
        case SG_GPU_TELL_IDLE:
                log_at(g, l, LOG_WARNING, d->text);
                show_at(l, d->text);
                break;
        case SG_GPU_TERM:
                if (l)
                        sg_live_stop(l, nobody, SG_INTENT_MEMORY, d->text);
                break;
        case SG_GPU_KILL:
                if (l)
                        kill_it(l);
                break;
        case SG_GPU_END_IDLE:
                if (l)
                        sg_live_stop(l, nobody, SG_INTENT_CANCEL, d->text);
                break;
        }
}

void sg_gpus_carry_out(struct sg_gpus *g)
{
        size_t n;
        const struct sg_gpu_decision *d = sg_gpu_account_decisions(g->account, &n);

        for (size_t i = 0; i < n; i++)
                carry_out(g, &d[i]);
}
