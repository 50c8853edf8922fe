/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The daemon's end of schedgov-gpu, which asks a driver in its place (frames.h): a program that may
 * hang in the kernel for as long as the node runs, so that nobody waits for it, and nobody kills
 * it.
 *
 * Under systemd a connection to the socket of schedgov-gpu.socket starts one, in a unit of its own:
 * a child of the daemon's that hangs would keep the daemon's unit from ever stopping, and has none
 * of the rights that it needs. Elsewhere it is a child, in a session of its own. Either ends by
 * itself, in good order, when our end of the connection is closed.
 *
 * One runs at a time. Who is let go is watched until it has gone. When one is started and let go
 * says core/gpu/keep.h.
 */

#include "base/cleanup.h"
#include "core/gpu/gpus.h"
#include "edge/gpu/frames.h"
#include <stdbool.h>
#include <systemd/sd-event.h>

struct sg_gpu_client;

struct sg_gpu_client_ops {
        /* It has looked. What the inventory holds is the callee's, which may let it go. */
        void (*looked)(struct sg_gpu_inventory *inventory, void *userdata);
        /* It was let go: -EPIPE it has ended, -EPROTO it is of another build, -EBADMSG it makes no
         * sense, or another errno. */
        void (*failed)(int error, void *userdata);
        void (*gone)(void *userdata); /* one that was let go has ended */
};

struct sg_gpu_client_options {
        sd_event *event;
        const char *program; /* what is forked and executed, … */
        const char *socket;  /* unless this is given */
        const struct sg_gpu_client_ops
                *ops; /* never called from within a function of this header */
        void *userdata;
};

int sg_gpu_client_new(struct sg_gpu_client **ret, const struct sg_gpu_client_options *o);
/* Lets go, and calls nobody any more. NULL is fine. */
struct sg_gpu_client *sg_gpu_client_free(struct sg_gpu_client *c);
SG_DEFINE_CLEANUP(struct sg_gpu_client *, sg_gpu_client_free)

/* Starts one, with its first order. -EBUSY: one runs. */
int sg_gpu_client_start(struct sg_gpu_client *c, const struct sg_gpu_order *order);
/* It is to look at once, and from now on so often. One that doesn't take it in hangs, which its
 * owner will notice: -EAGAIN. -ENOTCONN: none runs. */
int sg_gpu_client_order(struct sg_gpu_client *c, const struct sg_gpu_order *order);
void sg_gpu_client_let_go(struct sg_gpu_client *c);
bool sg_gpu_client_runs(const struct sg_gpu_client *c);
