/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the files of this room that know D-Bus share: dbus.c (the manager's object), dbus-job.c (the
 * jobs'), dbus-call.c (what is asked and answered), dbus-signals.c (what subscribers hear). */

#include "api/call.h"
#include "manager.h"
#include <systemd/sd-bus.h>

extern const sd_bus_vtable sg_dbus_manager_vtable[];
extern const sd_bus_vtable sg_dbus_job_vtable[];

/* A method was called, of the live job l or (NULL) of the manager. */
int sg_dbus_handle(sd_bus_message *message, struct sg_manager *m, struct sg_live *l,
                   sd_bus_error *error);
int sg_dbus_call_new(struct sg_call **ret, struct sg_manager *m, enum sg_request_verb verb,
                     sd_bus_message *message);
/* Who sent a message, on a connection of their own or on a message bus; NULL: they have gone. */
struct sg_client *sg_dbus_client(struct sg_manager *m, sd_bus_message *message);

/* Finds the object behind /org/schedgov1/job/ID, and lists those that live. */
int sg_dbus_find_job(sd_bus *bus, const char *path, const char *interface, void *userdata,
                     void **ret_found, sd_bus_error *error);
int sg_dbus_list_job_paths(sd_bus *bus, const char *prefix, void *userdata, char ***ret_nodes,
                           sd_bus_error *error);
