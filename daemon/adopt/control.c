/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What may be done to adopted jobs: everything through systemd, and only to units that are ours to
 * govern. Answers are sent when systemd has given its own. */
#include "adopt/internal.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "govern/loop.h"
#include "monitor/monitor.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <syslog.h>

int sg_adopted_check(const struct sg_live *l, enum sg_adoption needed, const char *verb,
                     struct sg_answer *refusal)
{
        const char *what = l->job.unit ?: l->job.group;

        if (l->job.adopted == SG_ADOPTED_NOT ||
            (l->job.adopted >= needed &&
             !(sg_life_is_shown(&l->life) && sg_life_is_settled(&l->life))))
                return 0;
        if (l->job.adopted >= needed)
                return sg_refuse_job(refusal, SG_ANSWER_WRONG_STATE, l->job.key.n,
                                     "job %" PRIu64 " has ended", l->job.key.n);
        return sg_refuse_job(refusal, SG_ANSWER_NOT_YOURS, l->job.key.n,
                             "job %" PRIu64 " (%s) is managed by %s and can't be %s from here",
                             l->job.key.n, what, sg_adopt_owner(l->job.group), verb);
}

/* --- calls of systemd */

struct freezing {
        struct sg_live *live; /* its scope outlives no call */
        bool frozen;
        struct sg_life_event event;
};

/* The group may go meanwhile: then the request is forgotten, as the job has ended. */
static void on_frozen(struct sg_scope *s, int result, const char *why, void *userdata)
{
        struct freezing *f = userdata;
        struct sg_life_event e = f->event;
        struct sg_live *l = f->live;

        (void)s;
        e.kind = result < 0  ? SG_LIFE_E_FREEZE_FAILED
                 : f->frozen ? SG_LIFE_E_FROZEN
                             : SG_LIFE_E_THAWED;
        e.error = result;
        e.why = why;
        if (!sg_life_is_settled(&l->life) && result != -ECANCELED)
                sg_live_tell(l, &e);
        else if (e.asker)
                l->manager->jobs->calls->answer(l, &e);
        free(f);
}

int sg_adopted_freeze(struct sg_live *l, const struct sg_life_event *e, bool frozen)
{
        struct freezing *f = malloc(sizeof(*f));
        int r;

        if (!f)
                return -ENOMEM;
        *f = (struct freezing){l, frozen, *e};
        r = sg_unit_call(l->groups.scope, frozen ? "FreezeUnit" : "ThawUnit", 0, on_frozen, f);
        if (r >= 0)
                return 1;
        free(f);
        if (r == -ENOTCONN && frozen && !e->asker) { /* who asked is told, and may ask again */
                l->adopted->thawed = true;
                sg_adopter_arm(l->manager->adopter, SETTLE_USEC);
        }
        return r;
}

void sg_adopted_freeze_again(struct sg_live *l)
{
        l->adopted->thawed = false;
        sg_live_tell_kind(l, SG_LIFE_E_FREEZE_DUE);
}

struct signalling {
        sg_adopted_signalled_cb done;
        void *userdata;
};

static void on_signalled(struct sg_scope *s, int result, const char *why, void *userdata)
{
        struct signalling *q = userdata;

        (void)s;
        q->done(result < 0 ? why ?: strerror(-result) : NULL, q->userdata);
        free(q);
}

int sg_adopted_signal(struct sg_live *l, int sig, const uid_t *as, struct sg_answer *refusal,
                      sg_adopted_signalled_cb done, void *userdata)
{
        struct signalling *q;
        int r;

        if (as && !sg_unit_is_signalable(l->groups.scope, *as))
                return sg_refuse_job(refusal, SG_ANSWER_INVALID, l->job.key.n,
                                     "cannot signal job %" PRIu64
                                     ": not all of its processes are its user's",
                                     l->job.key.n);
        q = malloc(sizeof(*q));
        if (!q)
                return -ENOMEM;
        *q = (struct signalling){done, userdata};
        r = sg_unit_call(l->groups.scope, "KillUnit", sig, on_signalled, q);
        if (r >= 0)
                return 1;
        free(q);
        return sg_refuse_job(refusal, SG_ANSWER_BUSY, l->job.key.n,
                             "cannot signal job %" PRIu64 ": %s", l->job.key.n,
                             r == -ENOTCONN ? "systemd can't be reached at the moment"
                                            : strerror(-r));
}

/* --- the class's limits */

static void on_limited(struct sg_scope *s, int result, const char *why, void *userdata)
{
        struct sg_live *l = userdata;

        if (result == -ECANCELED)
                return;
        if (result < 0 && sg_scope_populated(s) > 0) { /* else it has ended meanwhile */
                sg_log(LOG_WARNING, "job %" PRIu64 " (%s): its class's limits were refused: %s",
                       l->job.key.n, l->job.unit, why ?: strerror(-result));
                sg_scope_read_limits(s, &l->job.limits);
        }
        sg_live_changed(l);
}

/* What the unit was started with is kept, as far as the class allows it. */
void sg_adopted_limit(struct sg_live *l)
{
        _cleanup_free_ char *why = NULL;
        struct sg_limits now, wanted, limits;
        int r;

        sg_scope_read_limits(l->groups.scope, &now);
        sg_adopt_limits(l->class, &now, &wanted);
        limits = wanted;
        (void)sg_loop_overlay(l, &limits);
        r = sg_scope_set_limits(l->groups.scope, &limits, NULL, on_limited, l, &why);
        l->adopted->limited = r != -ENOTCONN;
        if (r < 0 && r != -ENOTCONN)
                sg_log(LOG_WARNING, "job %" PRIu64 " (%s): its class's limits can't be set: %s",
                       l->job.key.n, l->job.unit, why ?: strerror(-r));
        if (r >= 0) {
                l->job.limits = wanted;
                sg_loop_changed(l);
        }
        if (r == 0)
                sg_live_changed(l);
        if (r >= 0 && l->job.adopted == SG_ADOPTED_GOVERNED && l->job.intent == SG_INTENT_NONE)
                sg_live_arm_time_limit(l);
}
