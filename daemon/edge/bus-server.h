/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The peer-to-peer bus: a listening unix socket, one sd_bus per connection, bounded in every
 * direction. A connection that doesn't authenticate in time, or doesn't read what we send, is
 * dropped; it never makes us grow.
 */

#include "base/list.h"
#include "edge/caller.h"
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

struct sg_bus_server;

struct sg_client {
        struct sg_list link;
        struct sg_bus_server *server;
        sd_bus *bus;
        struct sg_caller caller;
        sd_event_source *auth_timer;
        bool stuck;             /* has stopped reading and is about to be dropped */
        bool subscribed;        /* wants signals */
        bool runs;              /* the owner's: it has asked for a foreground job */
        unsigned pages;         /* the owner's: lists that are being made */
        struct sg_list waiters; /* the owner's: calls that are answered later */
};

struct sg_bus_server_ops {
        int (*connected)(struct sg_client *c, void *userdata);     /* adds the objects; < 0 drops */
        void (*disconnected)(struct sg_client *c, void *userdata); /* before the client is freed */
};

/* Listens on path (mode 0666: who may do what is decided per call), replacing a stale socket. */
int sg_bus_server_new(struct sg_bus_server **ret, sd_event *event, const char *path,
                      const struct sg_bus_server_ops *ops, void *userdata);
struct sg_bus_server *sg_bus_server_free(struct sg_bus_server *s);

struct sg_list *sg_bus_server_clients(struct sg_bus_server *s);
/* Sends m to a subscribed client, dropping one that has stopped reading. */
void sg_client_send(struct sg_client *c, sd_bus_message *m);
/* For a reply that may be large: -EBUSY when too much lies there unread. */
int sg_client_reply(struct sg_client *c, sd_bus_message *m);
