/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the machine does to a world, and what has to hold in it. */
#include "tests/unit/core/life/world.h"
#include "base/cleanup.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

void world_ask_for(struct world *w, enum asked what, struct wish wish)
{
        unsigned i = 0;

        while (w->asked[i])
                assert(++i < ASKED_MAX);
        w->asked[i] = (uint8_t)what;
        if (what == ASKED_HOLD || what == ASKED_FREEZE)
                w->wishes[i] = wish;
        else
                w->rows[i] = w->row;
}

static void ask(struct world *w, enum asked what)
{
        world_ask_for(w, what, (struct wish){0});
}

void world_init(struct world *w, bool foreground, bool adopted, const struct troubles *t)
{
        memset(w, 0, sizeof(*w));
        w->left = *t;
        w->foreground = foreground;
        w->adopted = adopted;
        w->terminal = foreground;
        w->row.retry = foreground || adopted ? 0 : t->retries;
        w->row.state = adopted ? SG_JOB_RUNNING : SG_JOB_QUEUED;
        w->lives = w->groups = adopted;
        w->fate = SG_ATTEMPT_NO_DIR;
        ask(w, ASKED_SUBMIT);
}

/* What the actions ask for */

static const enum asked asks[_SG_LIFE_ACTION_MAX] = {
        [SG_LIFE_DO_STORE_START] = ASKED_START, [SG_LIFE_DO_STORE_INTENT] = ASKED_INTENT,
        [SG_LIFE_DO_PUBLISH_RUN] = ASKED_RUN,   [SG_LIFE_DO_LOOK] = ASKED_LOOK,
        [SG_LIFE_DO_LOOK_VOID] = ASKED_VOID,    [SG_LIFE_DO_STORE_END] = ASKED_END,
};

static void carry_out(struct world *w, enum sg_life_action action, const struct sg_life_event *e)
{
        if (asks[action] && !(asks[action] == ASKED_INTENT && w->refusing))
                ask(w, asks[action]);
        if (world_carry_out_wish(w, action, e))
                return;
        switch (action) {
        case SG_LIFE_DO_MAKE_GROUPS:
                w->grouping = w->groups = true;
                w->refused = false;
                w->cold = false;            /* of this attempt */
                w->placing = w->foreground; /* at once, as its process is there */
                break;
        case SG_LIFE_DO_DROP_GROUPS:
                w->dropping = true;
                break;
        case SG_LIFE_DO_HAND_OVER:
                w->handing = true;
                break;
        case SG_LIFE_DO_LAUNCH:
                w->launching = true;
                break;
        case SG_LIFE_DO_PLACE:
                w->placing = true;
                break;
        case SG_LIFE_DO_VERIFY:
                w->verifying = true;
                break;
        case SG_LIFE_DO_BEGIN_RUNNING:
        case SG_LIFE_DO_CHANGED:
                w->durable = w->row;
                break;
        case SG_LIFE_DO_SEND_GO:
                w->going = true;
                w->go = w->keeper && !w->record;
                break;
        case SG_LIFE_DO_CLOSE_GATE:
                world_close_gate(w, NULL);
                break;
        case SG_LIFE_DO_FOLLOW:
                w->following = true;
                break;
        case SG_LIFE_DO_CHECK_GROUPS:
                w->checking = true;
                break;
        case SG_LIFE_DO_KILL:
        case SG_LIFE_DO_KILL_GROUPS:
                w->lives = w->lives && w->adopted;
                w->cold = w->cold && w->lives && w->row.state != SG_JOB_SUSPENDED;
                break;
        case SG_LIFE_DO_WIND_UP:
                w->queued = false;
                w->launching = false; /* forgotten */
                w->terminal = w->attached = w->terminal && w->life.again;
                break;
        case SG_LIFE_DO_LISTEN:
                w->listening = true;
                break;
        default:
                if (action >= SG_LIFE_DO_ARM_TIME_LIMIT && action <= SG_LIFE_DO_ARM_CLEAR)
                        w->timers |= (uint8_t)(1U << (action - SG_LIFE_DO_ARM_TIME_LIMIT));
        }
}

