/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Run and Attach, for `schedctl run`: a job whose process is the one that asks. Submitted like
 * others, it waits on its connection for its turn, and is then handed what its shim needs.
 */
#include "api/internal.h"
#include "base/cleanup.h"
#include <inttypes.h>

static int read_run(struct sg_submission *s, struct sg_client *c, sd_bus_message *call,
                    sd_bus_error *error)
{
        const void *argv;
        size_t size;
        int pidfd, r;

        r = sg_submission_read_options(s, call, error);
        if (r < 0)
                return r;
        if (s->count != 1 || s->job.retry > 0 || s->on_end || s->job.output || s->job.error)
                return sd_bus_error_set(
                        error, SG_ERROR_INVALID,
                        "run: arrays, retries, output files and --on-end are for submit");
        r = sd_bus_message_read_array(call, 'y', &argv, &size);
        if (r >= 0)
                r = sd_bus_message_read(call, "h", &pidfd);
        if (r < 0)
                return r;
        if (size == 0 || !sg_block_is_whole(argv, size))
                return sd_bus_error_set(error, SG_ERROR_INVALID, "no command");
        if (!sg_caller_is_process(&c->caller, pidfd))
                return sd_bus_error_set(error, SG_ERROR_INVALID,
                                        "run: the pidfd is not of the process that asks");
        s->job.foreground = 1;
        return sg_submission_show_command(s, argv, size);
}

/* What runs is the process that asks; only on a connection of its own is it sure to be that. */
static int check_own_connection(struct sg_client *c, sd_bus_error *error)
{
        if (c && !c->name)
                return 0;
        return sd_bus_error_set(error, SG_ERROR_INVALID,
                                "run: not over a message bus, only on the governor's own socket\n"
                                "use Submit, or schedctl run");
}

int sg_api_run(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        _cleanup_(sg_submission_freep) struct sg_submission *s = NULL;
        struct sg_manager *m = userdata;
        struct sg_client *c = sg_api_client(m, call);
        int r;

        r = check_own_connection(c, error);
        if (r < 0)
                return r;
        if (c->runs)
                return sd_bus_error_set(error, SG_ERROR_INVALID, "run: one job per connection");
        r = sg_authorize_submit(m, call, "run", error);
        if (r <= 0)
                return sg_unauthorized(r);
        r = sg_submission_new(&s, m, call);
        if (r >= 0)
                r = read_run(s, c, call, error);
        if (r < 0)
                return r;
        return sg_submission_go_on(TAKE_PTR(s));
}

int sg_api_attach(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        struct sg_manager *m = userdata;
        struct sg_client *c = sg_api_client(m, call);
        struct sg_live *l;
        uint64_t n;
        int r;

        r = sd_bus_message_read(call, "t", &n);
        if (r < 0)
                return r;
        l = sg_manager_find(m, n);
        if (!l || !c || !sg_runner_attach(l, c, call))
                return sd_bus_error_setf(error, SG_ERROR_NO_SUCH_JOB,
                                         "job %" PRIu64
                                         " was not made by `run` on this connection, or has ended",
                                         n);
        return 1;
}
