/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GPUs of those that wait: whether one has them, when it will have them at the latest, and what is
 * kept for it until then.
 *
 * Jobs are thought to end by their time limits, one after the other, until the head fits: those
 * GPUs are kept for it from then on, and of what is free now as much as it needs beside the GPUs
 * that come. Who has ended by then may have them in between. Where time limits don't say when it
 * fits, nothing is kept before PATIENCE, and then all that is free of what it wants. For one that
 * wouldn't fit even if all jobs had ended (others use the GPUs, or they are drained) nothing is.
 */
#include "core/queue/decide-internal.h"

/* What the class allows */

/* In hundredths. */
static uint64_t still_allowed(const struct sg_lane *lane)
{
        uint64_t max = lane->class->caps.max_gpus_per_user, held = sg_lane_gpus_held(lane);

        if (max == SG_UNLIMITED)
                return SG_UNLIMITED;
        return max * SG_GPU_WHOLE > held ? max * SG_GPU_WHOLE - held : 0;
}

bool sg_lane_allows_gpus(const struct sg_node_snapshot *node, const struct sg_lane *lane,
                         const struct sg_queue_entry *e)
{
        uint64_t left = still_allowed(lane);

        return !e->gpu || left == SG_UNLIMITED ||
               sg_gpu_least_hundredths(node->gpus, e->gpu) <= left;
}

/* Whether the class will allow the head, which is of the same user, its own beside e's. */
static bool allows_both(const struct sg_node_snapshot *node, const struct sg_lane *lane,
                        const struct sg_queue_entry *e)
{
        uint64_t left = still_allowed(lane);

        return left == SG_UNLIMITED ||
               sg_gpu_least_hundredths(node->gpus, e->gpu) +
                               sg_gpu_least_hundredths(node->gpus, sg_lane_head(lane)->gpu) <=
                       left;
}

/* Now */

static bool has_gpus(const struct sg_node_snapshot *node, const struct sg_queue_entry *e)
{
        return node->gpus && sg_gpu_fits(node->gpus, e->gpu, NULL);
}

/* Heads are asked about for each lane that comes after theirs. */
bool sg_queue_has_gpus(const struct sg_queue *q, const struct sg_node_snapshot *node,
                       const struct sg_queue_entry *e)
{
        struct sg_lane *lane = e->lane;
        uint64_t changes = node->gpus ? node->gpus->changes : 0;

        if (!e->gpu)
                return true;
        if (!lane || e->running || sg_lane_head(lane) != e)
                return has_gpus(node, e);
        if (lane->looked.head != e || lane->looked.pool != node->gpus ||
            lane->looked.changes != q->changes || lane->looked.gpu_changes != changes) {
                lane->looked.head = e;
                lane->looked.pool = node->gpus;
                lane->looked.changes = q->changes;
                lane->looked.gpu_changes = changes;
                lane->looked.has = has_gpus(node, e);
        }
        return lane->looked.has;
}

bool sg_queue_is_patient(const struct sg_node_snapshot *node, const struct sg_queue_entry *e)
{
        return e->unfit_since_usec == 0 ||
               node->now_usec < e->unfit_since_usec + SG_QUEUE_PATIENCE_USEC;
}

/* Later */

/* Until it fits, or all have ended; whether it fits then. */
static bool look_ahead(const struct sg_queue *q, const struct sg_queue_entry *e,
                       struct sg_gpu_pool *pool, struct sg_reservation *r)
{
        const struct sg_queue_entry *it;

        sg_list_foreach (it, &q->running, link) {
                uint64_t end = sg_queue_end_of(it);

                if (!it->gpu)
                        continue;
                sg_gpu_pool_release(pool, it->n);
                if (end > r->at_usec)
                        r->at_usec = end;
                /* One look is enough for all whose end nobody knows. */
                if (end != SG_UNLIMITED && sg_gpu_fits(pool, e->gpu, NULL)) {
                        r->until_n = it->n;
                        return true;
                }
        }
        return sg_gpu_fits(pool, e->gpu, NULL);
}

void sg_lane_reserve_gpus(const struct sg_queue *q, const struct sg_node_snapshot *node,
                          const struct sg_queue_entry *e, struct sg_reservation *r)
{
        struct sg_gpu_pool then;

        r->lacks_gpus = !has_gpus(node, e);
        r->never = !node->gpus || !node->gpus->known;
        if (r->never)
                return;
        then = *node->gpus;
        if (r->lacks_gpus) {
                sg_gpu_pool_settle(&then);
                r->at_usec = node->now_usec;
                r->never = !look_ahead(q, e, &then, r);
        }
        r->never = r->never || !sg_gpu_keep(node->gpus, &then, e->gpu,
                                            !r->lacks_gpus || r->at_usec == SG_UNLIMITED, &r->kept);
}

/* Whether what is reserved for the head is kept from e, too. */
static bool is_kept(const struct sg_node_snapshot *node, const struct sg_lane *lane,
                    const struct sg_queue_entry *e)
{
        const struct sg_reservation *r = &lane->reserved;

        if (r->never)
                return false;
        if (!lane->class->caps.backfill)
                return true;
        if (sg_queue_ends_before(node, r, e))
                return false;
        return !r->lacks_gpus || r->at_usec != SG_UNLIMITED ||
               !sg_queue_is_patient(node, sg_lane_head(lane));
}

/* Without backfill nobody of its lane who wants one of the same GPUs goes before the head. */
static bool is_strict(const struct sg_node_snapshot *node, const struct sg_lane *lane,
                      const struct sg_queue_entry *e)
{
        return !lane->class->caps.backfill && sg_lane_head(lane) != e &&
               (sg_gpu_suited(node->gpus, sg_lane_head(lane)->gpu) &
                sg_gpu_suited(node->gpus, e->gpu)) != 0;
}

bool sg_queue_leaves_gpus(const struct sg_queue *q, const struct sg_node_snapshot *node,
                          const struct sg_lane *lane, const struct sg_queue_entry *e,
                          struct sg_gpu_pool *ret)
{
        struct sg_gpu_pool left;
        const struct sg_lane *it;

        if (!node->gpus)
                return false;
        left = *node->gpus;
        sg_list_foreach (it, &q->lanes, link) {
                if (!it->gpus || sg_lane_head(it) == e || !sg_lane_is_short(q, node, it) ||
                    (it != lane &&
                     (sg_lane_is_own(it, lane) || !sg_lane_goes_before(node, it, lane))))
                        continue;
                if (it == lane && is_strict(node, it, e))
                        return false;
                if (!is_kept(node, it, e))
                        continue;
                if (it == lane && !allows_both(node, it, e))
                        return false;
                sg_gpu_pool_take(&left, &it->reserved.kept);
        }
        if (ret)
                *ret = left;
        return sg_gpu_fits(&left, e->gpu, NULL);
}

/* As many as there are, and as its class allows. */
void sg_queue_place_gpus(struct sg_queue *q, const struct sg_node_snapshot *node,
                         struct sg_queue_entry *e)
{
        struct sg_gpu_request r; /* borrows */
        struct sg_gpu_pool left;
        uint64_t most;

        q->choice.n = 0;
        if (!e->gpu || !sg_queue_leaves_gpus(q, node, e->lane, e, &left))
                return;
        r = *e->gpu;
        most = still_allowed(e->lane) / SG_GPU_WHOLE;
        if (r.max > r.min && r.max > most)
                r.max = most;
        if (sg_gpu_place(&left, &r, &q->choice))
                e->gpu_hundredths = sg_gpu_choice_hundredths(&left, &q->choice);
}
