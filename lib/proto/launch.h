/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What schedgovd and schedgov-launch say to each other: datagrams on a SOCK_SEQPACKET socket, one
 * answer to each request, in host byte order as they never leave the host.
 *
 *   daemon → launcher  request, with the shim's end of the gate
 *   launcher → daemon  answer, with the shim's pidfd if it was started
 *
 * A request names an attempt and nothing else, so that whoever takes the daemon over can start
 * stored jobs only. The shim is a child of the launcher: a gate that is closed ends it.
 */

#include "proto/job-key.h"
#include <stddef.h>

#define SG_LAUNCH_SOCKET "/run/schedgov/launch"
#define SG_LAUNCH_MAGIC 0x316c6773U /* "sgl1" */

struct sg_launch_request {
        uint32_t magic;
        uint32_t reserved;                     /* 0 */
        uint64_t id;                           /* of the caller's choice, but not 0 */
        char attempt[SG_ATTEMPT_NAME_MAX + 7]; /* filled up with NULs */
};

struct sg_launch_answer {
        uint32_t magic;
        int32_t error; /* 0 or an errno */
        uint64_t id;   /* 0: the request was none, and the connection is closed */
        int32_t pid;
        uint32_t reserved;
};

void sg_launch_request_init(struct sg_launch_request *ret, uint64_t id,
                            const struct sg_job_key *key);
/* 0, -EINVAL: no name of an attempt (*ret_id is set), -EBADMSG: no request at all. */
int sg_launch_request_parse(const void *data, size_t size, uint64_t *ret_id,
                            struct sg_job_key *ret);
