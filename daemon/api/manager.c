/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is asked of the daemon itself. */
#include "adopt/adopt.h"
#include "api/internal.h"
#include "base/utf8.h"
#include <errno.h>
#include <string.h>

int sg_api_subscribe(struct sg_call *call, struct sg_answer *a)
{
        struct sg_client *c = sg_call_client(call);

        (void)a;
        if (!c)
                return -ENOTCONN;
        c->subscribed = true;
        sg_call_done(call);
        return 1;
}

int sg_api_describe(struct sg_call *call, struct sg_answer *a)
{
        struct sg_client *c = sg_call_client(call);
        _cleanup_free_ char *doc = NULL;
        int r = c ? sg_status_document(call->manager, &c->caller, &doc) : -ENOTCONN;

        (void)a;
        return r < 0 ? r : sg_call_send_document(call, doc);
}

/* --- configuration */

int sg_api_reply_errors(struct sg_call *call, const struct sg_config_errors *errors)
{
        static const enum sg_value_type type = SG_VALUE_TEXT;
        struct sg_reply *r = sg_call_reply(call);
        char line[1024];

        sg_reply_open_list(r, "errors", &type, 1);
        for (size_t i = 0; i < errors->n; i++) {
                (void)snprintf(line, sizeof(line), "%s: %s", errors->items[i].where,
                               errors->items[i].what);
                sg_utf8_clean(line, strlen(line)); /* a file may hold what an answer may not */
                sg_reply_text(r, NULL, line);
        }
        sg_reply_close_list(r);
        return sg_call_send(call);
}

int sg_api_reload(struct sg_call *call, struct sg_answer *a)
{
        struct sg_config_errors errors = {0};
        int r = sg_authorize_node(call, "reload the configuration", a);

        if (r <= 0)
                return r;
        r = sg_manager_reload(call->manager, &errors);
        if (r >= 0 || errors.n > 0)
                r = sg_api_reply_errors(call, &errors);
        sg_config_errors_deinit(&errors);
        return r;
}

int sg_api_config_verify(struct sg_call *call, struct sg_answer *a)
{
        struct sg_manager *m = call->manager;
        struct sg_config_errors errors = {0};
        _cleanup_(sg_settings_freep) const struct sg_settings *settings = NULL;
        int r = sg_authorize_node(call, "verify the configuration", a);

        if (r <= 0)
                return r;
        r = sg_config_load(&settings, &m->config_place, m->node.name, &errors, NULL);
        if (r >= 0 || errors.n > 0)
                r = sg_api_verify_names(call, settings, &errors);
        sg_config_errors_deinit(&errors);
        return r;
}

int sg_api_config_cat(struct sg_call *call, struct sg_answer *a)
{
        int r = sg_authorize_node(call, "read the configuration", a);

        if (r <= 0)
                return r;
        sg_reply_text(sg_call_reply(call), "text",
                      sg_configuration_text(call->manager->configuration));
        return sg_call_send(call);
}

/* --- what runs already */

static void on_adopted(const struct sg_answer *refusal, uint64_t n, void *userdata)
{
        struct sg_call *call = userdata;

        if (refusal) {
                sg_call_refuse(call, refusal, -ENOMEM);
        } else if (n > 0) {
                sg_reply_u64(sg_call_reply(call), "number", n);
                (void)sg_call_send(call);
        }
        sg_call_unref(call);
}

static int adopt(struct sg_call *call, const struct sg_request *q, struct sg_answer *a)
{
        const struct sg_adopt_asker asker = {on_adopted, call, sg_call_who(call)};
        const struct sg_manager *m = call->manager;
        const char *name = q->class ?: "";
        const struct sg_class *class = sg_settings_class(m->settings, *name ? name : "default");
        int r;

        if (!class)
                return sg_api_no_class(m, name, a);
        sg_call_ref(call);
        r = sg_adopter_adopt(m->adopter, &asker, q->what ?: "", class, a);
        if (r < 0)
                sg_call_unref(call);
        return r;
}

int sg_api_adopt(struct sg_call *call, struct sg_answer *a)
{
        _cleanup_(sg_request_deinit) struct sg_request q;
        int r;

        sg_request_init(&q, call->verb);
        r = sg_authorize_node(call, "adopt what others started", a);
        if (r <= 0)
                return r;
        r = sg_call_read(call, &q, a);
        return r < 0 ? r : adopt(call, &q, a);
}
