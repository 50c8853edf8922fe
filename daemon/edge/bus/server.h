/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The peer-to-peer bus: a listening unix socket, one sd_bus per connection, bounded in every
 * direction. A connection that doesn't authenticate in time, or doesn't read what we send, is
 * dropped; it never makes us grow.
 */

#include "edge/bus/places.h"

struct sg_bus_server;

struct sg_bus_server_ops {
        int (*connected)(struct sg_client *c, void *userdata);     /* adds the objects; < 0 drops */
        void (*disconnected)(struct sg_client *c, void *userdata); /* before the client is freed */
};

/* Listens on path (mode 0666: who may do what is decided per call), replacing a stale socket. */
int sg_bus_server_new(struct sg_bus_server **ret, const struct sg_bus_host *host, const char *path,
                      const struct sg_bus_server_ops *ops);
struct sg_bus_server *sg_bus_server_free(struct sg_bus_server *s);

/* The client whose connection this is; NULL for any other. */
struct sg_client *sg_bus_server_find(struct sg_bus_server *s, sd_bus *bus);
struct sg_list *sg_bus_server_clients(struct sg_bus_server *s);