static void take_row(struct world *w, struct sg_job *row)
{
        sg_job_init(row);
        row->state = w->row.state;
        row->intent = w->row.intent;
        row->key.attempt = w->row.attempt;
        row->retry = w->row.retry;
        row->pid = w->row.pid ? 7 : 0;
        row->hold = w->hold;
        row->frozen = w->frozen;
        row->foreground = w->foreground;
        row->adopted = w->adopted ? SG_ADOPTED_GOVERNED : SG_ADOPTED_NOT;
}

static void put_row(struct world *w, struct sg_job *row)
{
        w->row = (struct brief){.state = (uint8_t)row->state,
                                .intent = (uint8_t)row->intent,
                                .attempt = (uint8_t)row->key.attempt,
                                .retry = (uint8_t)row->retry,
                                .pid = row->pid != 0};
        w->hold = row->hold != 0;
        w->frozen = (uint8_t)row->frozen;
        sg_job_deinit(row);
}

const struct sg_life_rule *world_rule(const struct world *w, const struct move *m)
{
        struct world then = *w;
        struct sg_job row;
        const struct sg_life_step s = {.life = &then.life, .row = &row, .event = &m->event};
        const struct sg_life_rule *rule;

        if (m->event.kind == SG_LIFE_E_NONE)
                return NULL;
        if (m->before)
                m->before(&then, m);
        take_row(&then, &row);
        rule = sg_life_match(&s);
        sg_job_deinit(&row);
        return rule;
}

int world_step(struct world *w, const struct move *m, struct sg_life_plan *ret_plan)
{
        static const struct sg_exit record = {.exit_code = 1, .ended_usec = 1};
        struct sg_life_event e = m->event;
        struct sg_job row;
        int r;

        ret_plan->n = 0;
        if (m->before)
                m->before(w, m);
        if (e.kind != SG_LIFE_E_NONE) {
                e.now_usec = 1000;
                e.boot_id = "boot";
                e.end.record = w->record ? &record : NULL;
                take_row(w, &row);
                if (e.kind == SG_LIFE_E_TOLD)
                        row.state = SG_JOB_EXITED;
                r = sg_life_step(&w->life, &row, &e, ret_plan);
                put_row(w, &row);
                if (r < 0)
                        return r;
        }
        if (e.kind == SG_LIFE_E_TURN)
                w->queued = false;
        w->timers &= (uint8_t)sg_life_timers(w->life.state);
        for (unsigned i = 0; i < ret_plan->n; i++)
                carry_out(w, ret_plan->actions[i], &e);
        if (e.kind == SG_LIFE_E_MET_QUEUED)
                carry_out(w, SG_LIFE_DO_AWAIT, &e);
        return 0;
}

/* What has to hold */

static bool has(const struct sg_life_plan *plan, enum sg_life_action action)
{
        for (unsigned i = 0; i < plan->n; i++)
                if (plan->actions[i] == action)
                        return true;
        return false;
}

/* The row says what its life does. */
static bool row_fits(const struct world *w)
{
        enum sg_life_state s = w->life.state;

        switch (s) {
        case SG_LIFE_NEW:
        case SG_LIFE_GONE:
                return true;
        case SG_LIFE_WAITING:
                return w->row.state == SG_JOB_QUEUED;
        case SG_LIFE_RUNNING:
        case SG_LIFE_ASKING:
                return w->row.state == SG_JOB_RUNNING || w->row.state == SG_JOB_SUSPENDED;
        case SG_LIFE_LOOKING:
        case SG_LIFE_LINGERING:
                return !sg_job_state_is_final(w->row.state) && w->row.state != SG_JOB_QUEUED;
        default:
                if (s < SG_LIFE_LISTENING)
                        return w->row.state == SG_JOB_STARTING;
                return w->life.again ? w->row.state == SG_JOB_QUEUED
                                     : sg_job_state_is_final(w->row.state);
        }
}

