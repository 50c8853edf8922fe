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
#include "core/queue-internal.h"

static bool is_limited(const struct sg_queue_entry *e)
{
        return e->limit_usec > 0 && e->limit_usec != SG_UNLIMITED;
}

/* When it ends at the latest; SG_UNLIMITED: nobody knows. */
static uint64_t end_of(const struct sg_queue_entry *e, uint64_t now)
{
        if (!is_limited(e))
                return SG_UNLIMITED;
        return e->started_usec + e->limit_usec > now ? e->started_usec + e->limit_usec : now;
}

/* Some time in the future. */
struct outlook {
        uint64_t at_usec;
        uint64_t taken; /* memory, of what is usable */
        uint64_t running, running_class, running_lane;
};

static void leave(struct outlook *o, const struct sg_queue_entry *e, const struct sg_lane *lane)
{
        uint64_t declared = sg_queue_declared(e);

        o->taken -= declared < o->taken ? declared : o->taken;
        o->running--;
        o->running_class -= e->lane->class == lane->class;
        o->running_lane -= e->lane == lane;
}

/* The next one that ends, and all that end with it. */
static void go_on(const struct sg_queue *q, const struct sg_lane *lane, uint64_t now,
                  struct outlook *o)
{
        uint64_t next = SG_UNLIMITED;
        const struct sg_queue_entry *e;

        sg_list_foreach (e, &q->running, link) {
                uint64_t end = end_of(e, now);

                if (end < next && end > o->at_usec)
                        next = end;
        }
        if (next != SG_UNLIMITED)
                sg_list_foreach (e, &q->running, link)
                        if (end_of(e, now) == next)
                                leave(o, e, lane);
        o->at_usec = next;
}

/* All have ended but those of which nobody knows when, and that have passed the head. */
static void look_far(const struct sg_queue *q, const struct sg_lane *lane, uint64_t now,
                     struct outlook *o)
{
        const struct sg_queue_entry *head = sg_lane_head(lane), *e;
        uint64_t since = head->unfit_since_usec > 0 ? head->unfit_since_start : q->starts;
        uint64_t stays = 0;

        sg_list_foreach (e, &q->running, link) {
                if (end_of(e, now) != SG_UNLIMITED)
                        continue;
                if (e->start > since)
                        stays += sg_queue_declared(e);
                else
                        leave(o, e, lane);
        }
        o->taken = stays;
}

/* What isn't declared and in use by others than jobs, as far as that can be known: any job that
 * doesn't declare its memory may be who uses it. */
static uint64_t foreign(const struct sg_queue *q, const struct sg_node_snapshot *node)
{
        const struct sg_queue_entry *e;

        sg_list_foreach (e, &q->running, link)
                if (e->memory == SG_UNLIMITED)
                        return 0;
        return sg_queue_memory_taken(q, node) - q->declared;
}

void sg_lane_reserve(const struct sg_queue *q, const struct sg_node_snapshot *node,
                     struct sg_lane *lane)
{
        const struct sg_queue_entry *head = sg_lane_head(lane);
        uint64_t usable = sg_queue_memory_usable(q, node), now = node->now_usec;
        uint64_t need = head->memory == SG_UNLIMITED ? 1 : head->memory;
        struct outlook o = {
                .at_usec = now > 0 ? now - 1 : 0,
                .taken = sg_queue_memory_taken(q, node),
                .running = q->n_running,
                .running_class = lane->class->running,
                .running_lane = lane->running,
        };

        while (o.at_usec != SG_UNLIMITED && (o.taken >= usable || usable - o.taken < need))
                go_on(q, lane, now, &o);
        if (o.at_usec == SG_UNLIMITED)
                look_far(q, lane, now, &o);
        lane->reserved = (struct sg_reservation){
                .at_usec = o.at_usec,
                .in_vain = need > usable || foreign(q, node) > usable - need,
                .memory = usable > o.taken && usable - o.taken > need ? usable - o.taken - need : 0,
                .node_slot = o.running + 2 <= sg_queue_max_jobs(q, node->cpus),
                .class_slot = o.running_class + 2 <= lane->class->caps.max_jobs,
                .user_slot = o.running_lane + 2 <= lane->class->caps.max_jobs_per_user,
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
        if (is_limited(e) && r->at_usec != SG_UNLIMITED &&
            node->now_usec + e->limit_usec <= r->at_usec)
                return true;
        if (!leaves_slots(lane, of))
                return false;
        if (e->memory != SG_UNLIMITED && !r->in_vain)
                return e->memory <= r->memory;
        return head->unfit_since_usec == 0 ||
               node->now_usec < head->unfit_since_usec + SG_QUEUE_PATIENCE_USEC;
}
