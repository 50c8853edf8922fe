/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The queue's decisions: which lane has its turn, who fits, and why an entry waits.
 *
 * Lanes are in one total order at any time (user by user, then by their heads). A pass starts the
 * first head that fits; a head before it that doesn't fit is passed, or keeps the node.
 */
#include "core/queue/decide-internal.h"
#include <string.h>

#define RETRY_USEC 1000000ULL
/* How far behind a head that doesn't fit one is looked for that may pass it. */
#define BACKFILL_DEPTH 64U

/* With nothing running it is not jobs that hold what it lacks: patience begins anew, so that the
 * node doesn't stand idle for what may never be given back. Not for GPUs: those of a job that has
 * just ended are on their way back, and for what no job gives back none are kept. */
static void note_unfit(const struct sg_queue *q, const struct sg_node_snapshot *node,
                       struct sg_queue_entry *e)
{
        if (e->unfit_since_usec > 0 && (q->n_running > 0 || e->lane->reserved.lacks_gpus))
                return;
        e->unfit_since_usec = node->now_usec;
        e->unfit_since_start = q->starts;
}

/* Turns */

/* Whether e, of this lane, needs no slot or would get one. */
static bool has_slot(const struct sg_queue *q, const struct sg_node_snapshot *node,
                     const struct sg_lane *lane, const struct sg_queue_entry *e)
{
        uint64_t taken = e->at_once ? lane->user->n_at_once : sg_lane_slots_taken(q, lane);

        return taken < sg_queue_slots(q, node->cpus);
}

/* For e, of this lane. */
static bool class_has_room(const struct sg_node_snapshot *node, const struct sg_lane *lane,
                           const struct sg_queue_entry *e)
{
        const struct sg_queue_caps *caps = &lane->class->caps;

        return sg_lane_class_running(lane) < caps->max_jobs &&
               sg_lane_running(lane) < caps->max_jobs_per_user &&
               sg_lane_allows_gpus(node, lane, e);
}

static int64_t lane_priority(const struct sg_lane *lane)
{
        return sg_order_policies[lane->class->caps.order]->by_priority
                       ? sg_lane_head(lane)->priority
                       : 0;
}

/* Whoever has waited for GPUs beyond patience is before all who want some, the longest first. */
static bool waits_longer(const struct sg_node_snapshot *node, const struct sg_lane *a,
                         const struct sg_lane *b, bool *ret)
{
        const struct sg_queue_entry *x = sg_lane_head(a), *y = sg_lane_head(b);
        bool x_waits, y_waits;

        if (!a->gpus || !b->gpus)
                return false;
        x_waits = a->n_waiting > 0 && !sg_queue_is_patient(node, x);
        y_waits = b->n_waiting > 0 && !sg_queue_is_patient(node, y);
        if (!x_waits && !y_waits)
                return false;
        *ret = x_waits != y_waits ? x_waits
               : x->unfit_since_usec != y->unfit_since_usec
                       ? x->unfit_since_usec < y->unfit_since_usec
                       : x->n < y->n;
        return true;
}

/* Fewest slots, longest without a start, first come; among those who want GPUs before all that the
 * fewest of these. Within a user what is to start at once, then priority, then age. */
bool sg_lane_goes_before(const struct sg_node_snapshot *node, const struct sg_lane *a,
                         const struct sg_lane *b)
{
        bool before;

        if (waits_longer(node, a, b, &before))
                return before;
        if (a->user == b->user) {
                if (sg_lane_head(a)->at_once != sg_lane_head(b)->at_once)
                        return sg_lane_head(a)->at_once;
                if (lane_priority(a) != lane_priority(b))
                        return lane_priority(a) > lane_priority(b);
                return sg_lane_head(a)->n < sg_lane_head(b)->n;
        }
        if (a->gpus && b->gpus && a->user->gpu_hundredths != b->user->gpu_hundredths)
                return a->user->gpu_hundredths < b->user->gpu_hundredths;
        if (a->user->slots != b->user->slots)
                return a->user->slots < b->user->slots;
        if (a->user->last_start != b->user->last_start)
                return a->user->last_start < b->user->last_start;
        return a->user->joined < b->user->joined;
}

static bool lane_is_candidate(const struct sg_queue *q, const struct sg_node_snapshot *node,
                              const struct sg_lane *lane)
{
        return lane->n_waiting > 0 && class_has_room(node, lane, sg_lane_head(lane)) &&
               has_slot(q, node, lane, sg_lane_head(lane));
}

