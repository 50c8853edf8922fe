/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who waits for a job: calls that are answered when something has become of it, and `schedctl run`,
 * which waits for its turn on its connection. This is what a job's life is told to. */
#include "api/internal.h"
#include "base/cleanup.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

/* A call that is answered later. */
struct sg_waiter {
        struct sg_list job_link, client_link;
        struct sg_ledger *ledger;
        struct sg_client *client;
        struct sg_call *call;
        bool acknowledge; /* answered with nothing as soon as the decision is durable, else with the
                             end */
};

/* Those of one job. */
struct sg_callers {
        struct sg_list waiters;
        struct sg_client *runner; /* `schedctl run`: the connection, until it has become the shim */
        struct sg_call *attach;   /* its pending Attach */
};

static int callers_get(struct sg_live *l, struct sg_callers **ret)
{
        if (!l->callers) {
                l->callers = calloc(1, sizeof(*l->callers));
                if (!l->callers)
                        return -ENOMEM;
                sg_list_init(&l->callers->waiters);
        }
        *ret = l->callers;
        return 0;
}

static void waiter_free(struct sg_waiter *w)
{
        sg_list_remove(&w->job_link);
        sg_list_remove(&w->client_link);
        if (!w->acknowledge)
                sg_ledger_give(w->ledger, w->client->caller.uid, SG_CHARGE_WAITERS, 1);
        sg_call_unref(w->call);
        free(w);
}

/* A `run` whose terminal goes away before its turn came is not to be run. */
static void leave(struct sg_live *l)
{
        struct sg_callers *callers = l->callers;

        callers->runner = NULL;
        callers->attach = sg_call_unref(callers->attach);
        if (!l->runner->here)
                return;
        *l->runner = (struct sg_runner){.pidfd = -1};
        if (sg_life_is_shown(&l->life))
                sg_live_stop(l, (struct sg_who){0}, SG_INTENT_CANCEL, SG_LIFE_RUNNER_GONE);
}

void sg_callers_disconnect(struct sg_manager *m, struct sg_client *c)
{
        struct sg_waiter *w, *next;
        struct sg_live *l;

        sg_list_foreach_safe (w, next, &c->waiters, client_link)
                waiter_free(w);
        sg_list_foreach (l, &m->jobs->all, link)
                if (l->callers && l->callers->runner == c)
                        leave(l);
}

/* Calls that wait */

int sg_waiter_add(struct sg_live *l, struct sg_call *call, bool acknowledge, struct sg_answer *a)
{
        struct sg_client *c = sg_call_client(call);
        struct sg_ledger *ledger = l->manager->ledger;
        struct sg_callers *callers;
        struct sg_waiter *w;
        int r;

        r = c ? callers_get(l, &callers) : -ENOTCONN;
        if (r < 0)
                return r;
        w = calloc(1, sizeof(*w));
        if (!w)
                return -ENOMEM;
        /* What frees room is always taken. */
        r = acknowledge ? 0 : sg_ledger_take(ledger, c->caller.uid, SG_CHARGE_WAITERS, 1);
        if (r != 0) {
                free(w);
                return r < 0 ? r
                             : sg_refuse(a, SG_ANSWER_BUSY, NULL,
                                         "user %u is waiting for too many jobs at once",
                                         c->caller.uid);
        }
        w->ledger = ledger;
        w->client = c;
        w->call = sg_call_ref(call);
        w->acknowledge = acknowledge;
        sg_list_append(&callers->waiters, &w->job_link);
        sg_list_append(&c->waiters, &w->client_link);
        return 0;
}

static void acknowledge(struct sg_live *l)
{
        struct sg_waiter *w, *next;

        if (!l->callers)
                return;
        sg_list_foreach_safe (w, next, &l->callers->waiters, job_link) {
                if (!w->acknowledge)
                        continue;
                sg_call_done(w->call);
                waiter_free(w);
        }
}

int sg_api_reply_end(struct sg_call *call, const struct sg_job *j)
{
        struct sg_reply *r = sg_call_reply(call);

        sg_reply_text(r, "state", sg_job_state_to_string(j->state));
        sg_reply_i32(r, "status", sg_job_exit_status(j));
        sg_reply_text(r, "reason", j->reason ?: "");
        return sg_call_send(call);
}

static void answer(struct sg_live *l)
{
        struct sg_waiter *w, *next;

        acknowledge(l);
        if (!l->callers)
                return;
        sg_list_foreach_safe (w, next, &l->callers->waiters, job_link) {
                (void)sg_api_reply_end(w->call, &l->job);
                waiter_free(w);
        }
}

/* What was asked of it, to hold or to freeze it. */

