/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Run and Attach, for `schedctl run`: a job whose process is the one that asks. Submitted like
 * others, it waits on its connection for its turn, and is then handed what its shim needs.
 */
#include "api/internal.h"
#include <errno.h>
#include <inttypes.h>

static int read_run(struct sg_submission *s, const struct sg_client *c, struct sg_answer *a)
{
        int r = sg_submission_read(s, a);

        if (r < 0)
                return r;
        if (!sg_caller_is_process(&c->caller, (int)s->request.pidfd))
                return sg_refuse(a, SG_ANSWER_INVALID, "pidfd",
                                 "run: the pidfd is not that of the calling process");
        s->request.job.foreground = 1;
        return sg_submission_take_command(s);
}

/* What runs is the process that asks; only on a connection of its own is it sure to be that. */
static int check_own_connection(const struct sg_client *c, struct sg_answer *a)
{
        if (c && !c->name)
                return 0;
        return sg_refuse(a, SG_ANSWER_INVALID, NULL,
                         "run: only possible on the governor's own socket, not over a message bus\n"
                         "use Submit, or schedctl run");
}

int sg_api_run(struct sg_call *call, struct sg_answer *a)
{
        _cleanup_(sg_submission_freep) struct sg_submission *s = NULL;
        const struct sg_client *c = sg_call_client(call);
        int r;

        r = check_own_connection(c, a);
        if (r < 0)
                return r;
        if (c->runs)
                return sg_refuse(a, SG_ANSWER_INVALID, NULL, "run: one job per connection");
        r = sg_authorize_submit(call, "run", a);
        if (r <= 0)
                return r;
        r = sg_submission_new(&s, call);
        if (r >= 0)
                r = read_run(s, c, a);
        return r < 0 ? r : sg_submission_go_on(TAKE_PTR(s), a);
}

int sg_api_attach(struct sg_call *call, struct sg_answer *a)
{
        _cleanup_(sg_request_deinit) struct sg_request q;
        struct sg_live *l;
        int r;

        sg_request_init(&q, call->verb);
        r = sg_call_read(call, &q, a);
        if (r < 0)
                return r;
        l = sg_manager_find(call->manager, q.number);
        if (!l || !sg_runner_attach(l, call))
                return sg_refuse_job(a, SG_ANSWER_NO_SUCH_JOB, q.number,
                                     "job %" PRIu64
                                     " was not made by `run` on this connection, or has ended",
                                     q.number);
        return 1;
}
