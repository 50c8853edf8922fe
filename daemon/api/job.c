/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What may be asked of a live job, by its owner or an administrator. */
#include "adopt/adopt.h"
#include "api/internal.h"
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

/* --- finding it */

/* Whether that job may be known of. NULL: whoever asks has gone. */
static bool visible(const struct sg_manager *m, const struct sg_client *c, const struct sg_live *l)
{
        return c && sg_caller_may_see(m, &c->caller, l->job.uid);
}

bool sg_api_lists(const struct sg_manager *m, const struct sg_client *c, const struct sg_live *l)
{
        return sg_life_is_shown(&l->life) && !sg_life_is_closing(&l->life) && visible(m, c, l);
}

/* Who may not see others' jobs can't tell those that live from those that have ended, or never
 * were; and whose an ended one was, only the store knows. Who means a job from before the node got
 * its name is told what it is called now. */
static int not_live(struct sg_manager *m, const struct sg_client *c, const struct sg_job_key *key,
                    const char *id, struct sg_answer *a)
{
        const struct sg_live *other = sg_manager_find(m, key->n);
        char name[SG_JOB_ID_MAX];

        if (other && sg_life_is_shown(&other->life) && visible(m, c, other)) {
                sg_job_id_format(name, &other->job.key, m->node.name);
                return sg_refuse(a, SG_ANSWER_NO_SUCH_JOB, "job",
                                 "there is no live job %s\nthere is job %s", id, name);
        }
        if (!c || !sg_caller_sees_all(m, &c->caller))
                return sg_refuse(a, SG_ANSWER_NO_SUCH_JOB, "job", "there is no job %s that is live",
                                 id);
        if (strcmp(key->origin, m->node.name) != 0)
                return sg_refuse(a, SG_ANSWER_NO_SUCH_JOB, "job", "there is no live job %s", id);
        return key->n <= m->jobs->last_n
                       ? sg_refuse(a, SG_ANSWER_WRONG_STATE, "job", "job %s has ended", id)
                       : sg_refuse(a, SG_ANSWER_NO_SUCH_JOB, "job", "there is no job %s", id);
}

int sg_api_find_live(struct sg_manager *m, const struct sg_client *c, const char *id,
                     struct sg_live **ret, struct sg_answer *a)
{
        struct sg_job_key key;
        struct sg_live *l;

        if (sg_job_id_parse(id, m->node.name, &key) < 0)
                return sg_refuse(a, SG_ANSWER_INVALID, "job", "'%s' is not a job number", id);
        l = sg_manager_find_key(m, &key);
        if (!l || !visible(m, c, l))
                return not_live(m, c, &key, id, a);
        if (!sg_life_is_shown(&l->life))
                return sg_refuse(a, SG_ANSWER_NO_SUCH_JOB, "job", "there is no job %s", id);
        if (sg_life_has_ended(&l->life))
                return sg_refuse(a, SG_ANSWER_WRONG_STATE, "job", "job %s has ended", id);
        *ret = l;
        return 0;
}

/* --- checks */

static int wrong_state(const struct sg_live *l, const char *wanted, struct sg_answer *a)
{
        return sg_refuse_job(a, SG_ANSWER_WRONG_STATE, l->job.key.n,
                             "job %" PRIu64 " is %s, not %s", l->job.key.n,
                             sg_job_state_to_string(l->job.state), wanted);
}

int sg_api_busy(const struct sg_live *l, struct sg_answer *a)
{
        return sg_refuse_job(a, SG_ANSWER_BUSY, l->job.key.n,
                             "another change of job %" PRIu64 " is under way: try again",
                             l->job.key.n);
}

/* --- what is asked */

static int stop(struct sg_call *call, struct sg_live *l, enum sg_job_intent intent,
                const char *what, struct sg_answer *a)
{
        const struct sg_who by = sg_call_who(call);
        char reason[128], name[SG_USER_NAME_MAX];
        int r;

        r = sg_waiter_add(l, call, true, a);
        if (r < 0)
                return r;
        (void)snprintf(reason, sizeof(reason), "%s by %s%s", what,
                       sg_job_who(&l->job, &by, name) ?: "nobody",
                       l->job.state == SG_JOB_QUEUED ? " before it started" : "");
        sg_live_stop(l, by, intent, reason);
        return 1;
}

int sg_api_cancel(struct sg_call *call, struct sg_live *l, struct sg_answer *a)
{
        int r = sg_adopted_check(l, SG_ADOPTED_GOVERNED, "cancelled", a);

        return r < 0 ? r : stop(call, l, SG_INTENT_CANCEL, "cancelled", a);
}

int sg_api_requeue(struct sg_call *call, struct sg_live *l, struct sg_answer *a)
{
        const uint64_t n = l->job.key.n;

        if (l->job.state == SG_JOB_QUEUED)
                return wrong_state(l, "running", a);
        if (l->job.adopted)
                return sg_refuse_job(a, SG_ANSWER_WRONG_STATE, n,
                                     "job %" PRIu64
                                     " was started by others: it can't be started again from "
                                     "here",
                                     n);
        if (l->job.foreground)
                return sg_refuse_job(a, SG_ANSWER_WRONG_STATE, n,
                                     "job %" PRIu64
                                     " runs on a terminal: it can't be started again from here",
                                     n);
        return stop(call, l, SG_INTENT_REQUEUE, "requeued", a);
}