bool sg_lane_is_short(const struct sg_queue *q, const struct sg_node_snapshot *node,
                      const struct sg_lane *lane)
{
        return lane_is_candidate(q, node, lane) && !sg_queue_fits(q, node, sg_lane_head(lane));
}

/* For each head that doesn't fit; whether there is any. */
static bool reserve(const struct sg_queue *q, const struct sg_node_snapshot *node)
{
        struct sg_lane *lane;
        bool any = false;

        sg_list_foreach (lane, &q->lanes, link)
                if (sg_lane_is_short(q, node, lane)) {
                        sg_lane_reserve(q, node, lane);
                        any = true;
                }
        return any;
}

/* Whether all heads that have their turn before `lane`, to which e belongs, let it pass. */
static bool may_pass(const struct sg_queue *q, const struct sg_node_snapshot *node,
                     const struct sg_lane *lane, const struct sg_queue_entry *e)
{
        struct sg_lane *it;

        if (e->gpu && !sg_queue_leaves_gpus(q, node, lane, e, NULL))
                return false;
        if (e->at_once)
                return true;
        sg_list_foreach (it, &q->lanes, link)
                if ((!sg_lane_is_own(it, lane) || it->gpus != lane->gpus) &&
                    sg_lane_is_short(q, node, it) && sg_lane_goes_before(node, it, lane) &&
                    !sg_lane_lets_pass(q, node, it, lane, e))
                        return false;
        return true;
}

/* Whether e can start though its lane's head, which doesn't fit, is before it. */
static bool may_pass_head(const struct sg_queue *q, const struct sg_node_snapshot *node,
                          const struct sg_lane *lane, const struct sg_queue_entry *e)
{
        return sg_lane_is_short(q, node, lane) && has_slot(q, node, lane, e) &&
               class_has_room(node, lane, e) && sg_queue_fits(q, node, e) &&
               (e->at_once || sg_lane_lets_pass(q, node, lane, lane, e));
}

/* What of the lane would start now if nothing else did; NULL: nothing. */
static struct sg_queue_entry *startable(const struct sg_queue *q,
                                        const struct sg_node_snapshot *node,
                                        const struct sg_lane *lane, bool any_short)
{
        struct sg_queue_entry *e;
        unsigned depth = 0;

        if (sg_queue_fits(q, node, sg_lane_head(lane))) {
                e = sg_lane_head(lane);
                return !any_short || may_pass(q, node, lane, e) ? e : NULL;
        }
        sg_list_foreach (e, &lane->waiting, link) {
                if (depth++ == BACKFILL_DEPTH)
                        break;
                if (depth > 1 && may_pass_head(q, node, lane, e) && may_pass(q, node, lane, e))
                        return e;
        }
        return NULL;
}

/* Of all lanes with or without GPUs the one whose turn it is. */
static struct sg_queue_entry *choose_of(const struct sg_queue *q,
                                        const struct sg_node_snapshot *node, bool any_short,
                                        bool gpus)
{
        struct sg_queue_entry *best = NULL, *e;
        struct sg_lane *lane;

        sg_list_foreach (lane, &q->lanes, link) {
                if (lane->gpus != gpus || !lane_is_candidate(q, node, lane) ||
                    (best && !sg_lane_goes_before(node, lane, best->lane)))
                        continue;
                e = startable(q, node, lane, any_short);
                if (e)
                        best = e;
        }
        return best;
}

/* Lanes with GPUs go by other figures among themselves than beside those without: only two that are
 * the first of their kind have an order that doesn't depend on others. */
static struct sg_queue_entry *choose(const struct sg_queue *q, const struct sg_node_snapshot *node,
                                     bool any_short)
{
        struct sg_queue_entry *without = choose_of(q, node, any_short, false);
        struct sg_queue_entry *with = choose_of(q, node, any_short, true);

        if (!without || !with)
                return with ?: without;
        return sg_lane_goes_before(node, with->lane, without->lane) ? with : without;
}

/* Heads that have their turn before `e` (NULL: all) and don't fit. */
static void note_all_unfit(const struct sg_queue *q, const struct sg_node_snapshot *node,
                           const struct sg_queue_entry *e)
{
        struct sg_lane *it;

        sg_list_foreach (it, &q->lanes, link)
                if (sg_lane_is_short(q, node, it) &&
                    (!e || it == e->lane || sg_lane_goes_before(node, it, e->lane)))
                        note_unfit(q, node, sg_lane_head(it));
}

static bool may_be_passed(const struct sg_queue_entry *e)
{
        return !e->passed && e->lane->user->n_passed < SG_QUEUE_PASSED_MAX;
}

