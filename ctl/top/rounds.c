/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See rounds.h. */

#include "ctl/top/rounds.h"
#include "base/parse.h"
#include "base/time-util.h"
#include "ctl/show/document.h"
#include <errno.h>
#include <math.h>
#include <string.h>

static int keep_reply(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        sd_bus_message **reply = userdata;

        (void)error;
        *reply = sd_bus_message_ref(m);
        return 1;
}

/* A call of the manager whose answer comes into *reply. argument may be NULL. */
static int ask(struct sg_rounds *r, const char *member, const char *argument, sd_bus_slot **slot,
               sd_bus_message **reply, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL;
        int q;

        q = sg_client_manager(r->client, member, &m, e);
        if (q < 0)
                return q;
        if (argument)
                q = sd_bus_message_append(m, "s", argument);
        if (q >= 0)
                q = sd_bus_call_async(r->client->bus, slot, m, keep_reply, reply, SG_CALL_USEC);
        return q < 0 ? sg_error_errno(e, q, "cannot ask schedgovd") : 0;
}

int sg_rounds_start(struct sg_rounds *r, struct sg_error *e)
{
        int q;

        sg_rounds_stop(r);
        r->pages = (struct sg_pages){
                .client = r->client, .member = "DescribeJobs", .inv = r->inv, .left = SG_UNLIMITED};
        r->jobs = json_array();
        if (!r->jobs)
                return -ENOMEM;
        q = ask(r, "Describe", NULL, &r->slot, &r->status, e);
        if (q >= 0)
                q = sg_pages_ask(&r->pages, "", e);
        r->paging = q >= 0;
        return q;
}

static int take_documents(struct sg_rounds *r, sd_bus_message *m, struct sg_error *e)
{
        _cleanup_strv_ char **documents = NULL;
        const char *cursor;
        size_t n = 0;
        int q;

        q = sd_bus_message_read_strv(m, &documents);
        if (q >= 0)
                q = sd_bus_message_read(m, "s", &cursor);
        if (q < 0)
                return sg_error_garbled(e, q);
        for (; documents && documents[n]; n++) {
                json_t *job = NULL;

                q = sg_document_parse(documents[n], &job, e);
                if (q < 0)
                        return q;
                if (json_array_append_new(r->jobs, job) < 0)
                        return -ENOMEM;
        }
        return sg_pages_next(&r->pages, n, cursor, e);
}

static int take_pages(struct sg_rounds *r, struct sg_error *e)
{
        while (r->paging && r->pages.reply) {
                _cleanup_message_ sd_bus_message *m = NULL;
                int q = sg_pages_get(&r->pages, &m, e);

                if (q >= 0)
                        q = take_documents(r, m, e);
                if (q < 0)
                        return q;
                r->paging = q > 0;
        }
        return 0;
}

static int update(struct sg_rounds *r, struct sg_top *model, struct sg_error *e)
{
        const sd_bus_error *error = sd_bus_message_get_error(r->status);
        json_t *status = NULL, *jobs = r->jobs;
        const char *text;
        int q;

        if (error)
                return sg_error_from_reply(e, error, NULL);
        q = sd_bus_message_read(r->status, "s", &text);
        if (q < 0)
                return sg_error_garbled(e, q);
        q = sg_document_parse(text, &status, e);
        if (q < 0)
                return q;
        r->jobs = NULL;
        q = sg_top_update(model, status, jobs, sg_now_realtime_usec());
        return q < 0 ? sg_error_garbled(e, q) : 0;
}

/* Of those that have a loss; the others are asked about when they have one. */
static int ask_for_series(struct sg_rounds *r, struct sg_top *model, struct sg_error *e)
{
        int q = 0;

        r->n_series = 0;
        for (size_t i = 0; r->with_series && i < model->n && r->n_series < SG_ROUNDS_SERIES; i++) {
                struct sg_top_job *j = &model->jobs[model->order[i]];
                struct sg_rounds_series *s = &r->series[r->n_series];

                if (j->asked || isnan(j->progress.eval))
                        continue;
                j->asked = true;
                (void)snprintf(s->id, sizeof(s->id), "%s", j->id);
                q = ask(r, "DescribeSeries", s->id, &s->slot, &s->reply, e);
                if (q < 0)
                        return q;
                r->n_series++;
        }
        return 0;
}

/* A job without a series, or one that has just ended, is none the worse for it. */
static void take_series(struct sg_rounds_series *s, struct sg_top *model)
{
        _cleanup_json_ json_t *series = NULL;
        struct sg_error ignored = {0};
        const char *text;

        if (!sd_bus_message_get_error(s->reply) && sd_bus_message_read(s->reply, "s", &text) > 0 &&
            sg_document_parse(text, &series, &ignored) >= 0)
                sg_top_add_series(model, s->id, series);
        s->reply = sd_bus_message_unref(s->reply);
        s->slot = sd_bus_slot_unref(s->slot);
}

int sg_rounds_advance(struct sg_rounds *r, struct sg_top *model, struct sg_error *e)
{
        int q = take_pages(r, e);

        if (q < 0 || r->paging || (!r->updated && !r->status))
                return q;
        if (!r->updated) {
                q = update(r, model, e);
                if (q >= 0)
                        q = ask_for_series(r, model, e);
                if (q < 0)
                        return q;
                r->updated = true;
        }
        for (size_t i = 0; i < r->n_series; i++)
                if (r->series[i].slot && !r->series[i].reply)
                        return 0;
        for (size_t i = 0; i < r->n_series; i++)
                if (r->series[i].reply)
                        take_series(&r->series[i], model);
        return 1;
}

void sg_rounds_stop(struct sg_rounds *r)
{
        r->slot = sd_bus_slot_unref(r->slot);
        r->status = sd_bus_message_unref(r->status);
        sg_pages_deinit(&r->pages);
        r->paging = r->updated = false;
        json_decref(r->jobs);
        r->jobs = NULL;
        for (size_t i = 0; i < SG_ROUNDS_SERIES; i++) {
                r->series[i].slot = sd_bus_slot_unref(r->series[i].slot);
                r->series[i].reply = sd_bus_message_unref(r->series[i].reply);
        }
        r->n_series = 0;
}
