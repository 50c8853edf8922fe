/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Network bytes of units, as systemd's IP accounting has them: when it is asked for which, and what
 * its answers come to. PID 1 has others to serve: a few units at a time are asked for, and none of
 * them often. Times are microseconds of one clock that only goes forward.
 */

#include <stdbool.h>
#include <stdint.h>

enum sg_net_way {
        SG_NET_RX,
        SG_NET_TX,
        SG_NET_WAYS,
};

/* Of all units; all zero to begin with. */
struct sg_net_counts {
        unsigned n_units; /* that have been asked for */
        unsigned n_in_flight;
};

/* Of one; all zero to begin with. */
struct sg_net_count {
        uint64_t asked_usec; /* 0 = never */
        uint64_t last[SG_NET_WAYS], sum[SG_NET_WAYS];
        unsigned n_without; /* answers that there is no figure, in a row */
        bool known;         /* what the sums are */
};

/* Whether it is to be asked for. If so, that it is, is noted. */
bool sg_net_count_due(struct sg_net_counts *all, struct sg_net_count *u, uint64_t now_usec);
bool sg_net_counts_may_ask(const struct sg_net_counts *all); /* for another one at once */
/* SG_UNLIMITED: there is no figure. False: of one way or both. */
bool sg_net_count_answered(struct sg_net_count *u, const uint64_t answer[SG_NET_WAYS]);
void sg_net_count_forget(struct sg_net_counts *all, struct sg_net_count *u);
