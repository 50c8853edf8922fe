/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What can come next in a world, and what is so once it has come. */
#include "base/cleanup.h"
#include "tests/unit/core/life/world.h"
#include <assert.h>
#include <errno.h>
#include <string.h>

#define ATTEMPTS_MAX 2 /* covers a retry */

/* The store */

static bool writes(uint8_t asked)
{
        return asked == ASKED_SUBMIT || asked == ASKED_START || asked == ASKED_INTENT ||
               asked == ASKED_END;
}

void world_answered(struct world *w, const struct move *m)
{
        (void)m;
        memmove(w->asked, w->asked + 1, ASKED_MAX - 1);
        memmove(w->rows, w->rows + 1, (ASKED_MAX - 1) * sizeof(w->rows[0]));
        memmove(w->wishes, w->wishes + 1, (ASKED_MAX - 1) * sizeof(w->wishes[0]));
        w->asked[ASKED_MAX - 1] = ASKED_NOTHING;
        w->rows[ASKED_MAX - 1] = (struct brief){0};
        memset(&w->wishes[ASKED_MAX - 1], 0, sizeof(w->wishes[0]));
}

static void stored(struct world *w, const struct move *m)
{
        w->durable = w->rows[0];
        world_answered(w, m);
}

void world_unstored(struct world *w, const struct move *m)
{
        world_answered(w, m);
        w->left.unstored--;
}

/* The directory is there with the COMMIT. */
static void make_directory(struct world *w)
{
        w->fate = SG_ATTEMPT_NO_FATE;
        w->reasons = 0;
        w->keeper = w->born = w->record = w->go = false; /* whatever is left of another attempt's */
        w->said = 0;
}

static void start_stored(struct world *w, const struct move *m)
{
        stored(w, m);
        make_directory(w);
}

/* Who comes first decides: a keeper that was let go finds `void`, and doesn't. */
static void publish(struct world *w, enum sg_fate fate)
{
        if (w->fate == SG_ATTEMPT_NO_FATE)
                w->fate = (uint8_t)fate;
        if (w->fate != SG_ATTEMPT_RUN)
                w->go = false;
}

static void run_published(struct world *w, const struct move *m)
{
        world_answered(w, m);
        publish(w, SG_ATTEMPT_RUN);
}

/* The directory goes with the COMMIT. */
static void end_stored(struct world *w, const struct move *m)
{
        stored(w, m);
        w->fate = SG_ATTEMPT_NO_DIR;
        w->record = false;
        w->reasons = 0;
}

static enum sg_finding truth(const struct world *w, bool void_it)
{
        struct world then = *w;
        struct sg_attempt_info info;
        const struct sg_job row = {.state = w->row.state, .foreground = w->foreground};
        const struct sg_circumstances c = {.met = w->life.met};

        if (void_it && !w->record)
                publish(&then, SG_ATTEMPT_VOID);
        info = (struct sg_attempt_info){
                .fate = then.fate, .have_exit = w->record, .shim = w->keeper};
        return sg_fate_judge(&info, &row, &c);
}

static void looked(struct world *w, const struct move *m)
{
        bool void_it = w->asked[0] == ASKED_VOID;

        world_answered(w, m);
        if (void_it && !w->record && m->event.finding != SG_FOUND_UNREADABLE)
                publish(w, SG_ATTEMPT_VOID);
}

/* What nobody hears of */

static void job_runs(struct world *w, const struct move *m)
{
        (void)m;
        publish(w, SG_ATTEMPT_RUN);
        w->lives = w->go;
        w->go = false;
}

static void job_dies(struct world *w, const struct move *m)
{
        (void)m;
        w->lives = w->cold = false;
        memset(w->calls, 0, sizeof(w->calls));
}

static void keeper_records(struct world *w, const struct move *m)
{
        (void)m;
        w->record = true;
}

static void keeper_dies(struct world *w, const struct move *m)
{
        (void)m;
        w->keeper = w->go = false;
        if (!w->adopted && w->fate == SG_ATTEMPT_NO_FATE)
                w->lives = false; /* what waited for GO goes with it */
}

void world_close_gate(struct world *w, const struct move *m)
{
        (void)m;
        if (!w->go && w->keeper && !w->foreground)
                publish(w, SG_ATTEMPT_VOID);
}

