/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * How many processes of a v2 group the OOM killer took, also of a group that has gone before
 * anybody read that: systemd removes an empty scope within 10 ms of the kill. What the groups above
 * it count stays, so what they have counted since the last look, and no neighbour has, was this
 * group's, if it had been at its limit or the kernel had told of something in its memory.events.
 */

#include <stdbool.h>
#include <stdint.h>

struct sg_kills {
        uint64_t own; /* as read last */
        /* private */
        uint64_t others; /* what the group above it counted besides, then */
        bool others_known, hinted;
};

/* `group` is its directory. How many more they are than before; what can't be read stays as it
 * was. */
uint64_t sg_kills_read(struct sg_kills *k, const char *group);
/* It isn't there any more, or another of its name. How many more they are for that: they aren't its
 * neighbours'. */
uint64_t sg_kills_conclude(struct sg_kills *k, const char *group);
/* So many more are known to be a neighbour's. */
void sg_kills_set_apart(struct sg_kills *k, const char *group, uint64_t n);
/* The kernel has told that its memory.events changed. */
static inline void sg_kills_hint(struct sg_kills *k)
{
        k->hinted = true;
}
