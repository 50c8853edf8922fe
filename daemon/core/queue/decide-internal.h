/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the files that decide (next.c, backfill.c, gpus.c, stock.c) ask each other. */

#include "core/queue/internal.h"

/* Whether a running entry takes a slot from this lane. */
static inline bool sg_queue_takes_slot(const struct sg_queue_entry *e, const struct sg_lane *from)
{
        return !e->passed && (!e->aside || e->lane->user == from->user);
}

/* How many slots are taken, and how many run in its class, as far as that counts for one of this
 * lane. */
static inline uint64_t sg_lane_slots_taken(const struct sg_queue *q, const struct sg_lane *lane)
{
        return q->n_slots + lane->user->own_slots;
}

static inline uint64_t sg_lane_class_running(const struct sg_lane *lane)
{
        return lane->class->running - lane->class->aside + lane->aside +
               (lane->peer ? lane->peer->aside : 0);
}

/* Of this user in this class. */
static inline uint64_t sg_lane_running(const struct sg_lane *lane)
{
        return lane->running + (lane->peer ? lane->peer->running : 0);
}

/* The same, in hundredths of GPUs that they hold. */
static inline uint64_t sg_lane_gpus_held(const struct sg_lane *lane)
{
        return lane->gpu_hundredths + (lane->peer ? lane->peer->gpu_hundredths : 0);
}

static inline bool sg_lane_is_own(const struct sg_lane *a, const struct sg_lane *b)
{
        return a->class == b->class && a->user == b->user;
}

/* stock.c, of the k-th stock: all that jobs may ever be promised, which is everything but the
 * reserve; what is declared and what the rest uses, which may be more than that; what one could
 * still be promised; and whether that is enough for e. */
uint64_t sg_stock_usable(const struct sg_queue *q, const struct sg_node_snapshot *node, size_t k);
uint64_t sg_stock_taken(const struct sg_queue *q, const struct sg_node_snapshot *node, size_t k);
uint64_t sg_stock_left(const struct sg_queue *q, const struct sg_node_snapshot *node, size_t k);
bool sg_stock_lasts(const struct sg_queue *q, const struct sg_node_snapshot *node, size_t k,
                    const struct sg_queue_entry *e);
/* Whether every stock is enough for it. */
bool sg_queue_fits(const struct sg_queue *q, const struct sg_node_snapshot *node,
                   const struct sg_queue_entry *e);

/* gpus.c: whether it wants none, or its class allows its user so many more; whether it wants none,
 * or could have them now; what is reserved for a head that wants some; what is left for one that
 * wants some of `lane` beside those who have their turn before it: whether that is enough; and
 * which of these it gets, if it wants some. */
bool sg_lane_allows_gpus(const struct sg_node_snapshot *node, const struct sg_lane *lane,
                         const struct sg_queue_entry *e);
bool sg_queue_has_gpus(const struct sg_queue *q, const struct sg_node_snapshot *node,
                       const struct sg_queue_entry *e);
void sg_lane_reserve_gpus(const struct sg_queue *q, const struct sg_node_snapshot *node,
                          const struct sg_queue_entry *e, struct sg_reservation *r);
bool sg_queue_leaves_gpus(const struct sg_queue *q, const struct sg_node_snapshot *node,
                          const struct sg_lane *lane, const struct sg_queue_entry *e,
                          struct sg_gpu_pool *ret);
void sg_queue_place_gpus(struct sg_queue *q, const struct sg_node_snapshot *node,
                         struct sg_queue_entry *e);
bool sg_queue_is_patient(const struct sg_node_snapshot *node, const struct sg_queue_entry *e);

/* next.c */
bool sg_lane_goes_before(const struct sg_node_snapshot *node, const struct sg_lane *a,
                         const struct sg_lane *b);
bool sg_lane_is_short(const struct sg_queue *q, const struct sg_node_snapshot *node,
                      const struct sg_lane *lane);

/* backfill.c: whether e, which is of lane `of`, may start before the head of `lane`, which
 * doesn't fit and for which something is reserved. */
void sg_lane_reserve(const struct sg_queue *q, const struct sg_node_snapshot *node,
                     struct sg_lane *lane);
bool sg_queue_ends_before(const struct sg_node_snapshot *node, const struct sg_reservation *r,
                          const struct sg_queue_entry *e);
bool sg_lane_lets_pass(const struct sg_queue *q, const struct sg_node_snapshot *node,
                       const struct sg_lane *lane, const struct sg_lane *of,
                       const struct sg_queue_entry *e);
