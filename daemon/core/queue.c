/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/queue.h"
#include <errno.h>
#include <string.h>

struct user {
        struct sg_list link;
        uint64_t uid;
        uint64_t running;
        uint64_t last_start; /* value of queue.starts */
        uint64_t lanes;
};

struct class
{
        struct sg_list link;
        char name[SG_CLASS_NAME_MAX];
        uint64_t running, max_jobs, max_jobs_per_user;
        enum sg_order order;
        uint64_t lanes;
};

struct sg_lane {
        struct sg_list link;
        struct sg_list waiting;
        struct user *user;
        struct class *class;
        uint64_t running, n_waiting;
};

struct sg_queue {
        struct sg_list users, classes, lanes;
        uint64_t starts; /* counts up; orders users by their last start */
        uint64_t n_waiting, n_running;
        uint64_t declared; /* Σ declared memory of running entries */
        uint64_t jobs_per_cpu, max_jobs, memory_reserve_pm;
};

int sg_queue_new(struct sg_queue **ret)
{
        struct sg_queue *q = calloc(1, sizeof(*q));

        if (!q)
                return -ENOMEM;
        sg_list_init(&q->users);
        sg_list_init(&q->classes);
        sg_list_init(&q->lanes);
        q->jobs_per_cpu = 4;
        q->max_jobs = SG_UNLIMITED;
        q->memory_reserve_pm = 1000;
        *ret = q;
        return 0;
}

struct sg_queue *sg_queue_free(struct sg_queue *q)
{
        struct sg_lane *lane, *next_lane;
        struct user *u, *next_user;
        struct class *c, *next_class;

        if (!q)
                return NULL;
        sg_list_foreach_safe (lane, next_lane, &q->lanes, link)
                free(lane);
        sg_list_foreach_safe (u, next_user, &q->users, link)
                free(u);
        sg_list_foreach_safe (c, next_class, &q->classes, link)
                free(c);
        free(q);
        return NULL;
}

/* Lanes, made when first needed and dropped when empty */

static struct user *user_get(struct sg_queue *q, uint64_t uid)
{
        struct user *u;

        sg_list_foreach (u, &q->users, link)
                if (u->uid == uid)
                        return u;
        u = calloc(1, sizeof(*u));
        if (!u)
                return NULL;
        u->uid = uid;
        sg_list_append(&q->users, &u->link);
        return u;
}

static struct class *class_find(struct sg_queue *q, const char *name)
{
        struct class *c;

        sg_list_foreach (c, &q->classes, link)
                if (strcmp(c->name, name) == 0)
                        return c;
        return NULL;
}

static struct class *class_get(struct sg_queue *q, const char *name)
{
        struct class *c = class_find(q, name);

        if (c)
                return c;
        c = calloc(1, sizeof(*c));
        if (!c)
                return NULL;
        strncpy(c->name, name, sizeof(c->name) - 1);
        c->max_jobs = c->max_jobs_per_user = SG_UNLIMITED;
        sg_list_append(&q->classes, &c->link);
        return c;
}

static struct sg_lane *lane_find(struct sg_queue *q, const char *class, uint64_t uid)
{
        struct sg_lane *lane;

        sg_list_foreach (lane, &q->lanes, link)
                if (lane->user->uid == uid && strcmp(lane->class->name, class) == 0)
                        return lane;
        return NULL;
}

/* A user without lanes is forgotten; classes are few and stay. */
static void user_release(struct user *u)
{
        if (u->lanes > 0)
                return;
        sg_list_remove(&u->link);
        free(u);
}

static struct sg_lane *lane_get(struct sg_queue *q, const char *class, uint64_t uid)
{
        struct sg_lane *lane = lane_find(q, class, uid);
        struct user *u;
        struct class *c;

        if (lane)
                return lane;
        c = class_get(q, class);
        u = user_get(q, uid);
        lane = c && u ? calloc(1, sizeof(*lane)) : NULL;
        if (!lane) {
                if (u)
                        user_release(u);
                return NULL;
        }
        sg_list_init(&lane->waiting);
        lane->user = u;
        lane->class = c;
        u->lanes++;
        c->lanes++;
        sg_list_append(&q->lanes, &lane->link);
        return lane;
}

static void lane_release(struct sg_lane *lane)
{
        if (lane->running > 0 || lane->n_waiting > 0)
                return;
        sg_list_remove(&lane->link);
        lane->class->lanes--;
        lane->user->lanes--;
        user_release(lane->user);
        free(lane);
}

/* Entries */

static bool goes_before(const struct sg_lane *lane, const struct sg_queue_entry *a,
                        const struct sg_queue_entry *b)
{
        if (lane->class->order == SG_ORDER_PRIORITY && a->priority != b->priority)
                return a->priority > b->priority;
        return a->n < b->n;
}

/* From the tail: a new job nearly always belongs there. */
static void lane_insert(struct sg_lane *lane, struct sg_queue_entry *e)
{
        struct sg_list *after = lane->waiting.prev;

        while (after != &lane->waiting &&
               goes_before(lane, e, sg_list_entry(after, struct sg_queue_entry, link)))
                after = after->prev;
        sg_list_insert_before(after->next, &e->link);
}

