/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/account/complaints.h"
#include <stddef.h>

#define QUIET_USEC (60 * 1000000ULL)

static bool is_over(const struct sg_complaint *s, uint64_t now_usec)
{
        return s->said_usec == 0 || now_usec - s->said_usec >= QUIET_USEC;
}

/* The one of this kind and user, or a place for it; NULL: all are taken. What was left unsaid of
 * one whose minute is over may be forgotten. */
static struct sg_complaint *find(struct sg_complaints *c, unsigned kind, uint32_t uid,
                                 uint64_t now_usec)
{
        struct sg_complaint *oldest = &c->said[0];

        for (size_t i = 0; i < SG_COMPLAINTS_MAX; i++) {
                struct sg_complaint *s = &c->said[i];

                if (s->said_usec > 0 && s->kind == kind && s->uid == uid)
                        return s;
                if (s->said_usec < oldest->said_usec)
                        oldest = s;
        }
        if (!is_over(oldest, now_usec))
                return NULL;
        *oldest = (struct sg_complaint){.kind = kind, .uid = uid};
        return oldest;
}

bool sg_complaints_say(struct sg_complaints *c, unsigned kind, uint32_t uid, uint64_t now_usec,
                       uint64_t *ret_unsaid)
{
        struct sg_complaint *s = find(c, kind, uid, now_usec);

        if (!s)
                return false;
        if (!is_over(s, now_usec)) {
                s->unsaid++;
                return false;
        }
        if (ret_unsaid)
                *ret_unsaid = s->unsaid;
        s->unsaid = 0;
        s->said_usec = now_usec;
        return true;
}
