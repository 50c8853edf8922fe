/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* org.schedgov1.Job: the objects of live jobs. */
#include "api/dbus.h"
#include "api/internal.h"
#include "edge/bus/answer.h"
#include <errno.h>
#include <string.h>

/* --- finding it */

/* Who sent the call that is being handled. */
static struct sg_client *current_client(struct sg_manager *m, sd_bus *bus)
{
        sd_bus_message *message = sd_bus_get_current_message(bus);

        return message ? sg_dbus_client(m, message) : NULL;
}

int sg_dbus_find_job(sd_bus *bus, const char *path, const char *interface, void *userdata,
                     void **ret_found, sd_bus_error *error)
{
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};
        struct sg_manager *m = userdata;
        _cleanup_free_ char *id = NULL;
        struct sg_live *l;
        int r;

        (void)interface;
        r = sd_bus_path_decode(path, SG_BUS_JOB_PREFIX, &id);
        if (r <= 0 || !*id) /* the parent of them all is no job */
                return r < 0 ? r : 0;
        r = sg_api_find_live(m, current_client(m, bus), id, &l, &a);
        if (r < 0)
                return sg_bus_refuse(error, &a, r);
        *ret_found = l;
        return 1;
}

int sg_dbus_list_job_paths(sd_bus *bus, const char *prefix, void *userdata, char ***ret_nodes,
                           sd_bus_error *error)
{
        struct sg_manager *m = userdata;
        const struct sg_client *c = current_client(m, bus);
        char **nodes, id[SG_JOB_ID_MAX];
        struct sg_live *l;
        size_t n = 0;

        (void)prefix;
        (void)error;
        nodes = calloc(m->jobs->n + 1, sizeof(*nodes));
        if (!nodes)
                return -ENOMEM;
        sg_list_foreach (l, &m->jobs->all, link) {
                if (!sg_api_lists(m, c, l))
                        continue;
                sg_job_id_format(id, &l->job.key, m->node.name);
                if (sd_bus_path_encode(SG_BUS_JOB_PREFIX, id, &nodes[n]) < 0)
                        break;
                n++;
        }
        *ret_nodes = nodes;
        return 0;
}

static int on_call(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        struct sg_live *l = userdata;

        return sg_dbus_handle(message, l->manager, l, error);
}

/* --- properties */

#define GETTER(name, type, expression)                                                             \
        static int get_##name(sd_bus *bus, const char *path, const char *interface,                \
                              const char *property, sd_bus_message *reply, void *userdata,         \
                              sd_bus_error *error)                                                 \
        {                                                                                          \
                const struct sg_live *l = userdata;                                                \
                                                                                                   \
                (void)bus;                                                                         \
                (void)path;                                                                        \
                (void)interface;                                                                   \
                (void)property;                                                                    \
                (void)error;                                                                       \
                return sd_bus_message_append(reply, type, expression);                             \
        }

GETTER(name, "s", l->job.name)
GETTER(class, "s", l->job.class)
GETTER(user, "s", l->job.user)
GETTER(uid, "u", (uint32_t)l->job.uid)
GETTER(state, "s", sg_job_state_to_string(l->job.state))
GETTER(reason, "s", l->job.reason ?: "")
GETTER(pid, "i", (int32_t)l->job.pid)
GETTER(submitted, "t", l->job.submitted_usec)
GETTER(started, "t", l->job.started_usec)
GETTER(priority, "i", (int32_t)l->job.priority)
GETTER(attempt, "t", l->job.key.attempt)
GETTER(cpu_weight, "t", l->job.limits.cpu_weight)
GETTER(cpu_quota, "t", l->job.limits.cpu_quota_pm)
GETTER(memory_high, "t", l->job.limits.memory_high)
GETTER(memory_max, "t", l->job.limits.memory_max)
GETTER(tasks_max, "t", l->job.limits.tasks_max)
GETTER(threads, "s", sg_threads_to_string(l->job.limits.threads))

static int get_id(sd_bus *bus, const char *path, const char *interface, const char *property,
                  sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const struct sg_live *l = userdata;
        char id[SG_JOB_ID_MAX];

        (void)bus;
        (void)path;
        (void)interface;
        (void)property;
        (void)error;
        sg_job_id_format(id, &l->job.key, l->manager->node.name);
        return sd_bus_message_append(reply, "s", id);
}

#define PROPERTY(name, type, getter, flags) SD_BUS_PROPERTY(name, type, get_##getter, 0, flags)
#define METHOD(name, in, out) SD_BUS_METHOD(name, in, out, on_call, SD_BUS_VTABLE_UNPRIVILEGED)
#define CHANGES SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE

const sd_bus_vtable sg_dbus_job_vtable[] = {
        SD_BUS_VTABLE_START(0),
        METHOD("Cancel", NULL, NULL),
        METHOD("Hold", NULL, NULL),
        METHOD("Release", NULL, NULL),
        METHOD("Suspend", NULL, NULL),
        METHOD("Resume", NULL, NULL),
        METHOD("Requeue", NULL, NULL),
        METHOD("Signal", "i", NULL),
        METHOD("Set", "a{sv}", "as"),
        PROPERTY("Id", "s", id, SD_BUS_VTABLE_PROPERTY_CONST),
        PROPERTY("Name", "s", name, 0),
        PROPERTY("Class", "s", class, 0),
        PROPERTY("User", "s", user, SD_BUS_VTABLE_PROPERTY_CONST),
        PROPERTY("Uid", "u", uid, SD_BUS_VTABLE_PROPERTY_CONST),
        PROPERTY("State", "s", state, CHANGES),
        PROPERTY("Reason", "s", reason, CHANGES),
        PROPERTY("Pid", "i", pid, CHANGES),
        PROPERTY("Submitted", "t", submitted, SD_BUS_VTABLE_PROPERTY_CONST),
        PROPERTY("Started", "t", started, CHANGES),
        PROPERTY("Priority", "i", priority, 0),
        PROPERTY("Attempt", "t", attempt, CHANGES),
        PROPERTY("CPUWeight", "t", cpu_weight, 0),
        PROPERTY("CPUQuota", "t", cpu_quota, 0),
        PROPERTY("MemoryHigh", "t", memory_high, 0),
        PROPERTY("MemoryMax", "t", memory_max, 0),
        PROPERTY("TasksMax", "t", tasks_max, 0),
        PROPERTY("Threads", "s", threads, 0),
        SD_BUS_VTABLE_END,
};
