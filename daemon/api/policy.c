/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Policies: what there is, what each class has, changing that while its jobs run, and
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
                         (json_int_t)c->weight, "settings", sg_json_class_settings(c), "changed",
                         class_changes(m, c));
}

int sg_api_list_policies(struct sg_call *call, struct sg_answer *a)
{
        const struct sg_manager *m = call->manager;
        _cleanup_free_ char *doc = NULL;
        json_t *classes = json_array();
        int r;

        (void)a;
        for (size_t i = 0; i < m->settings->n_classes; i++)
                (void)json_array_append_new(classes, class_document(m, &m->settings->classes[i]));
        r = sg_json_dump(json_pack("{s:s,s:o,s:o,s:o}", "schema", "schedgov.policies/1", "share",
                                   share_policies(), "order", order_policies(), "classes", classes),
                         &doc);
        return r < 0 ? r : sg_call_send_document(call, doc);
}

/* --- SetPolicy */

static int set_policy(struct sg_manager *m, const char *class, char *const *assignments,
                      struct sg_answer *a)
{
        _cleanup_free_ char *why = NULL;
        int r;

        if (!sg_settings_class(m->settings, class))
                return sg_api_no_class(m, class, a);
        r = sg_manager_set_policy(m, class, assignments, &why);
        if (r == -EINVAL && why)
                return sg_refuse(a, SG_ANSWER_INVALID, "assignments", "%s", why);
        if (r < 0 && r != -ENOMEM)
                return sg_refuse(a, SG_ANSWER_STORE, "class",
                                 "cannot store the change of class %s: %s", class, strerror(-r));
        return r;
}

int sg_api_set_policy(struct sg_call *call, struct sg_answer *a)
{
        _cleanup_(sg_request_deinit) struct sg_request q;
        struct sg_manager *m = call->manager;
        const char *class;
        int r;

        sg_request_init(&q, call->verb);
        r = sg_authorize_node(call, "change the policy of a class", a);
        if (r <= 0)
                return r;
        r = sg_call_read(call, &q, a);
        if (r < 0)
                return r;
        class = q.class ?: "";
        r = set_policy(m, class, q.assignments ?: (char *[]){NULL}, a);
        if (r < 0)
                return r;
        for (char **s = q.assignments; s && *s; s++)
                sg_log(LOG_INFO, "policy of class %s: %s", class, *s);
        sg_call_done(call);
        return 1;
}

/* --- OpenDecisions */

/* It has no more of others' jobs in it than their documents have: their ids and what they use. */
static bool may_read_decisions(const struct sg_manager *m, const struct sg_client *c)
{
        return sg_caller_sees_all(m, &c->caller);
}

static int reply_files(struct sg_call *call, const int fds[2])
{
        static const enum sg_value_type file = SG_VALUE_FILE;
        struct sg_reply *r = sg_call_reply(call);

        sg_reply_open_list(r, "files", &file, 1);
        for (unsigned i = 0; i < 2; i++)
                if (fds[i] >= 0)
                        sg_reply_file(r, NULL, fds[i]);
        sg_reply_close_list(r);
        return sg_call_send(call);
}

int sg_api_open_decisions(struct sg_call *call, struct sg_answer *a)
{
        const struct sg_client *c = sg_call_client(call);
        const struct sg_manager *m = call->manager;
        int fds[2], r;

        if (!c)
                return -ENOTCONN;
        if (!may_read_decisions(m, c))
                return sg_refuse(a, SG_ANSWER_DENIED, NULL,
                                 "only administrators may read the log of decisions here\n"
                                 "see schedctl explain JOB for your own jobs");
        r = sg_decision_log_files(sg_store_dir(m->store), fds);
        if (r < 0)
                return sg_refuse(a, SG_ANSWER_STORE, NULL, "cannot open the log of decisions: %s",
                                 strerror(-r));
        r = reply_files(call, fds);
        (void)sg_close(fds[0]);
        (void)sg_close(fds[1]);
        return r;
}
