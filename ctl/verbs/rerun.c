/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rerun: jobs are submitted again as the governor keeps them, in the environment of the caller.
 * Only one's own: those of others would run as the caller.
 */

#include "base/cleanup.h"
#include "ctl/show/document.h"
#include "ctl/show/output.h"
#include "ctl/verbs/verbs.h"
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

static int check_job(struct sg_client *c, const char *id, struct sg_error *e)
{
        _cleanup_json_ json_t *job = NULL;
        char what[128], hint[128];
        const char *user;
        int r = sg_client_get_job(c, id, NULL, &job, e);

        if (r < 0)
                return r;
        if (json_integer_value(json_object_get(job, "uid")) != (json_int_t)geteuid()) {
                user = sg_document_word(job, "user");
                (void)snprintf(what, sizeof(what), "job %s is %s's", id, user);
                (void)snprintf(hint, sizeof(hint),
                               "it would run as you; as its user: sudo -u %s schedctl rerun %s",
                               user, id);
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, id, hint, "%s", what);
        }
        if (sg_document_time(job, "ended") == 0)
                sg_warn("job %s hasn't ended: it is %s, and goes on beside the new one", id,
                        sg_document_word(job, "state"));
        return 0;
}

static int rerun(struct sg_client *c, const struct sg_invocation *inv, const char *id, json_t *list,
                 struct sg_error *e)
{
        _cleanup_(sg_kept_deinit) struct sg_kept kept = {0};
        _cleanup_(sg_command_deinit) struct sg_command cmd = {0};
        int r;

        r = check_job(c, id, e);
        if (r >= 0)
                r = sg_kept_get(&kept, c, id, e);
        if (r >= 0)
                r = sg_command_init_again(&cmd, inv, &kept, e);
        if (r < 0)
                return r;
        return inv->dry_run ? sg_verb_dry_run_command(c, inv, &cmd, e)
                            : sg_verb_submit_command(c, inv, &cmd, list, e);
}

int sg_verb_rerun(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_json_ json_t *list = inv->json && !inv->dry_run ? json_array() : NULL;
        _cleanup_(sg_ids_deinit) struct sg_ids ids = {0};
        _cleanup_client_ struct sg_client c = {0};
        struct sg_wanted w = {.inv = inv, .words = inv->args, .n = inv->n_args};
        int r, q;

        r = sg_verb_find_jobs(&w, &c, &ids, e);
        for (size_t i = 0; r >= 0 && i < ids.n; i++)
                r = rerun(&c, inv, ids.v[i], list, e);
        /* What was submitted before an error is told all the same. */
        q = list && json_array_size(list) > 0 ? sg_verb_print_numbers(list) : 0;
        return r < 0 ? r : q;
}
