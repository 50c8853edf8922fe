/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait: outlives the governor's restarts, as the jobs do. */

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/time-util.h"
#include "ctl/ask/calls.h"
#include "ctl/show/document.h"
#include "ctl/verbs/verbs.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct waiter {
        const struct sg_invocation *inv;
        int *status; /* of each job */
        size_t first_ended;
        bool ended;
};

static int build(struct sg_calls *calls, const char *id, sd_bus_message **ret, struct sg_error *e)
{
        int r = sg_client_manager(calls->client, "WaitJob", ret, e);

        if (r < 0)
                return r;
        r = sd_bus_message_append(*ret, "s", id);
        return r < 0 ? sg_error_errno(e, r, "cannot make the request") : 0;
}

/* An exit status says itself how it ended. With --json the documents do. */
static void say_how_it_ended(const struct waiter *w, const char *id, const char *state,
                             const char *reason)
{
        if (!w->inv->json && strcmp(state, "exited") != 0)
                sg_warn("job %s: %s", id, *reason ? reason : state);
}

static int take(struct sg_calls *calls, size_t index, sd_bus_message *reply)
{
        struct waiter *w = calls->userdata;
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        const char *state, *reason;
        int32_t status;

        if (error) {
                struct sg_error e = {0};

                (void)sg_error_from_reply(&e, error, calls->ids->v[index]);
                w->status[index] = sg_error_print(&e, 0, w->inv->json);
        } else if (sd_bus_message_read(reply, "sis", &state, &status, &reason) < 0) {
                return -EBADMSG;
        } else {
                w->status[index] = status & 0xff;
                if (!w->ended)
                        say_how_it_ended(w, calls->ids->v[index], state, reason);
        }
        if (w->inv->any && !w->ended) {
                w->ended = calls->stop = true;
                w->first_ended = index;
        }
        return 0;
}

static int timed_out(const struct sg_invocation *inv, struct sg_error *e)
{
        return sg_error_set(e, SG_EXIT_TRY_LATER, inv->n_args == 1 ? inv->args[0] : NULL,
                            "wait again, or see schedctl status", "not ended within --timeout");
}

/* What has ended, as documents. */
static int print_documents(struct sg_client *c, const struct sg_ids *ids, size_t from, size_t n,
                           struct sg_error *e)
{
        _cleanup_strv_ char **documents = calloc(n + 1, sizeof(*documents));
        size_t found = 0;

        if (!documents)
                return -ENOMEM;
        for (size_t i = from; i < from + n; i++) {
                int r = sg_client_get_string(c, "DescribeJob", ids->v[i], &documents[found], e);

                if (r == -ECANCELED) /* WaitJob has said why */
                        sg_error_clear(e);
                else if (r < 0)
                        return r;
                else
                        found++;
        }
        if (n > 1 || found > 0)
                sg_document_print_json(documents, found, n > 1);
        return 0;
}

static int report(struct sg_client *c, const struct sg_ids *ids, const struct waiter *w,
                  struct sg_error *e)
{
        size_t from = w->inv->any ? w->first_ended : 0, n = w->inv->any ? 1 : ids->n;
        int r = 0;

        if (w->inv->json)
                r = print_documents(c, ids, from, n, e);
        else if (w->inv->any)
                (void)puts(ids->v[from]);
        for (size_t i = from; r == 0 && i < from + n; i++)
                r = w->status[i];
        return r;
}

static int wait_all(struct sg_client *c, const struct sg_ids *ids, struct waiter *w,
                    struct sg_error *e)
{
        const struct sg_invocation *inv = w->inv;
        struct sg_calls calls = {.client = c,
                                 .ids = ids,
                                 .window = inv->any ? SIZE_MAX : 256,
                                 .deadline_usec = UINT64_MAX,
                                 .userdata = w,
                                 .build = build,
                                 .take = take};
        int r;

        if (inv->timeout != SG_UNLIMITED)
                calls.deadline_usec = sg_now_monotonic_usec() + inv->timeout;
        while ((r = sg_calls_run(&calls, e)) == -ECONNRESET &&
               (r = sg_client_reopen(c, SG_FOLLOW_PATIENCE_USEC, e)) >= 0)
                ;
        sg_calls_deinit(&calls);
        if (r > 0)
                return timed_out(inv, e);
        return r == -EBADMSG ? sg_error_garbled(e, r) : r;
}

int sg_verb_wait(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_(sg_ids_deinit) struct sg_ids ids = {0};
        _cleanup_client_ struct sg_client c = {0};
        _cleanup_free_ int *status = NULL;
        struct sg_wanted wanted = {.inv = inv,
                                   .words = inv->args,
                                   .n = inv->n_args,
                                   .wordless = SG_WORDLESS_LAST,
                                   .patience_usec = SG_FOLLOW_PATIENCE_USEC};
        struct waiter w = {.inv = inv};
        int r;

        r = sg_verb_find_jobs(&wanted, &c, &ids, e);
        if (r < 0)
                return r;
        w.status = status = calloc(ids.n, sizeof(*status));
        if (!status)
                return -ENOMEM;
        r = wait_all(&c, &ids, &w, e);
        return r < 0 ? r : report(&c, &ids, &w, e);
}
