/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/cleanup.h"
#include "core/life/internal.h"
#include <errno.h>

#define STATE_NAME(name, text) [SG_LIFE_##name] = #text,
static const char state_names[][16] = {SG_LIFE_STATES(STATE_NAME)};

#define EVENT_NAME(name) [SG_LIFE_E_##name] = #name,
static const char event_names[][20] = {[SG_LIFE_E_NONE] = "NONE", SG_LIFE_EVENTS(EVENT_NAME)};

#define ACTION_NAME(name, text) [SG_LIFE_DO_##name] = #text,
static const char action_names[][20] = {[SG_LIFE_DO_NOTHING] = "nothing",
                                        SG_LIFE_ACTIONS(ACTION_NAME)};

const char *sg_life_state_to_string(enum sg_life_state state)
{
        return state < _SG_LIFE_STATE_MAX ? state_names[state] : "?";
}

const char *sg_life_event_to_string(enum sg_life_event_kind kind)
{
        return kind < _SG_LIFE_EVENT_MAX ? event_names[kind] : "?";
}

const char *sg_life_action_to_string(enum sg_life_action action)
{
        return action < _SG_LIFE_ACTION_MAX ? action_names[action] : "?";
}

bool sg_life_is_starting(const struct sg_life *life, const struct sg_job *row)
{
        if (row->foreground || life->released)
                return false;
        return life->state == SG_LIFE_BEGINNING || life->state == SG_LIFE_STARTING ||
               life->state == SG_LIFE_DROPPED ||
               (life->state == SG_LIFE_LOOKING && row->state == SG_JOB_STARTING);
}

bool sg_life_may_hold(const struct sg_life *life, const struct sg_job *row)
{
        return row->state == SG_JOB_QUEUED && life->state != SG_LIFE_NEW &&
               life->state != SG_LIFE_GONE;
}

bool sg_life_may_freeze(const struct sg_life *life, const struct sg_job *row, uint64_t reasons,
                        bool on)
{
        bool suspended = row->state == SG_JOB_SUSPENDED, changing = life->asked > 0;

        if ((!suspended && row->state != SG_JOB_RUNNING) ||
            (life->state != SG_LIFE_RUNNING && life->state != SG_LIFE_LOOKING &&
             life->state != SG_LIFE_LINGERING))
                return false;
        if (on)
                return row->intent == SG_INTENT_NONE &&
                       (!suspended || changing || (row->frozen != 0 && !(row->frozen & reasons)));
        return changing || row->frozen & reasons || (suspended && row->frozen == 0);
}

#define ON(timer) (1U << SG_LIFE_TIMER_##timer)

unsigned sg_life_timers(enum sg_life_state state)
{
        switch (state) {
        case SG_LIFE_PUBLISHING:
        case SG_LIFE_DROPPED:
                return ON(GRACE) | ON(KEEPER);
        case SG_LIFE_RELEASED:
                return ON(GRACE) | ON(KEEPER) | ON(SILENCE) | ON(TIME_LIMIT);
        case SG_LIFE_RUNNING:
        case SG_LIFE_LINGERING:
                return ON(GRACE) | ON(KEEPER) | ON(TIME_LIMIT);
        case SG_LIFE_LOOKING:
                return ON(GRACE) | ON(KEEPER) | ON(TIME_LIMIT) | ON(LOOK);
        case SG_LIFE_ENDING:
                return ON(STORE);
        case SG_LIFE_CLEARING:
                return ON(CLEAR);
        default:
                return 0;
        }
}

