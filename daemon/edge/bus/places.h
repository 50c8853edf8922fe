/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Places for those who ask, of which each user has so many and all have so many. Where there is
 * none, somebody gives way: of a user who has all of theirs, one that has long been silent; of all,
 * one of the user who has most.
 */

#include "core/account/ledger.h"
#include "edge/bus/client.h"
#include <systemd/sd-event.h>

/* What both kinds of bus are told of the daemon. The ledger outlives them. */
struct sg_bus_host {
        sd_event *event;
        struct sg_ledger *ledger;
        void *userdata; /* for their ops */
};

struct sg_places {
        struct sg_ledger *ledger;
        enum sg_charge charge;
        struct sg_list clients; /* each of which has a place */
};

void sg_places_init(struct sg_places *p, struct sg_ledger *ledger, enum sg_charge charge);
/* A place for this client, which is then one of them; others may have been dropped. -EUSERS. */
int sg_places_take(struct sg_places *p, struct sg_client *c);
/* Of one that goes; nothing, if it has none. */
void sg_places_give(struct sg_places *p, struct sg_client *c);
