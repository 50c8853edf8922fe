/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* That a job be held or frozen: who wants it, what is stored of that, and what becomes of its
 * group. Others than we may freeze an adopted one. */
#include "base/cleanup.h"
#include "tests/unit/core/life/world.h"
#include <assert.h>
#include <errno.h>
#include <string.h>

static char somebody;

struct wish world_wish(const struct sg_life_event *e)
{
        return (struct wish){
                .reasons = (uint8_t)e->reasons, .on = e->on, .asker = e->asker != NULL};
}

static void put_wish(struct sg_life_event *e, const struct wish *wish)
{
        e->on = wish->on;
        e->reasons = wish->reasons;
        e->asker = wish->asker ? &somebody : NULL;
}

/* The store */

void world_keep_wish(struct world *w, const struct wish *wish)
{
        if (wish->reasons)
                w->reasons = (uint8_t)sg_freeze_change(w->reasons, wish->reasons, wish->on);
        else
                w->held = wish->on;
}

static void wish_stored(struct world *w, const struct move *m)
{
        world_keep_wish(w, &w->wishes[0]);
        world_answered(w, m);
}

void world_add_wish_stored(const struct world *w, struct move_list *l, bool may_fail)
{
        bool hold = w->asked[0] == ASKED_HOLD;
        struct sg_life_event *e;

        e = world_add(l, hold ? SG_LIFE_E_HOLD_STORED : SG_LIFE_E_FREEZE_STORED, wish_stored);
        put_wish(e, &w->wishes[0]);
        if (!may_fail)
                return;
        e = world_add(l, hold ? SG_LIFE_E_HOLD_UNSTORED : SG_LIFE_E_FREEZE_UNSTORED,
                      world_unstored);
        put_wish(e, &w->wishes[0]);
        e->error = -ENOSPC;
}

/* Its group */

static void call_answered(struct world *w, const struct move *m)
{
        bool failed = m->event.kind == SG_LIFE_E_FREEZE_FAILED;

        w->thawed = failed && w->calls[0].kind == SG_LIFE_E_FROZEN && !w->calls[0].asker;
        w->stuck = failed && w->calls[0].kind == SG_LIFE_E_THAWED;
        if (!failed)
                w->cold = m->event.kind == SG_LIFE_E_FROZEN;
        memmove(w->calls, w->calls + 1, (CALLS_MAX - 1) * sizeof(w->calls[0]));
        memset(&w->calls[CALLS_MAX - 1], 0, sizeof(w->calls[0]));
}

static void add_call_answers(const struct world *w, struct move_list *l)
{
        struct sg_life_event *e = world_add(l, w->calls[0].kind, call_answered);

        put_wish(e, &w->calls[0]);
        e = world_add(l, SG_LIFE_E_FREEZE_FAILED, call_answered);
        put_wish(e, &w->calls[0]);
        e->error = -EBUSY;
}

/* Of ours it is done at once; systemd takes its time. */
bool world_add_freezing(const struct world *w, struct move_list *l)
{
        if (!w->calls[0].kind || w->adopted)
                return false;
        add_call_answers(w, l);
        return true;
}

/* Systemd has done it, and hasn't said so. */
static void unit_changes(struct world *w, const struct move *m)
{
        (void)m;
        w->cold = w->calls[0].kind == SG_LIFE_E_FROZEN;
}

static void tried_again(struct world *w, const struct move *m)
{
        (void)m;
        w->thawed = false;
}

static void others_change(struct world *w, const struct move *m)
{
        (void)m;
        if (w->left.wishes > 0)
                w->left.wishes--;
        w->cold = !w->cold;
}

static void add_unit(const struct world *w, struct move_list *l)
{
        bool suspended = w->row.state == SG_JOB_SUSPENDED;

        if (!w->lives || (w->life.state != SG_LIFE_RUNNING && w->life.state != SG_LIFE_NEW))
                return;
        if (w->calls[0].kind) {
                add_call_answers(w, l);
                world_add(l, SG_LIFE_E_NONE, unit_changes);
        }
        if (w->thawed && w->life.state == SG_LIFE_RUNNING)
                world_add(l, SG_LIFE_E_FREEZE_DUE, tried_again);
        if (w->left.wishes > 0 || w->cold)
                world_add(l, SG_LIFE_E_NONE, others_change);
        if (w->cold != suspended)
                world_add(l, w->cold ? SG_LIFE_E_SEEN_FROZEN : SG_LIFE_E_SEEN_THAWED, NULL)
                        ->reasons = SG_FREEZE_ALL;
}