/* Notes what the event tells of the attempt, whichever line of the table it is for. */
static void note(struct sg_life *life, const struct sg_job *row, enum sg_life_event_kind kind)
{
        switch (kind) {
        case SG_LIFE_E_MET_LIVE:
                life->met = true;
                life->doomed = row->intent != SG_INTENT_NONE;
                break;
        case SG_LIFE_E_MET_ADOPTED:
                life->doomed = row->intent != SG_INTENT_NONE;
                break;
        case SG_LIFE_E_LOOKED:
                life->met = false;
                break;
        case SG_LIFE_E_INTENT_STORED: /* (the row has none if it was for an earlier attempt) */
                life->doomed = row->intent != SG_INTENT_NONE;
                break;
        case SG_LIFE_E_HANDED:
        case SG_LIFE_E_LAUNCHED:
                life->keeper = true;
                break;
        case SG_LIFE_E_FOLLOWED: /* a SIGKILL that was sent before may have reached nobody */
                life->keeper = true;
                life->killed = false;
                break;
        case SG_LIFE_E_KEEPER_GONE:
                life->keeper = false;
                break;
        case SG_LIFE_E_PLACED:
                life->placed = true;
                break;
        case SG_LIFE_E_READY:
                life->ready = true;
                break;
        case SG_LIFE_E_GO_FAILED:
                life->released = false;
                break;
        case SG_LIFE_E_GATE_LOST:
                life->gate = false;
                break;
        case SG_LIFE_E_HOLD:
        case SG_LIFE_E_FREEZE:
                life->asked++;
                break;
        default:
                break;
        }
}

static void add(struct sg_life_plan *plan, enum sg_life_action action)
{
        plan->actions[plan->n++] = action;
}

/* SIGKILL is sent once, and at once if there is no grace. A job that is to end doesn't stay frozen,
 * whatever the reasons are. */
static void add_signal(struct sg_life_plan *plan, struct sg_life *life, struct sg_job *row,
                       enum sg_life_action action)
{
        row->frozen = 0;
        if (life->killed)
                return;
        if (action == SG_LIFE_DO_TERM && !life->graceless) {
                add(plan, SG_LIFE_DO_TERM);
                return;
        }
        life->killed = true;
        add(plan, SG_LIFE_DO_KILL);
        if (row->foreground) /* the keeper is its user's, who may have stopped or replaced it */
                add(plan, SG_LIFE_DO_ARM_KEEPER);
}

static void make_plan(struct sg_life_step *s, const struct sg_life_rule *rule,
                      struct sg_life_plan *ret)
{
        struct sg_life *life = s->life;

        ret->n = 0;
        for (size_t i = 0; i < SG_ELEMENTSOF(rule->actions) && rule->actions[i]; i++) {
                enum sg_life_action action = rule->actions[i];

                if (action == SG_LIFE_DO_TERM || action == SG_LIFE_DO_KILL)
                        add_signal(ret, life, s->row, action);
                else if (action != SG_LIFE_DO_ARM_GRACE || !life->killed)
                        add(ret, action);
                life->released |= action == SG_LIFE_DO_SEND_GO;
                life->aside |= action == SG_LIFE_DO_SET_ASIDE;
                life->asked -= action == SG_LIFE_DO_ANSWER && s->event->asker;
                if (action == SG_LIFE_DO_LAUNCH || action == SG_LIFE_DO_HAND_OVER)
                        life->gate = true;
                else if (action == SG_LIFE_DO_CLOSE_GATE)
                        life->gate = false;
        }
}

const struct sg_life_rule *sg_life_match(const struct sg_life_step *s)
{
        note(s->life, s->row, s->event->kind);
        for (size_t i = 0; i < sg_life_n_rules; i++) {
                const struct sg_life_rule *rule = &sg_life_rules[i];

                if (rule->state == s->life->state && rule->event == s->event->kind &&
                    sg_life_holds(rule, s))
                        return rule;
        }
        return NULL;
}

int sg_life_step(struct sg_life *life, struct sg_job *row, const struct sg_life_event *e,
                 struct sg_life_plan *ret)
{
        struct sg_life before = *life;
        struct sg_life_step s = {.life = life, .row = row, .event = e};
        const struct sg_life_rule *rule;

        rule = sg_life_match(&s);
        if (!rule) {
                *life = before;
                return -ENOTSUP;
        }
        sg_life_write_row(rule->row, &s);
        life->state = rule->next;
        life->aside = life->aside && life->state == SG_LIFE_RELEASED;
        make_plan(&s, rule, ret);
        return 0;
}
