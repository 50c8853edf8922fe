/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Who holds and who uses what of the node's GPUs, and what is to be done about it.
 *
 * A claim is what a job was given. It counts from before its processes are there until it is
 * released, and from then on as a leak until the driver lists none of its processes and the memory
 * is back: nobody else gets the GPU before that. Each look at the GPUs is fed in with whose their
 * processes are; what comes of it is states, a pool to place by (place.h), and decisions for the
 * caller to carry out. GPUs are known by UUID, claims by job and attempt; both outlive an inventory
 * without them.
 *
 * What isn't known is never taken for 0, and ends no job. Nobody is ended for what others use.
 *
 * Pure: no clock, no I/O; all times are the caller's, of a clock that nobody sets.
 */

#include "base/cleanup.h"
#include "core/gpu/place.h"

#define SG_GPU_REASON_MAX 192
#define SG_GPU_COMMAND_MAX 32
/* A figure counts for so many looks. */
#define SG_GPU_STALE_LOOKS 3U

enum sg_gpu_state {
        SG_GPU_STATE_OK,
        SG_GPU_STATE_UNKNOWN,   /* the driver doesn't answer, or not on what matters */
        SG_GPU_STATE_LOST,      /* the driver answers, but doesn't reach it or doesn't list it */
        SG_GPU_STATE_UNHEALTHY, /* an error that isn't its user's; until undrain or a reboot */
        SG_GPU_STATE_LEAKING,   /* a job has ended there and isn't gone yet */
        SG_GPU_STATE_DRAINED,
        SG_GPU_STATE_EXCLUDED,
};
const char *sg_gpu_state_to_string(enum sg_gpu_state state); /* "ok" … */

enum sg_gpu_mode { SG_GPU_MODE_FREE, SG_GPU_MODE_WHOLE, SG_GPU_MODE_SHARED, SG_GPU_MODE_MIG };
const char *sg_gpu_mode_to_string(enum sg_gpu_mode mode);

/* One GPU as it stands. Amounts are bytes, or SG_GPU_UNKNOWN. */
struct sg_gpu_status {
        const struct sg_gpu *gpu; /* as last seen; who counts with its figures looks at `fresh` */
        size_t place;             /* in the pool and its inventory; SIZE_MAX: not listed any more */
        bool fresh;               /* it was reached by the last look */
        enum sg_gpu_state state;
        uint64_t since_usec;
        char reason[SG_GPU_REASON_MAX]; /* "" where the state says all */
        bool drained;                   /* also where another state is shown */
        bool unhealthy;
        enum sg_gpu_mode mode;
        uint64_t used, promised, free, foreign, unattributed;
        uint64_t idle_usec; /* held, and nothing was computed for so long; 0 = not, UNKNOWN */
};

/* Whose a process is, as its group says; who isn't in the list is nobody's. */
struct sg_gpu_owner {
        uint64_t pid;
        uint64_t job, attempt;            /* 0 = not ours */
        char command[SG_GPU_COMMAND_MAX]; /* "" = not known */
};

struct sg_gpu_claim {
        uint64_t job, attempt;
        uint64_t share;           /* SG_GPU_WHOLE, or hundredths */
        uint64_t memory_bytes;    /* of each; SG_UNLIMITED = not said */
        uint64_t idle_limit_usec; /* SG_UNLIMITED: idleness is only shown */
        bool idle_ends;           /* past the limit the job is ended; else that is only told */
        const char *gpus;         /* UUIDs with commas, as sg_gpu_choice_uuids() made them */
};

/* What one job has and uses. */
struct sg_gpu_use {
        size_t n;              /* GPUs, or the one instance */
        uint64_t hundredths;   /* of GPUs in all; of an instance: its part of the memory */
        uint64_t memory_bytes; /* used on all of them; UNKNOWN */
        uint64_t most_bytes;   /* on the one where it uses the most; UNKNOWN */
        uint64_t utilization;  /* percent, mean of its GPUs; UNKNOWN */
        uint64_t idle_usec;    /* 0 = not idle, UNKNOWN */
};

