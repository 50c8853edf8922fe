/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What is asked: a request to run something, and what may be changed of it later. */

#include "manager.h"
#include <systemd/sd-bus.h>

/* What a call makes us hold until it is answered is charged to who asks, about so much. */
struct sg_owed {
        struct sg_ledger *ledger; /* NULL: nothing */
        enum sg_charge charge;
        uid_t uid;
        uint64_t amount;
};
/* -EBUSY: this user, or all, owe too much already; of bytes that are here anyway nobody is told so.
 */
int sg_api_owe(struct sg_manager *m, sd_bus_message *call, enum sg_charge charge, uint64_t amount,
               struct sg_owed *ret);
void sg_api_paid(struct sg_owed *o);

/* A request to run something, as far as the message says; then made complete by class and user. */
struct sg_submission {
        struct sg_manager *manager;
        sd_bus_message *call;
        struct sg_owed owed, lookup;
        struct sg_list link; /* while its user's name is looked up */
        struct sg_job job;
        uint64_t asked;                   /* bits of enum sg_ask: what the request sets itself */
        uint64_t array_first, array_last; /* SG_UNLIMITED = no array */
        uint64_t count;
        char *workdir, *on_end;
        char *command; /* as policies compare it; what lists show of it is the job's */
        char token[SG_TOKEN_MAX];
        char eval_goal[32]; /* "min", "max" */
        char threads[32];   /* "follow" … */
        uint64_t umask;
        uint64_t no_wait;
        struct sg_stored *stored; /* what it is to take in the store */
        struct sg_record spec;
        bool dry_run;
        bool own_only; /* others' jobs don't exist for its user */
};

enum sg_ask {
        SG_ASK_CPU_WEIGHT = 1 << 0,
        SG_ASK_CPU_QUOTA = 1 << 1,
        SG_ASK_CPUS = 1 << 2,
        SG_ASK_MEMORY_HIGH = 1 << 3,
        SG_ASK_MEMORY_MAX = 1 << 4,
        SG_ASK_TASKS = 1 << 5,
        SG_ASK_IO_WEIGHT = 1 << 6,
        SG_ASK_TIME_LIMIT = 1 << 7,
        SG_ASK_SWAP_MAX = 1 << 8,
        SG_ASK_IO_READ = 1 << 9,
        SG_ASK_IO_WRITE = 1 << 10,
        SG_ASK_THREADS = 1 << 11,
};

int sg_submission_new(struct sg_submission **ret, struct sg_manager *m, sd_bus_message *call);
struct sg_submission *sg_submission_free(struct sg_submission *s);
SG_DEFINE_CLEANUP(struct sg_submission *, sg_submission_free)
/* Reads the a{sv}; -EINVAL with *error set for anything that isn't understood or out of range. */
int sg_submission_read_options(struct sg_submission *s, sd_bus_message *m, sd_bus_error *error);
/* Where its progress is read from; a path becomes absolute. -EINVAL with *error set. */
int sg_submission_check_progress(struct sg_submission *s, sd_bus_error *error);
/* argv, script and environment, into the spec. */
int sg_submission_read_command(struct sg_submission *s, sd_bus_message *m, sd_bus_error *error);
/* What lists show of it, and the name that a job has without --name; size 0: it is a script. */
int sg_submission_show_command(struct sg_submission *s, const char *argv, size_t size);
/* A block is strings, each with its NUL, as in /proc/PID/cmdline:
 * they may hold any byte but that. */
bool sg_block_is_whole(const char *block, size_t size);
/* sg_entry_cb of a submission: the value of one key, into its field and `asked`; and of what may
 * change later. */
int sg_option_read(const char *key, sd_bus_message *m, void *submission, sd_bus_error *error);
int sg_option_read_live(const char *key, sd_bus_message *m, void *submission, sd_bus_error *error);
/* Class defaults where nothing was asked. */
void sg_limits_complete(struct sg_limits *l, uint64_t asked, const struct sg_class *class);
int sg_limits_check_cpus(const struct sg_limits *l, sd_bus_error *error); /* of themselves */
/* What was said of threads, into its limits. -EINVAL with *error set. */
int sg_submission_take_threads(struct sg_submission *s, sd_bus_error *error);
/* -EINVAL with *error for what the class doesn't allow or this node never has. */
int sg_limits_check(struct sg_limits *l, uint64_t asked, const struct sg_class *class,
                    const struct sg_settings *settings, const struct sg_node *node,
                    sd_bus_error *error);

/* What was read is completed and stored, and its call answered, when the user's name is known,
 * which is nearly always at once; or when nobody can tell it in time, if it makes no difference.
 * Owns s from here on. 1, or negative and the call is to be refused. */
int sg_submission_go_on(struct sg_submission *s);
/* Those of a client that has gone. */
void sg_submissions_drop(struct sg_manager *m, struct sg_client *c);
