/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See calls.h. */

#include "ctl/ask/calls.h"
#include "base/time-util.h"
#include <errno.h>
#include <stdlib.h>

#define HEAR_USEC (5ULL * 1000000)

struct sg_call {
        struct sg_calls *calls;
        sd_bus_slot *slot;
        bool done;
};

static int on_reply(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct sg_call *call = userdata;
        struct sg_calls *calls = call->calls;
        int r;

        (void)error;
        call->slot = sd_bus_slot_unref(call->slot);
        calls->under_way--;
        /* sd-bus answers for a governor that is gone: not its word about the job. */
        if (sd_bus_message_is_method_error(m, SD_BUS_ERROR_NO_REPLY) ||
            sd_bus_message_is_method_error(m, SD_BUS_ERROR_DISCONNECTED))
                return 1;
        call->done = true;
        r = calls->take(calls, (size_t)(call - calls->each), m);
        if (r < 0 && calls->result >= 0)
                calls->result = r;
        return 1;
}

static int send_call(struct sg_calls *calls, size_t i, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL;
        struct sg_call *call = &calls->each[i];
        int r;

        r = calls->build(calls, calls->ids->v[i], &m, e);
        if (r < 0)
                return r;
        r = sd_bus_call_async(calls->client->bus, &call->slot, m, on_reply, call, UINT64_MAX);
        if (r < 0)
                return sg_error_errno(e, r, "cannot ask schedgovd");
        calls->under_way++;
        return 0;
}

static void forget_calls(struct sg_calls *calls)
{
        for (size_t i = 0; calls->each && i < calls->ids->n; i++)
                calls->each[i].slot = sd_bus_slot_unref(calls->each[i].slot);
        calls->under_way = 0;
}

static int prepare(struct sg_calls *calls)
{
        if (calls->each || calls->ids->n == 0)
                return 0;
        calls->each = calloc(calls->ids->n, sizeof(*calls->each));
        if (!calls->each)
                return -ENOMEM;
        for (size_t i = 0; i < calls->ids->n; i++)
                calls->each[i].calls = calls;
        return 0;
}

static int on_heard(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct sg_calls *calls = userdata;

        (void)m;
        (void)error;
        calls->heard = true;
        return 1;
}

/*
 * When this returns, all that could be answered at once has been: the governor looks things up in
 * its store in the order in which it is asked, and this call is the last. It is bounded, as the
 * governor's disk may hang.
 */
static int hear_out(struct sg_calls *calls, struct sg_error *e)
{
        uint64_t end = sg_now_monotonic_usec() + HEAR_USEC, now;
        _cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = NULL;
        _cleanup_message_ sd_bus_message *m = NULL;
        int r;

        calls->heard = false;
        r = sg_client_manager(calls->client, "ListJobs", &m, e);
        if (r < 0)
                return r;
        r = sd_bus_message_append(m, "a{sv}s", 2, "only_finished", "b", true, "limit", "t",
                                  (uint64_t)1, "");
        if (r >= 0)
                r = sd_bus_call_async(calls->client->bus, &slot, m, on_heard, calls, UINT64_MAX);
        if (r < 0)
                return sg_error_errno(e, r, "cannot ask schedgovd");
        while (r >= 0 && !calls->heard && !calls->stop && calls->result >= 0 &&
               (now = sg_now_monotonic_usec()) < end)
                r = sg_client_process(calls->client, end - now, e);
        return r < 0 ? r : 0;
}

int sg_calls_run(struct sg_calls *calls, struct sg_error *e)
{
        size_t next = 0;
        int r = prepare(calls);

        while (r >= 0 && calls->result >= 0 && !calls->stop) {
                uint64_t now = sg_now_monotonic_usec(), left = UINT64_MAX;

                for (; r >= 0 && next < calls->ids->n && calls->under_way < calls->window; next++)
                        if (!calls->each[next].done)
                                r = send_call(calls, next, e);
                if (r < 0 || calls->under_way == 0)
                        break;
                if (calls->deadline_usec != UINT64_MAX)
                        left = calls->deadline_usec > now ? calls->deadline_usec - now : 0;
                if (left > 0) {
                        r = sg_client_process(calls->client, left, e);
                        continue;
                }
                r = hear_out(calls, e);
                if (r >= 0 && !calls->stop && calls->under_way > 0) {
                        r = 1;
                        break;
                }
        }
        forget_calls(calls);
        return calls->result < 0 ? calls->result : r;
}

void sg_calls_deinit(struct sg_calls *calls)
{
        forget_calls(calls);
        free(calls->each);
        calls->each = NULL;
}
