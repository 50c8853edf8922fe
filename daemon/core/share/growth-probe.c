/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/share/growth-probe.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE .1
#define FULL (60 * RATE)
#define RATE_MOST 2 /* all of the node, and what rounding and floors add to it */

void sg_probes_deinit(struct sg_probes *p)
{
        free(p->users);
        *p = (struct sg_probes){};
}

/* A user whose budget is whole and unused needn't be remembered. */
static void forget(struct sg_probes *p)
{
        size_t n = 0;

        for (size_t i = 0; i < p->n; i++)
                if (p->users[i].left < FULL || p->users[i].rate > 0)
                        p->users[n++] = p->users[i];
        p->n = n;
}

void sg_probes_advance(struct sg_probes *p, double now)
{
        double dt = now > p->now ? now - p->now : 0;

        for (size_t i = 0; i < p->n; i++) {
                struct sg_probe_user *u = &p->users[i];

                u->left = fmin(FULL, u->left + (RATE - u->rate) * dt);
                u->spent = u->left <= 1e-9 || (u->spent && u->left < FULL / 2 - 1e-9);
        }
        p->now += dt;
        forget(p);
}

bool sg_probes_may(const struct sg_probes *p, uint32_t uid)
{
        for (size_t i = 0; i < p->n; i++)
                if (p->users[i].uid == uid)
                        return !p->users[i].spent;
        return true;
}

void sg_probes_stop(struct sg_probes *p)
{
        for (size_t i = 0; i < p->n; i++)
                p->users[i].rate = 0;
}

static int add(struct sg_probes *p, const struct sg_probe_user *u)
{
        struct sg_probe_user *grown = reallocarray(p->users, p->n + 1, sizeof(*grown));

        if (!grown)
                return -ENOMEM;
        p->users = grown;
        p->users[p->n++] = *u;
        return 0;
}

int sg_probes_run(struct sg_probes *p, uint32_t uid, double rate)
{
        for (size_t i = 0; i < p->n; i++)
                if (p->users[i].uid == uid) {
                        p->users[i].rate += rate;
                        return 0;
                }
        return add(p, &(struct sg_probe_user){.uid = uid, .left = FULL, .rate = rate});
}

double sg_probes_next(const struct sg_probes *p)
{
        double next = INFINITY;

        for (size_t i = 0; i < p->n; i++) {
                const struct sg_probe_user *u = &p->users[i];

                if (u->spent && u->rate < RATE)
                        next = fmin(next, p->now + (FULL / 2 - u->left) / (RATE - u->rate));
                else if (!u->spent && u->rate > RATE)
                        next = fmin(next, p->now + u->left / (u->rate - RATE));
        }
        return next;
}

/* As saved. */
struct kept {
        uint64_t uid, spent;
        double left, rate, now;
};

void sg_probes_save(const struct sg_probes *p, struct sg_record *r, uint16_t tag)
{
        for (size_t i = 0; i < p->n; i++) {
                const struct sg_probe_user *u = &p->users[i];

                sg_record_put(r, tag, &(struct kept){u->uid, u->spent, u->left, u->rate, p->now},
                              sizeof(struct kept));
        }
}

int sg_probes_load(struct sg_probes *p, const void *user, size_t size)
{
        struct kept k;

        if (size != sizeof(k))
                return -EBADMSG;
        memcpy(&k, user, sizeof(k));
        if (k.uid > UINT32_MAX || k.spent > 1 || !(k.left <= FULL) || !isfinite(k.left) ||
            !(k.rate >= 0) || !(k.rate <= RATE_MOST) || !isfinite(k.now))
                return -EBADMSG;
        p->now = k.now;
        return add(p, &(struct sg_probe_user){.uid = (uint32_t)k.uid,
                                              .spent = k.spent,
                                              .left = k.left,
                                              .rate = k.rate});
}
