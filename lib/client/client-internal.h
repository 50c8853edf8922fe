/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Between the library's parts: what the environment says, and the socket. */

#include "client/schedgov.h"
#include <stdbool.h>
#include <sys/types.h>

/* Every function of the library; the body is in the .so what a visible symbol is. */
#define SGC_API __attribute__((visibility("default")))

/* NULL where there is none. They stay as they were when the library was first used. */
const char *sgc_allocation_path(void);
bool sgc_has_socket(void);

/* One datagram, to the governor, without waiting; fd may be -1. -EAGAIN: its queue is full. */
int sgc_send(const char *text, size_t n, int fd);

/* Whether a fork(2) lies between `owner` and us. */
bool sgc_is_other_process(pid_t owner);
