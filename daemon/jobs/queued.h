/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Its place in the queue, or what keeps it out of there. */

#include "base/list.h"
#include "core/queue/queue.h"
#include <systemd/sd-event.h>

struct sg_throttle;

struct sg_dependency {
        struct sg_job_key key; /* the attempt in it doesn't matter */
        bool any_end;          /* else only a success will do */
};

struct sg_queued {
        struct sg_queue_entry entry;
        struct sg_dependency *after;
        size_t n_after;
        struct sg_throttle *throttle; /* shared with its array's tasks; NULL: no such bound */
        struct sg_list throttle_link; /* of the throttle, while it keeps this one out */
        bool inside;                  /* … counts it as one that is in the queue or runs */
        bool own_only; /* when it was submitted, others' jobs didn't exist for its user */
        struct sg_list after_link;     /* sg_jobs.dependents while n_after > 0 */
        sd_event_source *begin_timer;  /* until the time of --begin */
        sd_event_source *lookup_timer; /* a dependency couldn't be looked up: when to try again */
};