static void start(struct sg_queue *q, const struct sg_node_snapshot *node, struct sg_queue_entry *e)
{
        sg_queue_place_gpus(q, node, e);
        sg_lane_take(e);
        e->lane->n_waiting--;
        q->n_waiting--;
        e->lane->user->last_start = e->start = ++q->starts;
        e->started_usec = node->now_usec;
        sg_queue_account_running(q, e);
}

/* When one that takes a slot may be found idle. One that was never looked at begins its minute at
 * the earliest now. */
static uint64_t next_idle(const struct sg_queue *q, const struct sg_node_snapshot *node)
{
        uint64_t next = node->now_usec + SG_IDLE_WINDOW_USEC;
        const struct sg_queue_entry *e;

        sg_list_foreach (e, &q->running, link)
                if (may_be_passed(e) && e->idle_usec < next)
                        next = e->idle_usec;
        return next;
}

static bool any_lacks_slot(const struct sg_queue *q, const struct sg_node_snapshot *node)
{
        const struct sg_lane *lane;

        sg_list_foreach (lane, &q->lanes, link)
                if (lane->n_waiting > 0 && !has_slot(q, node, lane, sg_lane_head(lane)))
                        return true;
        return false;
}

/* When to look again, as nothing can start now. */
static uint64_t retry_at(const struct sg_queue *q, const struct sg_node_snapshot *node,
                         bool any_short)
{
        uint64_t soon = node->now_usec + RETRY_USEC, idle;

        if (any_short)
                return soon;
        if (!any_lacks_slot(q, node))
                return 0;
        idle = next_idle(q, node);
        return idle > soon ? idle : soon;
}

struct sg_queue_entry *sg_queue_next(struct sg_queue *q, const struct sg_node_snapshot *node,
                                     uint64_t *ret_retry_usec)
{
        struct sg_queue_entry *e;
        bool any_short;

        *ret_retry_usec = 0;
        if (q->n_waiting == 0)
                return NULL;
        any_short = reserve(q, node);
        e = choose(q, node, any_short);
        if (any_short)
                note_all_unfit(q, node, e);
        if (e)
                start(q, node, e);
        else
                *ret_retry_usec = retry_at(q, node, any_short);
        return e;
}

const struct sg_gpu_choice *sg_queue_choice(const struct sg_queue *q)
{
        return &q->choice;
}

/* Why not */

/* Those that take slots and will be passed soon. */
static void explain_slots(const struct sg_queue *q, const struct sg_node_snapshot *node,
                          struct sg_pending_info *ret)
{
        const struct sg_queue_entry *e;

        ret->first_usec = SG_UNLIMITED;
        sg_list_foreach (e, &q->running, link) {
                uint64_t in;

                if (!e->quiet || !may_be_passed(e))
                        continue;
                in = e->idle_usec > node->now_usec ? e->idle_usec - node->now_usec : 0;
                ret->quiet++;
                if (in < ret->first_usec)
                        ret->first_usec = in;
                if (in > ret->last_usec)
                        ret->last_usec = in;
        }
}

static void full(struct sg_pending_info *ret, enum sg_pending why, uint64_t running, uint64_t max)
{
        ret->why = why;
        ret->running = running;
        ret->max = max;
}

static void explain_room(const struct sg_queue *q, const struct sg_lane *lane,
                         const struct sg_queue_entry *e, const struct sg_node_snapshot *node,
                         struct sg_pending_info *ret)
{
        const struct sg_queue_caps *caps = &lane->class->caps;
        uint64_t slots = sg_queue_slots(q, node->cpus);

        if (!has_slot(q, node, lane, e) && e->at_once) {
                full(ret, SG_PENDING_USER_FULL, lane->user->n_at_once, slots);
        } else if (!has_slot(q, node, lane, e)) {
                full(ret, SG_PENDING_NODE_FULL, sg_lane_slots_taken(q, lane), slots);
                explain_slots(q, node, ret);
        } else if (sg_lane_class_running(lane) >= caps->max_jobs) {
                full(ret, SG_PENDING_CLASS_FULL, sg_lane_class_running(lane), caps->max_jobs);
                ret->class = lane->class->name;
        } else if (sg_lane_running(lane) >= caps->max_jobs_per_user) {
                full(ret, SG_PENDING_CLASS_USER_FULL, sg_lane_running(lane),
                     caps->max_jobs_per_user);
                ret->class = lane->class->name;
        } else if (!sg_lane_allows_gpus(node, lane, e)) {
                full(ret, SG_PENDING_CLASS_USER_GPUS, sg_lane_gpus_held(lane),
                     caps->max_gpus_per_user);
                ret->class = lane->class->name;
        }
}

