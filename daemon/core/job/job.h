/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * A job as the governor knows it and the store keeps it. `struct sg_job` is plain data; the tables
 * in job.c give each field its record tag and its SQL column, so that a new field is one line
 * there, and a new limit a row in proto/limits.h.
 *
 *   queued → starting → running ⇄ suspended → exited | killed | oom | timeout | failed | lost
 *      ↑___________________________↓  (requeue, retry: the next attempt)
 */

#include "base/list.h"
#include "base/parse.h"
#include "base/record.h"
#include "core/job/gpu-request.h"
#include "core/job/limits.h"
#include "core/job/state.h"
#include "core/job/threads.h"
#include "proto/job-key.h"
#include "proto/names.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Which way the evaluation of a job's model goes as it learns. */
enum sg_job_goal {
        SG_JOB_GOAL_UNSAID, /* its class says, else it falls */
        SG_JOB_GOAL_MIN,
        SG_JOB_GOAL_MAX,
};
#define SG_JOB_EVAL_SIZE 32 /* a number in letters, with the NUL */

/* A job that somebody else started: what we may do to it. */
enum sg_adoption {
        SG_ADOPTED_NOT,
        SG_ADOPTED_OBSERVED, /* look only */
        SG_ADOPTED_LIMITED,  /* limits, through systemd */
        SG_ADOPTED_GOVERNED, /* all, through systemd: it lies in a slice of ours */
};

/* Who asked for something. Zeroed: nobody did, it came of itself. */
struct sg_who {
        bool is;
        uid_t uid;
};

struct sg_job {
        struct sg_job_key key;
        uint64_t uid, gid;
        char user[SG_USER_NAME_MAX];
        char name[SG_JOB_NAME_MAX];
        char class[SG_CLASS_NAME_MAX];
        uint64_t state;      /* enum sg_job_state */
        uint64_t intent;     /* enum sg_job_intent */
        uint64_t foreground; /* bool: `schedctl run` */
        uint64_t hold;       /* bool; the store writes it when it is asked for that, see store.h */
        int64_t priority;
        uint64_t retry;       /* how many more attempts a failure is worth */
        uint64_t array_first; /* N of the array's first task, 0 = none */
        int64_t array_index;
        uint64_t array_max;   /* so many of its array's tasks run at once, 0 = no bound */
        char *after;          /* "5:ok,6:any" or NULL */
        char *reason;         /* one line, or NULL */
        char *command;        /* first words, for lists; NULL = not kept */
        char *output, *error; /* the user's paths, or NULL for the managed log */
        uint64_t begin_usec;  /* not before; 0 = at once */
        uint64_t submitted_usec, started_usec, ended_usec; /* realtime, 0 = not yet */
        char boot_id[SG_BOOT_ID_MAX];                      /* of the attempt */
        int64_t pid;
        int64_t exit_code; /* −1 = none */
        int64_t signal;    /* 0 = none */
        struct sg_limits limits;
        struct sg_gpu_request *gpu; /* owned; NULL = asks for none */
        char *gpus; /* UUIDs that its attempt was given, in order, with commas; NULL = none */
        /* measured; SG_UNLIMITED = not known */
        uint64_t cpu_usec, memory_peak_bytes, oom_kills, io_read_bytes, io_write_bytes;
        uint64_t net_rx_bytes, net_tx_bytes;
        uint64_t adopted;                      /* enum sg_adoption */
        char *unit;                            /* of systemd's, or NULL */
        char *group;                           /* adopted: "/system.slice/x.scope", else NULL */
        char invocation[SG_INVOCATION_ID_MAX]; /* tells it from a later unit of the same name */
        char *progress; /* where it is read from (progress-source.h); NULL = as its class says */
        uint64_t eval_goal;     /* enum sg_job_goal */
        uint64_t deadline_usec; /* when it is to be done (realtime); 0 = not said */
        uint64_t steps;         /* how many it will take, as submitted; 0 = not said */
        /* what was last seen of it */
        char eval[SG_JOB_EVAL_SIZE]; /* "" = nothing */
        uint64_t step, total;        /* SG_UNLIMITED = not known */
        uint64_t threads_given;      /* of its attempt: what its environment says; 0 = nothing */
        uint64_t follows;            /* up to so many do, as its runtime says; 0 = hasn't yet */
        /* Why it is frozen: enum sg_freeze, in core/job/freeze.h. The store keeps it apart from the
         * rest: in the attempt's directory, and of an adopted job in its row. */
        uint64_t frozen;
        /* When it last changed, for events: one time for what is logged and what is announced, so
         * that both are known to be the same. Not part of the record; 0 = not said. */
        uint64_t changed_usec;
        /* Who asked for that change, and who wants it to end. Not part of the record. */
        struct sg_who changed_by, stopped_by;
        /* Of what was submitted, as the store knows it. Not part of the record, either. */
        uint64_t spec_bytes;
};

/* All values at their defaults; strings NULL. */
void sg_job_init(struct sg_job *j);
void sg_job_deinit(struct sg_job *j);
/* Into an initialised job, whose strings are freed; -ENOMEM leaves it as it was. */
int sg_job_copy(struct sg_job *dst, const struct sg_job *src);
/* Kept as one line: control characters become spaces. */
int sg_job_set_reason(struct sg_job *j, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
void sg_job_clear_reason(struct sg_job *j);
/* What they are called, for events: its user by name, "root", others "uid 1001"; NULL: nobody
 * asked. */
const char *sg_job_who(const struct sg_job *j, const struct sg_who *who,
                       char buf[SG_USER_NAME_MAX]);
/* Fills in the codes of --output and --error: %j = N, %a = array index, %n = the job's name, %% =
 * %. Anything else behind a % is kept as it is. NULL gives NULL. */
int sg_job_expand_path(const struct sg_job *j, const char *pattern, char **ret);

/* Makes the i-th task of an array (i 0: also a job that is no task) of a copy of what was
 * submitted, which has the number of the first: its number, index, name, if that fits, and files.
 * -ENOMEM. */
int sg_job_become_task(struct sg_job *j, uint64_t i, uint64_t index);

/* The name of a task: each %a is its index. -ENAMETOOLONG. */
int sg_job_name_task(char ret[SG_JOB_NAME_MAX], const char *pattern, uint64_t index);

/* What it takes to remember it until it has ended, without what was submitted. About. */
uint64_t sg_job_stored_bytes(const struct sg_job *j);

/* What `schedctl wait` and `run` exit with, for a job in a final state. */
int sg_job_exit_status(const struct sg_job *j);

/* The table behind the codec and the SQL schema. */
enum sg_job_field_type { SG_TYPE_U64, SG_TYPE_I64, SG_TYPE_CHARS, SG_TYPE_STR };

struct sg_job_field {
        uint16_t tag; /* never reused */
        const char *column;
        enum sg_job_field_type type;
        bool gpu; /* it lies in what `gpu` points to; a job without that has none, in SQL NULL */
        size_t offset, size;
};

extern const struct sg_job_field sg_job_fields[];
extern const size_t sg_job_n_fields;

/* Where its value is, or NULL. */
static inline void *sg_job_field_at(const struct sg_job *j, const struct sg_job_field *f)
{
        char *base = f->gpu ? (char *)j->gpu : (char *)j;

        return base ? base + f->offset : NULL;
}

void sg_job_encode(const struct sg_job *j, struct sg_record *r);
int sg_job_decode(struct sg_job *ret, const void *data,
                  size_t size); /* into an initialised job; -EBADMSG, -ENOMEM */
