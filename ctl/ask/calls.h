/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* One call for each of many jobs, a window of them under way at a time. Each answer is handed over
 * once; the set may be run again over a new connection for those that have none yet. */

#include "ctl/ask/client.h"
#include "ctl/line/ids.h"

struct sg_calls {
        struct sg_client *client;
        const struct sg_ids *ids;
        size_t window;          /* calls under way at most */
        uint64_t deadline_usec; /* monotonic, for what takes its time; UINT64_MAX = none */
        void *userdata;
        /* Makes the call for a job. */
        int (*build)(struct sg_calls *calls, const char *id, sd_bus_message **ret,
                     struct sg_error *e);
        /* Takes its answer, which may be an error. Negative stops it all. */
        int (*take)(struct sg_calls *calls, size_t index, sd_bus_message *reply);
        bool stop; /* take() may set it: enough is known */

        /* private */
        struct sg_call *each;
        size_t under_way;
        bool heard;
        int result;
};

/* 0 done, 1 the deadline has passed, -ECONNRESET, or negative. */
int sg_calls_run(struct sg_calls *calls, struct sg_error *e);
void sg_calls_deinit(struct sg_calls *calls);
