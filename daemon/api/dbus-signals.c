/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What subscribers hear. */
#include "api/internal.h"
#include "base/time-util.h"
#include <errno.h>
#include <systemd/sd-bus.h>

static int send_event(struct sg_client *c, const struct sg_job *j, const char *id)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        char name[SG_USER_NAME_MAX];
        int r;

        r = sd_bus_message_new_signal(c->bus, &m, SG_BUS_PATH, SG_BUS_MANAGER, "JobEvent");
        if (r >= 0)
                r = sd_bus_message_append(m, "ttssstiis", (uint64_t)0,
                                          j->changed_usec ?: sg_now_realtime_usec(), id,
                                          sg_job_state_to_string(j->state), j->reason ?: "",
                                          j->key.attempt, (int32_t)j->exit_code, (int32_t)j->signal,
                                          sg_job_who(j, &j->changed_by, name) ?: "");
        if (r >= 0)
                sg_client_send(c, m);
        return r;
}

/* sd-bus's own would tell everybody on a message bus, also those who may not see the job. */
static int send_changes(struct sg_client *c, const struct sg_job *j, const char *path)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        int r;

        r = sd_bus_message_new_signal(c->bus, &m, path, "org.freedesktop.DBus.Properties",
                                      "PropertiesChanged");
        if (r >= 0)
                r = sd_bus_message_append(m, "sa{sv}as", SG_BUS_JOB, 5, "State", "s",
                                          sg_job_state_to_string(j->state), "Reason", "s",
                                          j->reason ?: "", "Pid", "i", (int32_t)j->pid, "Started",
                                          "t", j->started_usec, "Attempt", "t", j->key.attempt, 0);
        if (r >= 0)
                sg_client_send(c, m);
        return r;
}

static void emit_to(struct sg_manager *m, struct sg_list *clients, const struct sg_job *j)
{
        char id[SG_JOB_ID_MAX] = "";
        _cleanup_free_ char *path = NULL;
        struct sg_client *c;

        sg_list_foreach (c, clients, link) {
                if (!c->subscribed || c->stuck || !sg_caller_may_see(m, &c->caller, j->uid))
                        continue;
                if (!id[0]) {
                        sg_job_id_format(id, &j->key, m->node.name);
                        if (sd_bus_path_encode(SG_BUS_JOB_PREFIX, id, &path) < 0)
                                return;
                }
                (void)send_event(c, j, id);
                if (!sg_job_state_is_final(j->state))
                        (void)send_changes(c, j, path);
        }
}

void sg_api_emit(struct sg_manager *m, const struct sg_job *j)
{
        if (m->server)
                emit_to(m, sg_bus_server_clients(m->server), j);
        if (m->service)
                emit_to(m, sg_bus_service_clients(m->service), j);
}
