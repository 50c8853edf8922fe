/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * submit: the number comes back once the job is durable. When the connection breaks before that,
 * the same request goes out again with the same token: the governor answers it with the job that it
 * may have stored already. Again, and not once more: who reconnects at once may meet the dying
 * governor.
 */

#include "base/time-util.h"
#include "ctl/ask/command.h"
#include "ctl/ask/request.h"
#include "ctl/ask/script.h"
#include "ctl/show/document.h"
#include "ctl/verbs/verbs.h"
#include "proto/array.h"
#include <errno.h>
#include <inttypes.h>

static int ask(struct sg_client *c, const struct sg_invocation *inv, const struct sg_command *cmd,
               const char *token, sd_bus_message **ret, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL;
        int r;

        r = sg_client_manager(c, token ? "Submit" : "DryRun", &m, e);
        if (r >= 0)
                r = sg_request_append_job(m, inv, cmd->kept, token, e);
        if (r < 0)
                return r;
        r = sg_command_append(cmd, m);
        if (r < 0)
                return sg_error_errno(e, r, "cannot make the request");
        return sg_client_call(c, m, NULL, ret, e);
}

int sg_verb_print_numbers(json_t *list)
{
        return list ? sg_document_print_new(json_pack("{s:s,s:O}", "schema", "schedgov.submitted/1",
                                                      "jobs", list))
                    : 0;
}

static void take_numbers(uint64_t first, uint64_t n, json_t *list)
{
        for (uint64_t i = first; i < first + n; i++) {
                char id[24];

                (void)snprintf(id, sizeof(id), "%" PRIu64, i);
                if (list)
                        (void)json_array_append_new(list, json_string(id));
                else
                        (void)puts(id);
        }
}

static bool is_limited(const struct sg_invocation *inv)
{
        for (enum sg_limit_kind k = 0; k < _SG_LIMIT_MAX; k++)
                if (inv->limits[k])
                        return true;
        return inv->pin || inv->gpus || inv->gpu_ids || inv->gpu_mem > 0 || inv->mig;
}

void sg_verb_foretell(struct sg_client *c, const struct sg_invocation *inv,
                      const struct sg_command *cmd)
{
        _cleanup_message_ sd_bus_message *reply = NULL;
        _cleanup_json_ json_t *job = NULL;
        struct sg_error e = {0};
        const char *text, *warning;
        const json_t *limit;
        size_t i;

        if (inv->deadline == 0 && !is_limited(inv))
                return;
        if (ask(c, inv, cmd, NULL, &reply, &e) < 0 || sd_bus_message_read(reply, "s", &text) < 0 ||
            sg_document_parse(text, &job, &e) < 0)
                return;
        warning = json_string_value(json_object_get(job, "warning"));
        if (warning)
                sg_warn("%s", warning);
        json_array_foreach (json_object_get(job, "not_enforced"), i, limit) {
                sg_warn("%s is not enforced here", json_string_value(limit));
        }
}

int sg_verb_submit_command(struct sg_client *c, const struct sg_invocation *inv,
                           const struct sg_command *cmd, json_t *list, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *reply = NULL;
        uint64_t deadline = sg_now_monotonic_usec() + SG_SUBMIT_PATIENCE_USEC, first, n;
        char token[SG_REQUEST_TOKEN_SIZE];
        int r;

        r = sg_request_token(token);
        if (r < 0)
                return r;
        sg_verb_foretell(c, inv, cmd);
        for (;;) {
                if (r >= 0)
                        r = ask(c, inv, cmd, token, &reply, e);
                if (r != -ECONNRESET || sg_now_monotonic_usec() > deadline)
                        break;
                r = sg_client_reopen(c, SG_SUBMIT_PATIENCE_USEC, e);
        }
        if (r < 0)
                return r;
        r = sd_bus_message_read(reply, "tt", &first, &n);
        if (r < 0)
                return sg_error_garbled(e, r);
        take_numbers(first, n, list);
        return 0;
}

static int submit(const struct sg_invocation *inv, const struct sg_command *cmd, struct sg_error *e)
{
        _cleanup_json_ json_t *list = inv->json ? json_array() : NULL;
        _cleanup_client_ struct sg_client c = {0};
        int r = sg_client_open(&c, inv->socket, e);

        if (r == -ECONNRESET) /* it went away just now, as when it starts over */
                r = sg_client_reopen(&c, SG_SUBMIT_PATIENCE_USEC, e);
        if (r >= 0)
                r = sg_verb_submit_command(&c, inv, cmd, list, e);
        return r < 0 ? r : sg_verb_print_numbers(list);
}

/* The document is of one task. */
static void print_plan(const json_t *job, const char *array)
{
        struct sg_array a;

        sg_document_print_job(job);
        if (array && sg_array_parse(array, &a) >= 0)
                (void)printf("%12s: %" PRIu64 " tasks, %s\n", "Array", a.n, array);
}

int sg_verb_dry_run_command(struct sg_client *c, const struct sg_invocation *inv,
                            const struct sg_command *cmd, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *reply = NULL;
        _cleanup_json_ json_t *job = NULL;
        const char *text;
        int r;

        r = ask(c, inv, cmd, NULL, &reply, e);
        if (r < 0)
                return r;
        r = sd_bus_message_read(reply, "s", &text);
        if (r < 0)
                return sg_error_garbled(e, r);
        if (inv->json) {
                sg_document_print_text(text);
                return 0;
        }
        r = sg_document_parse(text, &job, e);
        if (r >= 0)
                print_plan(job, inv->array);
        return r;
}

static int dry_run(const struct sg_invocation *inv, const struct sg_command *cmd,
                   struct sg_error *e)
{
        _cleanup_client_ struct sg_client c = {0};
        int r = sg_client_open(&c, inv->socket, e);

        return r < 0 ? r : sg_verb_dry_run_command(&c, inv, cmd, e);
}

int sg_verb_dry_run(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_(sg_command_deinit) struct sg_command cmd = {0};
        int r;

        r = sg_command_init(&cmd, inv, e);
        return r < 0 ? r : dry_run(inv, &cmd, e);
}

int sg_verb_submit(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_(sg_command_deinit) struct sg_command cmd = {0};
        _cleanup_(sg_sbatch_deinit) struct sg_sbatch lines = {0};
        struct sg_invocation all = *inv; /* with what the script says */
        int r;

        r = sg_command_init(&cmd, inv, e);
        if (r >= 0)
                r = sg_script_lines(&lines, &cmd, &all, e);
        if (r >= 0)
                r = all.dry_run ? dry_run(&all, &cmd, e) : submit(&all, &cmd, e);
        if (all.after != inv->after)
                free(all.after);
        return r;
}
