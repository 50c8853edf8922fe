/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who may start before a head that doesn't fit: who doesn't make it wait any longer. The head can
 * start once enough jobs have ended, at the latest by their time limits. Another may start if it
 * has ended by then, by its own limit; or if what it declares is left over even beside the head.
 * Where nobody can say when jobs end, what has started since the head waits is thought to stay for
 * ever, so that its turn comes.
 *
 * A job that doesn't declare what it takes counts as it uses it, and nobody knows how much that
 * will be: it may pass for PATIENCE. So may any job while the end of jobs alone doesn't help the
 * head.
 *
 * What a head lacks is what it waits for; GPUs are in gpus.c. A job that wants nothing of that is
 * never held up by it, and takes slots and other stocks as if the head weren't there.
 */
#include "core/queue/decide-internal.h"

/* Of a stock: what jobs may have in all, and what of it is taken. */
struct level {
        uint64_t usable, taken;
};

/* Some time in the future. */
struct outlook {
        uint64_t at_usec;
        struct level levels[SG_STOCKS_MAX];
        uint64_t slots, running_class, running_lane;
};

static uint64_t left_of(const struct level *l)
{
        return l->usable > l->taken ? l->usable - l->taken : 0;
}

static bool head_fits(const struct sg_queue *q, const struct sg_queue_entry *head,
                      const struct outlook *o)
{
        for (size_t k = 0; k < q->n_stocks; k++)
                if (left_of(&o->levels[k]) < sg_queue_least(head, k))
                        return false;
        return true;
}

static void leave(const struct sg_queue *q, const struct sg_lane *lane,
                  const struct sg_queue_entry *e, struct outlook *o)
{
        bool counts = !e->aside || e->lane->user == lane->user;

        for (size_t k = 0; k < q->n_stocks; k++) {
                uint64_t declared = sg_queue_declared(e, k), *taken = &o->levels[k].taken;

                *taken -= declared < *taken ? declared : *taken;
        }
        o->slots -= sg_queue_takes_slot(e, lane);
        o->running_class -= counts && e->lane->class == lane->class;
        o->running_lane -= sg_lane_is_own(e->lane, lane);
}

/* All have ended but those of which nobody knows when, and that have passed the head. */
static void look_far(const struct sg_queue *q, const struct sg_lane *lane, struct outlook *o)
{
        const struct sg_queue_entry *head = sg_lane_head(lane), *e;
        uint64_t since = head->unfit_since_usec > 0 ? head->unfit_since_start : q->starts;
        uint64_t stays[SG_STOCKS_MAX] = {0};

        sg_list_foreach (e, &q->running, link) {
                if (sg_queue_end_of(e) != SG_UNLIMITED)
                        continue;
                if (e->start <= since) {
                        leave(q, lane, e, o);
                        continue;
                }
                for (size_t k = 0; k < q->n_stocks; k++)
                        stays[k] += sg_queue_declared(e, k);
        }
        for (size_t k = 0; k < q->n_stocks; k++)
                o->levels[k].taken = stays[k];
        o->at_usec = SG_UNLIMITED;
}

/* Until the head fits. */
static void look_ahead(const struct sg_queue *q, const struct sg_lane *lane, struct outlook *o)
{
        const struct sg_queue_entry *head = sg_lane_head(lane), *e;

        sg_list_foreach (e, &q->running, link) {
                uint64_t end = sg_queue_end_of(e);

                if (end == SG_UNLIMITED)
                        break;
                if (end > o->at_usec && head_fits(q, head, o))
                        return;
                leave(q, lane, e, o);
                if (end > o->at_usec)
                        o->at_usec = end;
        }
        if (!head_fits(q, head, o))
                look_far(q, lane, o);
}

/* Whether others than jobs have so much of a stock that the head can't have what it needs. What
 * isn't declared is theirs as far as that can be known: any job that doesn't declare what it takes
 * may be who has it. */
static bool is_in_vain(const struct sg_queue *q, const struct sg_node_snapshot *node,
                       const struct sg_queue_entry *head, size_t k)
{
        const struct sg_stock_account *a = &q->accounts[k];
        uint64_t need = sg_queue_least(head, k), usable = sg_stock_usable(q, node, k);
        uint64_t foreign = a->n_undeclared > 0 ? 0 : sg_stock_taken(q, node, k) - a->declared;

        return need > 0 && (need > usable || foreign > usable - need);
}

/* At this moment. */
static struct outlook look(const struct sg_queue *q, const struct sg_node_snapshot *node,
                           const struct sg_lane *lane)
{
        struct outlook o = {
                .at_usec = node->now_usec,
                .slots = sg_lane_slots_taken(q, lane),
                .running_class = sg_lane_class_running(lane),
                .running_lane = sg_lane_running(lane),
        };

        for (size_t k = 0; k < q->n_stocks; k++)
                o.levels[k] = (struct level){
                        .usable = sg_stock_usable(q, node, k),
                        .taken = sg_stock_taken(q, node, k),
                };
        return o;
}

