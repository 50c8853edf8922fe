/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Places for clients: each user has so many, and all together have so many. When there is none
 * left, a client gives way: where its own user has all of theirs, one that has long been silent;
 * where all are taken, one of the user who has most.
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
/* Takes a place for this client, which is one of them then; others may have been dropped.
 * -EUSERS. */
int sg_places_take(struct sg_places *p, struct sg_client *c);
/* Gives back the place of a client that goes; does nothing if it has none. */
void sg_places_give(struct sg_places *p, struct sg_client *c);
