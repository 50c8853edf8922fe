/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Between fate.c, which finds out that an attempt is over, verdict.c, which says how it ended, and
 * ending.c, which makes that last. */

#include "jobs/live.h"
#include "proto/attempt.h"

#define SG_RETRY_USEC (1ULL * 1000000)
/* Until a job is started again that couldn't be for want of something on the node. */
#define SG_START_AGAIN_USEC (1ULL * 1000000)

/* verdict.c: the record's word becomes the row's */
void sg_live_take_record(struct sg_live *l, const struct sg_exit *record);
/* Its scope is stopped after us, so an end that we find at the next boot was most likely brought
 * about by the shutdown. */
bool sg_live_host_went_down(const struct sg_live *l);

/* ending.c: the row says how the attempt ended: the job ends with it, or goes back to the queue */
void sg_live_conclude(struct sg_live *l);
void sg_live_requeue(struct sg_live *l);
/* The job's one timer, anew. */
void sg_live_rearm(struct sg_live *l, uint64_t delay_usec, sd_event_time_handler_t handler);
