/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* list and history: the table of jobs, or their documents. */

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/time-util.h"
#include "ctl/ask/pages.h"
#include "ctl/show/array-row.h"
#include "ctl/show/document.h"
#include "ctl/show/output.h"
#include "ctl/verbs/verbs.h"
#include <errno.h>
#include <string.h>

#define CELL_MAX 1024

/* A table as it is printed, page by page. */
struct lines {
        struct sg_table table;
        uint64_t now_usec;
        bool by_array;             /* one line for each array … */
        struct sg_array_row array; /* … of which there may be more on the next page */
};

static void print_row(const struct sg_row *row, void *userdata)
{
        const struct lines *l = userdata;

        for (size_t i = 0; i < l->table.n; i++) {
                enum sg_row_column column = (enum sg_row_column)l->table.shown[i];
                enum sg_colour colour =
                        column == SG_COLUMN_STATE ? sg_colour_of_state(row->state) : SG_PLAIN;
                char buf[CELL_MAX];

                sg_table_print_cell(
                        &l->table, i, sg_row_cell(row, column, l->now_usec, buf, sizeof(buf)),
                        colour == SG_PLAIN ? "" : sg_colour(colour), sg_colour(SG_PLAIN), stdout);
        }
}

static void measure_row(const struct sg_row *row, void *userdata)
{
        struct lines *l = userdata;

        for (size_t i = 0; i < l->table.n; i++) {
                char buf[CELL_MAX];

                sg_table_measure(&l->table, i,
                                 sg_row_cell(row, (enum sg_row_column)l->table.shown[i],
                                             l->now_usec, buf, sizeof(buf)));
        }
}

static void each_line(struct lines *l, struct sg_array_row *array, const struct sg_row *rows,
                      size_t n, sg_row_cb *put)
{
        for (size_t i = 0; i < n; i++)
                if (l->by_array)
                        sg_array_row_take(array, &rows[i], put, l);
                else
                        put(&rows[i], l);
}

/* more: behind these rows. What goes on there gets the room that the longest array takes. */
static void measure(struct lines *l, const struct sg_row *rows, size_t n, bool more)
{
        struct sg_array_row array = {0};

        each_line(l, &array, rows, n, measure_row);
        if (more && array.n_spans > 0 && array.n_spans <= SG_ARRAY_ROW_SPANS)
                array.spans[array.n_spans - 1].last += SG_ARRAY_MAX;
        sg_array_row_end(&array, measure_row, l);
        sg_table_fit(&l->table);
}

/* What rows are made of. */
struct page {
        sd_bus_message *message;
        json_t *documents;
        struct sg_row rows[SG_PAGE_MAX];
        size_t n;
        const char *cursor;
};

static void drop_page(struct page *p)
{
        sd_bus_message_unref(p->message);
        json_decref(p->documents);
}

static int read_rows(struct page *p)
{
        sd_bus_message *m = p->message;
        int r;

        r = sd_bus_message_enter_container(m, 'a', SG_ROW_SIGNATURE);
        while (r >= 0 && p->n < SG_PAGE_MAX && (r = sg_row_read(m, &p->rows[p->n])) > 0)
                p->n++;
        if (r >= 0)
                r = sd_bus_message_exit_container(m); /* -EBUSY if the page is too long */
        return r;
}

