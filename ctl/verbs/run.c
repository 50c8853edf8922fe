/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * run: this very process becomes the job's keeper. It registers itself by a pidfd, waits until it
 * may start, and execs the foreground shim with the descriptors that it was given.
 *
 * Until then the connection is the job's life: to die here (Ctrl-C) cancels it. So when the
 * governor restarts meanwhile, the old job cannot run any more, and a new one takes its place.
 */

#include "base/cleanup.h"
#include "base/time-util.h"
#include "ctl/ask/command.h"
#include "ctl/ask/request.h"
#include "ctl/ask/shim.h"
#include "ctl/show/document.h"
#include "ctl/verbs/verbs.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#define SILENT_USEC (200ULL * 1000)
/* A reason that changes with each job of somebody else is told this often at most. */
#define TELL_USEC (1000ULL * 1000)

struct waiting {
        struct sg_client *client;
        char id[24], *path;
        sd_bus_slot *attach, *filter;
        sd_bus_message *answer; /* of Attach */
        char *told;             /* the last reason on stderr */
        bool changed, subscribed;
        uint64_t tell_usec; /* when to tell next, if there is something */
};

static int on_attached(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct waiting *w = userdata;

        (void)error;
        w->answer = sd_bus_message_ref(m);
        return 1;
}

/* Anything that is said about the job may have changed its reason. */
static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct waiting *w = userdata;
        const char *path = sd_bus_message_get_path(m), *id;

        (void)error;
        if (path && w->path && strcmp(path, w->path) == 0)
                w->changed = true;
        if (sd_bus_message_is_signal(m, SG_BUS_MANAGER, "JobEvent") > 0 &&
            sd_bus_message_skip(m, "tt") > 0 && sd_bus_message_read(m, "s", &id) > 0 &&
            strcmp(id, w->id) == 0)
                w->changed = true;
        (void)sd_bus_message_rewind(m, true);
        return 0;
}

static int subscribe(struct waiting *w, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL, *reply = NULL;
        int r;

        r = sd_bus_path_encode(SG_BUS_JOB_PREFIX, w->id, &w->path);
        if (r >= 0)
                r = sd_bus_add_filter(w->client->bus, &w->filter, on_message, w);
        if (r < 0)
                return sg_error_errno(e, r, "cannot listen to schedgovd");
        r = sg_client_manager(w->client, "Subscribe", &m, e);
        if (r >= 0)
                r = sg_client_call(w->client, m, NULL, &reply, e);
        w->subscribed = r >= 0;
        return r;
}

static int tell_reason(struct waiting *w, struct sg_error *e)
{
        _cleanup_json_ json_t *job = NULL;
        const char *state, *reason;
        int r;

        w->changed = false;
        w->tell_usec = sg_now_monotonic_usec() + TELL_USEC;
        if (!w->subscribed) {
                r = subscribe(w, e);
                if (r < 0)
                        return r;
        }
        r = sg_client_get_job(w->client, w->id, NULL, &job, e);
        if (r == -ECANCELED) { /* Attach's own answer says what became of it */
                sg_error_clear(e);
                return 0;
        }
        if (r < 0)
                return r;
        state = sg_document_string(job, "state");
        if (!state || strcmp(state, "queued") != 0) /* it is being started */
                return 0;
        reason = sg_document_string(job, "reason");
        reason = reason && *reason ? reason : "for its turn";
        if (w->told && strcmp(w->told, reason) == 0)
                return 0;
        free(w->told);
        w->told = strdup(reason);
        sg_warn("job %s waits: %s%s", w->id, reason,
                isatty(STDERR_FILENO) == 1 ? " (Ctrl-C cancels it)" : "");
        return w->told ? 0 : -ENOMEM;
}

