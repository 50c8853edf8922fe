/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Device rules of scopes that are there already. Nobody waits for them, so what systemd didn't
 * answer because it was away is due until it is back. What a former daemon sent isn't known: where
 * devices are restricted the rules are sent once more.
 */

#include "base/cleanup.h"
#include "edge/cgroup/systemd/call.h"
#include "edge/cgroup/systemd/internal.h"
#include "edge/cgroup/systemd/property.h"
#include "edge/common/log.h"
#include <errno.h>
#include <string.h>
#include <syslog.h>

static int on_devices(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const sd_bus_error *e = sd_bus_message_get_error(reply);
        struct sg_unit *u = userdata;

        (void)error;
        u->devices_slot = sd_bus_slot_unref(u->devices_slot);
        if (e && sg_systemd_is_away(e)) {
                u->devices_due = true;
                sg_systemd_later(u->systemd);
                return 0;
        }
        u->devices_refused = e && !sd_bus_error_has_name(e, SG_SYSTEMD_ERROR("NoSuchUnit"));
        if (u->devices_refused)
                sg_log(LOG_WARNING, "%s: systemd refused its devices: %s", u->name,
                       e->message ?: e->name);
        sg_property_read_back(u->scope);
        return 0;
}

static int send_devices(struct sg_unit *u)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        struct sg_systemd *sd = u->systemd;
        int r;

        u->devices_slot = sd_bus_slot_unref(u->devices_slot);
        r = sg_systemd_new_set(sd, &m, u->name);
        if (r >= 0)
                r = sg_property_append_devices(m, &u->scope->devices, true);
        if (r >= 0)
                r = sd_bus_message_close_container(m);
        if (r >= 0)
                r = sd_bus_call_async(sg_bus_connection_get(sd->connection), &u->devices_slot, m,
                                      on_devices, u, 0);
        if (r >= 0)
                u->devices_due = false;
        return r < 0 ? r : 0;
}

int sg_unit_set_devices(struct sg_scope *s, const struct sg_device_list *old, char **ret_why)
{
        struct sg_unit *u = s->unit;
        int r;

        (void)old;
        (void)ret_why;
        if (s->n_dirs == 0) { /* the unit isn't there yet */
                u->stale = u->stale || u->step > SG_UNIT_CALLED;
                return 0;
        }
        u->devices_due = true;
        r = send_devices(u);
        return sg_systemd_is_lost(r) ? 0 : r;
}

void sg_unit_adopt_devices(struct sg_scope *s)
{
        if (!sg_device_list_restricts(&s->devices) || s->unit->systemd->user)
                return;
        s->devices_known = s->unit->devices_due = true;
        sg_systemd_later(s->unit->systemd);
}

void sg_systemd_send_due(struct sg_systemd *sd)
{
        struct sg_unit *u;
        int r;

        sg_systemd_send_changes(sd);
        sg_list_foreach (u, &sd->units, all) {
                r = u->devices_due && u->scope->n_dirs > 0 ? send_devices(u) : 0;
                if (r < 0 && !sg_systemd_is_lost(r))
                        sg_log(LOG_WARNING, "%s: cannot send its devices: %s", u->name,
                               strerror(-r));
        }
}