/* What it lacks of GPUs, and who may give it back. */
static void explain_gpus(const struct sg_queue *q, const struct sg_queue_entry *e,
                         const struct sg_node_snapshot *node, struct sg_pending_info *ret)
{
        struct sg_reservation r = {.at_usec = SG_UNLIMITED};

        ret->gpu = e->gpu;
        if (node->gpus)
                (void)sg_gpu_fits(node->gpus, e->gpu, &ret->lack);
        else
                ret->lack.kind = SG_GPU_LACK_UNKNOWN;
        sg_lane_reserve_gpus(q, node, e, &r);
        ret->until_n = r.until_n;
        ret->until_usec = r.until_n > 0 ? r.at_usec : 0;
}

static void explain_stocks(const struct sg_queue *q, const struct sg_queue_entry *e,
                           const struct sg_node_snapshot *node, struct sg_pending_info *ret)
{
        size_t k = 0;

        while (sg_stock_lasts(q, node, k, e))
                k++;
        ret->stock = &q->types[k];
        ret->need = e->need[k] == SG_UNLIMITED ? 0 : e->need[k];
        ret->free = sg_stock_left(q, node, k);
}

/* There is room, and what it takes is there: the cause is that of the head, if it is behind one. */
static void explain_turn(const struct sg_queue *q, const struct sg_lane *lane,
                         const struct sg_queue_entry *e, uint64_t ahead,
                         const struct sg_node_snapshot *node, struct sg_pending_info *ret)
{
        const struct sg_queue_entry *head = ahead > 0 ? sg_lane_head(lane) : e;

        (void)reserve(q, node);
        if (sg_queue_fits(q, node, head) && !may_pass(q, node, lane, head)) {
                ret->why = SG_PENDING_KEPT;
        } else if (ahead > 0 && (ahead >= BACKFILL_DEPTH || !may_pass_head(q, node, lane, e))) {
                ret->why = SG_PENDING_TURN;
                ret->ahead = ahead;
                ret->head = head->n;
                if (!sg_queue_has_gpus(q, node, head))
                        explain_gpus(q, head, node, ret);
                else if (!sg_queue_fits(q, node, head))
                        explain_stocks(q, head, node, ret);
        } else if (!may_pass(q, node, lane, e)) {
                ret->why = SG_PENDING_KEPT;
        }
}

/* lane: e's, or one that it would be the head of; ahead: how many of its lane go before it. */
static void explain(const struct sg_queue *q, const struct sg_lane *lane,
                    const struct sg_queue_entry *e, uint64_t ahead,
                    const struct sg_node_snapshot *node, struct sg_pending_info *ret)
{
        *ret = (struct sg_pending_info){.why = SG_PENDING_NONE};
        explain_room(q, lane, e, node, ret);
        if (ret->why != SG_PENDING_NONE)
                return;
        if (sg_queue_fits(q, node, e)) {
                explain_turn(q, lane, e, ahead, node, ret);
                return;
        }
        if (!sg_queue_has_gpus(q, node, e)) {
                ret->why = SG_PENDING_GPUS;
                explain_gpus(q, e, node, ret);
                return;
        }
        ret->why = SG_PENDING_SHORT;
        explain_stocks(q, e, node, ret);
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
                if (!sg_order_before(lane->class->caps.order, it, e))
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
                          const struct sg_class_history *h, const struct sg_node_snapshot *node,
                          struct sg_pending_info *ret)
{
        struct sg_queue_entry e = {.n = UINT64_MAX};
        struct sg_queue_user user = {.uid = j->uid, .joined = UINT64_MAX};
        struct sg_queue_class class = {.caps = q->fallback};
        const struct sg_lane *existing = sg_queue_find_lane(q, j->class, j->uid, j->gpu != NULL);
        struct sg_lane lane = {
                .user = sg_queue_find_user(q, j->uid) ?: &user,
                .class = sg_queue_find_class(q, j->class) ?: &class,
                .running = existing ? existing->running : 0,
                .aside = existing ? existing->aside : 0,
                .gpu_hundredths = existing ? existing->gpu_hundredths : 0,
                .n_waiting = 1,
                .gpus = j->gpu != NULL,
                .peer = sg_queue_find_lane(q, j->class, j->uid, j->gpu == NULL),
        };
        uint64_t ahead;

        sg_queue_describe(q, &e, j, h);
        sg_list_init(&lane.waiting);
        sg_list_append(&lane.waiting, &e.link);
        ahead = existing ? count_before(existing, &e) : 0;
        explain(q, ahead > 0 ? existing : &lane, &e, ahead, node, ret);
        if (ret->class)
                ret->class = j->class;
}
