/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* org.schedgov1.Manager: the table of its members, and those about the daemon itself. */
#include "adopt/adopt.h"
#include "api/internal.h"
#include "base/utf8.h"
#include "edge/bus/answer.h"
#include <errno.h>
#include <string.h>

static int method_subscribe(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        struct sg_client *c = sg_api_client(userdata, call);

        (void)error;
        if (!c)
                return -ENOTCONN;
        c->subscribed = true;
        return sd_bus_reply_method_return(call, NULL);
}

static int method_describe(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        struct sg_client *c = sg_api_client(userdata, call);
        _cleanup_free_ char *doc = NULL;
        int r = c ? sg_status_document(userdata, &c->caller, &doc) : -ENOTCONN;

        (void)error;
        return r < 0 ? r : sg_api_reply_document(userdata, call, doc);
}

/* --- configuration */

static int reply_errors(sd_bus_message *call, const struct sg_config_errors *errors)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        char line[1024];
        int r;

        r = sd_bus_message_new_method_return(call, &reply);
        if (r >= 0)
                r = sd_bus_message_open_container(reply, 'a', "s");
        for (size_t i = 0; r >= 0 && i < errors->n; i++) {
                (void)snprintf(line, sizeof(line), "%s: %s", errors->items[i].where,
                               errors->items[i].what);
                sg_utf8_clean(line, strlen(line)); /* a file may hold what a bus string may not */
                r = sd_bus_message_append(reply, "s", line);
        }
        if (r >= 0)
                r = sd_bus_message_close_container(reply);
        return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

static int method_reload(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        struct sg_config_errors errors = {0};
        int r;

        r = sg_authorize_node(userdata, call, "reload the configuration", error);
        if (r <= 0)
                return sg_unauthorized(r);
        r = sg_manager_reload(userdata, &errors);
        if (r >= 0 || errors.n > 0)
                r = reply_errors(call, &errors);
        sg_config_errors_deinit(&errors);
        return r;
}

static int method_config_verify(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        struct sg_manager *m = userdata;
        struct sg_config_errors errors = {0};
        _cleanup_(sg_settings_freep) const struct sg_settings *settings = NULL;
        int r;

        r = sg_authorize_node(m, call, "verify the configuration", error);
        if (r <= 0)
                return sg_unauthorized(r);
        r = sg_config_load(&settings, &m->config_place, m->node.name, &errors, NULL);
        if (r >= 0 || errors.n > 0)
                r = reply_errors(call, &errors);
        sg_config_errors_deinit(&errors);
        return r;
}

static int method_config_cat(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        struct sg_manager *m = userdata;
        int r = sg_authorize_node(m, call, "read the configuration", error);

        return r <= 0 ? sg_unauthorized(r)
                      : sd_bus_reply_method_return(call, "s",
                                                   sg_configuration_text(m->configuration));
}

/* --- what runs already */

static void on_adopted(const struct sg_answer *refusal, uint64_t n, void *userdata)
{
        sd_bus_message *call = userdata;

        if (refusal)
                sg_bus_reply_refusal(call, refusal, -ENOMEM);
        else if (n > 0)
                (void)sd_bus_reply_method_return(call, "t", n);
        sd_bus_message_unref(call);
}

static int adopt(struct sg_manager *m, sd_bus_message *call, const char *what,
                 const struct sg_class *class, sd_bus_error *error)
{
        _cleanup_(sg_answer_deinit) struct sg_answer refusal = {.kind = SG_ANSWER_NONE};
        const struct sg_adopt_asker asker = {on_adopted, sd_bus_message_ref(call)};
        int r = sg_adopter_adopt(m->adopter, &asker, what, class, &refusal);

        if (r >= 0)
                return r;
        sd_bus_message_unref(call);
        return sg_bus_refuse(error, &refusal, r);
}

static int method_adopt(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        struct sg_manager *m = userdata;
        const struct sg_class *c;
        const char *what, *class;
        int r;

        r = sg_authorize_node(m, call, "adopt what others started", error);
        if (r <= 0)
                return sg_unauthorized(r);
        r = sd_bus_message_read(call, "ss", &what, &class);
        if (r < 0)
                return r;
        c = sg_settings_class(m->settings, class[0] ? class : "default");
        r = c ? adopt(m, call, what, c, error) : sg_api_no_class(m, class, error);
        return r < 0 ? r : 1;
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

#define METHOD(name, in, out, handler)                                                             \
        SD_BUS_METHOD(name, in, out, handler, SD_BUS_VTABLE_UNPRIVILEGED)

const sd_bus_vtable sg_manager_vtable[] = {
        SD_BUS_VTABLE_START(0),
        METHOD("Submit", "a{sv}ayayay", "tt", sg_api_submit),
        METHOD("DryRun", "a{sv}ayayay", "s", sg_api_dry_run),
        METHOD("Run", "a{sv}ayh", "t", sg_api_run),
        METHOD("Attach", "t", "hhhasas", sg_api_attach),
        METHOD("ListJobs", "a{sv}s", "a(sssssstttiitts)s", sg_api_list_jobs),
        METHOD("DescribeJobs", "a{sv}s", "ass", sg_api_describe_jobs),
        METHOD("DescribeJob", "s", "s", sg_api_describe_job),
        METHOD("WaitJob", "s", "sis", sg_api_wait_job),
        METHOD("DescribeSeries", "s", "s", sg_api_describe_series),
        METHOD("OpenLog", "s", "hb", sg_api_open_log),
        METHOD("ListEvents", "tst", "a(ttsss)", sg_api_list_events),
        METHOD("Subscribe", NULL, NULL, method_subscribe),
        METHOD("Adopt", "ss", "t", method_adopt),
        METHOD("Describe", NULL, "s", method_describe),
        METHOD("Explain", "s", "s", sg_api_explain),
        METHOD("OpenDecisions", NULL, "ah", sg_api_open_decisions),
        METHOD("ListPolicies", NULL, "s", sg_api_list_policies),
        METHOD("SetPolicy", "sas", NULL, sg_api_set_policy),
        METHOD("Reload", NULL, "as", method_reload),
        METHOD("ConfigCat", NULL, "s", method_config_cat),
        METHOD("ConfigVerify", NULL, "as", method_config_verify),
        SD_BUS_SIGNAL("JobEvent", "ttsss", 0),
        SD_BUS_PROPERTY("Version", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("NodeName", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Backend", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_VTABLE_END,
};