enum sg_gpu_decision_kind {
        SG_GPU_TELL_STATE,   /* a GPU's state is another one; `state` has it */
        SG_GPU_TELL_LEAK,    /* of a job that has ended, pid or memory is still there after 10 s */
        SG_GPU_TELL_CROWDED, /* what others use has grown into what is promised */
        SG_GPU_TELL_ERROR,   /* an application's error; of a job that held the GPU, or 0 */
        SG_GPU_TELL_LOST_EVENTS,
        SG_GPU_TELL_OVER, /* a job uses more memory than it may: 10 s until TERM */
        SG_GPU_TELL_IDLE, /* a job's GPUs have been idle for its limit */
        SG_GPU_TERM,      /* the job, through its group; `text` is its reason */
        SG_GPU_KILL,
        SG_GPU_END_IDLE, /* end it as if cancelled, with `text` as its reason */
};

struct sg_gpu_decision {
        enum sg_gpu_decision_kind kind;
        enum sg_gpu_state state;
        uint64_t job, attempt;      /* 0 = about no job */
        char uuid[SG_GPU_TEXT_MAX]; /* "" = about no single GPU */
        uint64_t pid;               /* LEAK; 0 = not known */
        uint64_t used_bytes, limit_bytes;
        uint64_t xid;
        char text[SG_GPU_REASON_MAX]; /* one line, complete: "GPU memory 21.3G of 20G" */
};

struct sg_gpu_account;
int sg_gpu_account_new(struct sg_gpu_account **ret);
struct sg_gpu_account *sg_gpu_account_free(struct sg_gpu_account *a);
SG_DEFINE_CLEANUP(struct sg_gpu_account *, sg_gpu_account_free)

/* GPUs that nobody gets (indexes, UUIDs, bus ids or patterns of names), and commands whose
 * processes take a GPU from nobody (patterns); NULL-terminated, borrowed until the next call; NULL
 * = none. */
void sg_gpu_account_configure(struct sg_gpu_account *a, char *const *exclude, char *const *ignore,
                              uint64_t now_usec);

/* Before anything is given out, and again after a restart. The same job and attempt once more
 * replaces what it says. -ENOMEM, -EINVAL: no UUIDs. */
int sg_gpu_account_claim(struct sg_gpu_account *a, const struct sg_gpu_claim *claim,
                         uint64_t now_usec);
/* The attempt is over; or (never ran) it was taken back before its first process. */
void sg_gpu_account_release(struct sg_gpu_account *a, uint64_t job, uint64_t attempt, bool ran,
                            uint64_t now_usec);
/* Durable with the caller, who says it again at each start. false also takes back `unhealthy` and
 * `leaking`. -ENOMEM. */
int sg_gpu_account_drain(struct sg_gpu_account *a, const char *uuid, bool drain, uint64_t now_usec);
/* What a daemon before this one found since the boot. -ENOMEM. */
int sg_gpu_account_distrust(struct sg_gpu_account *a, const char *uuid, const char *reason,
                            uint64_t now_usec);

/* A look, also one that failed (its state says so, and n may be 0). The inventory is copied; owners
 * are by pid. -ENOMEM: as if there had been none. */
int sg_gpu_account_look(struct sg_gpu_account *a, const struct sg_gpu_inventory *now,
                        const struct sg_gpu_owner *owners, size_t n_owners, uint64_t now_usec);
/* Of the last look, in the order in which they are to be carried out; until the next. */
const struct sg_gpu_decision *sg_gpu_account_decisions(const struct sg_gpu_account *a,
                                                       size_t *ret_n);

/* What is true now, for placement and the queue; the same address always, changed by what is
 * above. Its holds are all that jobs hold and use. */
const struct sg_gpu_pool *sg_gpu_account_pool(const struct sg_gpu_account *a);
/* By index, those that aren't listed any more last. */
size_t sg_gpu_account_n(const struct sg_gpu_account *a);
const struct sg_gpu_status *sg_gpu_account_at(const struct sg_gpu_account *a, size_t i);
/* By index ("2"), UUID or bus id; NULL: none such. */
const struct sg_gpu_status *sg_gpu_account_find(const struct sg_gpu_account *a, const char *id);
/* False: it holds none. */
bool sg_gpu_account_use(const struct sg_gpu_account *a, uint64_t job, struct sg_gpu_use *ret);
/* Whose this process is, by the last look; for lists. 0 = not ours. */
uint64_t sg_gpu_account_job_of(const struct sg_gpu_account *a, uint64_t pid);
/* Something starts or ends, or leaks: look more often. */
bool sg_gpu_account_unsettled(const struct sg_gpu_account *a);