static void account_running(struct sg_queue *q, struct sg_queue_entry *e)
{
        e->running = true;
        e->lane->running++;
        e->lane->user->running++;
        e->lane->class->running++;
        q->n_running++;
        if (e->memory != SG_UNLIMITED)
                q->declared += e->memory;
}

int sg_queue_add(struct sg_queue *q, struct sg_queue_entry *e, const char *class, uint64_t uid,
                 bool running)
{
        struct sg_lane *lane = lane_get(q, class, uid);

        if (!lane)
                return -ENOMEM;
        e->lane = lane;
        e->running = false;
        e->unfit_since_usec = 0;
        sg_list_init(&e->link);
        if (running) {
                account_running(q, e);
                return 0;
        }
        lane_insert(lane, e);
        lane->n_waiting++;
        q->n_waiting++;
        return 0;
}

void sg_queue_remove(struct sg_queue *q, struct sg_queue_entry *e)
{
        struct sg_lane *lane = e->lane;

        if (!lane)
                return;
        if (e->running) {
                lane->running--;
                lane->user->running--;
                lane->class->running--;
                q->n_running--;
                if (e->memory != SG_UNLIMITED)
                        q->declared -= e->memory;
        } else {
                sg_list_remove(&e->link);
                lane->n_waiting--;
                q->n_waiting--;
        }
        e->running = false;
        e->lane = NULL;
        lane_release(lane);
}

static void reorder(struct sg_queue_entry *e)
{
        sg_list_remove(&e->link);
        lane_insert(e->lane, e);
}

void sg_queue_change(struct sg_queue *q, struct sg_queue_entry *e, int64_t priority,
                     uint64_t memory)
{
        if (e->running && e->memory != SG_UNLIMITED)
                q->declared -= e->memory;
        e->priority = priority;
        e->memory = memory;
        if (e->running && e->memory != SG_UNLIMITED)
                q->declared += e->memory;
        if (e->lane && !e->running)
                reorder(e);
}

/* As configured now: takes the waiting entries of every lane of the class out and puts each where
 * it belongs. */
static void class_set_order(struct sg_queue *q, struct class *c, enum sg_order order)
{
        struct sg_lane *lane;

        if (c->order == order)
                return;
        c->order = order;
        sg_list_foreach (lane, &q->lanes, link) {
                struct sg_list old;
                struct sg_queue_entry *e, *next;

                if (lane->class != c || sg_list_empty(&lane->waiting))
                        continue;
                old = lane->waiting;
                old.next->prev = old.prev->next = &old;
                sg_list_init(&lane->waiting);
                sg_list_foreach_safe (e, next, &old, link)
                        reorder(e);
        }
}

int sg_queue_configure(struct sg_queue *q, const struct sg_settings *settings)
{
        q->jobs_per_cpu = settings->jobs_per_cpu;
        q->max_jobs = settings->max_jobs;
        q->memory_reserve_pm = settings->memory_reserve_pm;
        for (size_t i = 0; i < settings->n_classes; i++) {
                const struct sg_class *from = &settings->classes[i];
                struct class *c = class_get(q, from->name);

                if (!c)
                        return -ENOMEM;
                c->max_jobs = from->max_jobs;
                c->max_jobs_per_user = from->max_jobs_per_user;
                class_set_order(q, c, from->order);
        }
        return 0;
}

/* Decisions */

uint64_t sg_queue_max_jobs(const struct sg_queue *q, uint64_t cpus)
{
        return q->max_jobs != SG_UNLIMITED ? q->max_jobs : q->jobs_per_cpu * cpus;
}

/* What a job could still be promised: everything but the reserve, less what is declared, less what
 * the rest uses. */
static uint64_t memory_free(const struct sg_queue *q, const struct sg_node_snapshot *node)
{
        uint64_t usable = node->memory_total - node->memory_total / 10000 * q->memory_reserve_pm;
        uint64_t used = node->memory_total - node->memory_available;
        uint64_t undeclared_used = used > node->declared_used ? used - node->declared_used : 0;
        uint64_t taken = q->declared + undeclared_used;

        return usable > taken ? usable - taken : 0;
}

static bool memory_fits(const struct sg_queue *q, const struct sg_node_snapshot *node,
                        uint64_t memory)
{
        uint64_t left = memory_free(q, node);

        return memory == SG_UNLIMITED ? left > 0 : memory <= left;
}

static bool class_has_room(const struct class *c, const struct sg_lane *lane)
{
        return c->running < c->max_jobs && (!lane || lane->running < c->max_jobs_per_user);
}

static struct sg_queue_entry *lane_head(const struct sg_lane *lane)
{
        return sg_list_entry(lane->waiting.next, struct sg_queue_entry, link);
}

