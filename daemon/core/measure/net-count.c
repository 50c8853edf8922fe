/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/measure/net-count.h"
#include "base/parse.h"

#define INTERVAL_USEC (10ULL * 1000000)
/* Of all units together: an answer costs PID 1 some 0.2 ms (2 ms in an emulated guest). */
#define PER_UNIT_USEC (20ULL * 1000)
#define IN_FLIGHT_MAX 4
/* After so many answers without a figure it is taken for one that doesn't count. */
#define WITHOUT_MAX 3

bool sg_net_count_due(struct sg_net_counts *all, struct sg_net_count *u, uint64_t now_usec)
{
        uint64_t interval = all->n_units * PER_UNIT_USEC;

        if (interval < INTERVAL_USEC)
                interval = INTERVAL_USEC;
        if (u->n_without >= WITHOUT_MAX ||
            (u->asked_usec > 0 && now_usec - u->asked_usec < interval))
                return false;
        all->n_units += u->asked_usec == 0;
        u->asked_usec = now_usec;
        return true;
}

bool sg_net_counts_may_ask(const struct sg_net_counts *all)
{
        return all->n_in_flight < IN_FLIGHT_MAX;
}

/* A count that begins anew, as after a restart of the service, is added to what was before. */
static void take(struct sg_net_count *u, enum sg_net_way way, uint64_t value)
{
        uint64_t since = value >= u->last[way] ? value - u->last[way] : value;

        u->sum[way] += since;
        u->last[way] = value;
}

bool sg_net_count_answered(struct sg_net_count *u, const uint64_t answer[SG_NET_WAYS])
{
        if (answer[SG_NET_RX] == SG_UNLIMITED || answer[SG_NET_TX] == SG_UNLIMITED) {
                u->n_without++;
                return false;
        }
        u->n_without = 0;
        u->known = true;
        take(u, SG_NET_RX, answer[SG_NET_RX]);
        take(u, SG_NET_TX, answer[SG_NET_TX]);
        return true;
}

void sg_net_count_forget(struct sg_net_counts *all, struct sg_net_count *u)
{
        all->n_units -= u->asked_usec > 0;
        *u = (struct sg_net_count){0};
}