static int read_documents(struct page *p)
{
        sd_bus_message *m = p->message;
        const char *text;
        int r;

        p->documents = json_array();
        r = sd_bus_message_enter_container(m, 'a', "s");
        while (r >= 0 && p->n < SG_PAGE_MAX && (r = sd_bus_message_read(m, "s", &text)) > 0) {
                json_t *job = json_loads(text, 0, NULL);

                if (json_array_append_new(p->documents, job) < 0)
                        return -EBADMSG;
                sg_row_from_document(job, &p->rows[p->n++]);
        }
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_page(struct sg_pages *pages, struct page *p, struct sg_error *e)
{
        int r = sg_pages_get(pages, &p->message, e);

        if (r < 0)
                return r;
        r = strcmp(pages->member, "ListJobs") == 0 ? read_rows(p) : read_documents(p);
        if (r >= 0)
                r = sd_bus_message_read(p->message, "s", &p->cursor);
        return r < 0 ? sg_error_garbled(e, r) : 0;
}

/* 1 when another page is under way. */
static int print_page(struct sg_pages *pages, struct lines *l, bool first, struct sg_error *e)
{
        _cleanup_(drop_page) struct page page = {0};
        int r;

        l->now_usec = sg_now_realtime_usec();
        r = read_page(pages, &page, e);
        if (r < 0)
                return r;
        r = sg_pages_next(pages, page.n, page.cursor, e);
        if (first) {
                measure(l, page.rows, page.n, r > 0);
                if (!pages->inv->no_legend)
                        sg_table_print_heading(&l->table, stdout);
        }
        each_line(l, &l->array, page.rows, page.n, print_row);
        if (r <= 0)
                sg_array_row_end(&l->array, print_row, l);
        return r;
}

static int print_documents(struct sg_pages *pages, bool opening, bool *first, struct sg_error *e)
{
        _cleanup_strv_ char **documents = NULL;
        _cleanup_message_ sd_bus_message *m = NULL;
        const char *cursor;
        size_t n = 0;
        int r;

        r = sg_pages_get(pages, &m, e);
        if (r < 0)
                return r;
        r = sd_bus_message_read_strv(m, &documents);
        if (r >= 0)
                r = sd_bus_message_read(m, "s", &cursor);
        if (r < 0)
                return sg_error_garbled(e, r);
        while (documents && documents[n])
                n++;
        r = sg_pages_next(pages, n, cursor, e);
        if (opening && r < 0)
                return r;
        if (opening)
                sg_document_open_jobs();
        for (size_t i = 0; i < n; i++) {
                sg_document_add_job(documents[i], *first);
                *first = false;
        }
        return r;
}

int sg_verb_print_table(struct sg_client *c, const struct sg_invocation *inv, const char *flag,
                        const char *columns, struct sg_error *e)
{
        struct sg_pages pages = {.client = c, .flag = flag, .inv = inv, .left = inv->lines};
        struct lines l = {.by_array = !inv->tasks && inv->verb != SG_VERB_HISTORY};
        bool first = true;
        int r;

        r = sg_table_init(&l.table, sg_row_columns, _SG_COLUMN_MAX, columns, sg_terminal_width(),
                          e);
        if (r < 0)
                return r;
        if (!inv->columns) /* on a narrow terminal the reason says more than these */
                l.table.drop = "class,mem,cpu,user,time";
        pages.member = sg_row_needs_document(&l.table) ? "DescribeJobs" : "ListJobs";
        r = sg_pages_ask(&pages, "", e);
        if (r < 0)
                return r;
        do {
                r = print_page(&pages, &l, first, e);
                first = false;
        } while (r > 0);
        sg_pages_deinit(&pages);
        return r;
}

static int print_all_json(struct sg_client *c, const struct sg_invocation *inv, const char *flag,
                          struct sg_error *e)
{
        struct sg_pages pages = {.client = c,
                                 .member = "DescribeJobs",
                                 .flag = flag,
                                 .inv = inv,
                                 .left = inv->lines};
        bool opening = true, first = true;
        int r;

        if (inv->lines == 0) {
                sg_document_print_json(NULL, 0, true);
                return 0;
        }
        r = sg_pages_ask(&pages, "", e);
        if (r < 0)
                return r;
        do {
                r = print_documents(&pages, opening, &first, e);
                opening = false;
        } while (r > 0);
        if (r >= 0)
                sg_document_close_jobs();
        sg_pages_deinit(&pages);
        return r;
}

static int list(const struct sg_invocation *inv, const char *flag, const char *columns,
                struct sg_error *e)
{
        _cleanup_client_ struct sg_client c = {0};
        struct sg_table t;
        int r, q;

        if (inv->n_args > 0)
                return sg_verb_usage(inv, e);
        if (inv->columns)
                columns = inv->columns;
        /* Before anybody is asked: a bad -o is the user's mistake, not the governor's. */
        r = sg_table_init(&t, sg_row_columns, _SG_COLUMN_MAX, columns, 0, e);
        if (r >= 0)
                r = sg_client_open(&c, inv->socket, e);
        if (r < 0)
                return r;
        if (inv->lines == 0 && !inv->json)
                return 0;
        if (inv->json)
                return print_all_json(&c, inv, flag, e);
        if (!inv->no_pager)
                sg_pager_open();
        r = sg_verb_print_table(&c, inv, flag, columns, e);
        q = sg_pager_close(e);
        return r < 0 ? r : q;
}

int sg_verb_list(const struct sg_invocation *inv, struct sg_error *e)
{
        return list(inv, inv->all ? "finished" : NULL,
                    inv->tasks ? "id,index,name,class,user,state,time,cpu,mem,reason"
                               : "id,name,class,user,state,time,cpu,mem,reason",
                    e);
}

int sg_verb_history(const struct sg_invocation *inv, struct sg_error *e)
{
        return list(inv, "only_finished", "id,name,class,user,state,exit,ended,time,cpu,mem,reason",
                    e);
}