/* All that the daemon had in mind is gone; the next one reads the store. */
static void crash(struct world *w, const struct move *m)
{
        world_close_gate(w, m);
        w->left.crashes--;
        w->met = true;
        w->row = w->durable;
        /* Who comes back takes up what hasn't ended. */
        w->life = (struct sg_life){.state = sg_job_state_is_final(w->row.state) ? SG_LIFE_GONE
                                                                                : SG_LIFE_NEW};
        memset(w->asked, 0, sizeof(w->asked));
        memset(w->rows, 0, sizeof(w->rows));
        memset(w->wishes, 0, sizeof(w->wishes));
        memset(w->calls, 0, sizeof(w->calls));
        w->hold = w->held;
        w->frozen = w->adopted ? w->reasons : 0;
        w->waiting = 0;
        w->queued = w->thawed = false;
        w->launching = w->placing = w->listening = w->attached = w->checking = w->refused = false;
        w->timers = 0;
        w->terminal = false;
}

/* … after what was asked of the store was done. */
static void crash_later(struct world *w, const struct move *m)
{
        for (unsigned i = 0; i < ASKED_MAX; i++) {
                if (writes(w->asked[i]))
                        w->durable = w->rows[i];
                switch (w->asked[i]) {
                case ASKED_START:
                        make_directory(w);
                        break;
                case ASKED_RUN:
                        publish(w, SG_ATTEMPT_RUN);
                        break;
                case ASKED_VOID:
                        if (!w->record)
                                publish(w, SG_ATTEMPT_VOID);
                        break;
                case ASKED_HOLD:
                case ASKED_FREEZE:
                        world_keep_wish(w, &w->wishes[i]);
                        break;
                case ASKED_END:
                        w->fate = SG_ATTEMPT_NO_DIR;
                        w->record = false;
                        w->reasons = 0;
                        break;
                }
        }
        crash(w, m);
}

static void says(struct world *w, const struct move *m)
{
        if (w->foreground)
                return;
        switch (m->event.kind) {
        case SG_LIFE_E_READY:
                w->said |= SAID_READY;
                break;
        case SG_LIFE_E_STARTED:
                w->said |= SAID_STARTED;
                break;
        case SG_LIFE_E_OVER:
                w->said |= SAID_OVER;
                break;
        default:
                w->said |= SAID_ENDED;
        }
}

static void launched(struct world *w, const struct move *m)
{
        w->launching = false;
        if (m->event.kind == SG_LIFE_E_LAUNCHED && !w->born)
                w->keeper = w->born = true;
}

/* Before its launcher says so, or without that it ever does. */
static void keeper_starts(struct world *w, const struct move *m)
{
        (void)m;
        w->keeper = w->born = true;
}

static void placed(struct world *w, const struct move *m)
{
        (void)m;
        w->placing = false;
}

static void attaches(struct world *w, const struct move *m)
{
        (void)m;
        w->attached = true;
}

static void terminal_goes(struct world *w, const struct move *m)
{
        (void)m;
        w->terminal = w->attached = false;
}

static void handed(struct world *w, const struct move *m)
{
        w->handing = false;
        w->keeper = w->born = m->event.kind == SG_LIFE_E_HANDED;
        w->terminal = w->attached = false;
}

static void asked_to_end(struct world *w, const struct move *m)
{
        (void)m;
        w->left.stops--;
}

static void asked_to_end_in_vain(struct world *w, const struct move *m)
{
        asked_to_end(w, m);
        w->left.unstored--;
        w->refusing = true;
}

static void refused(struct world *w, const struct move *m)
{
        (void)m;
        w->refusing = false;
        w->refused = true;
}

static void went_off(struct world *w, const struct move *m)
{
        static const uint8_t timers[] = {
                [SG_LIFE_E_TIME_LIMIT] = SG_LIFE_TIMER_TIME_LIMIT,
                [SG_LIFE_E_GRACE_OVER] = SG_LIFE_TIMER_GRACE,
                [SG_LIFE_E_KEEPER_LATE] = SG_LIFE_TIMER_KEEPER,
                [SG_LIFE_E_SILENCE] = SG_LIFE_TIMER_SILENCE,
                [SG_LIFE_E_LOOK_DUE] = SG_LIFE_TIMER_LOOK,
                [SG_LIFE_E_STORE_DUE] = SG_LIFE_TIMER_STORE,
                [SG_LIFE_E_CLEAR_DUE] = SG_LIFE_TIMER_CLEAR,
        };

        w->timers &= (uint8_t) ~(1U << timers[m->event.kind]);
}

