/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The daemon's side of the store, private to this folder. A request is a frame in `out` and an
 * entry in `pending`; replies come in the same order, so the head of the list is always the one
 * answered. A request that couldn't be queued is in the list too, already failed, so that callbacks
 * never run inside the request and never out of order.
 */

#include "base/list.h"
#include "edge/common/worker.h"
#include "edge/store/kept.h"
#include "edge/store/proto.h"

struct sg_store_request {
        struct sg_list link;
        enum sg_store_kind kind;
        int failed;   /* negative: never sent */
        size_t bytes; /* of its frame */
        sg_store_cb each, done;
        sg_attempt_cb attempt;
        sg_event_cb event;
        sg_command_cb command;
        void *userdata;
        struct sg_job *known; /* SUBMIT: the job first stored under the token */
        uint64_t *ret_last_n; /* LOAD, together with */
        int *ret_result;
};

struct sg_store {
        char *dir;
        struct sg_worker *writer;
        int lock_fd;
        bool heard; /* its first word: whether it can work */
        int dead;   /* negative: the writer is gone, or can't work */
        char *why;  /* what is wrong; NULL = nothing */
        char *notice;
        struct sg_list pending;
        size_t backlog;
        struct sg_record *out; /* the writer's */
        bool dispatching;
        bool mourned; /* on_death has been called */
        void (*on_death)(void *userdata);
        void *death_userdata;
        void (*on_kept)(uint64_t uid, int64_t bytes, void *userdata);
        void *kept_userdata;
        sd_event_source *defer;
};

/* store.c. A new request at the end of the list with its frame begun, or NULL: no memory, `cb` has
 * to be told. */
struct sg_store_request *sg_store_request_new(struct sg_store *s, enum sg_store_kind kind,
                                              void *userdata, size_t *ret_mark);
/* Ends the frame and sends what the socket takes. */
void sg_store_request_send(struct sg_store *s, struct sg_store_request *q, size_t mark);

/* dispatch.c. One frame from the writer. Negative: it makes no sense. */
int sg_store_dispatch(struct sg_store *s, const uint8_t *frame, size_t size);
/* The head of the list: unlinks it, runs its callback with the error, frees it. */
void sg_store_request_fail(struct sg_store *s, struct sg_store_request *q, int error);
