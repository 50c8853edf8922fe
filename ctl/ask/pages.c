/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See pages.h. */

#include "ctl/ask/pages.h"
#include "base/parse.h"
#include <errno.h>

static int on_page(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct sg_pages *p = userdata;

        (void)error;
        p->reply = sd_bus_message_ref(m);
        return 1;
}

int sg_pages_ask(struct sg_pages *p, const char *cursor, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL;
        int r;

        r = sg_client_manager(p->client, p->member, &m, e);
        if (r < 0)
                return r;
        r = sg_request_append_filter(m, p->inv, p->flag, &p->selection,
                                     p->left < SG_PAGE_MAX ? p->left : SG_PAGE_MAX);
        if (r >= 0)
                r = sd_bus_message_append(m, "s", cursor);
        if (r >= 0)
                r = sd_bus_call_async(p->client->bus, &p->slot, m, on_page, p, SG_CALL_USEC);
        if (r >= 0) /* the next page is on its way before the page in hand is printed */
                r = sd_bus_flush(p->client->bus);
        return r < 0 ? sg_error_errno(e, r, "cannot ask schedgovd") : 0;
}

int sg_pages_get(struct sg_pages *p, sd_bus_message **ret, struct sg_error *e)
{
        const sd_bus_error *error;

        while (!p->reply) {
                int r = sg_client_process(p->client, UINT64_MAX, e);

                if (r < 0)
                        return r;
        }
        p->slot = sd_bus_slot_unref(p->slot);
        *ret = p->reply;
        p->reply = NULL;
        error = sd_bus_message_get_error(*ret);
        if (!error)
                return 0;
        (void)sg_error_from_reply(e, error, NULL);
        *ret = sd_bus_message_unref(*ret);
        return -ECANCELED;
}

int sg_pages_next(struct sg_pages *p, uint64_t n, const char *cursor, struct sg_error *e)
{
        int r;

        if (p->left != SG_UNLIMITED)
                p->left -= n < p->left ? n : p->left;
        if (!*cursor || p->left == 0)
                return 0;
        r = sg_pages_ask(p, cursor, e);
        return r < 0 ? r : 1;
}

/* 1 when another page is under way. */
static int take_rows(struct sg_pages *p, sg_row_fn *each, void *userdata, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL;
        const char *cursor;
        struct sg_row row;
        uint64_t n = 0;
        int r;

        r = sg_pages_get(p, &m, e);
        if (r < 0)
                return r;
        r = sd_bus_message_enter_container(m, 'a', SG_ROW_SIGNATURE);
        for (; r >= 0 && (r = sg_row_read(m, &row)) > 0; n++)
                r = each(&row, userdata);
        if (r >= 0)
                r = sd_bus_message_exit_container(m);
        if (r >= 0)
                r = sd_bus_message_read(m, "s", &cursor);
        return r < 0 ? sg_error_garbled(e, r) : sg_pages_next(p, n, cursor, e);
}

int sg_pages_each_row(struct sg_pages *p, sg_row_fn *each, void *userdata, struct sg_error *e)
{
        int r;

        p->member = "ListJobs";
        r = sg_pages_ask(p, "", e);
        while (r >= 0 && (r = take_rows(p, each, userdata, e)) > 0)
                ;
        sg_pages_deinit(p);
        return r;
}

void sg_pages_deinit(struct sg_pages *p)
{
        p->slot = sd_bus_slot_unref(p->slot);
        p->reply = sd_bus_message_unref(p->reply);
}
