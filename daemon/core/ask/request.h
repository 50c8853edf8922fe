/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What is asked of the daemon, in the words of no protocol. A reader (edge/bus/request.h,
 * edge/json/request.h) takes a message apart and puts value by value into a request, by the rows of
 * verbs.h; what is wrong with one is said here, the same to everybody.
 */

#include "core/ask/answer.h"
#include "core/ask/verbs.h"
#include "core/job/job.h"
#include "proto/gpus.h"

/* What is wanted of jobs that are listed. */
struct sg_filter {
        uint64_t finished, only_finished, own, newest; /* bool */
        char *user, *state, *name, *class;             /* NULL: any */
        uint64_t array; /* tasks of the one that begins with this job; 0: any */
        uint64_t since, until, limit;
};

/* What the request says; the rest is as a job is that says nothing of it. */
struct sg_request {
        enum sg_request_verb verb;
        bool given[64]; /* by row of the options */
        uint64_t asked; /* bits, SG_ASK(): what the request sets itself */

        /* Submit, DryRun, Run, Set */
        struct sg_job job;
        char *array;                      /* as of proto/array.h, NULL: no array … */
        uint64_t array_first, array_last; /* … or from here to there; SG_UNLIMITED: not said */
        uint64_t count;                   /* of its tasks, once it has been checked */
        char *workdir, *on_end;
        char token[SG_TOKEN_MAX];
        char eval_goal[32]; /* "min", "max" */
        char threads[32];   /* "follow" … */
        struct {
                char gpus[SG_GPUS_TEXT_MAX], type[SG_GPU_ID_TEXT_MAX], mig[SG_GPU_MIG_TEXT_MAX];
                char *ids;
                uint64_t memory_bytes;
        } gpu; /* as it is written; see sg_request_take_gpus() */
        uint64_t umask, no_wait;
        struct sg_bytes argv, script, environment;

        struct sg_filter filter;
        char *cursor;

        char *id; /* of a job; "": none */
        char *what, *class;
        char **assignments;
        uint64_t number, after, limit;
        int64_t pidfd, signal;
};

/* A limit has the bit of its kind. */
#define SG_ASK(kind) (UINT64_C(1) << (kind))
#define SG_ASK_CPUS SG_ASK(SG_LIMIT_CPUSET)
#define SG_ASK_TIME_LIMIT SG_ASK(SG_LIMIT_TIME)
#define SG_ASK_THREADS SG_ASK(_SG_LIMIT_ROW_MAX)
#define SG_ASK_GPUS SG_ASK(_SG_LIMIT_ROW_MAX + 1)
#define SG_ASK_GPU_MEM SG_ASK(_SG_LIMIT_ROW_MAX + 2)
#define SG_ASK_GPU_TYPE SG_ASK(_SG_LIMIT_ROW_MAX + 3)
#define SG_ASK_GPU_IDS SG_ASK(_SG_LIMIT_ROW_MAX + 4)
#define SG_ASK_GPU_MIG SG_ASK(_SG_LIMIT_ROW_MAX + 5)
#define SG_ASK_GPU                                                                                 \
        (SG_ASK_GPUS | SG_ASK_GPU_MEM | SG_ASK_GPU_TYPE | SG_ASK_GPU_IDS | SG_ASK_GPU_MIG)

void sg_request_init(struct sg_request *q, enum sg_request_verb verb);
void sg_request_deinit(struct sg_request *q);

/* The row of an option: 0. Negative with a refusal: there is no such option, not for this verb, or
 * it was given before. */
int sg_request_find(const struct sg_request *q, const char *name, const struct sg_param **ret,
                    struct sg_answer *a);
/* Bytes that are owned are the request's from then on, or freed. Negative: out of bounds, or
 * -ENOMEM. */
int sg_request_put(struct sg_request *q, const struct sg_param *p, const struct sg_value *v,
                   struct sg_answer *a);
/* Refuses a value of another type, in the words of the reader's protocol: "a number". */
int sg_request_mistyped(const struct sg_param *p, const char *wanted, struct sg_answer *a);

/* What a Set says of a job goes into its row; nothing of that is on the heap. */
void sg_request_apply(const struct sg_request *q, struct sg_job *job);

/* check.c: what only all of it together shows */

/* Of Submit, DryRun and Run. */
int sg_request_check_options(struct sg_request *q, struct sg_answer *a);
int sg_request_check_command(const struct sg_request *q, struct sg_answer *a);
/* Of limits, and what was said of threads, into them. */
int sg_request_check_cpus(const struct sg_limits *l, struct sg_answer *a);
int sg_request_take_threads(struct sg_request *q, struct sg_answer *a);
/* gpus.c: what a request says of GPUs, by itself; and together with what holds without it: the
 * class's, or what the job asks for so far (NULL, or min 0: for none). *ret: NULL, for none. */
bool sg_request_wants_gpus(const struct sg_request *q); /* it says so itself */
int sg_request_check_gpus(const struct sg_request *q, struct sg_answer *a);
int sg_request_take_gpus(const struct sg_request *q, const struct sg_gpu_request *from,
                         struct sg_gpu_request **ret, struct sg_answer *a);
int sg_request_check_filter(const struct sg_request *q, struct sg_answer *a);
