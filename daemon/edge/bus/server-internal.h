/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the server's files share: connections (server.c), whose turn it is (turns.c), and what waits
 * to be sent (outbox.c). */

#include "edge/bus/intake.h"
#include "edge/bus/server.h"

struct sg_bus_server {
        sd_event *event;
        sd_event_source *listener, *pause;
        bool complained; /* that nobody can be accepted */
        sd_id128_t id;
        char *path;
        bool kept; /* the path outlives us */
        struct sg_places places;
        struct sg_ledger *ledger;
        struct sg_complaints complaints; /* of clients that were dropped */
        const struct sg_bus_server_ops *ops;
        void *userdata;

        /* turns.c */
        sd_event_source *turn, *retry;
        uint64_t n_turns, n_retries;
};

struct sg_peer {
        struct sg_client client; /* first, so that either is found from the other */
        struct sg_bus_server *server;
        sd_event_source *auth_timer;
        struct sg_intake *intake;
        uint64_t n_heard; /* messages that have come from sd-bus */

        /* turns.c */
        sd_event_source *socket, *message_timer;
        bool ready;                   /* there may be something to be taken in */
        bool waits;                   /* there is something, and no room for it */
        uint64_t served, user_served; /* the number of its last turn; of the last turn of any
                                         client of its user */
        uint64_t retried;
        uint64_t n_whole; /* messages that have been handled */
        uint64_t passed;  /* of the intake's, when the message's time began */

        /* outbox.c */
        sd_event_source *output; /* while something waits to be sent */
};

void sg_peer_drop(struct sg_peer *p);
/* What has been passed on is handled, what waits is sent as far as there is room. false: the peer
 * is gone. */
bool sg_peer_process(struct sg_peer *p);

int sg_turns_init(struct sg_bus_server *s);
void sg_turns_deinit(struct sg_bus_server *s);
int sg_turns_add(struct sg_peer *p);
void sg_turns_remove(struct sg_peer *p);

/* Before each event, of a source of the server's. */
int sg_outbox_prepare(sd_event_source *source, void *server);
void sg_outbox_remove(struct sg_peer *p);
