/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gpus [drain|undrain GPU…] */

#include "ctl/show/gpus.h"
#include "base/time-util.h"
#include "ctl/show/document.h"
#include "ctl/show/output.h"
#include "ctl/verbs/verbs.h"
#include <string.h>

static int show(struct sg_client *c, const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_free_ char *text = NULL;
        _cleanup_json_ json_t *doc = NULL;
        int r = sg_client_get_string(c, "Gpus", NULL, &text, e);

        if (r >= 0)
                r = sg_document_parse(text, &doc, e);
        if (r < 0)
                return r;
        if (inv->json) {
                sg_document_print_text(text);
                return 0;
        }
        r = sg_gpus_print(doc, sg_now_realtime_usec(), sg_terminal_width(), !inv->no_legend,
                          stdout);
        return r < 0 ? sg_error_errno(e, r, "cannot show the GPUs") : 0;
}

static int drain(struct sg_client *c, const char *gpu, bool drains, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL, *reply = NULL;
        int r = sg_client_manager(c, "DrainGpu", &m, e);

        if (r < 0)
                return r;
        r = sd_bus_message_append(m, "sb", gpu, drains);
        if (r < 0)
                return sg_error_errno(e, r, "cannot make the request");
        return sg_client_call(c, m, gpu, &reply, e);
}

/* The first that is refused ends it. */
static int drain_all(struct sg_client *c, const struct sg_invocation *inv, bool drains,
                     struct sg_error *e)
{
        int r = 0;

        for (size_t i = 1; r >= 0 && i < inv->n_args; i++)
                r = drain(c, inv->args[i], drains, e);
        if (r < 0 || !inv->json)
                return r;
        return sg_document_print_new(
                json_pack("{s:s,s:b}", "schema", "schedgov.gpus-drain/1", "ok", true));
}

int sg_verb_gpus(const struct sg_invocation *inv, struct sg_error *e)
{
        bool drains = inv->n_args > 1 && strcmp(inv->args[0], "drain") == 0,
             undrains = inv->n_args > 1 && strcmp(inv->args[0], "undrain") == 0;
        _cleanup_client_ struct sg_client c = {0};
        int r;

        if (inv->n_args > 0 && !drains && !undrains)
                return sg_verb_usage(inv, e);
        r = sg_client_open(&c, inv->socket, e);
        if (r < 0)
                return r;
        return inv->n_args > 0 ? drain_all(&c, inv, drains, e) : show(&c, inv, e);
}
