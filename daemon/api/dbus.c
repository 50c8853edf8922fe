/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* D-Bus: the objects on each connection, org.schedgov1.Manager, and what a method call becomes. */
#include "api/dbus.h"
#include "api/internal.h"
#include "edge/bus/answer.h"
#include <errno.h>
#include <string.h>

/* Methods are called as verbs are. 1, as sd-bus takes 0 for "not handled". */
int sg_dbus_handle(sd_bus_message *message, struct sg_manager *m, struct sg_live *l,
                   sd_bus_error *error)
{
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};
        _cleanup_(sg_call_unrefp) struct sg_call *call = NULL;
        int r, verb = sg_request_verb_from_string(sd_bus_message_get_member(message));

        if (verb < 0)
                return verb;
        r = sg_dbus_call_new(&call, m, (enum sg_request_verb)verb, message);
        if (r >= 0)
                r = sg_api_handle(call, l, &a);
        return r < 0 ? sg_bus_refuse(error, &a, r) : 1;
}

static int on_call(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        return sg_dbus_handle(message, userdata, NULL, error);
}

/* --- properties */

static int get_text(sd_bus *bus, const char *path, const char *interface, const char *property,
                    sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        struct sg_manager *m = userdata;

        (void)bus;
        (void)path;
        (void)interface;
        (void)error;
        return sd_bus_message_append(reply, "s",
                                     strcmp(property, "Version") == 0 ? SG_VERSION
                                     : strcmp(property, "NodeName") == 0
                                             ? m->node.name
                                             : sg_backend_name(m->backend));
}

#define METHOD(name, in, out) SD_BUS_METHOD(name, in, out, on_call, SD_BUS_VTABLE_UNPRIVILEGED)

const sd_bus_vtable sg_dbus_manager_vtable[] = {
        SD_BUS_VTABLE_START(0),
        METHOD("Submit", "a{sv}ayayay", "tt"),
        METHOD("DryRun", "a{sv}ayayay", "s"),
        METHOD("Run", "a{sv}ayh", "t"),
        METHOD("Attach", "t", "hhhasas"),
        METHOD("ListJobs", "a{sv}s", "a(sssssstttiittstt)s"),
        METHOD("DescribeJobs", "a{sv}s", "ass"),
        METHOD("DescribeJob", "s", "s"),
        METHOD("DescribeCommand", "s", "a{sv}ayay"),
        METHOD("WaitJob", "s", "sis"),
        METHOD("DescribeSeries", "s", "s"),
        METHOD("OpenLog", "s", "hb"),
        METHOD("ListEvents", "tst", "a(ttssstiis)"),
        METHOD("Subscribe", NULL, NULL),
        METHOD("Adopt", "ss", "t"),
        METHOD("Describe", NULL, "s"),
        METHOD("Explain", "s", "s"),
        METHOD("OpenDecisions", NULL, "ah"),
        METHOD("ListPolicies", NULL, "s"),
        METHOD("DescribeLimits", NULL, "s"),
        METHOD("SetPolicy", "sas", NULL),
        METHOD("Reload", NULL, "as"),
        METHOD("ConfigCat", NULL, "s"),
        METHOD("ConfigVerify", NULL, "as"),
        METHOD("Gpus", NULL, "s"),
        METHOD("DrainGpu", "sb", NULL),
        SD_BUS_SIGNAL("JobEvent", "ttssstiis", 0),
        SD_BUS_PROPERTY("Version", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("NodeName", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Backend", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_VTABLE_END,
};

int sg_api_publish(struct sg_manager *m, sd_bus *bus)
{
        int r;

        r = sd_bus_add_object_vtable(bus, NULL, SG_BUS_PATH, SG_BUS_MANAGER, sg_dbus_manager_vtable,
                                     m);
        if (r >= 0)
                r = sd_bus_add_fallback_vtable(bus, NULL, SG_BUS_JOB_PREFIX, SG_BUS_JOB,
                                               sg_dbus_job_vtable, sg_dbus_find_job, m);
        if (r >= 0)
                r = sd_bus_add_node_enumerator(bus, NULL, SG_BUS_JOB_PREFIX, sg_dbus_list_job_paths,
                                               m);
        if (r >= 0)
                r = sd_bus_add_object_manager(bus, NULL, SG_BUS_PATH);
        return r;
}
