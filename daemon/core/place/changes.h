/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Live changes of scopes' limits, on their way to systemd. PID 1 does one thing after the other,
 * and others wait for it, too: few are in flight at a time, one of each scope. Those that wait are
 * sent by how much they change, and give way to a later one of their scope; so what is sent is
 * always the newest.
 *
 *   add → waits → next → sent → removed
 *           ^               |
 *           +---- back -----+
 */

#include "base/list.h"
#include "core/job/job.h"

struct sg_changes {
        struct sg_list scopes; /* struct sg_changing: those that have any */
        unsigned n_in_flight;
};

/* One scope's. */
struct sg_changing {
        struct sg_list link;
        struct sg_list changes;         /* oldest first; only that one is ever in flight */
        const struct sg_limits *limits; /* in force; borrowed, as the next */
        const struct sg_cpuset *cpus;
};

/* Owned by who adds it. */
struct sg_change {
        struct sg_list link;
        struct sg_changing *scope;
        struct sg_limits limits;
        struct sg_cpuset cpus;
        bool all;      /* send all limits, not only those that differ */
        bool awaited;  /* somebody wants to hear how it ended */
        bool prepared; /* something was done for it that only its end undoes */
        bool in_flight;
};

void sg_changes_init(struct sg_changes *q);
void sg_changing_init(struct sg_changing *s, const struct sg_limits *limits,
                      const struct sg_cpuset *cpus);

/* Whether there is anything to change: these limits aren't in force, or another change is on its
 * way. */
bool sg_changing_wants(const struct sg_changing *s, const struct sg_limits *l,
                       const struct sg_cpuset *cpus);
/* Adds c. `replaced` gets the changes that give way to it, for which nobody waits: the caller frees
 * them. */
void sg_changes_add(struct sg_changes *q, struct sg_changing *s, struct sg_change *c,
                    struct sg_list *replaced);
void sg_changes_remove(struct sg_changes *q, struct sg_change *c);

/* The change to be sent now, unless it is void; NULL: none waits, or enough are in flight. */
struct sg_change *sg_changes_next(const struct sg_changes *q);
/* Whether a change has become void: what it asks for is in force, and nobody waits to hear of it.
 */
bool sg_change_is_void(const struct sg_change *c);
void sg_changes_sent(struct sg_changes *q, struct sg_change *c);
void sg_changes_back(struct sg_changes *q, struct sg_change *c); /* it got no answer: it waits */
