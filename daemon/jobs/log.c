/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the log says of single jobs without being asked: what their owners didn't mean to happen.
 * The rest is in the history and among the events, where those look whom it concerns. */
#include "edge/common/log.h"
#include "gpus/gpus.h"
#include "jobs/internal.h"
#include <inttypes.h>
#include <string.h>
#include <syslog.h>

static bool is_mishap(uint64_t state)
{
        return state == SG_JOB_OOM || state == SG_JOB_TIMEOUT || state == SG_JOB_FAILED ||
               state == SG_JOB_LOST;
}

void sg_live_log_end(const struct sg_live *l)
{
        const struct sg_job *j = &l->job;
        char id[SG_JOB_ID_MAX];

        if (!is_mishap(j->state))
                return;
        sg_job_id_format(id, &j->key, l->manager->node.name);
        sg_log_job(LOG_NOTICE, SG_MESSAGE_JOB_ENDED, id, j->reason, "%s of %s has ended: %s%s%s",
                   j->name, j->user, sg_job_state_to_string(j->state), j->reason ? ", " : "",
                   j->reason ?: "");
}

void sg_live_log_limits(const struct sg_live *l)
{
        uint32_t bits = l->groups.scope ? sg_scope_unenforced(l->groups.scope) : 0;
        bool gpus = sg_gpus_are_open(l->manager, &l->job, bits);
        char id[SG_JOB_ID_MAX], names[256] = "";

        if (!bits && !gpus)
                return;
        for (unsigned k = 0; k < _SG_LIMIT_MAX; k++) {
                size_t n = strlen(names);

                if (bits & (1U << k))
                        (void)snprintf(names + n, sizeof(names) - n, "%s%s", n > 0 ? " " : "",
                                       sg_limit_kind_to_string(k));
        }
        if (gpus)
                (void)snprintf(names + strlen(names), sizeof(names) - strlen(names), "%sgpus",
                               names[0] ? " " : "");
        sg_job_id_format(id, &l->job.key, l->manager->node.name);
        sg_log_job(LOG_NOTICE, SG_MESSAGE_LIMIT_NOT_ENFORCED, id, names, "not enforced here: %s",
                   names);
}

static const char *what_is_stored(const struct sg_live *l)
{
        return sg_life_is_closing(&l->life) ? "end" : "start";
}

void sg_do_say_stored(struct sg_live *l)
{
        if (l->unstored)
                sg_log(LOG_NOTICE, "job %" PRIu64 ": its %s is stored", l->job.key.n,
                       what_is_stored(l));
        l->unstored = false;
}

/* Once: a disk may be full for hours. */
void sg_do_say_unstored(struct sg_live *l)
{
        if (!l->unstored)
                sg_log(LOG_ERR,
                       "job %" PRIu64 ": cannot store its %s: %s; trying again until it can",
                       l->job.key.n, what_is_stored(l), strerror(-sg_live_event(l)->error));
        l->unstored = true;
}