/* Whether a's head goes before b's: fewest running, longest without a start, priority, age. */
static bool lane_goes_before(const struct sg_lane *a, const struct sg_lane *b)
{
        const struct sg_queue_entry *ea = lane_head(a), *eb = lane_head(b);

        if (a->user != b->user) {
                if (a->user->running != b->user->running)
                        return a->user->running < b->user->running;
                if (a->user->last_start != b->user->last_start)
                        return a->user->last_start < b->user->last_start;
        } else if (ea->priority != eb->priority && a->class->order == SG_ORDER_PRIORITY &&
                   b->class->order == SG_ORDER_PRIORITY)
                return ea->priority > eb->priority;
        return ea->n < eb->n;
}

/* The lane whose turn it is, leaving out those whose head does not fit into memory (before patience
 * is over). */
static struct sg_lane *pick_lane(struct sg_queue *q, const struct sg_node_snapshot *node,
                                 bool *ret_short)
{
        struct sg_lane *lane, *best = NULL;

        *ret_short = false;
        sg_list_foreach (lane, &q->lanes, link) {
                struct sg_queue_entry *e;

                if (lane->n_waiting == 0 || !class_has_room(lane->class, lane))
                        continue;
                e = lane_head(lane);
                if (!memory_fits(q, node, e->memory)) {
                        *ret_short = true;
                        if (e->unfit_since_usec == 0)
                                e->unfit_since_usec = node->now_usec;
                        if (node->now_usec - e->unfit_since_usec < SG_QUEUE_PATIENCE_USEC)
                                continue;
                        return NULL;
                }
                if (!best || lane_goes_before(lane, best))
                        best = lane;
        }
        return best;
}

struct sg_queue_entry *sg_queue_next(struct sg_queue *q, const struct sg_node_snapshot *node,
                                     uint64_t *ret_retry_usec)
{
        struct sg_queue_entry *e;
        struct sg_lane *lane;
        bool memory_short = false;

        *ret_retry_usec = 0;
        if (q->n_waiting == 0 || q->n_running >= sg_queue_max_jobs(q, node->cpus))
                return NULL;
        lane = pick_lane(q, node, &memory_short);
        if (!lane) {
                if (memory_short)
                        *ret_retry_usec = node->now_usec + 1000000;
                return NULL;
        }
        e = lane_head(lane);
        sg_list_remove(&e->link);
        lane->n_waiting--;
        q->n_waiting--;
        lane->user->last_start = ++q->starts;
        account_running(q, e);
        return e;
}

static void explain(struct sg_queue *q, const struct class *c, const struct sg_lane *lane,
                    uint64_t memory, const struct sg_node_snapshot *node,
                    struct sg_pending_info *ret)
{
        *ret = (struct sg_pending_info){.why = SG_PENDING_NONE};
        if (q->n_running >= sg_queue_max_jobs(q, node->cpus)) {
                ret->why = SG_PENDING_NODE_FULL;
                ret->running = q->n_running;
                ret->max = sg_queue_max_jobs(q, node->cpus);
        } else if (c && c->running >= c->max_jobs) {
                ret->why = SG_PENDING_CLASS_FULL;
                ret->running = c->running;
                ret->max = c->max_jobs;
        } else if (c && lane && lane->running >= c->max_jobs_per_user) {
                ret->why = SG_PENDING_CLASS_USER_FULL;
                ret->running = lane->running;
                ret->max = c->max_jobs_per_user;
        } else if (!memory_fits(q, node, memory)) {
                ret->why = SG_PENDING_MEMORY;
                ret->need = memory == SG_UNLIMITED ? 0 : memory;
                ret->free = memory_free(q, node);
        }
}

void sg_queue_explain(struct sg_queue *q, const struct sg_queue_entry *e,
                      const struct sg_node_snapshot *node, struct sg_pending_info *ret)
{
        struct sg_queue_entry *it;
        uint64_t ahead = 0;

        if (!e->lane || e->running) {
                *ret = (struct sg_pending_info){.why = SG_PENDING_NONE};
                return;
        }
        sg_list_foreach (it, &e->lane->waiting, link) {
                if (it == e)
                        break;
                ahead++;
        }
        explain(q, e->lane->class, e->lane, e->memory, node, ret);
        if (ahead > 0 && ret->why != SG_PENDING_MEMORY) {
                ret->why = SG_PENDING_TURN;
                ret->ahead = ahead;
        }
}

void sg_queue_would_start(struct sg_queue *q, const char *class, uint64_t uid, uint64_t memory,
                          const struct sg_node_snapshot *node, struct sg_pending_info *ret)
{
        struct sg_lane *lane = lane_find(q, class, uid);

        explain(q, class_find(q, class), lane, memory, node, ret);
        if (ret->why == SG_PENDING_NONE && lane && lane->n_waiting > 0) {
                ret->why = SG_PENDING_TURN;
                ret->ahead = lane->n_waiting;
        }
}

uint64_t sg_queue_n_waiting(const struct sg_queue *q)
{
        return q->n_waiting;
}

uint64_t sg_queue_n_running(const struct sg_queue *q)
{
        return q->n_running;
}
