/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Our name on the host's or the user's message bus. Who calls there is asked of the bus itself,
 * once per unique name and before the first call of it is handled; a caller is then a client like
 * one of the socket, until its name goes away. Clients, calls that wait for that answer and what
 * one user may take of both are bounded; those that have long been silent make room for new ones.
 *
 * Without a bus, or a right to the name, nothing fails: it is said in the log, and tried again.
 */

#include "edge/bus/places.h"

struct sg_bus_service;

struct sg_bus_service_ops {
        int (*publish)(sd_bus *bus, void *userdata);               /* adds the objects to a bus */
        void (*disconnected)(struct sg_client *c, void *userdata); /* before the client is freed */
};

/* user: on the user's bus, else the system's. -ENXIO: there can be none (no runtime directory). */
int sg_bus_service_new(struct sg_bus_service **ret, const struct sg_bus_host *host, bool user,
                       const char *name, const struct sg_bus_service_ops *ops);
struct sg_bus_service *sg_bus_service_free(struct sg_bus_service *s);

/* Who sent this call; NULL for one of another bus, or whose sender has gone. */
struct sg_client *sg_bus_service_find(struct sg_bus_service *s, sd_bus_message *call);
struct sg_list *sg_bus_service_clients(struct sg_bus_service *s);
/* The connection, to ask others on it; NULL while there is none. */
sd_bus *sg_bus_service_bus(struct sg_bus_service *s);