#define SOON(name, field)                                                                          \
        static void name(struct world *w, const struct move *m)                                    \
        {                                                                                          \
                (void)m;                                                                           \
                w->field = false;                                                                  \
        }
SOON(grouped, grouping)
SOON(dropped, dropping)
SOON(verified, verifying)
SOON(followed, following)
SOON(checked, checking)
SOON(listened, listening)

static void went(struct world *w, const struct move *m)
{
        w->going = false;
        w->go = w->go && m->event.kind == SG_LIFE_E_NONE;
}

static void groups_gone(struct world *w, const struct move *m)
{
        dropped(w, m);
        w->groups = w->placing = w->cold = false;
}

/* Moves */

struct sg_life_event *world_add(struct move_list *l, enum sg_life_event_kind kind,
                                void (*before)(struct world *, const struct move *))
{
        assert(l->n < MOVES_MAX);
        l->moves[l->n] = (struct move){.event = {.kind = kind}, .before = before};
        return &l->moves[l->n++].event;
}

static void add_error(struct move_list *l, enum sg_life_event_kind kind, int error,
                      void (*before)(struct world *, const struct move *))
{
        struct sg_life_event *e = world_add(l, kind, before);

        e->error = error;
        e->what = "do it";
}

/* What an action leads to at once. */
static bool add_results(const struct world *w, struct move_list *l)
{
        if (w->grouping) {
                world_add(l, SG_LIFE_E_GROUPS_MADE, grouped);
                add_error(l, SG_LIFE_E_GROUPS_FAILED, -EAGAIN, grouped);
                add_error(l, SG_LIFE_E_GROUPS_FAILED, -EINVAL, grouped);
        } else if (w->refusing) {
                world_add(l, SG_LIFE_E_INTENT_STORED, refused);
        } else if (w->dropping) {
                if (!w->lives)
                        world_add(l, SG_LIFE_E_GROUPS_GONE, groups_gone);
                if (w->groups)
                        world_add(l, SG_LIFE_E_GROUPS_BUSY, dropped);
        } else if (w->handing) {
                world_add(l, SG_LIFE_E_HANDED, handed);
                add_error(l, SG_LIFE_E_HAND_FAILED, -ESRCH, handed);
        } else if (w->verifying) {
                world_add(l, SG_LIFE_E_ADMITTED, verified)->pid = 7;
                world_add(l, SG_LIFE_E_REFUSED, verified);
        } else if (w->going) {
                world_add(l, SG_LIFE_E_NONE, went);
                world_add(l, SG_LIFE_E_GO_FAILED, went);
        } else if (w->following) {
                if (w->keeper)
                        world_add(l, SG_LIFE_E_FOLLOWED, followed)->pid = 7;
                world_add(l, SG_LIFE_E_FOLLOW_GONE, followed);
                world_add(l, SG_LIFE_E_FOLLOW_FAILED, followed);
        } else {
                return world_add_freezing(w, l);
        }
        return true;
}

static void add_answers(const struct world *w, struct move_list *l)
{
        bool may_fail = w->left.unstored > 0;
        struct sg_life_event *e;

        switch (w->asked[0]) {
        case ASKED_SUBMIT:
                world_add(l, SG_LIFE_E_STORED, stored);
                break;
        case ASKED_START:
                world_add(l, SG_LIFE_E_START_STORED, start_stored);
                if (may_fail)
                        add_error(l, SG_LIFE_E_START_UNSTORED, -ENOSPC, world_unstored);
                break;
        case ASKED_INTENT:
                world_add(l, SG_LIFE_E_INTENT_STORED, stored);
                break;
        case ASKED_RUN:
                if (w->fate != SG_ATTEMPT_VOID)
                        world_add(l, SG_LIFE_E_FATE_RUN, run_published);
                world_add(l, SG_LIFE_E_FATE_VOID, world_answered);
                break;
        case ASKED_LOOK:
        case ASKED_VOID:
                e = world_add(l, SG_LIFE_E_LOOKED, looked);
                e->finding = truth(w, w->asked[0] == ASKED_VOID);
                e->reasons = w->reasons;
                if (may_fail)
                        world_add(l, SG_LIFE_E_LOOKED, world_unstored)->finding =
                                SG_FOUND_UNREADABLE;
                break;
        case ASKED_HOLD:
        case ASKED_FREEZE:
                world_add_wish_stored(w, l, may_fail);
                break;
        case ASKED_END:
                world_add(l, SG_LIFE_E_END_STORED, end_stored);
                if (may_fail)
                        add_error(l, SG_LIFE_E_END_UNSTORED, -ENOSPC, world_unstored);
                break;
        }
}