static bool timers_fit(const struct sg_life_plan *plan, const struct world *w)
{
        for (unsigned i = 0; i < plan->n; i++) {
                enum sg_life_action a = plan->actions[i];

                if (a >= SG_LIFE_DO_ARM_TIME_LIMIT && a <= SG_LIFE_DO_ARM_CLEAR &&
                    !(sg_life_timers(w->life.state) & (1U << (a - SG_LIFE_DO_ARM_TIME_LIMIT))))
                        return false;
        }
        return true;
}

static bool is_asked(const struct world *w, enum asked what)
{
        for (unsigned i = 0; i < ASKED_MAX; i++)
                if (w->asked[i] == what)
                        return true;
        return false;
}

/* As far as it is our doing: others may freeze an adopted one as well. What is to end is thawed
 * when that is durable. */
static const char *wish_offence(const struct sg_life_plan *plan, const struct world *w)
{
        bool over = w->life.state >= SG_LIFE_LISTENING;
        bool settled = !w->calls[0].kind && w->row.intent == SG_INTENT_NONE;

        if (w->waiting != w->life.asked && !(w->adopted && sg_life_is_settled(&w->life)))
                return "somebody is answered twice, or never";
        if (has(plan, SG_LIFE_DO_MAKE_GROUPS) && (w->hold || w->held || is_asked(w, ASKED_HOLD)))
                return "it starts although it is held";
        if (w->hold != w->held && !is_asked(w, ASKED_HOLD) && w->life.state != SG_LIFE_NEW)
                return "it isn't held as is stored";
        if (w->frozen & ~w->reasons)
                return "it is thought to be frozen for what isn't stored";
        if (has(plan, SG_LIFE_DO_FREEZE) && w->reasons == 0)
                return "it is frozen before that is stored";
        if (over && w->frozen)
                return "it has ended, and is frozen";
        if (w->life.state == SG_LIFE_GONE && w->lives && w->cold && !w->adopted)
                return "what is left of it is frozen";
        if (w->adopted)
                return NULL;
        if (has(plan, SG_LIFE_DO_MAKE_GROUPS) && w->reasons)
                return "it begins frozen";
        if (w->life.state != SG_LIFE_RUNNING || !settled || w->stuck)
                return NULL;
        if (w->lives && w->cold != (w->frozen != 0))
                return "its group isn't as it should be";
        return (w->row.state == SG_JOB_SUSPENDED) != (w->frozen != 0) ? "its row says otherwise"
                                                                      : NULL;
}

static bool waits_for_nothing(const struct world *w)
{
        return !w->asked[0] && !w->calls[0].kind && !w->launching && !w->placing && !w->listening &&
               !w->checking;
}

static bool may_run_again(const struct world *before, const struct world *w)
{
        return before->row.intent == SG_INTENT_REQUEUE || w->row.retry < before->row.retry;
}

const char *world_offence(const struct world *before, const struct move *m,
                          const struct sg_life_plan *plan, const struct world *w)
{
        bool starts = has(plan, SG_LIFE_DO_LAUNCH) || has(plan, SG_LIFE_DO_OFFER);

        if (!row_fits(w))
                return "its row says otherwise";
        if (starts && (w->durable.state != SG_JOB_STARTING || w->durable.attempt != w->row.attempt))
                return "it is started before that is stored";
        if (has(plan, SG_LIFE_DO_TERM) && w->durable.intent == SG_INTENT_NONE && !w->refused)
                return "it is ended before that is stored";
        if (has(plan, SG_LIFE_DO_ACKNOWLEDGE) && m->event.intent == SG_INTENT_CANCEL &&
            w->row.intent == SG_INTENT_REQUEUE && !sg_job_state_is_final(w->row.state))
                return "it is said to be cancelled, and will be run again";
        if (has(plan, SG_LIFE_DO_TELL_END) && !sg_job_state_is_final(w->durable.state))
                return "its end is told before it is stored";
        if (has(plan, SG_LIFE_DO_VERIFY) && w->row.intent != SG_INTENT_NONE)
                return "it is let go although it is to end";
        if (has(plan, SG_LIFE_DO_MAKE_GROUPS) &&
            (w->lives || (w->keeper && w->go) || w->fate != SG_ATTEMPT_NO_DIR))
                return "an attempt begins beside another one";
        if (has(plan, SG_LIFE_DO_FREE) && (!waits_for_nothing(w) || w->life.keeper || w->groups))
                return "it is freed while something of it is there";
        if (m->event.kind == SG_LIFE_E_EMPTY && w->life.again && !may_run_again(before, w))
                return "it is run again, and nobody asked for that";
        if (m->event.kind == SG_LIFE_E_LOOKED && w->life.again && w->fate == SG_ATTEMPT_RUN)
                return "it is run again although it may have run";
        if (!timers_fit(plan, w))
                return "a timer is set that its state has no use for";
        return wish_offence(plan, w);
}