static int wait_for_start(struct waiting *w, struct sg_error *e)
{
        int r;

        w->tell_usec = sg_now_monotonic_usec() + SILENT_USEC;
        w->changed = true;
        while (!w->answer) {
                uint64_t now = sg_now_monotonic_usec(), timeout = UINT64_MAX;

                if (w->changed && now >= w->tell_usec) {
                        r = tell_reason(w, e);
                        if (r < 0)
                                return r;
                        continue;
                }
                if (w->changed)
                        timeout = w->tell_usec - now;
                r = sg_client_process(w->client, timeout, e);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* The descriptors are taken without CLOEXEC: they are the shim's. */
static int take_answer(sd_bus_message *m, const char *id, struct sg_attached *a, struct sg_error *e)
{
        const sd_bus_error *error = sd_bus_message_get_error(m);
        int r;

        if (error)
                return sg_error_from_reply(e, error, id);
        r = sd_bus_message_read(m, "hhh", &a->fds[0], &a->fds[1], &a->fds[2]);
        if (r >= 0)
                r = sd_bus_message_read_strv(m, &a->env);
        if (r >= 0)
                r = sd_bus_message_read_strv(m, &a->env_default);
        if (r < 0)
                return sg_error_garbled(e, r);
        for (int i = 0; i < 3; i++) {
                a->fds[i] = fcntl(a->fds[i], F_DUPFD, STDERR_FILENO + 1);
                if (a->fds[i] < 0)
                        return sg_error_errno(e, -errno, "cannot keep a descriptor");
        }
        return 0;
}

static int attach(struct sg_client *c, const char *id, struct sg_attached *a, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL;
        struct waiting w = {.client = c};
        int r;

        (void)snprintf(w.id, sizeof(w.id), "%s", id);
        r = sg_client_manager(c, "Attach", &m, e);
        if (r < 0)
                return r;
        r = sd_bus_message_append(m, "t", (uint64_t)strtoull(id, NULL, 10));
        if (r >= 0)
                r = sd_bus_call_async(c->bus, &w.attach, m, on_attached, &w, UINT64_MAX);
        r = r < 0 ? sg_error_errno(e, r, "cannot ask schedgovd") : wait_for_start(&w, e);
        if (r >= 0)
                r = take_answer(w.answer, id, a, e);
        sd_bus_slot_unref(w.attach);
        sd_bus_slot_unref(w.filter);
        sd_bus_message_unref(w.answer);
        free(w.path);
        free(w.told);
        return r;
}

static int register_self(struct sg_client *c, const struct sg_invocation *inv,
                         const struct sg_command *cmd, char id[24], struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL, *reply = NULL;
        _cleanup_close_ int pidfd = -1;
        char token[SG_REQUEST_TOKEN_SIZE];
        uint64_t n;
        int r;

        pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
        if (pidfd < 0)
                return sg_error_errno(e, -errno, "cannot get a pidfd of this process");
        r = sg_request_token(token);
        if (r >= 0)
                r = sg_client_manager(c, "Run", &m, e);
        if (r >= 0)
                r = sg_request_append_job(m, inv, NULL, token, e);
        if (r < 0)
                return r;
        r = sg_command_append_block(m, (const char *const *)cmd->argv);
        if (r >= 0)
                r = sd_bus_message_append(m, "h", pidfd);
        if (r < 0)
                return sg_error_errno(e, r, "cannot make the request");
        r = sg_client_call(c, m, NULL, &reply, e);
        if (r < 0)
                return r;
        r = sd_bus_message_read(reply, "t", &n);
        if (r < 0)
                return sg_error_garbled(e, r);
        (void)snprintf(id, 24, "%" PRIu64, n);
        return 0;
}

/* Before there is a job that would fail because of it. */
static int check_workdir(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_close_ int fd = -1;

        if (!inv->workdir)
                return 0;
        fd = open(inv->workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || faccessat(fd, ".", X_OK, 0) < 0)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, "--workdir", NULL,
                                    "cannot enter %s: %s", inv->workdir, strerror(errno));
        return 0;
}

int sg_verb_run(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_client_ struct sg_client c = {0};
        _cleanup_(sg_command_deinit) struct sg_command cmd = {0};
        _cleanup_free_ char *shim = NULL;
        struct sg_attached attached = {.fds = {-1, -1, -1}};
        char id[24];
        int r;

        if (inv->n_args == 0 && !inv->sh)
                return sg_verb_usage(inv, e);
        if (inv->dry_run)
                return sg_verb_dry_run(inv, e);
        r = check_workdir(inv, e);
        if (r >= 0)
                r = sg_shim_find(&shim, e);
        if (r >= 0)
                r = sg_command_init(&cmd, inv, e);
        if (r < 0)
                return r;
        r = sg_client_open(&c, inv->socket, e);
        if (r >= 0)
                sg_verb_foretell(&c, inv, &cmd);
        for (;;) {
                if (r >= 0)
                        r = register_self(&c, inv, &cmd, id, e);
                if (r >= 0)
                        r = attach(&c, id, &attached, e);
                if (r != -ECONNRESET)
                        break;
                r = sg_client_reopen(&c, SG_SUBMIT_PATIENCE_USEC, e);
                if (r < 0)
                        break;
                sg_warn("schedgovd was restarted; queueing the command again");
        }
        return r < 0 ? r : sg_shim_exec(shim, inv, cmd.argv, &attached, e);
}
