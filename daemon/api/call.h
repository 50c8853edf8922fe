/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Somebody's request while it is handled, and for as long as its answer has to wait: who asks, what
 * for, and how that is answered. It comes from D-Bus (dbus-call.c), of which nothing is known here.
 *
 * Each is answered once: by a refusal, by done, or by sending the reply that was written. A handler
 * that returns negative has its call refused by whoever called it.
 */

#include "base/cleanup.h"
#include "core/ask/reply.h"
#include "core/ask/request.h"

struct sg_client;
struct sg_manager;

struct sg_call {
        struct sg_manager *manager;
        enum sg_request_verb verb;
};

struct sg_call *sg_call_ref(struct sg_call *c);
struct sg_call *sg_call_unref(struct sg_call *c); /* NULL is fine */
SG_DEFINE_CLEANUP(struct sg_call *, sg_call_unref)

/* NULL: whoever asked has gone. */
struct sg_client *sg_call_client(const struct sg_call *c);
/* What is asked for. The request is initialised; bytes in it are lent by the call. */
int sg_call_read(struct sg_call *c, struct sg_request *q, struct sg_answer *a);
/* The user may be asked to authenticate. */
bool sg_call_may_prompt(const struct sg_call *c);
/* It is handled again, from its start; sg_call_is_same() then knows it. */
int sg_call_again(struct sg_call *c);
bool sg_call_is_same(const struct sg_call *a, const struct sg_call *b);

/* Refuses; `error` counts where the answer says nothing. */
void sg_call_refuse(struct sg_call *c, const struct sg_answer *a, int error);
/* call.c: in a line; of a job; with nothing but an errno */
void sg_call_refuse_line(struct sg_call *c, enum sg_answer_kind kind, const char *object,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));
void sg_call_refuse_job(struct sg_call *c, enum sg_answer_kind kind, uint64_t n, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));
void sg_call_fail(struct sg_call *c, int error);
void sg_call_done(struct sg_call *c); /* there is nothing to be said */

/* The reply, to be written. */
struct sg_reply *sg_call_reply(struct sg_call *c);
int sg_call_send(struct sg_call *c);
/* One that may be large, of about so many bytes: -EBUSY if whoever asks doesn't read what there is
 * already. */
int sg_call_send_large(struct sg_call *c, uint64_t bytes);
/* call.c: the whole reply is this text */
int sg_call_send_document(struct sg_call *c, const char *doc);
