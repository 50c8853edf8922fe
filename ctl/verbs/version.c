/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* version: schedctl's own, and the governor's where there is one. */

#include "base/cleanup.h"
#include "ctl/show/document.h"
#include "ctl/verbs/verbs.h"

/* No governor is no failure here. */
static json_t *ask_governor(const struct sg_invocation *inv)
{
        _cleanup_client_ struct sg_client c = {0};
        _cleanup_free_ char *text = NULL;
        struct sg_error e = {0};
        json_t *status = NULL;

        if (sg_client_open(&c, inv->socket, &e) < 0 ||
            sg_client_get_string(&c, "Describe", NULL, &text, &e) < 0)
                return NULL;
        return sg_document_parse(text, &status, &e) < 0 ? NULL : status;
}

int sg_verb_version(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_json_ json_t *status = ask_governor(inv);
        const char *governor = sg_document_string(status, "version");

        if (inv->n_args > 0)
                return sg_verb_usage(inv, e);
        if (inv->json)
                return sg_document_print_new(json_pack("{s:s,s:s,s:s?}", "schema",
                                                       "schedgov.version/1", "schedctl", SG_VERSION,
                                                       "schedgovd", governor));
        (void)printf("schedctl %s\n", SG_VERSION);
        if (governor)
                (void)printf("schedgovd %s (%s)\n", governor,
                             sg_document_string(status, "backend") ?: "unknown backend");
        return 0;
}
