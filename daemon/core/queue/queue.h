/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The queue: which waiting job starts next, and why another doesn't yet.
 *
 * Jobs wait in lanes, one per (class, user), in the class's order. The next job is the head of a
 * lane of the user whose jobs take the fewest slots, then of the one whose last start is longest
 * ago: a thousand jobs of one user never hold up the single one of another. Within a user the
 * higher priority goes first, then the older job.
 *
 * A job that runs takes a slot, of which the node has a certain number. It is passed, and takes
 * none, while it is suspended or idle (idle.h). A job that is to start at once needs no slot: it
 * goes before all that its user has waiting and isn't kept back for what others wait for, but it
 * takes a slot, and no user has more of these than there are slots. Caps of classes count all that
 * run, and all GPUs that their jobs hold.
 *
 * Stocks (stock.h; memory is one): what is declared counts in full from start to end, what isn't
 * counts as it is used. A head that doesn't fit when it is its turn, but would once others have
 * ended, is passed only by jobs that don't make it wait longer (backfill.c), which may be jobs of
 * its own lane; of those that don't declare what they take nobody knows that, and they pass it for
 * PATIENCE. Who wants nothing of what a head lacks isn't held up by it.
 *
 * GPUs (core/gpu) are no stock: which ones a job gets matters. Who wants some waits in a lane of
 * its own beside that of its user's other jobs, and as long as it lacks them it keeps nothing else
 * from anybody. Of users who want GPUs the one who holds the fewest has the next turn. A head that
 * waits for them is passed by jobs that leave it those that it will have, or have ended by then, as
 * far as anybody can tell when that is; after PATIENCE the GPUs that are free are kept for it.
 *
 * Pure: no clock, no I/O. Entries are embedded in the caller's jobs and never owned.
 */

#include "base/list.h"
#include "core/gpu/place.h"
#include "core/job/history.h"
#include "core/job/job.h"
#include "core/measure/node.h"
#include "core/queue/idle.h"
#include "core/queue/stock.h"
#include "core/settings/settings.h"

#define SG_QUEUE_PATIENCE_USEC (10ULL * 60 * 1000000)
/* Of one user: what runs costs memory and descriptors, however idle it is. */
#define SG_QUEUE_PASSED_MAX 256U

struct sg_queue;
struct sg_lane;

struct sg_queue_entry {
        struct sg_list link; /* in its lane while it waits */
        struct sg_lane *lane;
        uint64_t place; /* counts up along its lane, where lane->numbered */
        uint64_t n;
        int64_t priority;
        uint64_t need[SG_STOCKS_MAX]; /* as sg_stock_type.need_of() says it */
        /* What some orders and backfill go by; 0 = not known, none. */
        double size, used; /* CPU-seconds: expected in all; of those, used by attempts before */
        uint64_t deadline_usec;           /* of the real time */
        uint64_t limit_usec;              /* it runs no longer than that */
        const struct sg_gpu_request *gpu; /* NULL: it wants none; borrowed while it is queued */
        uint64_t gpu_hundredths;          /* that it holds; by the caller, if it runs already */
        bool at_once;                     /* here and now: it needs no slot */
        bool running;
        bool aside;            /* it counts for its own user alone */
        bool passed;           /* it takes no slot */
        bool quiet;            /* it will be passed, if it goes on like that, … */
        uint64_t idle_usec;    /* … then, at the earliest; SG_UNLIMITED = not known */
        uint64_t started_usec; /* set by the queue; by the caller, if it runs already */
        uint64_t start;        /* which of the queue's starts it was; 0 = it ran already */
        /* When it was first its turn and didn't fit, 0 = never; and the last start before. */
        uint64_t unfit_since_usec, unfit_since_start;
};

enum sg_pending {
        SG_PENDING_NONE,      /* it would start now */
        SG_PENDING_NODE_FULL, /* all slots are taken */
        SG_PENDING_USER_FULL, /* its user has as many jobs that started at once */
        SG_PENDING_CLASS_FULL,
        SG_PENDING_CLASS_USER_FULL,
        SG_PENDING_CLASS_USER_GPUS, /* running: hundredths that its user holds there */
        SG_PENDING_SHORT,           /* of a stock */
        SG_PENDING_GPUS,
        SG_PENDING_TURN, /* one of its lane is before it, and not for any of these */
        SG_PENDING_KEPT, /* the node is kept for one that has waited longer than PATIENCE */
};

