/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The end of an attempt, as its row says it: it is made durable, and only then is anybody told and
 * anything removed; or it goes back to the queue.
 */
#include "base/time-util.h"
#include "edge/common/log.h"
#include "govern/loop.h"
#include "jobs/internal.h"
#include "metrics/metrics.h"
#include "monitor/monitor.h"
#include <inttypes.h>
#include <string.h>
#include <syslog.h>

void sg_do_wind_up(struct sg_live *l)
{
        sg_live_unwatch_group(l);
        sg_live_leave_queue(l);
        sg_launcher_forget(l->manager->jobs->launcher, l);
        sg_manager_schedule(l->manager);
        if (l->runner && !l->life.again) {
                if (l->runner->asked)
                        l->manager->jobs->calls->hand_failed(l, 0);
                l->runner->here = l->runner->asked = false; /* who asks now finds nothing */
        }
        sg_loop_end(l);
}

static void on_last_words(struct sg_live *l)
{
        sg_live_tell_kind(l, SG_LIFE_E_LAST_WORDS);
}

void sg_do_listen(struct sg_live *l)
{
        if (!sg_monitor_finish(l, on_last_words))
                sg_live_result_kind(l, SG_LIFE_E_LAST_WORDS);
}

/* If it can't be stored the exit record stays where it is: nothing is lost, only late. */
static void on_end_durable(int result, const struct sg_job *job, void *userdata)
{
        (void)job;
        sg_live_tell(userdata, &(struct sg_life_event){.kind = result < 0 ? SG_LIFE_E_END_UNSTORED
                                                                          : SG_LIFE_E_END_STORED,
                                                       .error = result});
}

void sg_do_store_end(struct sg_live *l)
{
        sg_manager_fault(l->manager, "finish");
        sg_store_finish(l->manager->store, &l->job, on_end_durable, l);
}

void sg_do_tell_end(struct sg_live *l)
{
        sg_live_log_end(l);
        sg_metrics_ended(l->manager->metrics, l);
        l->manager->jobs->calls->ended(l);
        sg_manager_dependency_ended(l->manager, &l->job);
}

void sg_do_free(struct sg_live *l)
{
        sg_live_free(l);
}
