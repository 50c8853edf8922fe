/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See each.h. */

#include "ctl/ask/calls.h"
#include "base/time-util.h"
#include <errno.h>
#include <stdlib.h>

#define HEAR_USEC (5ULL * 1000000)

struct sg_each_call {
        struct sg_each *each;
        sd_bus_slot *slot;
        bool done;
};

static int on_reply(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct sg_each_call *call = userdata;
        struct sg_each *each = call->each;
        int r;

        (void)error;
        call->slot = sd_bus_slot_unref(call->slot);
        each->under_way--;
        /* sd-bus answers for a governor that is gone: not its word about the job. */
        if (sd_bus_message_is_method_error(m, SD_BUS_ERROR_NO_REPLY) ||
            sd_bus_message_is_method_error(m, SD_BUS_ERROR_DISCONNECTED))
                return 1;
        call->done = true;
        r = each->take(each, (size_t)(call - each->calls), m);
        if (r < 0 && each->result >= 0)
                each->result = r;
        return 1;
}

static int send_call(struct sg_each *each, size_t i, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL;
        struct sg_each_call *call = &each->calls[i];
        int r;

        r = each->build(each, each->ids->v[i], &m, e);
        if (r < 0)
                return r;
        r = sd_bus_call_async(each->client->bus, &call->slot, m, on_reply, call, UINT64_MAX);
        if (r < 0)
                return sg_error_errno(e, r, "cannot ask schedgovd");
        each->under_way++;
        return 0;
}

static void forget_calls(struct sg_each *each)
{
        for (size_t i = 0; each->calls && i < each->ids->n; i++)
                each->calls[i].slot = sd_bus_slot_unref(each->calls[i].slot);
        each->under_way = 0;
}

static int prepare(struct sg_each *each)
{
        if (each->calls || each->ids->n == 0)
                return 0;
        each->calls = calloc(each->ids->n, sizeof(*each->calls));
        if (!each->calls)
                return -ENOMEM;
        for (size_t i = 0; i < each->ids->n; i++)
                each->calls[i].each = each;
        return 0;
}

static int on_heard(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct sg_each *each = userdata;

        (void)m;
        (void)error;
        each->heard = true;
        return 1;
}

/*
 * What can be answered at once has been, when this returns: the governor looks up in its store, in
 * the order in which it is asked, and this is asked last. Bounded, as its disk may hang.
 */
static int hear_out(struct sg_each *each, struct sg_error *e)
{
        uint64_t end = sg_now_monotonic_usec() + HEAR_USEC, now;
        _cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = NULL;
        _cleanup_message_ sd_bus_message *m = NULL;
        int r;

        each->heard = false;
        r = sg_client_manager(each->client, "ListJobs", &m, e);
        if (r < 0)
                return r;
        r = sd_bus_message_append(m, "a{sv}s", 2, "only_finished", "b", true, "limit", "t",
                                  (uint64_t)1, "");
        if (r >= 0)
                r = sd_bus_call_async(each->client->bus, &slot, m, on_heard, each, UINT64_MAX);
        if (r < 0)
                return sg_error_errno(e, r, "cannot ask schedgovd");
        while (r >= 0 && !each->heard && !each->stop && each->result >= 0 &&
               (now = sg_now_monotonic_usec()) < end)
                r = sg_client_process(each->client, end - now, e);
        return r < 0 ? r : 0;
}

int sg_each_run(struct sg_each *each, struct sg_error *e)
{
        size_t next = 0;
        int r = prepare(each);

        while (r >= 0 && each->result >= 0 && !each->stop) {
                uint64_t now = sg_now_monotonic_usec(), left = UINT64_MAX;

                for (; r >= 0 && next < each->ids->n && each->under_way < each->window; next++)
                        if (!each->calls[next].done)
                                r = send_call(each, next, e);
                if (r < 0 || each->under_way == 0)
                        break;
                if (each->deadline_usec != UINT64_MAX)
                        left = each->deadline_usec > now ? each->deadline_usec - now : 0;
                if (left > 0) {
                        r = sg_client_process(each->client, left, e);
                        continue;
                }
                r = hear_out(each, e);
                if (r >= 0 && !each->stop && each->under_way > 0) {
                        r = 1;
                        break;
                }
        }
        forget_calls(each);
        return each->result < 0 ? each->result : r;
}

void sg_each_deinit(struct sg_each *each)
{
        forget_calls(each);
        free(each->calls);
        each->calls = NULL;
}
