/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plot: a job over time, in the terminal or as a file. */

#include "ctl/show/plot.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "ctl/show/document.h"
#include "ctl/show/fields.h"
#include "ctl/show/output.h"
#include "ctl/show/svg.h"
#include "ctl/verbs/verbs.h"
#include <errno.h>
#include <string.h>

/* Where stdout is no terminal. */
#define WIDTH 80
#define HEIGHT 24

static int write_svg(const struct sg_plot *p, const char *path, struct sg_error *e)
{
        FILE *f = sg_svg_open(path, e);

        if (!f)
                return -ECANCELED;
        sg_plot_print_svg(p, f);
        return sg_svg_close(f, path, e);
}

/* "7 train, running", "7 train, exited after 3:20" */
static void make_heading(const json_t *job, const char *id, char *buf, size_t size)
{
        const char *name = sg_document_string(job, "name"), *state;
        uint64_t started = sg_document_time(job, "started"), ended = sg_document_time(job, "ended");
        char escaped[256], took[64] = "";

        state = sg_document_string(job, "state");
        if (started > 0 && ended >= started)
                (void)sg_table_duration(took, sizeof(took), ended - started);
        (void)snprintf(buf, size, "%s %s, %s%s%s", id,
                       name ? sg_utf8_escape(name, escaped, sizeof(escaped)) : "",
                       state ? state : "?", *took ? " after " : "", took);
}

static int show(const struct sg_invocation *inv, const struct sg_curves *curves,
                const char *heading, bool ended, struct sg_error *e)
{
        _cleanup_(sg_plot_deinit) struct sg_plot plot = {0};
        unsigned width = sg_terminal_width(), height = sg_terminal_height();
        int r;

        r = sg_plot_init(&plot, heading, curves, inv->columns, e);
        if (r < 0)
                return r;
        plot.ended = ended;
        if (inv->svg)
                return write_svg(&plot, inv->svg, e);
        return sg_plot_print(&plot, width > 0 ? width : WIDTH, height > 1 ? height - 1 : HEIGHT,
                             sg_output_is_utf8(), stdout);
}

static int plot(struct sg_client *c, const struct sg_invocation *inv, const char *id,
                struct sg_error *e)
{
        _cleanup_json_ json_t *job = NULL, *series = NULL;
        _cleanup_(sg_curves_deinit) struct sg_curves curves = {0};
        _cleanup_free_ char *text = NULL;
        char heading[512];
        int r;

        r = sg_client_get_string(c, "DescribeSeries", id, &text, e);
        if (r < 0)
                return r;
        if (inv->json) {
                sg_document_print_text(text);
                return 0;
        }
        r = sg_document_parse(text, &series, e);
        if (r < 0)
                return r;
        r = sg_curves_init(&curves, series);
        if (r < 0)
                return sg_error_garbled(e, r);
        if (inv->csv) {
                sg_curves_print_csv(&curves, stdout);
                return 0;
        }
        r = sg_client_get_job(c, id, NULL, &job, e);
        if (r < 0)
                return r;
        make_heading(job, id, heading, sizeof(heading));
        return show(inv, &curves, heading, sg_document_time(job, "ended") > 0, e);
}

int sg_verb_plot(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_(sg_ids_deinit) struct sg_ids ids = {0};
        _cleanup_client_ struct sg_client c = {0};
        struct sg_wanted w = {.inv = inv,
                              .words = inv->args,
                              .n = inv->n_args,
                              .wordless = SG_WORDLESS_LAST,
                              .one = true};
        int r = sg_verb_check_form(inv, e);

        if (r >= 0)
                r = sg_verb_find_jobs(&w, &c, &ids, e);
        return r < 0 ? r : plot(&c, inv, ids.v[0], e);
}
