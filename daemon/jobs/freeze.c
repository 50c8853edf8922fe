/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Holding and freezing: what is asked for is stored, and only then done and told. The asker is
 * answered when it is done, or hears why it can't be.
 */
#include "adopt/adopt.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "jobs/internal.h"
#include "monitor/monitor.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

void sg_live_hold(struct sg_live *l, struct sg_who by, bool on, void *asker)
{
        sg_live_tell(l, &(struct sg_life_event){
                                .kind = SG_LIFE_E_HOLD, .by = by, .on = on, .asker = asker});
}

void sg_live_freeze(struct sg_live *l, struct sg_who by, uint64_t reasons, bool on, void *asker)
{
        sg_live_tell(l, &(struct sg_life_event){.kind = SG_LIFE_E_FREEZE,
                                                .by = by,
                                                .reasons = reasons,
                                                .on = on,
                                                .asker = asker});
}

/* Storing */

/* A change that the store is making durable. */
struct change {
        struct sg_live *live;
        struct sg_life_event stored; /* the event for the job once the change is durable */
        enum sg_life_event_kind unstored;
};

static void on_change_durable(int result, const struct sg_job *job, void *userdata)
{
        struct change *c = userdata;
        struct sg_life_event e = c->stored;

        (void)job;
        if (result < 0)
                e.kind = c->unstored;
        e.error = result;
        if (!c->live->manager->stopping) /* else the next daemon finds the change */
                sg_live_tell(c->live, &e);
        else if (e.asker)
                c->live->manager->jobs->calls->answer(c->live, &e);
        free(c);
}

/* NULL: there is no memory, and the job has been told so. */
static struct change *change_new(struct sg_live *l, const struct sg_life_event *stored,
                                 enum sg_life_event_kind unstored)
{
        struct change *c = malloc(sizeof(*c));
        struct sg_life_event e = *stored;

        if (c) {
                *c = (struct change){.live = l, .stored = *stored, .unstored = unstored};
                return c;
        }
        e.kind = unstored;
        e.error = -ENOMEM;
        sg_live_result(l, &e);
        return NULL;
}

void sg_do_store_hold(struct sg_live *l)
{
        struct sg_life_event e = *sg_live_event(l);
        struct sg_job row = l->job; /* borrows the strings */
        char held[SG_HELD_TEXT_MAX];
        struct change *c;

        e.kind = SG_LIFE_E_HOLD_STORED;
        e.asked_usec = sg_now_realtime_usec();
        row.hold = e.on;
        row.changed_usec = e.asked_usec;
        row.changed_by = e.by;
        row.reason = sg_held_text(&row, &e, held);
        c = change_new(l, &e, SG_LIFE_E_HOLD_UNSTORED);
        if (c)
                sg_store_hold(l->manager->store, &row, on_change_durable, c);
}

static void store_freeze(struct sg_live *l, struct sg_life_event e)
{
        struct change *c;

        e.kind = SG_LIFE_E_FREEZE_STORED;
        e.why = NULL;
        c = change_new(l, &e, SG_LIFE_E_FREEZE_UNSTORED);
        if (c)
                sg_store_freeze(l->manager->store, &l->job, e.reasons, e.on, on_change_durable, c);
}

void sg_do_store_freeze(struct sg_live *l)
{
        store_freeze(l, *sg_live_event(l));
}

void sg_do_unstore_freeze(struct sg_live *l)
{
        struct sg_life_event e = *sg_live_event(l);

        e.on = false;
        e.asker = NULL; /* the event at hand answers the asker */
        store_freeze(l, e);
}

/* Doing it */

/* 0: it is done; 1: on_unit_frozen() will be told. */
static int freeze_group(struct sg_live *l, bool on)
{
        if (!l->groups.scope)
                return -ENOENT;
        return l->job.adopted ? sg_adopted_freeze(l, sg_live_event(l), on)
                              : sg_scope_freeze(l->groups.scope, on);
}

static void freeze(struct sg_live *l, bool on)
{
        struct sg_life_event e = *sg_live_event(l);
        int r = freeze_group(l, on);

        if (r > 0)
                return;
        e.kind = r < 0 ? SG_LIFE_E_FREEZE_FAILED : on ? SG_LIFE_E_FROZEN : SG_LIFE_E_THAWED;
        e.error = r;
        e.why = r == -ENOTCONN ? "systemd can't be reached at the moment" : NULL;
        sg_live_result(l, &e);
}

void sg_do_freeze(struct sg_live *l)
{
        sg_manager_fault(l->manager, "before-freeze");
        freeze(l, true);
        sg_manager_fault(l->manager, "after-freeze");
}

void sg_do_thaw(struct sg_live *l)
{
        sg_manager_fault(l->manager, "before-thaw");
        freeze(l, false);
        sg_manager_fault(l->manager, "after-thaw");
}

/* A daemon before us may have been killed between storing and doing, or somebody else have frozen
 * or thawed the job since. */
void sg_do_refreeze(struct sg_live *l)
{
        bool on = l->job.frozen != 0;
        int r;

        if (!l->groups.scope || (sg_scope_frozen(l->groups.scope) > 0) == on)
                return;
        r = sg_scope_freeze(l->groups.scope, on);
        if (r < 0)
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot %s its processes: %s", l->job.key.n,
                       on ? "freeze" : "thaw", strerror(-r));
}

void sg_do_pause(struct sg_live *l)
{
        sg_monitor_pause(l, l->job.state == SG_JOB_SUSPENDED);
}

/* Telling */

void sg_do_answer(struct sg_live *l)
{
        const struct sg_life_event *e = sg_live_event(l);

        if (e->asker)
                l->manager->jobs->calls->answer(l, e);
        else if (e->error < 0 && e->error != -ENOTCONN) /* -ENOTCONN is tried again */
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot %s: %s", l->job.key.n,
                       e->kind == SG_LIFE_E_FREEZE_FAILED ? "freeze it again"
                                                          : "store that it isn't frozen any more",
                       e->why ?: strerror(-e->error));
}
