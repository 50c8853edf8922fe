/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The bus API's own room: org.schedgov1(5) describes it. Handlers find out who asks and what for,
 * and call the manager; an answer that has to wait for the disk is sent from a callback that holds
 * the message. This is what the manager knows of it.
 */

#include "manager.h"
#include <systemd/sd-bus.h>

int sg_api_publish(struct sg_manager *m, sd_bus *bus); /* adds the objects to a connection */
void sg_api_disconnect(struct sg_manager *m, struct sg_client *c);
/* callers.c: what jobs tell */
extern const struct sg_live_calls sg_api_live_calls;

/* authorize.c: calls whose right is being asked about */
int sg_authorizer_new(struct sg_authorizer **ret, sd_event *event);
struct sg_authorizer *sg_authorizer_free(struct sg_authorizer *a);

/* names.c: says in the log, soon, which users and groups that policies name aren't there */
void sg_api_check_names(struct sg_manager *m);
