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

#define ASKED_MAX 6
#define MOVES_MAX 48

enum asked {
        ASKED_NOTHING,
        ASKED_SUBMIT,
        ASKED_START,
        ASKED_INTENT,
        ASKED_RUN,
        ASKED_LOOK,
        ASKED_VOID,
        ASKED_END
};
enum said { SAID_READY = 1, SAID_STARTED = 2, SAID_OVER = 4, SAID_ENDED = 8 };

/* What the row says, as far as it matters. */
struct brief {
        uint8_t state, intent, attempt, retry;
        bool pid;
};

struct world {
        struct sg_life life;
        struct brief row, durable;
        bool foreground, adopted;
        uint8_t asked[ASKED_MAX];     /* enum asked, of the store, in order; … */
        struct brief rows[ASKED_MAX]; /* … with the row as it was then */
        /* Asked for, elsewhere. */
        bool launching, placing, listening;
        uint8_t timers;
        /* Comes before all else: what an action leads to at once. */
        bool grouping, dropping, handing, verifying, going, following, checking;
        /* How things really are. */
        bool groups, lives, keeper, go, record;
        bool born;    /* there has been a keeper in this attempt */
        uint8_t fate; /* enum sg_fate */
        uint8_t said; /* enum said */
        bool terminal, attached;
        bool refusing, refused; /* why it is to end: the store had no memory to be asked */
        uint8_t stops, crashes, unstored; /* so far */
};

/* What comes next; kind SG_LIFE_E_NONE: something that nobody hears of. */
struct move {
        struct sg_life_event event;
        void (*before)(struct world *w, const struct move *m);
};

void world_init(struct world *w, bool foreground, bool adopted);
/* moves.c */
unsigned world_moves(const struct world *w, struct move moves[MOVES_MAX]);
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
#define WORLD_KEY_SIZE 72
void world_key(const struct world *w, uint8_t key[WORLD_KEY_SIZE]);
void world_print(const struct world *w);
