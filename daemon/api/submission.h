/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A request to run something: judged by class and user, completed, and stored. */

#include "api/call.h"
#include "manager.h"

/* What a call makes us hold until it is answered is charged to who asks, about so much. */
struct sg_owed {
        struct sg_ledger *ledger; /* NULL: nothing */
        enum sg_charge charge;
        uid_t uid;
        uint64_t amount;
};
/* -EBUSY: this user, or all, owe too much already; of bytes that are here anyway nobody is told so.
 */
int sg_api_owe(const struct sg_call *call, enum sg_charge charge, uint64_t amount,
               struct sg_owed *ret);
void sg_api_paid(struct sg_owed *o);

struct sg_submission {
        struct sg_manager *manager;
        struct sg_call *call;
        struct sg_owed owed, lookup;
        struct sg_list link;       /* while its user's name is looked up */
        struct sg_request request; /* the job in it is made complete; bytes are in `spec` by then */
        char *command;             /* as policies compare it; what lists show of it is the job's */
        struct sg_stored *stored;  /* what it is to take in the store */
        struct sg_throttle *throttle; /* of its array; NULL: none */
        struct sg_record spec;
        bool own_only; /* others' jobs don't exist for its user */
};

int sg_submission_new(struct sg_submission **ret, struct sg_call *call);
struct sg_submission *sg_submission_free(struct sg_submission *s);
SG_DEFINE_CLEANUP(struct sg_submission *, sg_submission_free)
/* What the call says, checked as far as it goes by itself. Negative with a refusal. */
int sg_submission_read(struct sg_submission *s, struct sg_answer *a);
/* Where its progress is read from; a path becomes absolute. Negative with a refusal. */
int sg_submission_check_progress(struct sg_submission *s, struct sg_answer *a);
/* argv, script, environment and options, into the spec; and what lists show of it. */
int sg_submission_take_command(struct sg_submission *s);
/* Class defaults where nothing was asked. */
void sg_limits_complete(struct sg_limits *l, uint64_t asked, const struct sg_class *class);
/* Refuses what the class doesn't allow or this node never has. */
int sg_limits_check(struct sg_limits *l, uint64_t asked, const struct sg_class *class,
                    const struct sg_settings *settings, const struct sg_node *node,
                    struct sg_answer *a);

/* gpus.c: what a job asks for, on top of `from`, which its class gives or which it asked for so
 * far. *ret: NULL, for none. Refuses what the class doesn't allow, and all of it where GPUs aren't
 * managed. */
int sg_gpus_take(const struct sg_request *q, const struct sg_gpu_request *from,
                 const struct sg_class *class, const struct sg_settings *settings,
                 struct sg_gpu_request **ret, struct sg_answer *a);
/* Refuses what this node doesn't have in its best state, for which it would wait for ever. NULL is
 * fine. */
int sg_gpus_check_fit(struct sg_manager *m, const struct sg_gpu_request *want, struct sg_answer *a);

/* Whose jobs there are for who submits it: SG_UNLIMITED, everybody's. */
static inline uint64_t sg_submission_sees(const struct sg_submission *s)
{
        return s->own_only ? s->request.job.uid : SG_UNLIMITED;
}
/* dry-run.c: of one that is complete. Answers DryRun; refuses what can't start now. */
int sg_submission_reply_dry_run(struct sg_submission *s);
int sg_submission_check_room(struct sg_submission *s, struct sg_answer *a);

/* What was read is completed and stored, and its call answered, when the user's name is known,
 * which is nearly always at once; or when nobody can tell it in time, if it makes no difference.
 * Owns s from here on. 1, or negative and the call is to be refused. */
int sg_submission_go_on(struct sg_submission *s, struct sg_answer *a);
/* limits.c: answers DescribeLimits, for which only the user's name is waited for. */
int sg_limits_reply(struct sg_call *call, const char *user);
/* Those of a client that has gone. */
void sg_submissions_drop(struct sg_manager *m, struct sg_client *c);
