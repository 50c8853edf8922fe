/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The queue's accounts: lanes and what is in them, how many run of each user and class, and how
 * much of each stock is promised. Who is next is decided in next.c.
 */
#include "core/queue/internal.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

int sg_queue_new(struct sg_queue **ret, const struct sg_stock_type *types, size_t n)
{
        struct sg_queue *q = calloc(1, sizeof(*q));

        if (!q)
                return -ENOMEM;
        sg_list_init(&q->users);
        sg_list_init(&q->classes);
        sg_list_init(&q->lanes);
        sg_list_init(&q->running);
        assert(n <= SG_STOCKS_MAX);
        q->types = types;
        q->n_stocks = n;
        q->jobs_per_cpu = 4;
        q->max_jobs = SG_UNLIMITED;
        q->fallback = (struct sg_queue_caps){SG_UNLIMITED, SG_UNLIMITED, SG_UNLIMITED,
                                             SG_ORDER_PRIORITY, true};
        *ret = q;
        return 0;
}

struct sg_queue *sg_queue_free(struct sg_queue *q)
{
        struct sg_queue_user *u, *next_user;
        struct sg_queue_class *c, *next_class;

        if (!q)
                return NULL;
        assert(sg_list_empty(&q->lanes));
        sg_list_foreach_safe (u, next_user, &q->users, link)
                free(u);
        sg_list_foreach_safe (c, next_class, &q->classes, link)
                free(c);
        free(q);
        return NULL;
}

/* Users, classes, lanes */

struct sg_queue_user *sg_queue_find_user(const struct sg_queue *q, uint64_t uid)
{
        struct sg_queue_user *u;

        sg_list_foreach (u, &q->users, link)
                if (u->uid == uid)
                        return u;
        return NULL;
}

static struct sg_queue_user *user_get(struct sg_queue *q, uint64_t uid)
{
        struct sg_queue_user *u = sg_queue_find_user(q, uid);

        if (u)
                return u;
        u = calloc(1, sizeof(*u));
        if (!u)
                return NULL;
        u->uid = uid;
        u->joined = q->n_users++;
        sg_list_append(&q->users, &u->link);
        return u;
}

struct sg_queue_class *sg_queue_find_class(const struct sg_queue *q, const char *name)
{
        struct sg_queue_class *c;

        sg_list_foreach (c, &q->classes, link)
                if (strcmp(c->name, name) == 0)
                        return c;
        return NULL;
}

static struct sg_queue_class *class_get(struct sg_queue *q, const char *name)
{
        struct sg_queue_class *c = sg_queue_find_class(q, name);

        if (c)
                return c;
        c = calloc(1, sizeof(*c));
        if (!c)
                return NULL;
        strncpy(c->name, name, sizeof(c->name) - 1);
        c->caps = q->fallback;
        sg_list_append(&q->classes, &c->link);
        return c;
}

struct sg_lane *sg_queue_find_lane(const struct sg_queue *q, const char *class, uint64_t uid,
                                   bool gpus)
{
        struct sg_lane *lane;

        sg_list_foreach (lane, &q->lanes, link)
                if (lane->gpus == gpus && lane->user->uid == uid &&
                    strcmp(lane->class->name, class) == 0)
                        return lane;
        return NULL;
}

static struct sg_lane *lane_get(struct sg_queue *q, const char *class, uint64_t uid, bool gpus)
{
        struct sg_lane *lane = sg_queue_find_lane(q, class, uid, gpus);
        struct sg_queue_user *u;
        struct sg_queue_class *c;

        if (lane)
                return lane;
        c = class_get(q, class);
        u = user_get(q, uid);
        lane = c && u ? calloc(1, sizeof(*lane)) : NULL;
        if (!lane)
                return NULL;
        sg_list_init(&lane->waiting);
        lane->user = u;
        lane->class = c;
        lane->gpus = gpus;
        lane->peer = sg_queue_find_lane(q, class, uid, !gpus);
        if (lane->peer)
                lane->peer->peer = lane;
        sg_list_append(&q->lanes, &lane->link);
        return lane;
}

static void lane_release(struct sg_lane *lane)
{
        if (lane->running > 0 || lane->n_waiting > 0)
                return;
        if (lane->peer)
                lane->peer->peer = NULL;
        sg_list_remove(&lane->link);
        free(lane);
}

/* Entries */

/* From the tail: a new job nearly always belongs there. */
static void lane_insert(struct sg_lane *lane, struct sg_queue_entry *e)
{
        struct sg_list *after = lane->waiting.prev;

        while (after != &lane->waiting &&
               sg_order_before(lane->class->caps.order, e,
                               sg_list_entry(after, struct sg_queue_entry, link)))
                after = after->prev;
        if (after->next != &lane->waiting)
                lane->numbered = false;
        else if (after != &lane->waiting)
                e->place = sg_list_entry(after, struct sg_queue_entry, link)->place + 1;
        sg_list_insert_before(after->next, &e->link);
}

