/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who may start before a head that waits for memory: who doesn't make it wait any longer. The head
 * can start once enough jobs have ended, at the latest by their time limits. Another may start if
 * it has ended by then, by its own limit; or if what it declares is left over even beside the head.
 * Where nobody can say when jobs end, what has started since the head waits is thought to stay for
 * ever, so that its turn comes.
 *
 * A job that doesn't declare its memory counts as it uses it, and nobody knows how much that will
 * be: it may pass for PATIENCE. So may any job while the end of jobs alone doesn't help the head.
 */
#include "core/queue/internal.h"

/* Some time in the future. */
struct outlook {
        uint64_t at_usec;
        uint64_t taken; /* memory, of what is usable */
        uint64_t running, running_class, running_lane;
};

static void leave(struct outlook *o, const struct sg_queue_entry *e, const struct sg_lane *lane)
{
        uint64_t declared = sg_queue_declared(e);
        bool counts = !e->aside || e->lane->user == lane->user;

        o->taken -= declared < o->taken ? declared : o->taken;
        o->running -= counts;
        o->running_class -= counts && e->lane->class == lane->class;
        o->running_lane -= e->lane == lane;
}

/* All have ended but those of which nobody knows when, and that have passed the head. */
static void look_far(const struct sg_queue *q, const struct sg_lane *lane, struct outlook *o)
{
        const struct sg_queue_entry *head = sg_lane_head(lane), *e;
        uint64_t since = head->unfit_since_usec > 0 ? head->unfit_since_start : q->starts;
        uint64_t stays = 0;

        sg_list_foreach (e, &q->running, link) {
                if (sg_queue_end_of(e) != SG_UNLIMITED)
                        continue;
                if (e->start > since)
                        stays += sg_queue_declared(e);
                else
                        leave(o, e, lane);
        }
        o->taken = stays;
        o->at_usec = SG_UNLIMITED;
}

/* Until `usable` holds `need` more. */
static void look_ahead(const struct sg_queue *q, const struct sg_lane *lane, uint64_t usable,
                       uint64_t need, struct outlook *o)
{
        const struct sg_queue_entry *e;

        sg_list_foreach (e, &q->running, link) {
                uint64_t end = sg_queue_end_of(e);

                if (end == SG_UNLIMITED)
                        break;
                if (end > o->at_usec && o->taken <= usable && usable - o->taken >= need)
                        return;
                leave(o, e, lane);
                if (end > o->at_usec)
                        o->at_usec = end;
        }
        if (o->taken > usable || usable - o->taken < need)
                look_far(q, lane, o);
}

/* What isn't declared and in use by others than jobs, as far as that can be known: any job that
 * doesn't declare its memory may be who uses it. */
static uint64_t foreign(const struct sg_queue *q, uint64_t taken)
{
        return q->n_undeclared > 0 ? 0 : taken - q->declared;
}

void sg_lane_reserve(const struct sg_queue *q, const struct sg_node_snapshot *node,
                     struct sg_lane *lane)
{
        const struct sg_queue_entry *head = sg_lane_head(lane);
        uint64_t usable = sg_queue_memory_usable(q, node), taken = sg_queue_memory_taken(q, node);
        uint64_t need = head->memory == SG_UNLIMITED ? 1 : head->memory;
        struct outlook o = {
                .at_usec = node->now_usec,
                .taken = taken,
                .running = sg_lane_node_running(q, lane),
                .running_class = sg_lane_class_running(lane),
                .running_lane = lane->running,
        };

        if (lane->reserved.changes == q->changes && lane->reserved.now_usec == node->now_usec &&
            lane->reserved.memory_taken == taken)
                return;
        look_ahead(q, lane, usable, need, &o);
        lane->reserved = (struct sg_reservation){
                .at_usec = o.at_usec,
                .in_vain = need > usable || foreign(q, taken) > usable - need,
                .memory = usable > o.taken && usable - o.taken > need ? usable - o.taken - need : 0,
                .node_slot = o.running + 2 <= sg_queue_max_jobs(q, node->cpus),
                .class_slot = o.running_class + 2 <= lane->class->caps.max_jobs,
                .user_slot = o.running_lane + 2 <= lane->class->caps.max_jobs_per_user,
                .changes = q->changes,
                .now_usec = node->now_usec,
                .memory_taken = taken,
        };
}

static bool leaves_slots(const struct sg_lane *lane, const struct sg_lane *of)
{
        const struct sg_reservation *r = &lane->reserved;

        return r->node_slot && (of->class != lane->class || r->class_slot) &&
               (of->class != lane->class || of->user != lane->user || r->user_slot);
}

bool sg_lane_lets_pass(const struct sg_queue *q, const struct sg_node_snapshot *node,
                       const struct sg_lane *lane, const struct sg_lane *of,
                       const struct sg_queue_entry *e)
{
        const struct sg_queue_entry *head = sg_lane_head(lane);
        const struct sg_reservation *r = &lane->reserved;

        if (q->n_running == 0 ||
            (head->memory != SG_UNLIMITED && head->memory > sg_queue_memory_usable(q, node)))
                return true; /* no end of a job will help it */
        if (!lane->class->caps.backfill)
                return false;
        if (e->limit_usec > 0 && r->at_usec != SG_UNLIMITED &&
            e->limit_usec <= r->at_usec - node->now_usec)
                return true;
        if (!leaves_slots(lane, of))
                return false;
        if (e->memory != SG_UNLIMITED && !r->in_vain)
                return e->memory <= r->memory;
        return head->unfit_since_usec == 0 ||
               node->now_usec < head->unfit_since_usec + SG_QUEUE_PATIENCE_USEC;
}
