/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See verbs.h: what a command line got wrong that its grammar can't tell. */

#include "ctl/verbs/verbs.h"
#include "base/cleanup.h"
#include "proto/names.h"
#include <errno.h>
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

/* How many jobs a word is known to mean; one, if it is a name. */
static int count_jobs(const char *word, uint64_t *ret, struct sg_error *e)
{
        _cleanup_(sg_ids_tasks_deinit) struct sg_ids_tasks tasks = {0};
        _cleanup_(sg_ids_deinit) struct sg_ids ids = {0};
        int r = sg_ids_add(&ids, word);

        *ret = ids.n;
        if (r == -EINVAL) {
                r = sg_ids_parse_tasks(word, &tasks);
                *ret = r < 0 ? 1 : tasks.array.n;
        }
        if (r == -ERANGE)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, word, NULL,
                                    "'%s' are more than %u jobs", word, SG_ARRAY_MAX);
        return r == -EINVAL ? 0 : r;
}

static int check_words(const struct sg_wanted *w, struct sg_error *e)
{
        uint64_t n = 0, more;

        for (size_t i = 0; i < w->n; i++, n += more) {
                int r = count_jobs(w->words[i], &more, e);

                if (r < 0)
                        return r;
        }
        if ((w->n == 0 && w->wordless == SG_WORDLESS_WRONG) || (w->one && n > 1))
                return sg_verb_usage(w->inv, e);
        return 0;
}

int sg_verb_find_jobs(const struct sg_wanted *w, struct sg_client *c, struct sg_ids *ids,
                      struct sg_error *e)
{
        int r = check_words(w, e);

        if (r < 0)
                return r;
        r = sg_client_open(c, w->inv->socket, e);
        for (;;) {
                if (r >= 0)
                        r = sg_find_jobs(w, c, ids, e);
                if (r != -ECONNRESET || w->patience_usec == 0)
                        return r;
                sg_ids_deinit(ids);
                r = sg_client_reopen(c, w->patience_usec, e);
        }
}

int sg_verb_check_form(const struct sg_invocation *inv, struct sg_error *e)
{
        const char *const forms[] = {inv->svg ? "--svg" : NULL, inv->csv ? "--csv" : NULL,
                                     inv->json ? "--json" : NULL};
        const char *first = NULL;

        for (size_t i = 0; i < SG_ELEMENTSOF(forms); i++) {
                if (first && forms[i])
                        return sg_error_set(e, SG_EXIT_OWN_FAILURE, forms[i], "give one of them",
                                            "%s and %s can't be combined", first, forms[i]);
                if (forms[i])
                        first = forms[i];
        }
        return 0;
}
