/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Frames: how the daemon and its workers talk over a stream socket. Both ends are of the same build
 * and host; lengths are checked nevertheless.
 *
 *    0        4                 4 + length
 *   ┌────────┬───────────────────┐
 *   │ length │ 1 … max bytes     │   u32, as the host stores it; most often a record
 *   └────────┴───────────────────┘
 *
 * A stream and no datagrams: a specification is larger than what a datagram may be
 * (net.core.wmem_max), and all that waits goes and comes with one system call.
 */

#include "base/record.h"
#include <sys/types.h>

/* Begins a frame at the end of `out`; the mark that sg_frame_close() wants. */
size_t sg_frame_open(struct sg_record *out);
/* On failure (-ENOMEM, -E2BIG) the frame is taken out again, and `out` is as it was before. */
int sg_frame_close(struct sg_record *out, size_t mark, size_t max);
/* Sends one frame by a socket that blocks. */
int sg_frame_send(int fd, const void *data, size_t size, size_t max);

/* What has been received: bytes arrive at the end, frames are taken from the head. */
struct sg_inbox {
        struct sg_record bytes;
        size_t taken, max;
        size_t usual; /* bytes that come at once */
};

void sg_inbox_deinit(struct sg_inbox *in);
/* One recv(2). Bytes received, 0 = the other end is closed, -EAGAIN, another negative errno. */
ssize_t sg_inbox_receive(struct sg_inbox *in, int fd, int flags);
/* 1 = *ret and *ret_size, without the length, valid until the next receive; 0 = no whole frame is
 * there; -EBADMSG. */
int sg_inbox_take(struct sg_inbox *in, const uint8_t **ret, size_t *ret_size);
