/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * A connection to the host's or the user's message bus that never blocks the loop: it is opened in
 * the background, opened again with growing pauses when the bus goes away, and tells its owner
 * when it comes and goes. Nothing fails for want of a bus: it is said once in the log.
 */

#include <stdbool.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

struct sg_bus_connection;

struct sg_bus_connection_ops {
        const char *purpose; /* what is missing without it, for the log: "unit calls" */
        /* The bus has given us a name. Everything hung on an earlier sd_bus has to be hung on this
         * one anew. < 0 gives this connection up; another one is tried after a pause. */
        int (*up)(sd_bus *bus, void *userdata);
        /* Before the sd_bus is let go of, after its pending calls were answered with errors; called
         * once for each time that up() was. Slots and messages of it must be dropped here. */
        void (*down)(sd_bus *bus, void *userdata);
};

/* user: the user's bus, else the system's ($DBUS_SYSTEM_BUS_ADDRESS, $DBUS_SESSION_BUS_ADDRESS or
 * where they usually are). Neither up() nor down() is called from inside. -ENXIO: the user has no
 * runtime directory. */
int sg_bus_connection_new(struct sg_bus_connection **ret, sd_event *event, bool user,
                          const struct sg_bus_connection_ops *ops, void *userdata);
/* Calls down() if it is up. Not to be called from up() or down(). */
struct sg_bus_connection *sg_bus_connection_free(struct sg_bus_connection *c);

/* NULL while it is down. */
sd_bus *sg_bus_connection_get(struct sg_bus_connection *c);