int sg_api_hold(struct sg_call *call, struct sg_live *l, struct sg_answer *a)
{
        if (!sg_life_may_hold(&l->life, &l->job))
                return wrong_state(l, "queued", a);
        sg_live_hold(l, sg_call_who(call), true, sg_call_ref(call));
        return 1;
}

int sg_api_release(struct sg_call *call, struct sg_live *l, struct sg_answer *a)
{
        /* (if it was asked to be held before, it is about to be) */
        if (!sg_life_may_hold(&l->life, &l->job) || (!l->job.hold && l->life.asked == 0))
                return sg_refuse_job(a, SG_ANSWER_WRONG_STATE, l->job.key.n,
                                     "job %" PRIu64 " is not held", l->job.key.n);
        sg_live_hold(l, sg_call_who(call), false, sg_call_ref(call));
        return 1;
}

static int set_frozen(struct sg_call *call, struct sg_live *l, bool frozen, struct sg_answer *a)
{
        int r = sg_adopted_check(l, SG_ADOPTED_GOVERNED, frozen ? "suspended" : "resumed", a);

        if (r < 0)
                return r;
        if (frozen && l->job.state == SG_JOB_RUNNING && l->job.intent != SG_INTENT_NONE)
                return sg_refuse_job(a, SG_ANSWER_WRONG_STATE, l->job.key.n,
                                     "job %" PRIu64 " is being ended", l->job.key.n);
        if (!sg_life_may_freeze(&l->life, &l->job, SG_FREEZE_USER, frozen))
                return wrong_state(l, frozen ? "running" : "suspended", a);
        if (!l->groups.scope)
                return sg_refuse_job(a, SG_ANSWER_WRONG_STATE, l->job.key.n,
                                     "job %" PRIu64 " has no group", l->job.key.n);
        if (l->job.adopted && l->life.asked > 0) /* systemd doesn't do them one after the other */
                return sg_api_busy(l, a);
        sg_live_freeze(l, sg_call_who(call), SG_FREEZE_USER, frozen, sg_call_ref(call));
        return 1;
}

int sg_api_suspend(struct sg_call *call, struct sg_live *l, struct sg_answer *a)
{
        return set_frozen(call, l, true, a);
}

int sg_api_resume(struct sg_call *call, struct sg_live *l, struct sg_answer *a)
{
        return set_frozen(call, l, false, a);
}

/* --- signals */

struct signalling {
        struct sg_call *call;
        uint64_t n;
};

static void on_adopted_signalled(const char *why, void *userdata)
{
        struct signalling *s = userdata;

        if (why)
                sg_call_refuse_job(s->call, SG_ANSWER_INVALID, s->n,
                                   "cannot signal job %" PRIu64 ": %s", s->n, why);
        else
                sg_call_done(s->call);
        sg_call_unref(s->call);
        free(s);
}

static int signal_adopted(struct sg_call *call, struct sg_live *l, int sig, const uid_t *as,
                          struct sg_answer *a)
{
        struct signalling *s = malloc(sizeof(*s));
        int r;

        if (!s)
                return -ENOMEM;
        *s = (struct signalling){sg_call_ref(call), l->job.key.n};
        r = sg_adopted_signal(l, sig, as, a, on_adopted_signalled, s);
        if (r < 0) {
                sg_call_unref(s->call);
                free(s);
        }
        return r;
}

/* As kill(2) would let the job's user, on whose behalf it is: who manages all jobs may more. */
static int signal_as_asked(struct sg_live *l, int sig, const uid_t *as)
{
        return as ? sg_scope_signal_as(l->groups.scope, sig, *as)
                  : sg_scope_signal(l->groups.scope, sig);
}

static int send_signal(struct sg_call *call, struct sg_live *l, int64_t sig, struct sg_answer *a)
{
        const struct sg_client *c = sg_call_client(call);
        const uid_t owner = (uid_t)l->job.uid;
        const uid_t *as = c && sg_caller_is_admin(l->manager, &c->caller) ? NULL : &owner;
        int r;

        if (sig < 1 || sig > SIGRTMAX)
                return sg_refuse(a, SG_ANSWER_INVALID, "signal", "%" PRIi64 " is not a signal",
                                 sig);
        if (!l->groups.scope || l->job.pid == 0)
                return wrong_state(l, "running", a);
        if (l->job.adopted)
                return signal_adopted(call, l, (int)sig, as, a);
        r = signal_as_asked(l, (int)sig, as);
        if (r < 0)
                return sg_refuse_job(a, SG_ANSWER_INVALID, l->job.key.n,
                                     "cannot signal job %" PRIu64 ": %s", l->job.key.n,
                                     strerror(-r));
        sg_call_done(call);
        return 1;
}

int sg_api_signal(struct sg_call *call, struct sg_live *l, struct sg_answer *a)
{
        _cleanup_(sg_request_deinit) struct sg_request q;
        int r;

        sg_request_init(&q, call->verb);
        r = sg_adopted_check(l, SG_ADOPTED_GOVERNED, "signalled", a);
        if (r >= 0)
                r = sg_call_read(call, &q, a);
        return r < 0 ? r : send_signal(call, l, q.signal, a);
}
