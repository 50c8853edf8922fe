/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/account/ledger.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KIB 1024ULL
#define MIB (1024 * KIB)
#define NEWCOMERS_PART 8 /* … of the room for all is kept for users who hold none of it yet */
#define ROOT 0
#define YIELD_PART 8 /* … of what may be kept goes with what is too much: not at each end again */

/* Bytes are few enough that all of them, twice, fit beside the daemon's own 20 MiB in 64 MiB. */
static const struct bound {
        uint64_t per_user, all;
} defaults[_SG_CHARGE_MAX] = {
        [SG_CHARGE_STORED] = {512 * MIB, 4096 * MIB},
        [SG_CHARGE_KEPT] = {UINT64_MAX, UINT64_MAX}, /* by those of SG_CHARGE_STORED */
        [SG_CHARGE_REQUESTS] = {9 * MIB, 16 * MIB},  /* one message of the largest size */
        [SG_CHARGE_ANSWERS] = {8 * MIB, 24 * MIB},
        [SG_CHARGE_CONNECTIONS] = {128, 512},
        /* Each caller costs us a match rule, of which a bus grants 512 to a connection. */
        [SG_CHARGE_CALLERS] = {64, 256},
        [SG_CHARGE_QUESTIONS] = {64, 256},
        [SG_CHARGE_LOOKUPS] = {1024, 8192},
        /* `schedctl wait --any` asks for all of its jobs at once, and a user may have 10,000. */
        [SG_CHARGE_WAITERS] = {32768, 262144},
};

/* What one user holds; the account is there as long as that is anything. */
struct account {
        uint32_t uid;
        uint64_t held[_SG_CHARGE_MAX];
};

struct sg_ledger {
        struct bound bounds[_SG_CHARGE_MAX];
        uint64_t total[_SG_CHARGE_MAX]; /* without root's */
        struct account *accounts;       /* in order of their uids */
        size_t n, allocated;
};

int sg_ledger_new(struct sg_ledger **ret)
{
        struct sg_ledger *l = calloc(1, sizeof(*l));

        if (!l)
                return -ENOMEM;
        memcpy(l->bounds, defaults, sizeof(defaults));
        *ret = l;
        return 0;
}

struct sg_ledger *sg_ledger_free(struct sg_ledger *l)
{
        if (!l)
                return NULL;
        free(l->accounts);
        free(l);
        return NULL;
}

void sg_ledger_bound(struct sg_ledger *l, enum sg_charge c, uint64_t per_user, uint64_t all)
{
        l->bounds[c] = (struct bound){per_user, all};
}

/* Accounts */

/* Where the user's account is, or would be. */
static size_t place_of(const struct sg_ledger *l, uint32_t uid)
{
        size_t lo = 0, hi = l->n;

        while (lo < hi) {
                size_t mid = lo + (hi - lo) / 2;

                if (l->accounts[mid].uid < uid)
                        lo = mid + 1;
                else
                        hi = mid;
        }
        return lo;
}

static struct account *account_find(const struct sg_ledger *l, uint32_t uid)
{
        size_t i = place_of(l, uid);

        return i < l->n && l->accounts[i].uid == uid ? &l->accounts[i] : NULL;
}

static int account_open(struct sg_ledger *l, uint32_t uid, struct account **ret)
{
        size_t i = place_of(l, uid);

        if (l->n == l->allocated) {
                size_t more = l->allocated ? 2 * l->allocated : 16;
                struct account *accounts = reallocarray(l->accounts, more, sizeof(*accounts));

                if (!accounts)
                        return -ENOMEM;
                l->accounts = accounts;
                l->allocated = more;
        }
        memmove(&l->accounts[i + 1], &l->accounts[i], (l->n - i) * sizeof(*l->accounts));
        l->n++;
        l->accounts[i] = (struct account){.uid = uid};
        *ret = &l->accounts[i];
        return 0;
}

static void account_close_if_empty(struct sg_ledger *l, struct account *a)
{
        for (size_t c = 0; c < _SG_CHARGE_MAX; c++)
                if (a->held[c] > 0)
                        return;
        l->n--;
        memmove(a, a + 1, (size_t)(l->accounts + l->n - a) * sizeof(*a));
}