/* The others keep their distance to the head if it was at an end. */
void sg_lane_take(struct sg_queue_entry *e)
{
        struct sg_lane *lane = e->lane;

        if (e->link.prev != &lane->waiting && e->link.next != &lane->waiting)
                lane->numbered = false;
        sg_list_remove(&e->link);
}

/* From the tail: a new one often ends last. */
static void running_insert(struct sg_queue *q, struct sg_queue_entry *e)
{
        struct sg_list *after = q->running.prev;

        while (after != &q->running && sg_queue_end_of(sg_list_entry(after, struct sg_queue_entry,
                                                                     link)) > sg_queue_end_of(e))
                after = after->prev;
        sg_list_insert_before(after->next, &e->link);
        for (size_t k = 0; k < q->n_stocks; k++) {
                q->accounts[k].declared += sg_queue_declared(e, k);
                q->accounts[k].n_undeclared += e->need[k] == SG_UNLIMITED;
        }
        q->changes++;
}

static void running_take(struct sg_queue *q, struct sg_queue_entry *e)
{
        sg_list_remove(&e->link);
        for (size_t k = 0; k < q->n_stocks; k++) {
                q->accounts[k].declared -= sg_queue_declared(e, k);
                q->accounts[k].n_undeclared -= e->need[k] == SG_UNLIMITED;
        }
        q->changes++;
}

/* one: 1, or −1 to undo it. */
static void count_slot(struct sg_queue *q, const struct sg_queue_entry *e, int one)
{
        struct sg_queue_user *u = e->lane->user;
        uint64_t n = (uint64_t)one;

        if (e->passed) {
                u->n_passed += n;
                return;
        }
        u->slots += n;
        if (e->at_once)
                u->n_at_once += n;
        if (e->aside)
                u->own_slots += n;
        else
                q->n_slots += n;
}

void sg_queue_account_running(struct sg_queue *q, struct sg_queue_entry *e)
{
        e->running = true;
        e->lane->running++;
        e->lane->class->running++;
        e->lane->gpu_hundredths += e->gpu_hundredths;
        e->lane->user->gpu_hundredths += e->gpu_hundredths;
        q->n_running++;
        count_slot(q, e, 1);
        running_insert(q, e);
}

void sg_queue_set_aside(struct sg_queue *q, struct sg_queue_entry *e, bool aside)
{
        uint64_t one = aside ? 1 : (uint64_t)-1;

        if (!e->running || e->aside == aside)
                return;
        count_slot(q, e, -1);
        e->aside = aside;
        count_slot(q, e, 1);
        e->lane->aside += one;
        e->lane->class->aside += one;
        q->changes++;
}

bool sg_queue_set_use(struct sg_queue *q, struct sg_queue_entry *e, const struct sg_idle_view *use)
{
        bool passed;

        if (!e->running)
                return false;
        e->quiet = use->quiet;
        e->idle_usec = use->from_usec;
        passed = use->idle && (e->passed || e->lane->user->n_passed < SG_QUEUE_PASSED_MAX);
        if (e->passed == passed)
                return false;
        count_slot(q, e, -1);
        e->passed = passed;
        count_slot(q, e, 1);
        q->changes++;
        return passed;
}

/* What is expected of a job in CPU-seconds: what its class's jobs took, else all that its time
 * limit lets it use; 0 = nothing is known. h NULL: no history. */
static double size_of(const struct sg_job *j, const struct sg_class_history *h)
{
        double size = h ? sg_history_size(h, 0) : NAN;

        if (size > 0)
                return size;
        if (j->limits.time_limit_usec == SG_UNLIMITED)
                return 0;
        return (double)j->limits.time_limit_usec / 1e6 * (double)(j->limits.cpus ?: 1);
}

void sg_queue_describe(const struct sg_queue *q, struct sg_queue_entry *e, const struct sg_job *j,
                       const struct sg_class_history *h)
{
        e->at_once = j->foreground;
        e->gpu = j->gpu;
        e->priority = j->priority;
        for (size_t k = 0; k < q->n_stocks; k++)
                e->need[k] = q->types[k].need_of(j);
        e->size = size_of(j, h);
        e->used = j->cpu_usec == SG_UNLIMITED ? 0 : (double)j->cpu_usec / 1e6;
        e->deadline_usec = j->deadline_usec;
        e->limit_usec = j->limits.time_limit_usec == SG_UNLIMITED ? 0 : j->limits.time_limit_usec;
}

