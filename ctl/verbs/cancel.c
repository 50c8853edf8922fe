/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cancel: the jobs named, the caller's last one, or with --all every live one that the caller
 * submitted. */

#include "base/cleanup.h"
#include "base/parse.h"
#include "ctl/ask/jobset.h"
#include "ctl/ask/pages.h"
#include "ctl/verbs/verbs.h"
#include <ctype.h>

static int add_id(const struct sg_row *row, void *userdata)
{
        return sg_ids_add(userdata, row->id);
}

static int collect_own(struct sg_client *c, const struct sg_invocation *inv, struct sg_ids *ids,
                       struct sg_error *e)
{
        struct sg_pages pages = {.client = c, .selection = {.own = true}, .left = SG_UNLIMITED};
        int r = sg_client_open(c, inv->socket, e);

        return r < 0 ? r : sg_pages_each_row(&pages, add_id, ids, e);
}

/* Jobs that were named by no number were alive when they were looked up: what has ended since is as
 * it was to be. */
static bool names_none_by_number(const struct sg_invocation *inv)
{
        for (size_t i = 0; i < inv->n_args; i++)
                if (isdigit((unsigned char)inv->args[i][0]))
                        return false;
        return true;
}

int sg_verb_cancel(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_(sg_ids_deinit) struct sg_ids ids = {0};
        _cleanup_client_ struct sg_client c = {0};
        struct sg_wanted w = {.inv = inv,
                              .words = inv->args,
                              .n = inv->n_args,
                              .wordless = SG_WORDLESS_LAST,
                              .live = true};
        struct sg_jobset set = {
                .inv = inv, .member = "Cancel", .ids = &ids, .any_left = names_none_by_number(inv)};
        int r;

        if (inv->all && inv->n_args > 0)
                return sg_verb_usage(inv, e);
        r = inv->all ? collect_own(&c, inv, &ids, e) : sg_verb_find_jobs(&w, &c, &ids, e);
        return r < 0 ? r : sg_jobset_call(&set, &c, e);
}
