/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What users make the daemon hold: bytes, places, questions; each is charged to the user whose it
 * is, before it is held. Of each kind there is a bound for one user and one for all, and an eighth
 * of the latter is only for users who hold none of it yet: whoever comes next finds room.
 *
 * Root has an account of its own, with all's bound: nobody can take its room, nor it theirs.
 */

#include <stdbool.h>
#include <stdint.h>

enum sg_charge {
        SG_CHARGE_STORED,      /* bytes at rest: rows and attempts of jobs */
        SG_CHARGE_KEPT,        /* bytes at rest: commands of jobs that have ended */
        SG_CHARGE_REQUESTS,    /* bytes of messages that are still coming in */
        SG_CHARGE_ANSWERS,     /* bytes of answers that haven't been read */
        SG_CHARGE_CONNECTIONS, /* to the socket */
        SG_CHARGE_CALLERS,     /* names on a message bus that we listen to */
        SG_CHARGE_QUESTIONS,   /* calls that are kept until polkit has answered */
        SG_CHARGE_LOOKUPS,     /* calls that are kept until a name is known */
        SG_CHARGE_WAITERS,     /* calls that are answered when something becomes of a job */
        _SG_CHARGE_MAX,
};

struct sg_ledger;

/* With the bounds of a table in ledger.c. */
int sg_ledger_new(struct sg_ledger **ret);
struct sg_ledger *sg_ledger_free(struct sg_ledger *l);

/* Sets bounds. What is held already stays, even above them. */
void sg_ledger_bound(struct sg_ledger *l, enum sg_charge c, uint64_t per_user, uint64_t all);

enum {
        SG_LEDGER_USER_FULL = 1, /* this user has to give something back first */
        SG_LEDGER_FULL = 2,      /* somebody has */
};

/* 0; else nothing was taken: one of the two above, or -ENOMEM. */
int sg_ledger_take(struct sg_ledger *l, uint32_t uid, enum sg_charge c, uint64_t amount);
/* Charges for something that exists already, even above a bound. Nothing is left then until enough
 * is given back. */
int sg_ledger_book(struct sg_ledger *l, uint32_t uid, enum sg_charge c, uint64_t amount);
/* Gives back what was taken, or a part of it. */
void sg_ledger_give(struct sg_ledger *l, uint32_t uid, enum sg_charge c, uint64_t amount);

uint64_t sg_ledger_held(const struct sg_ledger *l, uint32_t uid, enum sg_charge c);
/* What this user could take now. */
uint64_t sg_ledger_left(const struct sg_ledger *l, uint32_t uid, enum sg_charge c);
/* Whether more is kept than fits into the bounds of SG_CHARGE_STORED beside what is stored: then it
 * gives way, as nothing is refused for its sake. Whose, and how much of it may stay. */
bool sg_ledger_yields(const struct sg_ledger *l, uint32_t *ret_uid, uint64_t *ret_most);
/* The bound of this user alone. */
uint64_t sg_ledger_limit(const struct sg_ledger *l, uint32_t uid, enum sg_charge c);
/* The user who holds most of it, and so has to give way when all is full. Never root; false: nobody
 * holds any. */
bool sg_ledger_largest(const struct sg_ledger *l, enum sg_charge c, uint32_t *ret_uid);