struct sg_pending_info {
        enum sg_pending why;
        uint64_t running, max; /* the counts behind *_FULL */
        /* NODE_FULL: those that will be passed, and in how long the first and the last of them */
        uint64_t quiet, first_usec, last_usec;
        uint64_t ahead; /* TURN: jobs of the same lane before it … */
        uint64_t head;  /* … and the n of the first of them */
        /* SHORT: the first stock that isn't enough; need 0 = undeclared, the reserve is used up.
         * TURN: the same of the first job of the lane; NULL = that isn't why it waits. */
        const struct sg_stock_type *stock;
        uint64_t need, free;
        /* GPUS: what it asks for and what is lacking; TURN: the same of the first job of the lane,
         * NULL = that isn't why it waits. And the job by whose end it fits at the latest; 0: none
         * says. */
        const struct sg_gpu_request *gpu;
        struct sg_gpu_lack lack;
        uint64_t until_n, until_usec;
        const char *class; /* CLASS_*: its name, the queue's or the job's */
};

/* types: sg_stock_types in all but tests; borrowed. n: at most SG_STOCKS_MAX. */
int sg_queue_new(struct sg_queue **ret, const struct sg_stock_type *types, size_t n);
struct sg_queue *sg_queue_free(struct sg_queue *q); /* must have no entries any more */
SG_DEFINE_CLEANUP(struct sg_queue *, sg_queue_free)

/* Caps per node and class, and orders; entries keep their lanes. A class that settings don't have
 * is treated as the default class. Call after each reload; -ENOMEM changes nothing. */
int sg_queue_configure(struct sg_queue *q, const struct sg_settings *settings);

/* Fills all that describes the job, but n. h: of its class, or NULL. */
void sg_queue_describe(const struct sg_queue *q, struct sg_queue_entry *e, const struct sg_job *j,
                       const struct sg_class_history *h);
/* What describes the entry is set by the caller. `running`: it already runs (recovery). -ENOMEM. */
int sg_queue_add(struct sg_queue *q, struct sg_queue_entry *e, const char *class, uint64_t uid,
                 bool running);
/* Whether it waits or runs; an entry that was never added is fine. */
void sg_queue_remove(struct sg_queue *q, struct sg_queue_entry *e);
/* A job's priority or what it needs of each stock has changed, or something of the entry that
 * orders go by, which the caller has set: its place and the accounts follow. */
void sg_queue_change(struct sg_queue *q, struct sg_queue_entry *e, int64_t priority,
                     const uint64_t need[SG_STOCKS_MAX]);

/* What a waiting entry asks for of GPUs is another thing now. -ENOMEM: it is as it was. */
int sg_queue_set_gpus(struct sg_queue *q, struct sg_queue_entry *e,
                      const struct sg_gpu_request *gpu);

/* A running entry whose program takes its time to begin has a place of its user's, and of nobody
 * else's: of the node and of its class. What it declares of stocks counts for all, as it may begin
 * at any time. */
void sg_queue_set_aside(struct sg_queue *q, struct sg_queue_entry *e, bool aside);

/* What is known of a running entry's use of the CPU; a suspended one is idle. Whether it has given
 * a slot back: another may start. */
bool sg_queue_set_use(struct sg_queue *q, struct sg_queue_entry *e, const struct sg_idle_view *use);

/* The entry to start now, marked as running; NULL if none can. *ret_retry_usec: when to look again
 * though nothing has happened (one doesn't fit, or has no slot and others may be idle by then), 0 =
 * not needed. */
struct sg_queue_entry *sg_queue_next(struct sg_queue *q, const struct sg_node_snapshot *node,
                                     uint64_t *ret_retry_usec);
/* The GPUs of the one that was started last (n 0: none), to be taken out of the pool before the
 * queue is asked for the next. */
const struct sg_gpu_choice *sg_queue_choice(const struct sg_queue *q);

/* Why a waiting entry waits. Once sg_queue_next() has given NULL for this node it is never NONE. */
void sg_queue_explain(const struct sg_queue *q, const struct sg_queue_entry *e,
                      const struct sg_node_snapshot *node, struct sg_pending_info *ret);
/* The same for a job that isn't in the queue, as if it were added now. h: of its class, or NULL. */
void sg_queue_would_start(const struct sg_queue *q, const struct sg_job *j,
                          const struct sg_class_history *h, const struct sg_node_snapshot *node,
                          struct sg_pending_info *ret);

uint64_t sg_queue_n_waiting(const struct sg_queue *q);
uint64_t sg_queue_n_running(const struct sg_queue *q);
uint64_t sg_queue_slots(const struct sg_queue *q, uint64_t cpus);
