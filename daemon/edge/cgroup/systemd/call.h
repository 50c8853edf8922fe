/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Calls of systemd's manager. */

#include "edge/cgroup/systemd/internal.h"

#define SG_SYSTEMD_NAME "org.freedesktop.systemd1"
#define SG_SYSTEMD_PATH "/org/freedesktop/systemd1"
#define SG_SYSTEMD_MANAGER "org.freedesktop.systemd1.Manager"
#define SG_SYSTEMD_ERROR(name) "org.freedesktop.systemd1." name

int sg_systemd_new_call(struct sg_systemd *sd, sd_bus_message **ret, const char *method);
/* StartTransientUnit up to and including the opened array of properties. */
int sg_systemd_new_start(struct sg_systemd *sd, sd_bus_message **ret, const char *unit);
int sg_systemd_end_start(sd_bus_message *m);
/* SetUnitProperties(runtime), likewise; closing the array ends it. */
int sg_systemd_new_set(struct sg_systemd *sd, sd_bus_message **ret, const char *unit);
/* Sends it for nobody's answer but the log's. `harmless`: an error name that is none, or NULL. */
int sg_systemd_send(struct sg_systemd *sd, sd_bus_message *m, const char *harmless);
int sg_systemd_stop_unit(struct sg_systemd *sd, const char *unit);
/* Whether an error means that systemd is away, rather than that it said no. */
bool sg_systemd_is_away(const sd_bus_error *e);
/* Likewise the result of sending. */
bool sg_systemd_is_lost(int r);
