/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What is around one job, as its life sees it: the store, which answers in the order in which it
 * was asked; a keeper, which may die at any moment; a job that lives or doesn't; timers; a
 * terminal; people who want it to end; a daemon that may be killed. From that follow all events
 * that can come next, and from the actions what is asked for then.
 *
 * A world is small, so that tens of thousands can be kept and compared.
 */

#include "core/life/internal.h"

#define ASKED_MAX 8
#define CALLS_MAX 3
#define MOVES_MAX 48

enum asked {
        ASKED_NOTHING,
        ASKED_SUBMIT,
        ASKED_START,
        ASKED_INTENT,
        ASKED_RUN,
        ASKED_LOOK,
        ASKED_VOID,
        ASKED_HOLD,
        ASKED_FREEZE,
        ASKED_END
};
enum said { SAID_READY = 1, SAID_STARTED = 2, SAID_OVER = 4, SAID_ENDED = 8 };

/* What the row says, as far as it matters. */
struct brief {
        uint8_t state, intent, attempt, retry;
        bool pid;
};

/* That it be held or frozen, or no more. */
struct wish {
        uint8_t kind; /* enum sg_life_event_kind: what is being done for it; 0 = none */
        uint8_t reasons;
        bool on, asker;
};

/* What people, a store that is full and a power switch may do to it, and how often. */
struct troubles {
        uint8_t wishes, stops, crashes, unstored, retries;
};

struct world {
        struct sg_life life;
        struct brief row, durable;
        bool foreground, adopted;
        uint8_t asked[ASKED_MAX];      /* enum asked, of the store, in order; … */
        struct brief rows[ASKED_MAX];  /* … with the row as it was then … */
        struct wish wishes[ASKED_MAX]; /* … or what was wished */
        struct wish calls[CALLS_MAX];  /* of whoever freezes it, in order */
        /* Asked for, elsewhere. */
        bool launching, placing, listening;
        uint8_t timers;
        /* Comes before all else: what an action leads to at once. */
        bool grouping, dropping, handing, verifying, going, following, checking;
        /* How things really are. */
        bool groups, lives, keeper, go, record;
        bool cold;       /* its group is frozen, … */
        bool stuck;      /* … and could not be thawed; … */
        bool thawed;     /* … or not, and it is to be tried again */
        bool queued;     /* the queue may name it */
        bool hold, held; /* as its row says; as is durable */
        uint8_t frozen;  /* as its row says, why */
        uint8_t reasons; /* … as is durable */
        uint8_t waiting; /* who asked, and hasn't been answered */
        bool born;       /* there has been a keeper in this attempt */
        uint8_t fate;    /* enum sg_fate */
        uint8_t said;    /* enum said */
        bool terminal, attached;
        bool refusing, refused; /* why it is to end: the store had no memory to be asked */
        struct troubles left;
        bool met; /* by a daemon that came back */
};

/* What comes next; kind SG_LIFE_E_NONE: something that nobody hears of. */
struct move {
        struct sg_life_event event;
        void (*before)(struct world *w, const struct move *m);
};

struct move_list {
        struct move *moves;
        unsigned n;
};

void world_init(struct world *w, bool foreground, bool adopted, const struct troubles *t);
/* moves.c */
unsigned world_moves(const struct world *w, struct move moves[MOVES_MAX]);
struct sg_life_event *world_add(struct move_list *l, enum sg_life_event_kind kind,
                                void (*before)(struct world *, const struct move *));
void world_unstored(struct world *w, const struct move *m);
void world_answered(struct world *w, const struct move *m);
void world_ask_for(struct world *w, enum asked what, struct wish wish);
/* wishes.c: what is asked for, what the store answers to that, and what becomes of its group */
bool world_add_freezing(const struct world *w,
                        struct move_list *l); /* what comes before all else */
void world_add_wish_stored(const struct world *w, struct move_list *l, bool may_fail);
void world_add_wishes(const struct world *w, struct move_list *l);
void world_keep_wish(struct world *w, const struct wish *wish); /* it is durable */
/* false: the action has nothing to do with them */
bool world_carry_out_wish(struct world *w, enum sg_life_action action,
                          const struct sg_life_event *e);
struct wish world_wish(const struct sg_life_event *e);
/* A keeper that finds its gate closed before it was let go sees to it that the job never runs. */
void world_close_gate(struct world *w, const struct move *m);
/* As the machine says: 0 or -ENOTSUP. */
int world_step(struct world *w, const struct move *m, struct sg_life_plan *ret_plan);
/* The line of the machine's table that it is; NULL: there is none, or nobody hears of it. */
const struct sg_life_rule *world_rule(const struct world *w, const struct move *m);
/* Of what has to hold whatever happens, the first thing that doesn't; NULL: all does. `m` led from
 * `before` to `w`. */
const char *world_offence(const struct world *before, const struct move *m,
                          const struct sg_life_plan *plan, const struct world *w);
#define WORLD_KEY_SIZE 160
void world_key(const struct world *w, uint8_t key[WORLD_KEY_SIZE]);
void world_print(const struct world *w);
