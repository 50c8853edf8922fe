/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Policies over the bus: what there is, what each class has, changing that while its jobs run, and
 * the log of what was decided. */
#include "api/internal.h"
#include "core/queue/order.h"
#include "core/settings/table.h"
#include "core/share/share.h"
#include "edge/common/log.h"
#include "edge/history/decision-log.h"
#include <errno.h>
#include <string.h>

/* --- ListPolicies */

static json_t *word(const char *name, const char *summary)
{
        return json_pack("{s:s,s:s}", "name", name, "summary", summary);
}

static json_t *share_policies(void)
{
        json_t *a = json_array();

        for (unsigned i = 0; i < _SG_SHARE_MAX; i++)
                (void)json_array_append_new(
                        a, word(sg_share_policies[i]->name, sg_share_policies[i]->summary));
        return a;
}

static json_t *order_policies(void)
{
        json_t *a = json_array();

        for (unsigned i = 0; i < _SG_ORDER_MAX; i++)
                (void)json_array_append_new(
                        a, word(sg_order_policies[i]->name, sg_order_policies[i]->summary));
        return a;
}

/* {"Policy":{"Share":"growth",…},"Growth":{…},…}, each as one would write it. */
static json_t *class_settings(const struct sg_class *c)
{
        json_t *o = json_object();
        char value[SG_FORMAT_MAX];

        json_object_set_new(o, "Policy",
                            json_pack("{s:s,s:s}", "Order", sg_order_policies[c->order]->name,
                                      "Backfill", c->backfill ? "yes" : "no"));
        for (const struct sg_settings_key *k = sg_settings_keys; k->section; k++) {
                json_t *section;

                if (!sg_settings_key_is_share(k) || !sg_settings_key_format(k, c, value))
                        continue;
                section = json_object_get(o, k->section);
                if (!section) {
                        section = json_object();
                        json_object_set_new(o, k->section, section);
                }
                json_object_set_new(section, k->key, json_string(value));
        }
        return o;
}

/* What doesn't come from the files. */
static json_t *class_changes(const struct sg_manager *m, const struct sg_class *c)
{
        json_t *a = json_array();

        for (const struct sg_settings_key *k = sg_settings_keys; k->section; k++)
                if (sg_configuration_is_changed(m->configuration, c->name, k))
                        (void)json_array_append_new(a, json_sprintf("%s.%s", k->section, k->key));
        return a;
}

static json_t *class_document(const struct sg_manager *m, const struct sg_class *c)
{
        return json_pack("{s:s,s:s?,s:I,s:o,s:o}", "name", c->name, "file", c->file, "weight",
                         (json_int_t)c->weight, "settings", class_settings(c), "changed",
                         class_changes(m, c));
}

int sg_api_list_policies(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        struct sg_manager *m = userdata;
        _cleanup_free_ char *doc = NULL;
        json_t *classes = json_array();
        int r;

        (void)error;
        for (size_t i = 0; i < m->settings->n_classes; i++)
                (void)json_array_append_new(classes, class_document(m, &m->settings->classes[i]));
        r = sg_json_dump(json_pack("{s:s,s:o,s:o,s:o}", "schema", "schedgov.policies/1", "share",
                                   share_policies(), "order", order_policies(), "classes", classes),
                         &doc);
        return r < 0 ? r : sg_api_reply_document(m, call, doc);
}

/* --- SetPolicy */

static int set_policy(struct sg_manager *m, const char *class, char *const *assignments,
                      sd_bus_error *error)
{
        _cleanup_free_ char *why = NULL;
        int r;

        if (!sg_settings_class(m->settings, class))
                return sg_api_no_class(m, class, error);
        r = sg_manager_set_policy(m, class, assignments, &why);
        if (r == -EINVAL && why)
                return sd_bus_error_set(error, SG_ERROR_INVALID, why);
        if (r < 0 && r != -ENOMEM)
                return sd_bus_error_setf(error, SG_ERROR_STORE,
                                         "cannot store the change of class %s: %s", class,
                                         strerror(-r));
        return r;
}

int sg_api_set_policy(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        _cleanup_strv_ char **assignments = NULL;
        struct sg_manager *m = userdata;
        const char *class;
        int r;

        r = sg_authorize_node(m, call, "change the policy of a class", error);
        if (r <= 0)
                return sg_unauthorized(r);
        r = sd_bus_message_read(call, "s", &class);
        if (r >= 0)
                r = sd_bus_message_read_strv(call, &assignments);
        if (r < 0)
                return r;
        r = set_policy(m, class, assignments ?: (char *[]){NULL}, error);
        if (r < 0)
                return r;
        for (char **a = assignments; a && *a; a++)
                sg_log(LOG_INFO, "policy of class %s: %s", class, *a);
        return sd_bus_reply_method_return(call, NULL);
}

/* --- OpenDecisions */

/* It has no more of others' jobs in it than their documents have: their ids and what they use. */
static bool may_read_decisions(const struct sg_manager *m, const struct sg_client *c)
{
        return sg_caller_sees_all(m, &c->caller);
}

static int reply_files(sd_bus_message *call, const int fds[2])
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        int r = sd_bus_message_new_method_return(call, &reply);

        if (r >= 0)
                r = sd_bus_message_open_container(reply, 'a', "h");
        for (unsigned i = 0; r >= 0 && i < 2; i++)
                if (fds[i] >= 0)
                        r = sd_bus_message_append(reply, "h", fds[i]);
        if (r >= 0)
                r = sd_bus_message_close_container(reply);
        return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

int sg_api_open_decisions(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        struct sg_manager *m = userdata;
        struct sg_client *c = sg_api_client(m, call);
        int fds[2], r;

        if (!c)
                return -ENOTCONN;
        if (!may_read_decisions(m, c))
                return sd_bus_error_set(error, SG_ERROR_DENIED,
                                        "the log of decisions is for administrators here\n"
                                        "see schedctl explain JOB for one's own jobs");
        r = sg_decision_log_files(sg_store_dir(m->store), fds);
        if (r < 0)
                return sd_bus_error_setf(error, SG_ERROR_STORE,
                                         "cannot open the log of decisions: %s", strerror(-r));
        r = reply_files(call, fds);
        (void)sg_close(fds[0]);
        (void)sg_close(fds[1]);
        return r;
}