static void answer_asker(struct sg_live *l, const struct sg_life_event *e)
{
        struct sg_call *call = e->asker;
        const uint64_t n = l->job.key.n;

        if (e->kind == SG_LIFE_E_HOLD_UNSTORED || e->kind == SG_LIFE_E_FREEZE_UNSTORED)
                sg_call_refuse_job(call, SG_ANSWER_STORE, n, "cannot store that: %s",
                                   strerror(-e->error));
        else if (e->kind == SG_LIFE_E_FREEZE_FAILED)
                sg_call_refuse_job(call, e->error == -ENOTCONN ? SG_ANSWER_BUSY : SG_ANSWER_INVALID,
                                   n, "cannot %s job %" PRIu64 ": %s", e->on ? "suspend" : "resume",
                                   n, e->why ?: strerror(-e->error));
        else if (sg_life_has_ended(&l->life))
                sg_call_refuse_job(call, SG_ANSWER_WRONG_STATE, n, "job %" PRIu64 " has ended", n);
        else
                sg_call_done(call);
        sg_call_unref(call);
}

/* --- `run` */

int sg_runner_set(struct sg_live *l, struct sg_client *c)
{
        struct sg_callers *callers;
        int r = callers_get(l, &callers);

        if (r < 0)
                return r;
        l->runner = calloc(1, sizeof(*l->runner));
        if (!l->runner)
                return -ENOMEM;
        *l->runner =
                (struct sg_runner){.pid = c->caller.pid, .pidfd = c->caller.pidfd, .here = true};
        callers->runner = c;
        c->runs = true;
        return 0;
}

bool sg_runner_attach(struct sg_live *l, struct sg_call *call)
{
        const struct sg_client *c = sg_call_client(call);
        struct sg_callers *callers = l->callers;

        if (!c || !callers || callers->runner != c || !l->runner->here || l->runner->asked)
                return false;
        callers->attach = sg_call_ref(call);
        sg_live_attach(l);
        return true;
}

struct reply_env {
        struct sg_reply *reply;
        bool force;
};

static void put_in_reply(const char *line, bool force, void *userdata)
{
        const struct reply_env *e = userdata;

        if (force == e->force)
                sg_reply_text(e->reply, NULL, line);
}

static void put_environment(struct sg_reply *reply, const struct sg_live *l, bool force)
{
        static const enum sg_value_type line = SG_VALUE_TEXT;
        struct reply_env e = {.reply = reply, .force = force};

        sg_reply_open_list(reply, force ? "environment" : "defaults", &line, 1);
        sg_live_environment(l, &(struct sg_live_env){put_in_reply, &e});
        sg_reply_close_list(reply);
}

/* The third descriptor was the record's: a schedctl of before, which waited while we were upgraded,
 * hands it on to the shim, which has no use for it. */
static int reply_attached(struct sg_live *l, int gate, int lock)
{
        _cleanup_close_ int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        struct sg_reply *r = sg_call_reply(l->callers->attach);

        if (nothing < 0)
                return -errno;
        sg_reply_file(r, "gate", gate);
        sg_reply_file(r, "lock", lock);
        sg_reply_file(r, "record", nothing);
        put_environment(r, l, true);
        put_environment(r, l, false);
        return sg_call_send(l->callers->attach);
}

static int hand_over(struct sg_live *l, int gate, int lock)
{
        struct sg_callers *callers = l->callers;
        int r = reply_attached(l, gate, lock);

        if (r < 0)
                return r;
        callers->attach = sg_call_unref(callers->attach);
        callers->runner = NULL;
        return 0;
}

static void refuse(struct sg_live *l, int error)
{
        struct sg_callers *callers = l->callers;

        if (error < 0)
                sg_call_refuse_job(callers->attach, SG_ANSWER_INVALID, l->job.key.n,
                                   "cannot start job %" PRIu64 ": %s", l->job.key.n,
                                   strerror(-error));
        else
                sg_call_refuse_job(callers->attach, SG_ANSWER_WRONG_STATE, l->job.key.n, "%s",
                                   l->job.reason ?: "it was ended before it started");
        callers->attach = sg_call_unref(callers->attach);
}

static void forget(struct sg_live *l)
{
        if (!l->callers)
                return;
        assert(sg_list_empty(&l->callers->waiters));
        sg_call_unref(l->callers->attach);
        free(l->callers);
}

const struct sg_live_calls sg_api_live_calls = {
        .changed = sg_api_emit,
        .acknowledge = acknowledge,
        .ended = answer,
        .answer = answer_asker,
        .hand_over = hand_over,
        .hand_failed = refuse,
        .forget = forget,
};
