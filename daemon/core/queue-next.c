/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The queue's decisions: which lane has its turn, what memory admits, and why an entry waits.
 *
 * Lanes are in one total order at any time (user by user, then by their heads). A pass starts the
 * first head that fits; a head before it that doesn't fit is passed, or keeps the node.
 */
#include "core/queue-internal.h"
#include <string.h>

#define RETRY_USEC 1000000ULL

/* Memory */

/* All that jobs may ever be promised: everything but the reserve. */
static uint64_t memory_usable(const struct sg_queue *q, const struct sg_node_snapshot *node)
{
        uint64_t whole = node->memory_total / 10000, rest = node->memory_total % 10000;

        return node->memory_total - whole * q->memory_reserve_pm -
               (rest * q->memory_reserve_pm + 9999) / 10000;
}

/* What one could still be promised: what is usable, less what is declared, less what the rest
 * uses. */
static uint64_t memory_free(const struct sg_queue *q, const struct sg_node_snapshot *node)
{
        uint64_t usable = memory_usable(q, node), used = 0, taken = q->declared;

        if (node->memory_total > node->memory_available)
                used = node->memory_total - node->memory_available;
        if (used > node->declared_used)
                taken += used - node->declared_used;
        return usable > taken ? usable - taken : 0;
}

static bool memory_fits(const struct sg_queue *q, const struct sg_node_snapshot *node,
                        const struct sg_queue_entry *e)
{
        uint64_t left = memory_free(q, node);

        return e->memory == SG_UNLIMITED ? left > 0 : e->memory <= left;
}

/* Whether the node is to be kept for a head that doesn't fit. Not for one that wouldn't on a node
 * without other jobs: waiting for those to end would be in vain. */
static bool keeps_node(const struct sg_queue *q, const struct sg_node_snapshot *node,
                       const struct sg_queue_entry *e)
{
        if (e->memory != SG_UNLIMITED && e->memory > memory_usable(q, node))
                return false;
        return q->n_running > 0 && e->unfit_since_usec > 0 &&
               node->now_usec >= e->unfit_since_usec + SG_QUEUE_PATIENCE_USEC;
}

/* With nothing running it is not jobs that hold the memory: patience begins anew, so that the node
 * doesn't stand idle for what may never be given back. */
static void note_unfit(const struct sg_queue *q, const struct sg_node_snapshot *node,
                       struct sg_queue_entry *e)
{
        if (e->unfit_since_usec == 0 || q->n_running == 0)
                e->unfit_since_usec = node->now_usec;
}

/* Turns */

static bool lane_has_room(const struct sg_lane *lane)
{
        const struct sg_queue_caps *caps = &lane->class->caps;

        return lane->class->running < caps->max_jobs && lane->running < caps->max_jobs_per_user;
}

static int64_t lane_priority(const struct sg_lane *lane)
{
        return lane->class->caps.order == SG_ORDER_PRIORITY ? sg_lane_head(lane)->priority : 0;
}

/* Fewest running, longest without a start, first come; within a user priority, then age. */
static bool lane_goes_before(const struct sg_lane *a, const struct sg_lane *b)
{
        if (a->user == b->user) {
                if (lane_priority(a) != lane_priority(b))
                        return lane_priority(a) > lane_priority(b);
                return sg_lane_head(a)->n < sg_lane_head(b)->n;
        }
        if (a->user->running != b->user->running)
                return a->user->running < b->user->running;
        if (a->user->last_start != b->user->last_start)
                return a->user->last_start < b->user->last_start;
        return a->user->joined < b->user->joined;
}

static bool lane_is_candidate(const struct sg_lane *lane)
{
        return lane->n_waiting > 0 && lane_has_room(lane);
}

/* The first lane whose head fits; NULL if there is none. */
static struct sg_lane *first_that_fits(const struct sg_queue *q,
                                       const struct sg_node_snapshot *node)
{
        struct sg_lane *lane, *best = NULL;

        sg_list_foreach (lane, &q->lanes, link)
                if (lane_is_candidate(lane) && memory_fits(q, node, sg_lane_head(lane)) &&
                    (!best || lane_goes_before(lane, best)))
                        best = lane;
        return best;
}

/* Whether an unfit head whose turn is before that of `lane` (NULL: any) keeps the node. */
static bool node_is_kept(const struct sg_queue *q, const struct sg_node_snapshot *node,
                         const struct sg_lane *lane)
{
        struct sg_lane *it;

        sg_list_foreach (it, &q->lanes, link)
                if (lane_is_candidate(it) && !memory_fits(q, node, sg_lane_head(it)) &&
                    lane_goes_before(it, lane) && keeps_node(q, node, sg_lane_head(it)))
                        return true;
        return false;
}

/* Marks the heads that have their turn before `lane` (NULL: all) and don't fit; whether there are
 * any. */
static bool pass_unfit(const struct sg_queue *q, const struct sg_node_snapshot *node,
                       const struct sg_lane *lane)
{
        struct sg_lane *it;
        bool any = false;

        sg_list_foreach (it, &q->lanes, link) {
                if (!lane_is_candidate(it) || memory_fits(q, node, sg_lane_head(it)) ||
                    (lane && !lane_goes_before(it, lane)))
                        continue;
                note_unfit(q, node, sg_lane_head(it));
                any = true;
        }
        return any;
}

