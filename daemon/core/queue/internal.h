/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the queue's accounts (queue.c) and its decisions (next.c) share. */

#include "core/queue/order.h"
#include "core/queue/queue.h"

/* Users and classes are kept once seen: there are few, and a user who was forgotten between two
 * jobs would come back as one who has never had a turn. */
struct sg_queue_user {
        struct sg_list link;
        uint64_t uid;
        uint64_t joined;              /* counts up; the order of users who have never had a start */
        uint64_t slots, own_slots;    /* that its jobs take; of those: from itself alone */
        uint64_t n_at_once, n_passed; /* of what runs: started at once and takes a slot; passed */
        uint64_t last_start;          /* value of queue.starts; 0 = never */
        uint64_t gpu_hundredths;      /* that its jobs hold */
};

struct sg_queue_caps {
        uint64_t max_jobs, max_jobs_per_user, max_gpus_per_user;
        enum sg_order order;
        bool backfill;
};

struct sg_queue_class {
        struct sg_list link;
        char name[SG_CLASS_NAME_MAX];
        uint64_t running, aside;
        struct sg_queue_caps caps;
};

/* When a head that doesn't fit can start at the latest, as far as is known, and what others may
 * have besides it then. */
struct sg_reservation {
        uint64_t at_usec;             /* SG_UNLIMITED: nobody knows */
        uint64_t left[SG_STOCKS_MAX]; /* beside the head */
        bool in_vain;                 /* others than jobs use what it needs */
        bool node_slot;               /* one more may have a slot than the head … */
        bool class_slot;              /* … in its class … */
        bool user_slot;               /* … and of its user in it */
        /* Of GPUs: whether it lacks them, those that it will have, and by whose end. Never: no end
         * of a job helps it. */
        bool lacks_gpus, never;
        struct sg_gpu_choice kept;
        uint64_t until_n;
        /* For this state of the queue and the node. */
        uint64_t changes, gpu_changes, now_usec, taken[SG_STOCKS_MAX];
};

/* Made when first needed, dropped with its last entry. Those who want GPUs have another one than
 * the other jobs of their user in their class, its peer. */
struct sg_lane {
        struct sg_list link;
        struct sg_list waiting;
        struct sg_queue_user *user;
        struct sg_queue_class *class;
        uint64_t running, aside, n_waiting; /* aside: of those that run */
        uint64_t gpu_hundredths;            /* that those hold that run */
        bool gpus;
        struct sg_lane *peer; /* NULL: there is none */
        bool numbered;        /* so that a list of all jobs doesn't walk the lane for each */
        struct sg_reservation reserved; /* of its head, during a decision */
        /* Whether its head has its GPUs, in this state of the queue and of this pool. */
        struct {
                const struct sg_queue_entry *head;
                const struct sg_gpu_pool *pool;
                uint64_t changes, gpu_changes;
                bool has;
        } looked;
};

/* What is promised of a stock. */
struct sg_stock_account {
        uint64_t reserve_pm;   /* stays free */
        uint64_t declared;     /* Σ sg_queue_declared() of running entries */
        uint64_t n_undeclared; /* running entries that don't declare what they take of it */
};

struct sg_queue {
        const struct sg_stock_type *types; /* n_stocks of them */
        size_t n_stocks;
        struct sg_stock_account accounts[SG_STOCKS_MAX];
        struct sg_list users, classes, lanes;
        struct sg_list running; /* entries, by when they end at the latest */
        uint64_t n_users, n_waiting, n_running;
        uint64_t n_slots; /* that are taken from all users */
        uint64_t changes; /* counts up: what was worked out before holds no more */
        uint64_t starts;  /* counts up; orders users by their last start */
        uint64_t jobs_per_cpu, max_jobs;
        struct sg_gpu_choice choice;   /* of the last start */
        struct sg_queue_caps fallback; /* of a class that isn't configured: the default class's */
};

/* More than any node has, and too little for the sum of all that run to wrap around. */
#define SG_QUEUE_DECLARED_MAX (1ULL << 47)

/* What an entry counts for in the account of a stock. */
static inline uint64_t sg_queue_declared(const struct sg_queue_entry *e, size_t k)
{
        if (e->need[k] == SG_UNLIMITED)
                return 0;
        return e->need[k] < SG_QUEUE_DECLARED_MAX ? e->need[k] : SG_QUEUE_DECLARED_MAX;
}

/* What must be left of a stock for it to start: something, if it doesn't say how much. */
static inline uint64_t sg_queue_least(const struct sg_queue_entry *e, size_t k)
{
        return e->need[k] == SG_UNLIMITED ? 1 : e->need[k];
}

static inline struct sg_queue_entry *sg_lane_head(const struct sg_lane *lane)
{
        return sg_list_entry(lane->waiting.next, struct sg_queue_entry, link);
}

/* NULL: none such (yet). */
struct sg_queue_user *sg_queue_find_user(const struct sg_queue *q, uint64_t uid);
struct sg_queue_class *sg_queue_find_class(const struct sg_queue *q, const char *name);
struct sg_lane *sg_queue_find_lane(const struct sg_queue *q, const char *class, uint64_t uid,
                                   bool gpus);

/* Out of the lane's order. */
void sg_lane_take(struct sg_queue_entry *e);
/* When a running entry ends at the latest; SG_UNLIMITED: nobody knows. */
static inline uint64_t sg_queue_end_of(const struct sg_queue_entry *e)
{
        return e->limit_usec == 0 || e->limit_usec > SG_UNLIMITED - e->started_usec
                       ? SG_UNLIMITED
                       : e->started_usec + e->limit_usec;
}

/* Takes the head, or an entry that isn't queued, for a running one of its lane. */
void sg_queue_account_running(struct sg_queue *q, struct sg_queue_entry *e);
