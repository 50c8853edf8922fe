/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* status: the node, its live jobs and the caller's last one, or all about some jobs. */

#include "base/cleanup.h"
#include "ctl/line/ids.h"
#include "ctl/show/document.h"
#include "ctl/show/output.h"
#include "ctl/verbs/verbs.h"
#include <errno.h>
#include <stdlib.h>

static int print_node(struct sg_client *c, const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_json_ json_t *status = NULL;
        _cleanup_free_ char *text = NULL;
        int r;

        r = sg_client_get_string(c, "Describe", NULL, &text, e);
        if (r < 0)
                return r;
        if (inv->json) {
                sg_document_print_text(text);
                return 0;
        }
        r = sg_document_parse(text, &status, e);
        if (r < 0)
                return r;
        sg_document_print_node(status);
        (void)putchar('\n');
        return sg_verb_print_table(c, inv, NULL, "id,name,class,user,state,time,cpu,mem,reason", e);
}

static int print_jobs(char *const *documents, size_t n, struct sg_error *e)
{
        for (size_t i = 0; i < n; i++) {
                _cleanup_json_ json_t *job = NULL;
                int r = sg_document_parse(documents[i], &job, e);

                if (r < 0)
                        return r;
                if (i > 0)
                        (void)putchar('\n');
                sg_document_print_job(job);
        }
        return 0;
}

/* Of a job that has ended what was submitted, as far as it is kept and the caller may see it. */
static int add_command(struct sg_client *c, const char *id, char **document, struct sg_error *e)
{
        _cleanup_(sg_kept_deinit) struct sg_kept kept = {0};
        _cleanup_json_ json_t *job = NULL;
        char *text;
        int r = sg_document_parse(*document, &job, e);

        if (r < 0 || sg_document_time(job, "ended") == 0 || !sg_document_string(job, "command"))
                return r;
        r = sg_kept_get(&kept, c, id, e);
        if (r == -ECANCELED) {
                sg_error_clear(e);
                return 0;
        }
        if (r < 0)
                return r;
        (void)json_object_set_new(job, "submitted", sg_kept_document(&kept, id));
        text = json_dumps(job, JSON_COMPACT | JSON_REAL_PRECISION(15));
        if (!text)
                return -ENOMEM;
        free(*document);
        *document = text;
        return 0;
}

static int job_status(struct sg_client *c, const struct sg_invocation *inv,
                      const struct sg_ids *ids, struct sg_error *e)
{
        _cleanup_strv_ char **documents = calloc(ids->n + 1, sizeof(*documents));
        int r = 0;

        if (!documents)
                return -ENOMEM;
        for (size_t i = 0; r >= 0 && i < ids->n; i++) {
                r = sg_client_get_string(c, "DescribeJob", ids->v[i], &documents[i], e);
                if (r >= 0)
                        r = add_command(c, ids->v[i], &documents[i], e);
        }
        if (r < 0)
                return r;
        if (!inv->json)
                return print_jobs(documents, ids->n, e);
        sg_document_print_json(documents, ids->n, ids->n > 1);
        return 0;
}

/* An array is in the table, as far as it lives; all about each of its tasks would hide the rest. */
static int node_status(const struct sg_wanted *w, struct sg_error *e)
{
        _cleanup_(sg_ids_deinit) struct sg_ids ids = {0};
        _cleanup_client_ struct sg_client c = {0};
        int r = sg_client_open(&c, w->inv->socket, e);

        if (r >= 0)
                r = print_node(&c, w->inv, e);
        if (r >= 0 && !w->inv->json)
                r = sg_find_jobs(w, &c, &ids, e);
        if (r < 0 || ids.n == 0)
                return r;
        (void)putchar('\n');
        if (ids.n == 1)
                return job_status(&c, w->inv, &ids, e);
        (void)printf(
                "Your last job is an array, %s to %s; schedctl status %s-%s shows its tasks.\n",
                ids.v[0], ids.v[ids.n - 1], ids.v[0], ids.v[ids.n - 1]);
        return 0;
}

int sg_verb_status(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_(sg_ids_deinit) struct sg_ids ids = {0};
        _cleanup_client_ struct sg_client c = {0};
        struct sg_wanted w = {.inv = inv,
                              .words = inv->args,
                              .n = inv->n_args,
                              .wordless = SG_WORDLESS_LAST_IF_ANY};
        int r;

        if (inv->n_args == 0)
                return node_status(&w, e);
        r = sg_verb_find_jobs(&w, &c, &ids, e);
        return r < 0 ? r : job_status(&c, inv, &ids, e);
}