/* What the actions ask for */

static void call(struct world *w, enum sg_life_event_kind kind, struct wish wish)
{
        unsigned i = 0;

        while (w->calls[i].kind)
                assert(++i < CALLS_MAX);
        wish.kind = (uint8_t)kind;
        w->calls[i] = wish;
}

bool world_carry_out_wish(struct world *w, enum sg_life_action action,
                          const struct sg_life_event *e)
{
        struct wish wish = world_wish(e);

        switch (action) {
        case SG_LIFE_DO_AWAIT:
        case SG_LIFE_DO_ENQUEUE:
                w->queued = !w->hold && w->life.asked == 0;
                break;
        case SG_LIFE_DO_KEEP_BACK:
        case SG_LIFE_DO_LEAVE_QUEUE:
                w->queued = false;
                break;
        case SG_LIFE_DO_STORE_HOLD:
                world_ask_for(w, ASKED_HOLD, wish);
                break;
        case SG_LIFE_DO_UNSTORE_FREEZE:
                wish.on = wish.asker = false;
                __attribute__((fallthrough));
        case SG_LIFE_DO_STORE_FREEZE:
                world_ask_for(w, ASKED_FREEZE, wish);
                break;
        case SG_LIFE_DO_FREEZE:
                call(w, SG_LIFE_E_FROZEN, wish);
                break;
        case SG_LIFE_DO_THAW:
                call(w, SG_LIFE_E_THAWED, wish);
                break;
        case SG_LIFE_DO_REFREEZE:
                w->cold = w->frozen != 0;
                break;
        case SG_LIFE_DO_ANSWER:
                w->waiting = (uint8_t)(w->waiting - (e->asker != NULL));
                break;
        case SG_LIFE_DO_TERM:
                w->cold = w->cold && w->row.state != SG_JOB_SUSPENDED;
                break;
        default:
                return false;
        }
        return true;
}

/* Who wants it */

static void wished(struct world *w, const struct move *m)
{
        (void)m;
        if (w->left.wishes > 0)
                w->left.wishes--;
        w->waiting++;
}

static void add_wish(struct move_list *l, enum sg_life_event_kind kind, uint8_t reasons, bool on)
{
        put_wish(world_add(l, kind, wished),
                 &(struct wish){.reasons = reasons, .on = on, .asker = true});
}

/* What is frozen is resumed one day. */
static void add_freezes(const struct world *w, struct move_list *l)
{
        static const uint8_t reasons[] = {SG_FREEZE_USER, SG_FREEZE_MEMORY};
        const struct sg_job row = {
                .state = w->row.state, .intent = w->row.intent, .frozen = w->frozen};

        if (w->adopted && w->life.asked > 0) /* who asks then is told to try again */
                return;
        for (unsigned i = 0; i < SG_ELEMENTSOF(reasons); i++)
                for (unsigned on = 0; on <= (w->left.wishes > 0); on++)
                        if (sg_life_may_freeze(&w->life, &row, reasons[i], on))
                                add_wish(l, SG_LIFE_E_FREEZE, reasons[i], on);
}

void world_add_wishes(const struct world *w, struct move_list *l)
{
        const struct sg_job row = {.state = w->row.state};

        if (w->adopted)
                add_unit(w, l);
        if (w->left.wishes > 0 && sg_life_may_hold(&w->life, &row)) {
                add_wish(l, SG_LIFE_E_HOLD, 0, true);
                add_wish(l, SG_LIFE_E_HOLD, 0, false);
        }
        if (w->left.wishes > 0 || (w->life.asked == 0 && !w->calls[0].kind))
                add_freezes(w, l);
}