int sg_queue_add(struct sg_queue *q, struct sg_queue_entry *e, const char *class, uint64_t uid,
                 bool running)
{
        struct sg_lane *lane = lane_get(q, class, uid, e->gpu != NULL);

        if (!lane)
                return -ENOMEM;
        e->lane = lane;
        if (!running)
                e->gpu_hundredths = 0;
        e->running = e->aside = e->passed = e->quiet = false;
        e->idle_usec = SG_UNLIMITED;
        e->unfit_since_usec = e->start = 0;
        sg_list_init(&e->link);
        if (running) {
                sg_queue_account_running(q, e);
                return 0;
        }
        lane_insert(lane, e);
        lane->n_waiting++;
        q->n_waiting++;
        q->changes++;
        return 0;
}

void sg_queue_remove(struct sg_queue *q, struct sg_queue_entry *e)
{
        struct sg_lane *lane = e->lane;

        if (!lane)
                return;
        sg_queue_set_aside(q, e, false);
        if (e->running) {
                count_slot(q, e, -1);
                lane->running--;
                lane->class->running--;
                lane->gpu_hundredths -= e->gpu_hundredths;
                lane->user->gpu_hundredths -= e->gpu_hundredths;
                q->n_running--;
                running_take(q, e);
        } else {
                sg_lane_take(e);
                lane->n_waiting--;
                q->n_waiting--;
        }
        e->running = false;
        e->lane = NULL;
        q->changes++;
        lane_release(lane);
}

static void reorder(struct sg_queue_entry *e)
{
        sg_lane_take(e);
        lane_insert(e->lane, e);
}

void sg_queue_change(struct sg_queue *q, struct sg_queue_entry *e, int64_t priority,
                     const uint64_t need[SG_STOCKS_MAX])
{
        if (e->running)
                running_take(q, e);
        e->priority = priority;
        memcpy(e->need, need, sizeof(e->need));
        if (e->running)
                running_insert(q, e);
        else if (e->lane)
                reorder(e);
        q->changes++;
}

int sg_queue_set_gpus(struct sg_queue *q, struct sg_queue_entry *e,
                      const struct sg_gpu_request *gpu)
{
        struct sg_lane *from = e->lane, *to;

        if (from && !e->running && from->gpus != (gpu != NULL)) {
                to = lane_get(q, from->class->name, from->user->uid, gpu != NULL);
                if (!to)
                        return -ENOMEM;
                sg_lane_take(e);
                from->n_waiting--;
                e->lane = to;
                lane_insert(to, e);
                to->n_waiting++;
                lane_release(from);
        }
        e->gpu = gpu;
        q->changes++;
        return 0;
}

/* Configuration */

/* Takes the waiting entries of every lane of the class out and puts each where it now belongs. */
static void class_reorder(struct sg_queue *q, const struct sg_queue_class *c)
{
        struct sg_lane *lane;

        sg_list_foreach (lane, &q->lanes, link) {
                struct sg_list old;
                struct sg_queue_entry *e, *next;

                if (lane->class != c || sg_list_empty(&lane->waiting))
                        continue;
                old = lane->waiting;
                old.next->prev = old.prev->next = &old;
                sg_list_init(&lane->waiting);
                lane->numbered = false;
                sg_list_foreach_safe (e, next, &old, link) {
                        sg_list_remove(&e->link);
                        lane_insert(lane, e);
                }
        }
}

static void class_configure(struct sg_queue *q, struct sg_queue_class *c,
                            const struct sg_queue_caps *caps)
{
        bool other_order = c->caps.order != caps->order;

        c->caps = *caps;
        if (other_order)
                class_reorder(q, c);
}

static struct sg_queue_caps caps_of(const struct sg_class *c)
{
        return (struct sg_queue_caps){c->max_jobs, c->max_jobs_per_user, c->gpus.max_per_user,
                                      c->order, c->backfill};
}

int sg_queue_configure(struct sg_queue *q, const struct sg_settings *settings)
{
        struct sg_queue_class *c;

        for (size_t i = 0; i < settings->n_classes; i++)
                if (!class_get(q, settings->classes[i].name))
                        return -ENOMEM;
        q->jobs_per_cpu = settings->jobs_per_cpu;
        q->max_jobs = settings->max_jobs;
        for (size_t k = 0; k < q->n_stocks; k++)
                q->accounts[k].reserve_pm = q->types[k].reserve_pm(settings);
        q->fallback = caps_of(sg_settings_default(settings));
        q->changes++;
        sg_list_foreach (c, &q->classes, link) {
                struct sg_queue_caps caps =
                        caps_of(sg_settings_class_or_default(settings, c->name));

                class_configure(q, c, &caps);
        }
        return 0;
}

/* Figures */

uint64_t sg_queue_slots(const struct sg_queue *q, uint64_t cpus)
{
        return q->max_jobs != SG_UNLIMITED ? q->max_jobs : q->jobs_per_cpu * cpus;
}

uint64_t sg_queue_n_waiting(const struct sg_queue *q)
{
        return q->n_waiting;
}

uint64_t sg_queue_n_running(const struct sg_queue *q)
{
        return q->n_running;
}