/* Telling worlds apart */

static uint64_t bits(const bool *flags, unsigned n)
{
        uint64_t all = 0;

        for (unsigned i = 0; i < n; i++)
                all |= (uint64_t)flags[i] << i;
        return all;
}

void world_key(const struct world *w, uint8_t key[WORLD_KEY_SIZE])
{
        const struct sg_life *f = &w->life;
        const bool flags[] = {
                f->keeper,     f->placed,   f->ready,     f->gate,     f->released,  f->doomed,
                f->killed,     f->again,    f->met,       f->may_pass, w->row.pid,   w->durable.pid,
                w->foreground, w->adopted,  w->launching, w->placing,  w->listening, w->grouping,
                w->dropping,   w->handing,  w->verifying, w->going,    w->following, w->checking,
                w->born,       w->groups,   w->lives,     w->keeper,   w->go,        w->record,
                w->terminal,   w->attached, w->cold,      w->queued,   w->hold,      w->held,
                w->stuck,      w->met,      w->thawed,    f->aside};
        const uint8_t bytes[] = {(uint8_t)f->state,
                                 (uint8_t)f->failed_starts,
                                 w->row.state,
                                 w->row.intent,
                                 w->row.attempt,
                                 w->row.retry,
                                 w->durable.state,
                                 w->durable.intent,
                                 w->durable.attempt,
                                 w->durable.retry,
                                 w->timers,
                                 w->fate,
                                 w->said,
                                 w->left.stops,
                                 w->left.crashes,
                                 w->left.unstored,
                                 (uint8_t)f->asked,
                                 w->frozen,
                                 w->reasons,
                                 w->waiting,
                                 w->left.wishes,
                                 w->left.retries,
                                 (uint8_t)(w->refusing | w->refused << 1)};
        uint8_t *at = key;
        uint64_t all = bits(flags, SG_ELEMENTSOF(flags));

        memset(key, 0, WORLD_KEY_SIZE);
        at = mempcpy(at, bytes, sizeof(bytes));
        at = mempcpy(at, &all, sizeof(all));
        at = mempcpy(at, w->asked, sizeof(w->asked));
        at = mempcpy(at, w->rows, sizeof(w->rows));
        at = mempcpy(at, w->wishes, sizeof(w->wishes));
        at = mempcpy(at, w->calls, sizeof(w->calls));
        assert(at <= key + WORLD_KEY_SIZE);
}

void world_print(const struct world *w)
{
        fprintf(stderr,
                "%-10s row %u/%u durable %u/%u attempt %u keeper %d/%d gate %d go %d/%d placed %d "
                "ready %d fate %u record %d lives %d groups %d asked %u%u%u again %d "
                "hold %d/%d frozen %u/%u cold %d calls %u%u answers %u\n",
                sg_life_state_to_string(w->life.state), w->row.state, w->row.intent,
                w->durable.state, w->durable.intent, w->row.attempt, w->life.keeper, w->keeper,
                w->life.gate, w->life.released, w->go, w->life.placed, w->life.ready, w->fate,
                w->record, w->lives, w->groups, w->asked[0], w->asked[1], w->asked[2],
                w->life.again, w->hold, w->held, w->frozen, w->reasons, w->cold, w->calls[0].kind,
                w->calls[1].kind, w->waiting);
}
