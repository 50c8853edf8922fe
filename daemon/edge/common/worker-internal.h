/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A worker from within: worker.c is its life, worker-talk.c what is said. */

#include "base/list.h"
#include "edge/common/frames.h"
#include "edge/common/worker.h"

/* A child that isn't waited for yet. */
struct sg_worker_process {
        struct sg_list all_link, link;
        struct sg_worker *worker;
        pid_t pid;
        int pidfd;
        sd_event_source *source; /* off while it lives: the socket tells of its end */
};

struct sg_worker {
        const struct sg_worker_kind *kind;
        void *userdata;
        sd_event *event;
        sd_event_source *io, *deadline, *restart;
        struct sg_worker_process *process; /* NULL: it doesn't run */
        struct sg_list corpses;
        int fd, keep_fd;
        struct sg_record out;
        size_t sent; /* of out */
        struct sg_inbox in;
        struct sg_list questions, failing;
        uint64_t started_usec, delay_usec, failures, n_restarts;
        unsigned depth; /* how many of our functions that call back are running */
        bool freed;     /* freed by a callback; the memory goes when those functions have
                           returned */
};

/* worker.c */
void sg_worker_enter(struct sg_worker *w);
void sg_worker_leave(struct sg_worker *w);
void sg_worker_die(struct sg_worker *w, int error); /* it has to run; only between the two */

/* worker-talk.c */
int sg_worker_on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata);
void sg_worker_send(struct sg_worker *w); /* what the socket takes */
void sg_worker_fail_questions(struct sg_worker *w, int error);
void sg_worker_forget_questions(struct sg_worker *w);