/* A keeper says what is so, and is heard also after its death; one of `run` is its user's, and says
 * anything, again and again. */
static void add_words(const struct world *w, struct move_list *l)
{
        bool any = w->foreground && w->born && w->life.state < SG_LIFE_CLEARING;
        bool own = w->born && !w->foreground && !(w->said & SAID_ENDED) &&
                   w->fate != SG_ATTEMPT_NO_DIR;

        if (!w->life.gate)
                return;
        if (any || (own && !w->record && !(w->said & SAID_READY)))
                world_add(l, SG_LIFE_E_READY, says);
        if (any ||
            (own && w->fate == SG_ATTEMPT_RUN && w->life.released && !(w->said & SAID_STARTED)))
                world_add(l, SG_LIFE_E_STARTED, says);
        if (any || (own && w->said & SAID_STARTED && !w->lives && !(w->said & SAID_OVER)))
                world_add(l, SG_LIFE_E_OVER, says);
        if (any || (own && w->record))
                world_add(l, SG_LIFE_E_ENDED, says);
        world_add(l, SG_LIFE_E_GATE_LOST, world_close_gate);
}

static void add_silent(const struct world *w, struct move_list *l)
{
        if (w->launching && !w->born)
                world_add(l, SG_LIFE_E_NONE, keeper_starts);
        if (w->keeper && w->go && !w->cold) /* it publishes its fate, and the job execs */
                world_add(l, SG_LIFE_E_NONE, job_runs);
        if (w->lives && w->fate == SG_ATTEMPT_RUN && !w->cold)
                world_add(l, SG_LIFE_E_NONE, job_dies);
        if (w->keeper && !w->record && !w->go && (!w->lives || w->foreground))
                world_add(l, SG_LIFE_E_NONE, keeper_records);
        if (w->keeper && !w->life.keeper && !w->launching)
                world_add(l, SG_LIFE_E_NONE, keeper_dies);
        if (w->left.crashes == 0 || w->life.state == SG_LIFE_NEW || w->life.state == SG_LIFE_GONE)
                return;
        world_add(l, SG_LIFE_E_NONE, crash);
        if (w->asked[0])
                world_add(l, SG_LIFE_E_NONE, crash_later);
}

static void add_timers(const struct world *w, struct move_list *l)
{
        static const enum sg_life_event_kind kinds[] = {
                [SG_LIFE_TIMER_TIME_LIMIT] = SG_LIFE_E_TIME_LIMIT,
                [SG_LIFE_TIMER_GRACE] = SG_LIFE_E_GRACE_OVER,
                [SG_LIFE_TIMER_KEEPER] = SG_LIFE_E_KEEPER_LATE,
                [SG_LIFE_TIMER_SILENCE] = SG_LIFE_E_SILENCE,
                [SG_LIFE_TIMER_LOOK] = SG_LIFE_E_LOOK_DUE,
                [SG_LIFE_TIMER_STORE] = SG_LIFE_E_STORE_DUE,
                [SG_LIFE_TIMER_CLEAR] = SG_LIFE_E_CLEAR_DUE,
        };

        for (unsigned t = 0; t < _SG_LIFE_TIMER_MAX; t++)
                if (w->timers & (1U << t))
                        world_add(l, kinds[t], went_off)->why = "it took too long";
}

