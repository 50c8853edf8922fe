/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Why a request isn't carried out, in the words of no protocol: which kind of refusal it is, what
 * the refusal is about, a line for people, and often what to do about it. Whoever sends it writes
 * it as the protocol has it.
 */

#include "base/cleanup.h"
#include <stdarg.h>
#include <stdint.h>

#define SG_ANSWER_KINDS(X)                                                                         \
        X(INVALID, "Invalid") /* the request is wrong: `object` says where */                      \
        X(NO_SUCH_JOB, "NoSuchJob")                                                                \
        X(NOT_YOURS, "NotYours")                                                                   \
        X(DENIED, "AccessDenied")                                                                  \
        X(WRONG_STATE, "WrongState") /* not possible for a job in this state */                    \
        X(BUSY, "TryLater")                                                                        \
        X(STORE, "Store")                                                                          \
        X(AUTHENTICATE, "AuthenticationRequired") /* whoever asks has to say who they are */

#define SG_ANSWER_KIND(name, text) SG_ANSWER_##name,
enum sg_answer_kind { SG_ANSWER_NONE, SG_ANSWER_KINDS(SG_ANSWER_KIND) _SG_ANSWER_MAX };

/* "NoSuchJob"; NULL for SG_ANSWER_NONE. */
const char *sg_answer_kind_to_string(enum sg_answer_kind kind);

struct sg_answer {
        enum sg_answer_kind
                kind;      /* NONE: nothing was refused, or nobody knows more than an errno */
        char *object;      /* "cpus", "job 7", or NULL: the request as a whole */
        char *line, *hint; /* hint: what to do, or NULL */
};

void sg_answer_deinit(struct sg_answer *a);

#define SG_ANSWER_JOB_MAX 32
const char *sg_answer_job(char buf[SG_ANSWER_JOB_MAX], uint64_t n); /* "job 7" */

/* What the text says before its first line break becomes the line, what stands behind it the hint.
 * An answer that refuses already is replaced. Always negative: -ENOMEM, which leaves the answer as
 * it is, or -EINVAL; so it is what a function ends with that refuses. */
int sg_refuse(struct sg_answer *a, enum sg_answer_kind kind, const char *object, const char *format,
              ...) __attribute__((format(printf, 4, 5)));
int sg_refusev(struct sg_answer *a, enum sg_answer_kind kind, const char *object,
               const char *format, va_list ap) __attribute__((format(printf, 4, 0)));
/* The same of a job. */
int sg_refuse_job(struct sg_answer *a, enum sg_answer_kind kind, uint64_t n, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));