static struct sg_queue_entry *start_head(struct sg_queue *q, struct sg_lane *lane)
{
        struct sg_queue_entry *e = sg_lane_head(lane);

        sg_list_remove(&e->link);
        lane->n_waiting--;
        q->n_waiting--;
        lane->user->last_start = ++q->starts;
        sg_queue_account_running(q, e);
        return e;
}

struct sg_queue_entry *sg_queue_next(struct sg_queue *q, const struct sg_node_snapshot *node,
                                     uint64_t *ret_retry_usec)
{
        struct sg_lane *lane;
        bool memory_short;

        *ret_retry_usec = 0;
        if (q->n_waiting == 0 || q->n_running >= sg_queue_max_jobs(q, node->cpus))
                return NULL;
        lane = first_that_fits(q, node);
        memory_short = pass_unfit(q, node, lane);
        if (lane && (!memory_short || !node_is_kept(q, node, lane)))
                return start_head(q, lane);
        if (memory_short)
                *ret_retry_usec = node->now_usec + RETRY_USEC;
        return NULL;
}

/* Why not */

static void explain_caps(const struct sg_queue *q, const struct sg_lane *lane,
                         const struct sg_node_snapshot *node, struct sg_pending_info *ret)
{
        const struct sg_queue_class *c = lane->class;

        if (q->n_running >= sg_queue_max_jobs(q, node->cpus)) {
                ret->why = SG_PENDING_NODE_FULL;
                ret->running = q->n_running;
                ret->max = sg_queue_max_jobs(q, node->cpus);
        } else if (c->running >= c->caps.max_jobs) {
                ret->why = SG_PENDING_CLASS_FULL;
                ret->running = c->running;
                ret->max = c->caps.max_jobs;
        } else if (lane->running >= c->caps.max_jobs_per_user) {
                ret->why = SG_PENDING_CLASS_USER_FULL;
                ret->running = lane->running;
                ret->max = c->caps.max_jobs_per_user;
        }
}

/* lane: e's, or one that it would be the head of; ahead: how many of its lane go before it. */
static void explain(const struct sg_queue *q, const struct sg_lane *lane,
                    const struct sg_queue_entry *e, uint64_t ahead,
                    const struct sg_node_snapshot *node, struct sg_pending_info *ret)
{
        *ret = (struct sg_pending_info){.why = SG_PENDING_NONE};
        explain_caps(q, lane, node, ret);
        if (!memory_fits(q, node, e) && ret->why == SG_PENDING_NONE) {
                ret->why = SG_PENDING_MEMORY;
                ret->need = e->memory == SG_UNLIMITED ? 0 : e->memory;
                ret->free = memory_free(q, node);
        } else if (ahead > 0) {
                ret->why = SG_PENDING_TURN;
                ret->ahead = ahead;
        } else if (ret->why == SG_PENDING_NONE && node_is_kept(q, node, lane)) {
                ret->why = SG_PENDING_KEPT;
        }
}

static void number(struct sg_lane *lane)
{
        struct sg_queue_entry *it;
        uint64_t place = 0;

        sg_list_foreach (it, &lane->waiting, link)
                it->place = place++;
        lane->numbered = true;
}

static uint64_t count_ahead(const struct sg_queue_entry *e)
{
        if (!e->lane->numbered)
                number(e->lane);
        return e->place - sg_lane_head(e->lane)->place;
}

/* For one that isn't in the lane. */
static uint64_t count_before(const struct sg_lane *lane, const struct sg_queue_entry *e)
{
        struct sg_queue_entry *it;
        uint64_t n = 0;

        sg_list_foreach (it, &lane->waiting, link) {
                if (!sg_queue_entry_before(lane->class->caps.order, it, e))
                        break;
                n++;
        }
        return n;
}

void sg_queue_explain(const struct sg_queue *q, const struct sg_queue_entry *e,
                      const struct sg_node_snapshot *node, struct sg_pending_info *ret)
{
        if (e->lane && !e->running)
                explain(q, e->lane, e, count_ahead(e), node, ret);
        else
                *ret = (struct sg_pending_info){.why = SG_PENDING_NONE};
}

void sg_queue_would_start(const struct sg_queue *q, const struct sg_job *j,
                          const struct sg_node_snapshot *node, struct sg_pending_info *ret)
{
        struct sg_queue_entry e = {
                .n = UINT64_MAX,
                .priority = j->priority,
                .memory = j->limits.memory_max,
        };
        struct sg_queue_user user = {.uid = j->uid, .joined = UINT64_MAX};
        struct sg_queue_class class = {.caps = q->fallback};
        const struct sg_lane *existing = sg_queue_find_lane(q, j->class, j->uid);
        struct sg_lane lane = {
                .user = sg_queue_find_user(q, j->uid) ?: &user,
                .class = sg_queue_find_class(q, j->class) ?: &class,
                .running = existing ? existing->running : 0,
                .n_waiting = 1,
        };

        sg_list_init(&lane.waiting);
        sg_list_append(&lane.waiting, &e.link);
        explain(q, &lane, &e, existing ? count_before(existing, &e) : 0, node, ret);
}
