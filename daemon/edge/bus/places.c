/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/bus/places.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include <errno.h>
#include <syslog.h>

/* A client that waits for nothing and has been silent for this long may have to give its place
 * away. */
#define IDLE_USEC (30 * SG_USEC_PER_SEC)

/* What it would lose. */
enum loss {
        LOSS_NOTHING, /* it comes again with its next call */
        LOSS_ANSWER,  /* or signals; a client whose connection ends knows that, and asks again */
        LOSS_JOB,     /* of `run` */
};

void sg_places_init(struct sg_places *p, struct sg_ledger *ledger, enum sg_charge charge)
{
        p->ledger = ledger;
        p->charge = charge;
        sg_list_init(&p->clients);
}

static enum loss loss_of(const struct sg_client *c)
{
        if (c->runs)
                return LOSS_JOB;
        return c->subscribed || c->pages > 0 || c->n_held > 0 || !sg_list_empty(&c->waiters) ||
                               !sg_list_empty(&c->submissions)
                       ? LOSS_ANSWER
                       : LOSS_NOTHING;
}

/* The client of this user that loses least by giving way, and of several the one that has been
 * silent for longest. A caller on a message bus that waits for an answer never gives way: it
 * wouldn't hear that it waits in vain. */
static struct sg_client *who_gives_way(struct sg_places *p, uid_t uid)
{
        struct sg_client *c, *found = NULL;

        sg_list_foreach (c, &p->clients, link) {
                if (c->caller.uid != uid || (c->name && loss_of(c) > LOSS_NOTHING))
                        continue;
                if (!found || loss_of(c) < loss_of(found) ||
                    (loss_of(c) == loss_of(found) && c->called_usec < found->called_usec))
                        found = c;
        }
        return found;
}

static struct sg_client *find_idle(struct sg_places *p, uid_t uid)
{
        struct sg_client *c = who_gives_way(p, uid);

        return c && loss_of(c) == LOSS_NOTHING &&
                               c->called_usec + IDLE_USEC < sg_now_monotonic_usec()
                       ? c
                       : NULL;
}

/* A client of the user who has most places gives way, but not to one who has as many. */
static struct sg_client *find_surplus(struct sg_places *p, uid_t uid)
{
        uint32_t largest;

        if (!sg_ledger_largest(p->ledger, p->charge, &largest) ||
            sg_ledger_held(p->ledger, largest, p->charge) <=
                    sg_ledger_held(p->ledger, uid, p->charge) + 1)
                return NULL;
        return who_gives_way(p, largest);
}

int sg_places_take(struct sg_places *p, struct sg_client *c)
{
        struct sg_client *other;
        uid_t uid = c->caller.uid;
        int r;

        while ((r = sg_ledger_take(p->ledger, uid, p->charge, 1)) > 0) {
                other = r == SG_LEDGER_FULL ? find_surplus(p, uid) : find_idle(p, uid);
                if (!other)
                        return -EUSERS;
                sg_log(LOG_DEBUG, "a client of uid %u gives way to one of uid %u",
                       other->caller.uid, uid);
                other->drop(other);
        }
        if (r < 0)
                return r;
        c->placed = true;
        c->called_usec = sg_now_monotonic_usec();
        sg_list_remove(&c->link);
        sg_list_append(&p->clients, &c->link);
        return 0;
}

void sg_places_give(struct sg_places *p, struct sg_client *c)
{
        if (c->placed)
                sg_ledger_give(p->ledger, c->caller.uid, p->charge, 1);
        c->placed = false;
}
