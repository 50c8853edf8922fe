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
        sd_bus_message *call;
        bool acknowledge; /* answered with nothing as soon as the decision is durable, else with the
                             end */
};

/* Those of one job. */
struct sg_callers {
        struct sg_list waiters;
        struct sg_client *runner; /* `schedctl run`: the connection, until it has become the shim */
        sd_bus_message *attach;   /* its pending Attach */
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
        sd_bus_message_unref(w->call);
        free(w);
}

/* A `run` whose terminal goes away before its turn came is not to be run. */
static void leave(struct sg_live *l)
{
        struct sg_callers *callers = l->callers;

        callers->runner = NULL;
        callers->attach = sd_bus_message_unref(callers->attach);
        if (!l->runner->here)
                return;
        *l->runner = (struct sg_runner){.pidfd = -1};
        if (sg_life_is_shown(&l->life))
                sg_live_stop(l, SG_INTENT_CANCEL, SG_LIFE_RUNNER_GONE);
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

int sg_waiter_add(struct sg_live *l, struct sg_client *c, sd_bus_message *call, bool acknowledge)
{
        struct sg_ledger *ledger = l->manager->ledger;
        struct sg_callers *callers;
        struct sg_waiter *w;
        int r;

        r = callers_get(l, &callers);
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
                             : sd_bus_reply_method_errorf(call, SG_ERROR_BUSY,
                                                          "user %u waits for too many jobs at once",
                                                          c->caller.uid);
        }
        w->ledger = ledger;
        w->client = c;
        w->call = sd_bus_message_ref(call);
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
                (void)sd_bus_reply_method_return(w->call, NULL);
                waiter_free(w);
        }
}

static void answer(struct sg_live *l)
{
        struct sg_waiter *w, *next;

        acknowledge(l);
        if (!l->callers)
                return;
        sg_list_foreach_safe (w, next, &l->callers->waiters, job_link) {
                (void)sd_bus_reply_method_return(w->call, "sis",
                                                 sg_job_state_to_string(l->job.state),
                                                 sg_job_exit_status(&l->job), l->job.reason ?: "");
                waiter_free(w);
        }
}

/* What was asked of it, to hold or to freeze it. */

static void answer_asker(struct sg_live *l, const struct sg_life_event *e)
{
        sd_bus_message *call = e->asker;

        if (e->kind == SG_LIFE_E_HOLD_UNSTORED || e->kind == SG_LIFE_E_FREEZE_UNSTORED)
                (void)sd_bus_reply_method_errorf(call, SG_ERROR_STORE, "cannot store that: %s",
                                                 strerror(-e->error));
        else if (e->kind == SG_LIFE_E_FREEZE_FAILED)
                (void)sd_bus_reply_method_errorf(
                        call, e->error == -ENOTCONN ? SG_ERROR_BUSY : SG_ERROR_INVALID,
                        "cannot %s job %" PRIu64 ": %s", e->on ? "suspend" : "resume", l->job.key.n,
                        e->why ?: strerror(-e->error));
        else if (sg_life_has_ended(&l->life))
                (void)sd_bus_reply_method_errorf(call, SG_ERROR_WRONG_STATE,
                                                 "job %" PRIu64 " has ended", l->job.key.n);
        else
                (void)sd_bus_reply_method_return(call, NULL);
        sd_bus_message_unref(call);
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

bool sg_runner_attach(struct sg_live *l, const struct sg_client *c, sd_bus_message *call)
{
        struct sg_callers *callers = l->callers;

        if (!callers || callers->runner != c || !l->runner->here || l->runner->asked)
                return false;
        callers->attach = sd_bus_message_ref(call);
        sg_live_attach(l);
        return true;
}

struct reply_env {
        sd_bus_message *m;
        bool force;
        int r;
};

static void put_in_reply(const char *line, bool force, void *userdata)
{
        struct reply_env *e = userdata;

        if (e->r >= 0 && force == e->force)
                e->r = sd_bus_message_append(e->m, "s", line);
}

static int append_environment(sd_bus_message *m, const struct sg_live *l, bool force)
{
        struct reply_env e = {.m = m, .force = force};

        e.r = sd_bus_message_open_container(m, 'a', "s");
        sg_live_environment(l, &(struct sg_live_env){put_in_reply, &e});
        return e.r < 0 ? e.r : sd_bus_message_close_container(m);
}

/* The third descriptor was the record's: a schedctl of before, which waited while we were upgraded,
 * hands it on to the shim, which has no use for it. */
static int reply_attached(struct sg_live *l, int gate, int lock)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _cleanup_close_ int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        int r;

        if (nothing < 0)
                return -errno;
        r = sd_bus_message_new_method_return(l->callers->attach, &reply);
        if (r >= 0)
                r = sd_bus_message_append(reply, "hhh", gate, lock, nothing);
        if (r >= 0)
                r = append_environment(reply, l, true);
        if (r >= 0)
                r = append_environment(reply, l, false);
        return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

static int hand_over(struct sg_live *l, int gate, int lock)
{
        struct sg_callers *callers = l->callers;
        int r = reply_attached(l, gate, lock);

        if (r < 0)
                return r;
        callers->attach = sd_bus_message_unref(callers->attach);
        callers->runner = NULL;
        return 0;
}

static void refuse(struct sg_live *l, int error)
{
        struct sg_callers *callers = l->callers;

        if (error < 0)
                (void)sd_bus_reply_method_errorf(callers->attach, SG_ERROR_INVALID,
                                                 "cannot start job %" PRIu64 ": %s", l->job.key.n,
                                                 strerror(-error));
        else
                (void)sd_bus_reply_method_errorf(callers->attach, SG_ERROR_WRONG_STATE, "%s",
                                                 l->job.reason ?: "it was ended before it started");
        callers->attach = sd_bus_message_unref(callers->attach);
}

static void forget(struct sg_live *l)
{
        if (!l->callers)
                return;
        assert(sg_list_empty(&l->callers->waiters));
        sd_bus_message_unref(l->callers->attach);
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
