/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What would become of a submission now: for DryRun, and for --no-wait. */
#include "api/foretell.h"
#include "api/internal.h"
#include "base/format.h"
#include "base/time-util.h"
#include "govern/loop.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>

/* What was asked for that keeps it out of the queue, in words. */
static bool must_wait(const struct sg_submission *s, char *why, size_t size)
{
        const struct sg_job *j = &s->request.job;
        struct sg_job_key first;
        uint64_t n = sg_live_count_unfinished(s->manager, j->after, sg_submission_sees(s), &first);
        char when[SG_FORMAT_MAX], id[SG_JOB_ID_MAX];

        if (j->hold) {
                (void)snprintf(why, size, "it would be held");
        } else if (n > 0) {
                sg_job_id_format(id, &first, s->manager->node.name);
                (void)snprintf(why, size, "it would wait for job %s%s", id,
                               n > 1 ? " and others" : "");
        } else if (j->begin_usec > sg_now_realtime_usec()) {
                (void)snprintf(why, size, "it would begin at %s",
                               sg_format_local(when, j->begin_usec));
        } else {
                return false;
        }
        return true;
}

/* Whether it would start now, in its class and with its limits: 1, or 0 and why not. */
static int would_start(struct sg_submission *s, char *why, size_t size)
{
        struct sg_node_snapshot node;
        struct sg_pending_info info;
        int r;

        if (must_wait(s, why, size))
                return 0;
        r = sg_manager_snapshot(s->manager, &node);
        if (r < 0)
                return r;
        sg_queue_would_start(s->manager->jobs->queue, &s->request.job,
                             sg_loop_history(s->manager, &s->request.job), &node, &info);
        sg_pending_describe(s->manager, &info, why, size);
        return info.why == SG_PENDING_NONE;
}

/* For whoever submits it all the same. */
static int add_warning(char **doc, const char *warning)
{
        json_t *o = json_loads(*doc, 0, NULL);
        char *text;

        if (!o)
                return -ENOMEM;
        json_object_set_new(o, "warning", json_string(warning));
        text = json_dumps(o, JSON_COMPACT);
        json_decref(o);
        if (!text)
                return -ENOMEM;
        free(*doc);
        *doc = text;
        return 0;
}

int sg_submission_reply_dry_run(struct sg_submission *s)
{
        struct sg_job *j = &s->request.job;
        _cleanup_free_ char *doc = NULL;
        char why[256], late[256];
        int r, warned;

        r = would_start(s, why, sizeof(why));
        if (r < 0)
                return r;
        warned = sg_foretell_deadline(s->manager, j, late, sizeof(late));
        if (warned < 0)
                return warned;
        (void)sg_job_set_reason(j, "%s%s%s", r > 0 ? "it would start now" : why, warned ? "; " : "",
                                warned ? late : "");
        r = sg_job_document(s->manager, j, NULL, true, &doc);
        if (r >= 0 && warned)
                r = add_warning(&doc, late);
        return r < 0 ? r : sg_call_send_document(s->call, doc);
}

int sg_submission_check_room(struct sg_submission *s, struct sg_answer *a)
{
        char why[256];
        int r;

        r = would_start(s, why, sizeof(why));
        if (r != 0)
                return r < 0 ? r : 0;
        return sg_refuse(a, SG_ANSWER_BUSY, NULL, "%s", why);
}
