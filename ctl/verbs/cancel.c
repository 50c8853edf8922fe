/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cancel: the jobs named, or with --all every live one that the caller submitted. */

#include "base/cleanup.h"
#include "base/parse.h"
#include "ctl/ask/jobset.h"
#include "ctl/ask/pages.h"
#include "ctl/show/row.h"
#include "ctl/verbs/verbs.h"
#include <errno.h>

/* Adds the ids of one page, 1 when another is under way. */
static int collect_page(struct sg_pages *pages, struct sg_ids *ids, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL;
        const char *cursor;
        struct sg_row row;
        uint64_t n = 0;
        int r;

        r = sg_pages_get(pages, &m, e);
        if (r < 0)
                return r;
        r = sd_bus_message_enter_container(m, 'a', SG_ROW_SIGNATURE);
        while (r >= 0 && (r = sg_row_read(m, &row)) > 0) {
                n++;
                r = sg_ids_add(ids, row.id);
        }
        if (r >= 0)
                r = sd_bus_message_exit_container(m);
        if (r >= 0)
                r = sd_bus_message_read(m, "s", &cursor);
        return r < 0 ? sg_error_garbled(e, r) : sg_pages_next(pages, n, cursor, e);
}

static int collect_own(struct sg_client *c, const struct sg_invocation *inv, struct sg_ids *ids,
                       struct sg_error *e)
{
        struct sg_pages pages = {
                .client = c, .member = "ListJobs", .inv = inv, .flag = "own", .left = SG_UNLIMITED};
        int r = sg_pages_ask(&pages, "", e);

        while (r >= 0 && (r = collect_page(&pages, ids, e)) > 0)
                ;
        sg_pages_deinit(&pages);
        return r;
}

int sg_verb_cancel(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_(sg_ids_deinit) struct sg_ids ids = {0};
        _cleanup_client_ struct sg_client c = {0};
        struct sg_jobset set = {.inv = inv, .member = "Cancel", .ids = &ids, .any_left = inv->all};
        int r;

        if ((inv->n_args == 0) != inv->all)
                return sg_verb_usage(inv, e);
        r = sg_ids_parse(&ids, inv->args, inv->n_args, e);
        if (r >= 0)
                r = sg_client_open(&c, inv->socket, e);
        if (r >= 0 && inv->all)
                r = collect_own(&c, inv, &ids, e);
        return r < 0 ? r : sg_jobset_call(&set, &c, e);
}
