/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of systemd's manager, as messages on the backend's one connection. */

#include "edge/cgroup/systemd/call.h"
#include "base/cleanup.h"
#include "edge/common/log.h"
#include <errno.h>
#include <string.h>
#include <syslog.h>

int sg_systemd_new_call(struct sg_systemd *sd, sd_bus_message **ret, const char *method)
{
        sd_bus *bus = sg_bus_connection_get(sd->connection);

        if (!bus)
                return -ENOTCONN;
        return sd_bus_message_new_method_call(bus, ret, SG_SYSTEMD_NAME, SG_SYSTEMD_PATH,
                                              SG_SYSTEMD_MANAGER, method);
}

/* "replace": what has gone idle a moment ago, and is to be stopped, is kept instead. */
int sg_systemd_new_start(struct sg_systemd *sd, sd_bus_message **ret, const char *unit)
{
        int r;

        r = sg_systemd_new_call(sd, ret, "StartTransientUnit");
        if (r >= 0)
                r = sd_bus_message_append(*ret, "ss", unit, "replace");
        return r < 0 ? r : sd_bus_message_open_container(*ret, 'a', "(sv)");
}

int sg_systemd_end_start(sd_bus_message *m)
{
        int r = sd_bus_message_close_container(m);

        return r < 0 ? r : sd_bus_message_append(m, "a(sa(sv))", 0);
}

int sg_systemd_new_set(struct sg_systemd *sd, sd_bus_message **ret, const char *unit)
{
        int r;

        r = sg_systemd_new_call(sd, ret, "SetUnitProperties");
        if (r >= 0)
                r = sd_bus_message_append(*ret, "sb", unit, 1);
        return r < 0 ? r : sd_bus_message_open_container(*ret, 'a', "(sv)");
}

static int on_sent(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const sd_bus_error *e = sd_bus_message_get_error(reply);
        const char *harmless = userdata;

        (void)error;
        if (e && !(harmless && sd_bus_error_has_name(e, harmless)) && !sg_systemd_is_away(e))
                sg_log(LOG_WARNING, "systemd refused a call: %s", e->message ?: e->name);
        return 0;
}

int sg_systemd_send(struct sg_systemd *sd, sd_bus_message *m, const char *harmless)
{
        return sd_bus_call_async(sg_bus_connection_get(sd->connection), NULL, m, on_sent,
                                 (void *)harmless, 0);
}

int sg_systemd_stop_unit(struct sg_systemd *sd, const char *unit)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        int r;

        r = sg_systemd_new_call(sd, &m, "StopUnit");
        if (r >= 0)
                r = sd_bus_message_append(m, "ss", unit, "replace");
        return r < 0 ? r : sg_systemd_send(sd, m, SG_SYSTEMD_ERROR("NoSuchUnit"));
}

bool sg_systemd_is_lost(int r)
{
        return r == -ENOTCONN || r == -ECONNRESET || r == -EPIPE || r == -ESHUTDOWN;
}

bool sg_systemd_is_away(const sd_bus_error *e)
{
        static const char *const names[] = {
                SD_BUS_ERROR_NO_REPLY,        SD_BUS_ERROR_DISCONNECTED,
                SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER,
                SD_BUS_ERROR_TIMEOUT,         SG_SYSTEMD_ERROR("ShuttingDown"),
        };

        for (size_t i = 0; i < SG_ELEMENTSOF(names); i++)
                if (sd_bus_error_has_name(e, names[i]))
                        return true;
        return false;
}