static void add_wishes(const struct world *w, struct move_list *l)
{
        enum sg_life_state s = w->life.state;

        if (s == SG_LIFE_NEW || s == SG_LIFE_GONE)
                return;
        if (s <= SG_LIFE_OFFERED && w->terminal)
                world_add(l, SG_LIFE_E_STOP, terminal_goes)->intent = SG_INTENT_CANCEL;
        if (w->left.stops == 0)
                return;
        world_add(l, SG_LIFE_E_STOP, asked_to_end)->intent = SG_INTENT_CANCEL;
        if (s > SG_LIFE_WAITING && s < SG_LIFE_ASKING && w->row.intent == SG_INTENT_NONE &&
            w->left.unstored > 0)
                world_add(l, SG_LIFE_E_STOP, asked_to_end_in_vain)->intent = SG_INTENT_CANCEL;
        if (s != SG_LIFE_WAITING && !w->foreground && !w->adopted)
                world_add(l, SG_LIFE_E_STOP, asked_to_end)->intent = SG_INTENT_REQUEUE;
}

static void add_returns(const struct world *w, struct move_list *l)
{
        if (w->life.state != SG_LIFE_NEW || w->asked[0])
                return;
        world_add(l,
                  w->adopted                      ? SG_LIFE_E_MET_ADOPTED
                  : w->row.state == SG_JOB_QUEUED ? SG_LIFE_E_MET_QUEUED
                                                  : SG_LIFE_E_MET_LIVE,
                  NULL);
}

static void add_others(const struct world *w, struct move_list *l)
{
        enum sg_life_state s = w->life.state;

        if (s == SG_LIFE_WAITING && w->foreground && w->met && !w->terminal) {
                world_add(l, SG_LIFE_E_FAIL, NULL)->state = SG_JOB_KILLED;
        } else if (s == SG_LIFE_WAITING) {
                if (w->row.attempt < ATTEMPTS_MAX && w->queued)
                        world_add(l, SG_LIFE_E_TURN, NULL)->boot_id = "boot";
                world_add(l, SG_LIFE_E_FAIL, NULL)->state = SG_JOB_FAILED;
        }
        if (s == SG_LIFE_OFFERED && w->terminal && !w->attached)
                world_add(l, SG_LIFE_E_ATTACH, attaches);
        if (w->launching) {
                world_add(l, SG_LIFE_E_LAUNCHED, launched);
                add_error(l, SG_LIFE_E_LAUNCH_FAILED, -ENOENT, launched);
                add_error(l, SG_LIFE_E_LAUNCH_FAILED, -EINVAL, launched);
        }
        if (w->placing) {
                world_add(l, SG_LIFE_E_PLACED, placed);
                add_error(l, SG_LIFE_E_PLACE_FAILED, -EINVAL, placed);
        }
        if (w->life.keeper && w->keeper)
                world_add(l, SG_LIFE_E_KEEPER_GONE, keeper_dies);
        if (w->life.keeper && w->keeper && w->foreground && w->fate == SG_ATTEMPT_RUN &&
            !w->lives && !w->go) /* a child of its has its place, until its record is taken */
                world_add(l, SG_LIFE_E_KEEPER_GONE, NULL);
        if (w->checking && !w->lives)
                world_add(l, SG_LIFE_E_EMPTY, checked);
        if (w->listening)
                world_add(l, SG_LIFE_E_LAST_WORDS, listened);
        if (w->adopted && s == SG_LIFE_RUNNING)
                world_add(l, SG_LIFE_E_LEFT, job_dies);
        if (w->adopted && s == SG_LIFE_RUNNING && w->met) /* the machine was started anew */
                world_add(l, SG_LIFE_E_FAIL, job_dies)->state = SG_JOB_LOST;
        if (w->adopted && s == SG_LIFE_ASKING)
                world_add(l, SG_LIFE_E_TOLD, NULL);
}

unsigned world_moves(const struct world *w, struct move moves[MOVES_MAX])
{
        struct move_list l = {.moves = moves};

        if (add_results(w, &l))
                return l.n;
        add_answers(w, &l);
        add_words(w, &l);
        add_silent(w, &l);
        add_timers(w, &l);
        add_wishes(w, &l);
        world_add_wishes(w, &l);
        add_returns(w, &l);
        add_others(w, &l);
        return l.n;
}
