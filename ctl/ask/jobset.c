/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See jobset.h. */

#include "ctl/ask/jobset.h"
#include "ctl/ask/calls.h"
#include "ctl/show/document.h"
#include <errno.h>
#include <string.h>

/* Enough to keep the governor busy, few enough for its bound on a client's queue. */
#define WINDOW 64

struct run {
        const struct sg_jobset *set;
        json_t *report; /* with --json */
        int status;
};

static int build(struct sg_calls *calls, const char *id, sd_bus_message **ret, struct sg_error *e)
{
        struct run *run = calls->userdata;
        int r;

        r = sg_client_job(calls->client, id, run->set->member, ret, e);
        if (r < 0 || !run->set->append)
                return r;
        r = run->set->append(*ret, run->set->userdata);
        return r < 0 ? sg_error_errno(e, r, "cannot make the request") : 0;
}

static int take_limits(struct run *run, const char *id, json_t *entry, sd_bus_message *reply)
{
        _cleanup_strv_ char **limits = NULL;
        json_t *list = entry ? json_array() : NULL;
        int r;

        r = sd_bus_message_read_strv(reply, &limits);
        if (r < 0)
                return r;
        for (char **s = limits; s && *s; s++) {
                if (list)
                        (void)json_array_append_new(list, sg_document_text(*s));
                else
                        sg_warn("job %s: %s is not enforced here", id, *s);
        }
        (void)run;
        return entry ? json_object_set_new(entry, "not_enforced", list) : 0;
}

static void take_error(struct run *run, const char *id, json_t *entry, const sd_bus_error *error)
{
        struct sg_error e = {0};

        (void)sg_error_from_reply(&e, error, id);
        if (run->status == 0)
                run->status = e.status;
        if (!entry) {
                (void)sg_error_print(&e, 0, false);
                return;
        }
        (void)json_object_set_new(entry, "error", sg_document_text(e.what));
        (void)sg_error_print(&e, 0, true);
}

static bool has_ended(const sd_bus_error *error)
{
        return sd_bus_error_has_name(error, SG_ERROR_NO_SUCH_JOB) ||
               sd_bus_error_has_name(error, SG_ERROR_WRONG_STATE) ||
               sd_bus_error_has_name(error, SD_BUS_ERROR_UNKNOWN_OBJECT);
}

static int take(struct sg_calls *calls, size_t index, sd_bus_message *reply)
{
        struct run *run = calls->userdata;
        const char *id = calls->ids->v[index];
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        json_t *entry;

        if (error && run->set->any_left && has_ended(error))
                return 0;
        entry = run->report ? json_object() : NULL;
        if (entry) {
                (void)json_object_set_new(entry, "id", json_string(id));
                (void)json_object_set_new(entry, "ok", json_boolean(!error));
                (void)json_array_append_new(run->report, entry);
        }
        if (error)
                take_error(run, id, entry, error);
        else if (run->set->reports_limits)
                return take_limits(run, id, entry, reply);
        return 0;
}

int sg_jobset_call(const struct sg_jobset *set, struct sg_client *c, struct sg_error *e)
{
        _cleanup_json_ json_t *report = set->inv->json ? json_array() : NULL;
        struct run run = {.set = set, .report = report};
        struct sg_calls calls = {.client = c,
                                 .ids = set->ids,
                                 .window = WINDOW,
                                 .deadline_usec = UINT64_MAX,
                                 .userdata = &run,
                                 .build = build,
                                 .take = take};
        int r;

        r = sg_calls_run(&calls, e);
        sg_calls_deinit(&calls);
        if (r < 0)
                return r;
        if (report)
                r = sg_document_print_new(json_pack("{s:s,s:s,s:O}", "schema", "schedgov.result/1",
                                                    "verb", sg_verbs[set->inv->verb].name, "jobs",
                                                    report));
        return r < 0 ? r : run.status;
}
