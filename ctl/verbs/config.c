/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* config cat|verify|reload */

#include "base/cleanup.h"
#include "ctl/show/document.h"
#include "ctl/show/output.h"
#include "ctl/verbs/verbs.h"
#include <string.h>

static int cat(struct sg_client *c, const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_free_ char *text = NULL;
        int r;

        r = sg_client_get_string(c, "ConfigCat", NULL, &text, e);
        if (r < 0)
                return r;
        if (inv->json)
                return sg_document_print_new(json_pack("{s:s,s:o}", "schema", "schedgov.config/1",
                                                       "text", sg_document_text(text)));
        if (!inv->no_pager)
                sg_pager_open();
        (void)fputs(text, stdout);
        if (*text && text[strlen(text) - 1] != '\n')
                (void)putchar('\n');
        return sg_pager_close(e);
}

/* verify and reload: each error is a line, FILE:LINE: what. */
int sg_verb_config_check(struct sg_client *c, const struct sg_invocation *inv, const char *member,
                         struct sg_error *e)
{
        _cleanup_strv_ char **errors = NULL;
        json_t *list = NULL;
        int r;

        r = sg_client_get_strv(c, member, &errors, e);
        if (r < 0)
                return r;
        if (inv->json)
                list = json_array();
        for (char **s = errors; s && *s; s++)
                if (list)
                        (void)json_array_append_new(list, sg_document_text(*s));
                else
                        sg_warn("%s", *s);
        r = errors && *errors ? SG_EXIT_OWN_FAILURE : 0;
        if (list)
                (void)sg_document_print_new(json_pack("{s:s,s:b,s:o}", "schema",
                                                      "schedgov.config-check/1", "ok", r == 0,
                                                      "errors", list));
        return r;
}

int sg_verb_config(const struct sg_invocation *inv, struct sg_error *e)
{
        const char *what = inv->n_args == 1 ? inv->args[0] : "";
        bool is_cat = strcmp(what, "cat") == 0, is_verify = strcmp(what, "verify") == 0;
        _cleanup_client_ struct sg_client c = {0};
        int r;

        if (!is_cat && !is_verify && strcmp(what, "reload") != 0)
                return sg_verb_usage(inv, e);
        r = sg_client_open(&c, inv->socket, e);
        if (r < 0)
                return r;
        return is_cat ? cat(&c, inv, e)
                      : sg_verb_config_check(&c, inv, is_verify ? "ConfigVerify" : "Reload", e);
}
