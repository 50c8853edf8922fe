/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Which GPUs a job gets, and why it gets none yet.
 *
 * A pool says what is left of each GPU, in the order of its inventory, which is that of bus ids:
 * where all else is equal the first one is taken, so that the same pool gives the same GPUs
 * everywhere. A pool is a plain value, and who wants to know what would be free if others had ended
 * makes a copy and releases them in it. account.h has the one that is true.
 *
 *   whole GPUs   of all sets of free GPUs of one type: the least largest distance, then the least
 *                sum of distances, the fewest broken pairs (one taken, its nearest neighbour left
 *                free), the least memory
 *   a part       of the shared GPU with the least memory left over; else of a free one, preferably
 *                one whose neighbour is taken
 *   MIG          the smallest instance that is large enough; of several the one on the GPU with the
 *                fewest free instances. None is ever made or split
 *   named GPUs   these, in this order, or none
 *
 * Pure: no clock, no I/O, no memory of its own.
 */

#include "core/gpu/gpus.h"
#include "core/job/gpu-request.h"

#define SG_GPU_NONE UINT8_MAX /* no GPU, no instance */

/* What a job has of one GPU. */
struct sg_gpu_hold {
        uint64_t job;
        uint8_t gpu;       /* its place in the inventory */
        uint8_t instance;  /* its place there, or NONE */
        uint8_t share;     /* hundredths; 0: it was never given it, but uses it (an adopted job) */
        uint64_t declared; /* memory; 0 = it doesn't say */
        uint64_t used;     /* memory; UNKNOWN */
        uint64_t promised; /* of the GPU's memory: the greater of these */
};

/* What is left of one GPU. */
struct sg_gpu_room {
        bool closed;   /* nobody gets anything of it now: it isn't in order, or isn't known */
        bool leaving;  /* … only because a job that has ended isn't quite gone: soon again */
        bool excluded; /* nobody ever does */
        bool foreign;  /* somebody else's process is on it: it isn't whole */
        uint8_t users; /* jobs that use it and weren't given it */
        uint8_t type;  /* equal for GPUs of one name */
        uint8_t pair;  /* its nearest neighbour, whose nearest it is; or NONE */
        uint16_t
                instances; /* of MIG: a bit for each that is held or isn't free for other reasons */
        uint32_t hundredths; /* that are given out */
        uint64_t usable;     /* memory that jobs may have in all; UNKNOWN */
        uint64_t left;       /* of that: not promised; UNKNOWN */
};

struct sg_gpu_pool {
        const struct sg_gpu_inventory *inventory; /* borrowed; NULL: there never was one */
        uint64_t changes;                         /* counts up with whatever is changed in it */
        bool known;                               /* else nobody can say what is free now */
        const struct sg_gpu_hold *holds;          /* borrowed; by job, then GPU */
        size_t n_holds;
        /* That the driver doesn't list any more, and nobody has excluded: they may come back.
         * Borrowed. */
        const struct sg_gpu *const *gone;
        size_t n_gone;
        struct sg_gpu_room rooms[SG_GPUS_MAX];
};

struct sg_gpu_choice {
        size_t n;
        uint8_t gpus[SG_GPUS_MAX]; /* by bus id, or as they were asked for */
        uint8_t instance;          /* of gpus[0], or NONE */
        uint8_t share;             /* of each */
        uint64_t memory_bytes;     /* promised of each; 0 = it doesn't say */
};

/* In its best state: all is there and in order, nobody holds any of it. inventory: or NULL. */
void sg_gpu_pool_init(struct sg_gpu_pool *ret, const struct sg_gpu_inventory *inventory);
void sg_gpu_pool_take(struct sg_gpu_pool *pool, const struct sg_gpu_choice *choice);
/* As if the job had ended. Once for each job. */
void sg_gpu_pool_release(struct sg_gpu_pool *pool, uint64_t job);
/* As if what is leaving had left. */
void sg_gpu_pool_settle(struct sg_gpu_pool *pool);
/* 1/10000 of the free memory that isn't on wholly free GPUs; UNKNOWN. */
uint64_t sg_gpu_fragmentation_pm(const struct sg_gpu_pool *pool);

/* Why there is nothing for a request. */
enum sg_gpu_lack_kind {
        SG_GPU_LACK_NONE,
        SG_GPU_LACK_UNKNOWN,  /* nobody can say what is free */
        SG_GPU_LACK_DRIVER,   /* … as there is no driver; only who looks for one says that */
        SG_GPU_LACK_FREE,     /* of those that suit it `free` are free, less than it wants */
        SG_GPU_LACK_NAMED,    /* `id`, which it asks for, isn't free */
        SG_GPU_LACK_PART,     /* no GPU has that much left */
        SG_GPU_LACK_INSTANCE, /* of `have` instances that are large enough none is free */
        /* More than the node has in its best state: no waiting helps. */
        SG_GPU_LACK_NEVER, /* it has `have` that suit */
        SG_GPU_LACK_NO_ID, /* it has no `id`, or that can't be had like that */
};

struct sg_gpu_lack {
        enum sg_gpu_lack_kind kind;
        uint64_t free, have;
        bool mixed; /* there are more, but not all of one type */
        char id[SG_GPU_TEXT_MAX];
        char profiles[160]; /* of MIG, NEVER: what instances there are; "" = none */
};

/* GPUs that may ever serve it, a bit each. */
uint64_t sg_gpu_suited(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r);
/* Whether it has a place, without looking for the best. ret: NULL, or why not. */
bool sg_gpu_fits(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                 struct sg_gpu_lack *ret);
/* Whether it fits in the pool's best state, in which those are back that are gone; if not, it is to
 * be refused. Nothing is refused while no GPU has been seen yet and that may change. */
bool sg_gpu_could_fit(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                      struct sg_gpu_lack *ret);
/* The best place; false: it doesn't fit. */
bool sg_gpu_place(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r,
                  struct sg_gpu_choice *ret);

/* Of GPUs in all; of an instance: what it is of one, by memory. */
uint64_t sg_gpu_choice_hundredths(const struct sg_gpu_pool *pool, const struct sg_gpu_choice *c);
/* What a request takes of GPUs at least; of an instance: what the best place takes. pool: or NULL.
 */
uint64_t sg_gpu_least_hundredths(const struct sg_gpu_pool *pool, const struct sg_gpu_request *r);

/* What is to be kept of `now` for a request that fits in `then`, when others will have ended: of
 * whole GPUs those that are free now, or, unless free_first, as few of these as will do. False: it
 * doesn't fit then, either. */
bool sg_gpu_keep(const struct sg_gpu_pool *now, const struct sg_gpu_pool *then,
                 const struct sg_gpu_request *r, bool free_first, struct sg_gpu_choice *ret);

/* "2 GPUs of type A100*, 1 free". */
#define SG_GPU_LACK_TEXT_MAX 512
char *sg_gpu_lack_format(char buf[SG_GPU_LACK_TEXT_MAX], const struct sg_gpu_request *r,
                         const struct sg_gpu_lack *lack);
/* What a job is told and what is stored of it: UUIDs with commas, of an instance its own. -ENOMEM.
 */
int sg_gpu_choice_uuids(const struct sg_gpu_pool *pool, const struct sg_gpu_choice *choice,
                        char **ret);
