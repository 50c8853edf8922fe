/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* ListJobs and DescribeJobs page by page: the next page is under way while the present one is being
 * printed. */

#include "ctl/ask/client.h"
#include "ctl/ask/request.h"
#include "ctl/line/options.h"
#include "ctl/show/row.h"

struct sg_pages {
        struct sg_client *client;
        const char *member;              /* "ListJobs", "DescribeJobs" */
        const char *flag;                /* as of sg_request_append_filter() */
        const struct sg_invocation *inv; /* the filter, or NULL */
        struct sg_selection selection;   /* … and what narrows it besides */
        uint64_t left;                   /* how many more are wanted; SG_UNLIMITED */
        sd_bus_slot *slot;               /* of the page under way */
        sd_bus_message *reply;
};

/* Asks for the page behind cursor ("" = the first). */
int sg_pages_ask(struct sg_pages *p, const char *cursor, struct sg_error *e);
/* Waits for it. */
int sg_pages_get(struct sg_pages *p, sd_bus_message **ret, struct sg_error *e);
/* To be called when n rows of a page have been taken: asks for the next page, unless that was all.
 * 1 = it is under way. */
int sg_pages_next(struct sg_pages *p, uint64_t n, const char *cursor, struct sg_error *e);
/* ListJobs from the first page to the last: `each` row in turn; negative ends it. */
typedef int sg_row_fn(const struct sg_row *row, void *userdata);
int sg_pages_each_row(struct sg_pages *p, sg_row_fn *each, void *userdata, struct sg_error *e);
void sg_pages_deinit(struct sg_pages *p);
