/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Between the library's parts: what the environment says, and the socket. */

#include "client/schedgov.h"
#include <stdbool.h>
#include <sys/types.h>

/* Marks the functions that the library exports. */
#define SGC_API __attribute__((visibility("default")))

/* What the environment names; NULL where it names nothing. It is read when the library is first
 * used, and kept. */
const char *sgc_allocation_path(void);
bool sgc_has_socket(void);

/* One datagram, to the governor, without waiting; fd may be -1. -EAGAIN: its queue is full. */
int sgc_send(const char *text, size_t n, int fd);

/* Whether a fork(2) lies between `owner` and us. */
bool sgc_is_other_process(pid_t owner);
