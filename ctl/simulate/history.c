/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The jobs that have ended on a node as a trace: when they began to run, what they used, and how
 * much of the node they could use. How they learned isn't kept for long, so that one curve stands
 * for all: what is said of times to a quality means nothing here.
 */

#include "base/cleanup.h"
#include "base/parse.h"
#include "ctl/ask/pages.h"
#include "ctl/show/document.h"
#include "ctl/show/row.h"
#include "ctl/simulate/simulate.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>

#define WORK_MIN 1e-3
#define REPORTS_MAX 100
#define TYPICAL_CURVE 5

struct history {
        struct sg_trace *to;
        double cpus; /* of the node */
};

static int node_cpus(struct sg_client *c, double *ret, struct sg_error *e)
{
        _cleanup_json_ json_t *status = NULL;
        _cleanup_free_ char *text = NULL;
        int r;

        r = sg_client_get_string(c, "Describe", NULL, &text, e);
        if (r >= 0)
                r = sg_document_parse(text, &status, e);
        if (r < 0)
                return r;
        *ret = sg_document_number(status, "cpus");
        return *ret >= 1 ? 0 : sg_error_garbled(e, -EBADMSG);
}

/* What it had is what it can use at least; else what it said, or one CPU. */
static double width_of(const json_t *job, const struct sg_row *row, double cpus)
{
        double said = sg_document_number(json_object_get(job, "limits"), "cpus");
        double had = (double)row->cpu_usec / (double)(row->ended_usec - row->started_usec);
        double width = fmax(said > 0 ? said : 1, had) / cpus;

        return fmin(fmax(width, WORK_MIN), 1);
}

static int add_job(struct history *h, const json_t *job)
{
        struct sg_trace_job to = {
                .instance = "history",
                .a = TYPICAL_CURVE,
                .first = 1,
                .deadline = (double)INFINITY,
        };
        struct sg_row row;

        sg_row_from_document(job, &row);
        if (row.started_usec == 0 || row.ended_usec <= row.started_usec ||
            row.cpu_usec == SG_UNLIMITED || (double)row.cpu_usec / 1e6 / h->cpus < WORK_MIN)
                return 0; /* it never ran, or hardly, or nobody knows what it used */
        (void)snprintf(to.job, sizeof(to.job), "%s", row.id);
        to.arrival = (double)row.started_usec / 1e6;
        to.work = (double)row.cpu_usec / 1e6 / h->cpus;
        to.width = width_of(job, &row, h->cpus);
        if (row.progress.step > 0)
                to.reports = (uint32_t)fmin(row.progress.step, REPORTS_MAX);
        return sg_trace_add(h->to, &to);
}

/* 1 when another page is under way. */
static int take_page(struct history *h, struct sg_pages *pages, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL;
        const char *text, *cursor;
        size_t n = 0;
        int r;

        r = sg_pages_get(pages, &m, e);
        if (r < 0)
                return r;
        r = sd_bus_message_enter_container(m, 'a', "s");
        for (; r >= 0 && (r = sd_bus_message_read(m, "s", &text)) > 0; n++) {
                _cleanup_json_ json_t *job = json_loads(text, 0, NULL);

                r = job ? add_job(h, job) : -EBADMSG;
        }
        if (r >= 0)
                r = sd_bus_message_exit_container(m);
        if (r >= 0)
                r = sd_bus_message_read(m, "s", &cursor);
        if (r < 0)
                return r == -ENOMEM ? r : sg_error_garbled(e, r);
        return sg_pages_next(pages, n, cursor, e);
}

static int begin_at_zero(struct sg_trace *t)
{
        double first = (double)INFINITY;

        for (size_t i = 0; i < t->n; i++)
                first = fmin(first, t->jobs[i].arrival);
        for (size_t i = 0; i < t->n; i++)
                t->jobs[i].arrival -= first;
        return sg_trace_sort(t);
}

int sg_simulation_load_history(struct sg_simulation *s, const struct sg_invocation *inv,
                               struct sg_error *e)
{
        _cleanup_client_ struct sg_client c = {0};
        struct history h = {.to = &s->trace};
        struct sg_pages pages = {.client = &c,
                                 .member = "DescribeJobs",
                                 .flag = "only_finished",
                                 .inv = inv,
                                 .left = inv->lines};
        int r;

        if (inv->lines == 0)
                return 0;
        r = sg_client_open(&c, inv->socket, e);
        if (r >= 0)
                r = node_cpus(&c, &h.cpus, e);
        if (r >= 0)
                r = sg_pages_ask(&pages, "", e);
        if (r < 0)
                return r;
        while ((r = take_page(&h, &pages, e)) > 0)
                ;
        sg_pages_deinit(&pages);
        return r < 0 ? r : begin_at_zero(&s->trace);
}
