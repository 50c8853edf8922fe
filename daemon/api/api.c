/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Connections, who asks, and what subscribers hear. */
#include "adopt/adopt.h"
#include "api/internal.h"
#include "base/time-util.h"
#include "edge/bus/answer.h"
#include "edge/common/log.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Connections */

int sg_api_publish(struct sg_manager *m, sd_bus *bus)
{
        int r;

        r = sd_bus_add_object_vtable(bus, NULL, SG_BUS_PATH, SG_BUS_MANAGER, sg_manager_vtable, m);
        if (r >= 0)
                r = sd_bus_add_fallback_vtable(bus, NULL, SG_BUS_JOB_PREFIX, SG_BUS_JOB,
                                               sg_job_vtable, sg_api_find_job, m);
        if (r >= 0)
                r = sd_bus_add_node_enumerator(bus, NULL, SG_BUS_JOB_PREFIX, sg_api_list_job_paths,
                                               m);
        if (r >= 0)
                r = sd_bus_add_object_manager(bus, NULL, SG_BUS_PATH);
        return r;
}

void sg_api_disconnect(struct sg_manager *m, struct sg_client *c)
{
        sg_authorizer_forget(m->authorizer, c);
        sg_submissions_drop(m, c);
        sg_callers_disconnect(m, c);
}

struct sg_client *sg_api_client(struct sg_manager *m, sd_bus_message *call)
{
        struct sg_client *c = NULL;

        if (m->server)
                c = sg_bus_server_find(m->server, sd_bus_message_get_bus(call));
        if (!c && m->service)
                c = sg_bus_service_find(m->service, call);
        return c;
}

bool sg_caller_is_admin(const struct sg_manager *m, const struct sg_caller *c)
{
        return c->uid == 0 || c->uid == getuid() ||
               (m->admin_gid != (gid_t)-1 && sg_caller_in_group(c, m->admin_gid));
}

bool sg_caller_owns(const struct sg_manager *m, const struct sg_caller *c, uint64_t uid)
{
        return c->uid == uid || sg_caller_is_admin(m, c);
}

bool sg_caller_sees_all(const struct sg_manager *m, const struct sg_caller *c)
{
        return m->settings->show_others == SG_SHOW_LIST || sg_caller_is_admin(m, c);
}

bool sg_caller_may_see(const struct sg_manager *m, const struct sg_caller *c, uint64_t uid)
{
        return c->uid == uid || sg_caller_sees_all(m, c);
}

int sg_api_read_dict(sd_bus_message *m, sg_entry_cb cb, void *userdata, sd_bus_error *error)
{
        int r = sd_bus_message_enter_container(m, 'a', "{sv}");

        if (r < 0)
                return r;
        while ((r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
                const char *key;

                r = sd_bus_message_read(m, "s", &key);
                if (r >= 0)
                        r = cb(key, m, userdata, error);
                if (r >= 0)
                        r = sd_bus_message_exit_container(m);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* Answers */

int sg_api_check_adopted(const struct sg_live *l, enum sg_adoption needed, const char *verb,
                         sd_bus_error *error)
{
        _cleanup_(sg_answer_deinit) struct sg_answer refusal = {.kind = SG_ANSWER_NONE};
        int r = sg_adopted_check(l, needed, verb, &refusal);

        return r < 0 ? sg_bus_refuse(error, &refusal, r) : r;
}

/* Whose requests take more than they may has the next one only when they take less (turns.c). */
int sg_api_owe(struct sg_manager *m, sd_bus_message *call, enum sg_charge charge, uint64_t amount,
               struct sg_owed *ret)
{
        bool bytes = charge == SG_CHARGE_ANSWERS || charge == SG_CHARGE_REQUESTS;
        struct sg_client *c = sg_api_client(m, call);
        int r;

        if (!c)
                return -ENOTCONN;
        r = bytes ? sg_ledger_book(m->ledger, c->caller.uid, charge, amount)
                  : sg_ledger_take(m->ledger, c->caller.uid, charge, amount);
        if (r != 0)
                return r < 0 ? r : -EBUSY;
        *ret = (struct sg_owed){m->ledger, charge, c->caller.uid, amount};
        return 0;
}

void sg_api_paid(struct sg_owed *o)
{
        if (o->ledger)
                sg_ledger_give(o->ledger, o->uid, o->charge, o->amount);
        *o = (struct sg_owed){0};
}

int sg_api_reply_document(struct sg_manager *m, sd_bus_message *call, const char *doc)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        struct sg_client *c = sg_api_client(m, call);
        int r = sd_bus_message_new_method_return(call, &reply);

        if (r >= 0)
                r = sd_bus_message_append(reply, "s", doc);
        if (r < 0 || !c)
                return r < 0 ? r : 1;
        return sg_client_reply(c, reply, strlen(doc));
}

/* --- signals */

static int send_event(struct sg_client *c, const struct sg_job *j, const char *id)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        int r;

        r = sd_bus_message_new_signal(c->bus, &m, SG_BUS_PATH, SG_BUS_MANAGER, "JobEvent");
        if (r >= 0)
                r = sd_bus_message_append(m, "ttsss", (uint64_t)0,
                                          j->changed_usec ?: sg_now_realtime_usec(), id,
                                          sg_job_state_to_string(j->state), j->reason ?: "");
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

/* --- what isn't there */

#define CLASSES_SHOWN 256U

int sg_api_no_class(const struct sg_manager *m, const char *name, sd_bus_error *error)
{
        const struct sg_settings *s = m->settings;
        char names[CLASSES_SHOWN] = "";
        size_t used = 0;

        for (size_t i = 0; i < s->n_classes; i++) {
                const char *next = s->classes[i].name;

                if (used + strlen(next) + sizeof(" …") > sizeof(names)) {
                        strcpy(names + used, " …");
                        break;
                }
                used += (size_t)sprintf(names + used, "%s%s", i > 0 ? " " : "", next);
        }
        return sd_bus_error_setf(error, SG_ERROR_INVALID,
                                 s->n_classes == 1
                                         ? "there is no class '%s'\nthere is only %s; a file makes "
                                           "others, see schedgov.policy(5)"
                                         : "there is no class '%s'\nuse one of %s",
                                 name, names);
}