/* What is held, and what more can be */

static uint64_t difference(uint64_t bound, uint64_t held)
{
        return held < bound ? bound - held : 0;
}

static uint64_t left_of_all(const struct sg_ledger *l, uint32_t uid, enum sg_charge c)
{
        uint64_t all = l->bounds[c].all;

        if (uid == ROOT)
                return UINT64_MAX;
        if (sg_ledger_held(l, uid, c) > 0)
                all -= all / NEWCOMERS_PART;
        return difference(all, l->total[c]);
}

uint64_t sg_ledger_limit(const struct sg_ledger *l, uint32_t uid, enum sg_charge c)
{
        return uid == ROOT ? l->bounds[c].all : l->bounds[c].per_user;
}

uint64_t sg_ledger_held(const struct sg_ledger *l, uint32_t uid, enum sg_charge c)
{
        const struct account *a = account_find(l, uid);

        return a ? a->held[c] : 0;
}

uint64_t sg_ledger_left(const struct sg_ledger *l, uint32_t uid, enum sg_charge c)
{
        uint64_t own = difference(sg_ledger_limit(l, uid, c), sg_ledger_held(l, uid, c));
        uint64_t of_all = left_of_all(l, uid, c);

        return own < of_all ? own : of_all;
}

bool sg_ledger_largest(const struct sg_ledger *l, enum sg_charge c, uint32_t *ret_uid)
{
        const struct account *largest = NULL;

        for (size_t i = 0; i < l->n; i++) {
                const struct account *a = &l->accounts[i];

                if (a->uid != ROOT && a->held[c] > (largest ? largest->held[c] : 0))
                        largest = a;
        }
        if (!largest)
                return false;
        *ret_uid = largest->uid;
        return true;
}

/* This part of what may be kept stays. */
static uint64_t after_yielding(uint64_t most)
{
        return most - most / YIELD_PART;
}

bool sg_ledger_yields(const struct sg_ledger *l, uint32_t *ret_uid, uint64_t *ret_most)
{
        uint64_t room = difference(l->bounds[SG_CHARGE_STORED].all, l->total[SG_CHARGE_STORED]);
        uint64_t excess = difference(l->total[SG_CHARGE_KEPT], after_yielding(room)), most;

        for (size_t i = 0; i < l->n; i++) {
                const struct account *a = &l->accounts[i];

                most = difference(sg_ledger_limit(l, a->uid, SG_CHARGE_STORED),
                                  a->held[SG_CHARGE_STORED]);
                if (a->held[SG_CHARGE_KEPT] <= most)
                        continue;
                *ret_uid = a->uid;
                *ret_most = after_yielding(most);
                return true;
        }
        if (l->total[SG_CHARGE_KEPT] <= room || !sg_ledger_largest(l, SG_CHARGE_KEPT, ret_uid))
                return false;
        *ret_most = difference(sg_ledger_held(l, *ret_uid, SG_CHARGE_KEPT), excess);
        return true;
}

int sg_ledger_book(struct sg_ledger *l, uint32_t uid, enum sg_charge c, uint64_t amount)
{
        struct account *a = account_find(l, uid);
        int r;

        if (amount == 0)
                return 0;
        if (!a) {
                r = account_open(l, uid, &a);
                if (r < 0)
                        return r;
        }
        a->held[c] += amount;
        if (uid != ROOT)
                l->total[c] += amount;
        return 0;
}

int sg_ledger_take(struct sg_ledger *l, uint32_t uid, enum sg_charge c, uint64_t amount)
{
        if (amount > difference(sg_ledger_limit(l, uid, c), sg_ledger_held(l, uid, c)))
                return SG_LEDGER_USER_FULL;
        if (amount > left_of_all(l, uid, c))
                return SG_LEDGER_FULL;
        return sg_ledger_book(l, uid, c, amount);
}

void sg_ledger_give(struct sg_ledger *l, uint32_t uid, enum sg_charge c, uint64_t amount)
{
        struct account *a = account_find(l, uid);

        if (amount == 0)
                return;
        assert(a && a->held[c] >= amount);
        a->held[c] -= amount;
        if (uid != ROOT)
                l->total[c] -= amount;
        account_close_if_empty(l, a);
}
