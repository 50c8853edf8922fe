/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the files of the account share: claims and records, and how one is found. */

#include "core/gpu/account.h"
#include "core/gpu/internal.h"

/* Vanished ones, and such as were drained before they were seen, besides those that are listed. */
#define SG_GPU_RECORDS_MAX (SG_GPUS_MAX + 64)
#define SG_GPU_PIDS_MAX 32U /* remembered of a claim */
#define SG_GPU_NOWHERE SIZE_MAX

/* What a claim has of one GPU, or the one instance. */
struct sg_gpu_part {
        char uuid[SG_GPU_TEXT_MAX];
        uint64_t used; /* by the last look; UNKNOWN */
        uint64_t base; /* the least that was in use there and of nobody known; UNKNOWN */
        bool back;     /* after its end: nothing of it is left there */
};

/* A limit that is passed in steps, each of which is taken once. */
struct sg_gpu_watch {
        unsigned looks, stale; /* over the limit; without a figure */
        bool told, term, kill;
        uint64_t told_usec, term_usec;
};

struct sg_gpu_idle {
        uint64_t since_usec; /* 0 = not idle */
        unsigned stale;
        bool known, told;
};

struct sg_gpu_claimed {
        uint64_t job, attempt, share, memory_bytes; /* memory: 0 = not said */
        uint64_t idle_limit_usec;
        bool idle_ends;
        struct sg_gpu_watch watch;
        struct sg_gpu_idle idle;
        unsigned looks; /* since it was made */
        bool seen;      /* a process of it was listed */
        bool ended, leak_told;
        uint64_t ended_usec;
        size_t n_pids;
        uint64_t pids[SG_GPU_PIDS_MAX]; /* that were listed; the last ones */
        size_t n;
        struct sg_gpu_part parts[];
};

struct sg_gpu_record {
        struct sg_gpu_status status;
        char uuid[SG_GPU_TEXT_MAX];
        struct sg_gpu *gone; /* as it was when it was last listed, if it isn't; owned */
        bool twice;          /* two say that they are it */
        bool excluded, told_crowded, told_state;
        char why_unhealthy[SG_GPU_REASON_MAX];
        struct sg_gpu_idle idle;
        uint64_t error, error_usec; /* an application's that was told */
};

struct sg_gpu_account {
        struct sg_gpu_inventory seen; /* the last that was in order; its GPUs are owned */
        bool driver_ok, absent;       /* absent: there is no driver, and never was */
        char driver_message[160];
        struct sg_gpu_owner *owners;
        size_t n_owners;
        char *const *exclude, *const *ignore;
        struct sg_gpu_claimed **claims; /* by job, then attempt */
        size_t n_claims;
        struct sg_gpu_record records[SG_GPU_RECORDS_MAX];
        size_t n_records;
        size_t order[SG_GPU_RECORDS_MAX], n_shown;     /* of records, for lists */
        const struct sg_gpu *gone[SG_GPU_RECORDS_MAX]; /* the pool's */
        struct sg_gpu_pool pool;
        uint64_t changes; /* of it */
        struct sg_gpu_hold *holds;
        size_t n_holds, holds_size;
        struct sg_gpu_decision *decisions;
        size_t n_decisions, decisions_size;
        uint64_t lost_events_usec; /* when that was last told */
        uint64_t now_usec;         /* of the last look */
};

/* records.c. A record is made where there is none; NULL: there is no room for one more. */
struct sg_gpu_record *sg_gpu_record_find(struct sg_gpu_account *a, const char *uuid);
struct sg_gpu_record *sg_gpu_record_get(struct sg_gpu_account *a, const char *uuid);
/* Takes the place of what was seen before; `gpus` becomes the account's. */
void sg_gpu_records_follow(struct sg_gpu_account *a, const struct sg_gpu_inventory *now,
                           struct sg_gpu *gpus);
void sg_gpu_records_sort(struct sg_gpu_account *a);

/* owners.c: whose a process is: a claim's, else a job's that has none there, else nobody's. */
struct sg_gpu_whose {
        struct sg_gpu_claimed *claim;
        uint64_t job; /* 0 = nobody's */
        bool ignored; /* nobody's, and it takes the GPU from nobody */
};
struct sg_gpu_whose sg_gpu_whose(const struct sg_gpu_account *a, uint64_t pid);
/* Where a part is: its GPU's place or NOWHERE, and the instance or NONE. */
size_t sg_gpu_part_place(const struct sg_gpu_account *a, const struct sg_gpu_part *part,
                         uint8_t *ret_instance);
/* Whether the process is on this instance (NONE: on the GPU). */
bool sg_gpu_process_is_on(const struct sg_gpu *g, const struct sg_gpu_process *p, uint8_t instance);

/* figures.c: holds, rooms, amounts and states by what is known now. Room for the holds that these
 * processes and so many parts more may make is reserved before. */
int sg_gpu_figures_reserve(struct sg_gpu_account *a, const struct sg_gpu_inventory *inventory,
                           size_t n_parts);
void sg_gpu_figures(struct sg_gpu_account *a, uint64_t now_usec);

/* trouble.c, watch.c: what a look that is in order brings. */
struct sg_gpu_decision *sg_gpu_decide(struct sg_gpu_account *a, enum sg_gpu_decision_kind kind,
                                      const struct sg_gpu_record *about,
                                      const struct sg_gpu_claimed *of);
void sg_gpu_events(struct sg_gpu_account *a, const struct sg_gpu_inventory *now, uint64_t now_usec);
void sg_gpu_note_base(struct sg_gpu_account *a, struct sg_gpu_claimed *c);
void sg_gpu_leaks(struct sg_gpu_account *a, uint64_t looked_usec, uint64_t now_usec);
void sg_gpu_crowds(struct sg_gpu_account *a);
void sg_gpu_watch(struct sg_gpu_account *a, uint64_t now_usec);
/* Percent, as a mean; UNKNOWN. */
uint64_t sg_gpu_utilization(const struct sg_gpu_account *a, const struct sg_gpu_claimed *c);
uint64_t sg_gpu_idle_for(const struct sg_gpu_idle *idle, uint64_t now_usec);