/* Whether what was reserved for the head is of this very state. */
static bool is_reserved(const struct sg_queue *q, const struct sg_node_snapshot *node,
                        const struct sg_reservation *r, const struct outlook *now)
{
        bool same = r->changes == q->changes && r->now_usec == node->now_usec &&
                    (!node->gpus || r->gpu_changes == node->gpus->changes);

        for (size_t k = 0; same && k < q->n_stocks; k++)
                same = r->taken[k] == now->levels[k].taken;
        return same;
}

static void reserve_stocks(const struct sg_queue *q, const struct sg_node_snapshot *node,
                           const struct sg_queue_entry *head, const struct outlook *o,
                           struct sg_reservation *r)
{
        for (size_t k = 0; k < q->n_stocks; k++) {
                uint64_t left = left_of(&o->levels[k]), need = sg_queue_least(head, k);

                r->left[k] = left > need ? left - need : 0;
                r->taken[k] = sg_stock_taken(q, node, k);
                r->in_vain = r->in_vain || is_in_vain(q, node, head, k);
        }
}

void sg_lane_reserve(const struct sg_queue *q, const struct sg_node_snapshot *node,
                     struct sg_lane *lane)
{
        struct outlook o = look(q, node, lane);

        if (is_reserved(q, node, &lane->reserved, &o))
                return;
        look_ahead(q, lane, &o);
        lane->reserved = (struct sg_reservation){
                .at_usec = o.at_usec,
                .node_slot =
                        sg_lane_head(lane)->at_once || o.slots + 2 <= sg_queue_slots(q, node->cpus),
                .class_slot = o.running_class + 2 <= lane->class->caps.max_jobs,
                .user_slot = o.running_lane + 2 <= lane->class->caps.max_jobs_per_user,
                .changes = q->changes,
                .gpu_changes = node->gpus ? node->gpus->changes : 0,
                .now_usec = node->now_usec,
        };
        reserve_stocks(q, node, sg_lane_head(lane), &o, &lane->reserved);
        if (lane->gpus)
                sg_lane_reserve_gpus(q, node, sg_lane_head(lane), &lane->reserved);
}

static bool leaves_slots(const struct sg_lane *lane, const struct sg_lane *of)
{
        const struct sg_reservation *r = &lane->reserved;

        return r->node_slot && (of->class != lane->class || r->class_slot) &&
               (of->class != lane->class || of->user != lane->user || r->user_slot);
}

/* Whether e wants of what the head waits for. */
static bool competes(const struct sg_queue *q, const struct sg_node_snapshot *node,
                     const struct sg_queue_entry *head, const struct sg_queue_entry *e)
{
        for (size_t k = 0; k < q->n_stocks; k++)
                if (e->need[k] > 0 && !sg_stock_lasts(q, node, k, head))
                        return true;
        return false;
}

/* Whether the end of a job may help the head. */
static bool can_ever_fit(const struct sg_queue *q, const struct sg_node_snapshot *node,
                         const struct sg_queue_entry *head)
{
        for (size_t k = 0; k < q->n_stocks; k++)
                if (head->need[k] != SG_UNLIMITED && head->need[k] > sg_stock_usable(q, node, k))
                        return false;
        return q->n_running > 0;
}

bool sg_queue_ends_before(const struct sg_node_snapshot *node, const struct sg_reservation *r,
                          const struct sg_queue_entry *e)
{
        return e->limit_usec > 0 && r->at_usec != SG_UNLIMITED &&
               e->limit_usec <= r->at_usec - node->now_usec;
}

/* Whether what e declares is left over beside the head. */
static bool fits_beside(const struct sg_queue *q, const struct sg_reservation *r,
                        const struct sg_queue_entry *e)
{
        for (size_t k = 0; k < q->n_stocks; k++)
                if (e->need[k] != SG_UNLIMITED && e->need[k] > r->left[k])
                        return false;
        return true;
}

static bool declares_all(const struct sg_queue *q, const struct sg_queue_entry *e)
{
        for (size_t k = 0; k < q->n_stocks; k++)
                if (e->need[k] == SG_UNLIMITED)
                        return false;
        return true;
}

bool sg_lane_lets_pass(const struct sg_queue *q, const struct sg_node_snapshot *node,
                       const struct sg_lane *lane, const struct sg_lane *of,
                       const struct sg_queue_entry *e)
{
        const struct sg_queue_entry *head = sg_lane_head(lane);
        const struct sg_reservation *r = &lane->reserved;
        bool backfill = lane->class->caps.backfill;

        if (r->lacks_gpus || !competes(q, node, head, e))
                return true;
        if (!backfill && of == lane)
                return false;
        if (!can_ever_fit(q, node, head))
                return true;
        if (!backfill)
                return false;
        if (sg_queue_ends_before(node, r, e))
                return true;
        if (!leaves_slots(lane, of) || (!r->in_vain && !fits_beside(q, r, e)))
                return false;
        if (!r->in_vain && declares_all(q, e))
                return true;
        return head->unfit_since_usec == 0 ||
               node->now_usec < head->unfit_since_usec + SG_QUEUE_PATIENCE_USEC;
}
