/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * One who asks: a connection of the peer-to-peer socket (server.h), or a unique name on a
 * message bus (service.h). Handlers of calls need not know which.
 */

#include "base/list.h"
#include "core/account/complaints.h"
#include "core/account/ledger.h"
#include "edge/bus/caller.h"
#include <systemd/sd-bus.h>

struct sg_client {
        struct sg_list link;
        sd_bus *bus;
        char *name; /* on a message bus that is shared with others; NULL: bus is its own */
        struct sg_caller caller;
        int fd;                     /* its own connection, for us to look at; −1: it has none */
        struct sg_ledger *ledger;   /* its unread answers are charged there; NULL: none */
        struct sg_complaints *told; /* what was said of clients; NULL: nothing is said of it */
        uint64_t unread, bulk;      /* bytes, so far; those of long answers */
        uint64_t unread_since_usec; /* since when nothing has been read, monotonic */
        unsigned n_signals;         /* since the last look */
        uint64_t request_bytes;     /* of the call that is being handled; 0: nobody knows */
        bool stuck;                 /* its bus has stopped reading and is about to be dropped */
        bool subscribed;            /* wants signals */
        bool runs;                  /* the owner's: it has asked for a foreground job */
        unsigned pages;             /* the owner's: lists that are being made */
        unsigned n_held;            /* calls that wait until it is known who asks */
        uint64_t called_usec;       /* the last time, monotonic */
        bool placed;                /* it has a place (places.h) */
        void (*drop)(struct sg_client *c);
        struct sg_list waiters;     /* the owner's: calls that are answered later */
        struct sg_list submissions; /* the owner's: while their user's name is looked up */
};

void sg_client_init(struct sg_client *c);
void sg_client_deinit(struct sg_client *c);

/* Whether more may be sent; a bus that has stopped reading is shut down, and reported as
 * disconnected outside of whatever call is being handled now. */
bool sg_client_reads(struct sg_client *c);
/* Sends m to a subscribed client, dropping one that has stopped reading. */
void sg_client_send(struct sg_client *c, sd_bus_message *m);
/* For a reply that may be large, of about so many bytes; -EBUSY when a message bus doesn't take
 * what there is already. */
int sg_client_reply(struct sg_client *c, sd_bus_message *m, uint64_t size);
/* Charges what the client hasn't read, as much as it is now. */
void sg_client_settle(struct sg_client *c);
/* Why one is dropped. */
enum sg_client_fault { SG_CLIENT_UNREAD, SG_CLIENT_UNFINISHED, SG_CLIENT_OVERSIZED };
/* Says that it is, once a minute for each user. */
void sg_client_complain(const struct sg_client *c, enum sg_client_fault fault);
/* Ends its connection, or that of its bus; it is reported later. */
void sg_client_shut(struct sg_client *c);
