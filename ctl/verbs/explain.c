/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* explain: why a job has what it has now; with --log, what was decided before. */

#include "base/cleanup.h"
#include "base/utf8.h"
#include "ctl/show/decisions.h"
#include "ctl/show/document.h"
#include "ctl/show/output.h"
#include "ctl/verbs/verbs.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define CELL_MAX 512

/* --- now */

static void print_explanation(const json_t *doc)
{
        const char *state = sg_document_word(doc, "state");
        char buf[1024];
        size_t i;
        json_t *v;

        (void)printf("%s%s%s", sg_colour(SG_BOLD),
                     sg_utf8_escape(sg_document_word(doc, "id"), buf, sizeof(buf)),
                     sg_colour(SG_PLAIN));
        (void)printf(" %s", sg_utf8_escape(sg_document_word(doc, "name"), buf, sizeof(buf)));
        (void)printf(" (%s%s%s)\n", sg_colour(sg_colour_of_state(state)), state,
                     sg_colour(SG_PLAIN));
        json_array_foreach (json_object_get(doc, "lines"), i, v)
                if (json_is_string(v))
                        (void)printf("  %s\n",
                                     sg_utf8_escape(json_string_value(v), buf, sizeof(buf)));
}

static int explain_now(struct sg_client *c, const struct sg_invocation *inv,
                       const struct sg_ids *ids, struct sg_error *e)
{
        for (size_t i = 0; i < ids->n; i++) {
                _cleanup_json_ json_t *doc = NULL;
                _cleanup_free_ char *text = NULL;
                int r = sg_client_get_string(c, "Explain", ids->v[i], &text, e);

                if (r >= 0 && inv->json) {
                        sg_document_print_text(text);
                        continue;
                }
                if (r >= 0)
                        r = sg_document_parse(text, &doc, e);
                if (r < 0)
                        return r;
                if (i > 0)
                        (void)putchar('\n');
                print_explanation(doc);
        }
        return 0;
}

/* --- the log */

static int read_files(sd_bus_message *reply, struct sg_decision_rows *rows, const char *id,
                      struct sg_error *e)
{
        int fd, r = sd_bus_message_enter_container(reply, 'a', "h");

        if (r < 0)
                return sg_error_garbled(e, r);
        while ((r = sd_bus_message_read(reply, "h", &fd)) > 0) {
                _cleanup_fclose_ FILE *f = NULL;
                int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

                f = copy >= 0 ? fdopen(copy, "r") : NULL;
                if (!f) {
                        r = -errno;
                        (void)sg_close(copy);
                        return sg_error_errno(e, r, "cannot read the log of decisions");
                }
                r = sg_decision_rows_read(rows, f, id);
                if (r < 0)
                        return sg_error_errno(e, r, "cannot read the log of decisions");
        }
        return r < 0 ? sg_error_garbled(e, r) : 0;
}

static void print_table(const struct sg_decision_rows *rows, const struct sg_invocation *inv,
                        struct sg_table *t)
{
        size_t n = sg_decision_rows_count(rows);
        char buf[CELL_MAX];

        for (size_t k = 0; k < n; k++)
                for (size_t i = 0; i < t->n; i++)
                        sg_table_measure(t, i,
                                         sg_decision_cell(sg_decision_rows_get(rows, k),
                                                          (enum sg_decision_column)t->shown[i], buf,
                                                          sizeof(buf)));
        sg_table_fit(t);
        if (!inv->no_legend)
                sg_table_print_heading(t, stdout);
        for (size_t k = 0; k < n; k++)
                for (size_t i = 0; i < t->n; i++)
                        sg_table_print_cell(t, i,
                                            sg_decision_cell(sg_decision_rows_get(rows, k),
                                                             (enum sg_decision_column)t->shown[i],
                                                             buf, sizeof(buf)),
                                            "", "", stdout);
}

/* Each step once, as it was written. */
static int print_steps(const struct sg_decision_rows *rows)
{
        int r = 0;

        for (size_t k = 0; r >= 0 && k < sg_decision_rows_count(rows); k++) {
                const struct sg_decision_row *row = sg_decision_rows_get(rows, k);

                if (k == 0 || !sg_decision_same_step(row, sg_decision_rows_get(rows, k - 1)))
                        r = sg_document_print_new(json_incref(row->line));
        }
        return r;
}

static int explain_log(struct sg_client *c, const struct sg_invocation *inv, const char *id,
                       struct sg_error *e)
{
        _cleanup_(sg_decision_rows_deinit) struct sg_decision_rows rows = {0};
        _cleanup_message_ sd_bus_message *m = NULL, *reply = NULL;
        struct sg_table t;
        int r, q;

        r = sg_table_init(&t, sg_decision_columns, _SG_DECISION_MAX,
                          inv->columns ?: "time,job,cause,share,weight,list,left,why",
                          sg_terminal_width(), e);
        if (r >= 0)
                r = sg_client_manager(c, "OpenDecisions", &m, e);
        if (r >= 0)
                r = sg_client_call(c, m, NULL, &reply, e);
        if (r >= 0)
                r = sg_decision_rows_init(&rows, inv->lines != UINT64_MAX ? inv->lines
                                                                          : SG_LINES_UNLESS_SAID);
        if (r >= 0)
                r = read_files(reply, &rows, id, e);
        if (r >= 0 && *id && sg_decision_rows_count(&rows) == 0)
                r = sg_client_check_job(c, id, e);
        if (r < 0 || inv->lines == 0)
                return r;
        if (inv->json)
                return print_steps(&rows);
        if (!inv->no_pager)
                sg_pager_open();
        print_table(&rows, inv, &t);
        q = sg_pager_close(e);
        return q;
}

int sg_verb_explain(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_(sg_ids_deinit) struct sg_ids ids = {0};
        _cleanup_client_ struct sg_client c = {0};
        struct sg_wanted w = {.inv = inv,
                              .words = inv->args,
                              .n = inv->n_args,
                              .wordless = inv->log ? SG_WORDLESS_ALL : SG_WORDLESS_LAST,
                              .one = inv->log || inv->n_args == 0};
        int r = sg_verb_find_jobs(&w, &c, &ids, e);

        if (r < 0)
                return r;
        return inv->log ? explain_log(&c, inv, ids.n > 0 ? ids.v[0] : "", e)
                        : explain_now(&c, inv, &ids, e);
}
