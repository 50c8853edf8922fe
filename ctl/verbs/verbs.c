/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See verbs.h: what a command line got wrong that its grammar can't tell. */

#include "ctl/verbs/verbs.h"
#include "base/cleanup.h"
#include "proto/names.h"
#include <stdio.h>

int sg_verb_usage(const struct sg_invocation *inv, struct sg_error *e)
{
        const struct sg_verb *v = &sg_verbs[inv->verb];
        char hint[64];

        (void)snprintf(hint, sizeof(hint), "see schedctl %s --help", v->name);
        if (!*v->arguments)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, NULL, hint, "%s takes no arguments",
                                    v->name);
        return sg_error_set(e, SG_EXIT_OWN_FAILURE, NULL, hint, "%s wants %s", v->name,
                            v->arguments);
}

int sg_verb_check_form(const struct sg_invocation *inv, struct sg_error *e)
{
        const char *const forms[] = {inv->svg ? "--svg" : NULL, inv->csv ? "--csv" : NULL,
                                     inv->json ? "--json" : NULL};
        const char *first = NULL;

        for (size_t i = 0; i < SG_ELEMENTSOF(forms); i++) {
                if (first && forms[i])
                        return sg_error_set(e, SG_EXIT_OWN_FAILURE, forms[i], "ask for one of them",
                                            "%s and %s don't go together", first, forms[i]);
                if (forms[i])
                        first = forms[i];
        }
        return 0;
}
