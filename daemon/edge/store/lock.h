/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * STATE/lock: one daemon per state directory. The flock belongs to an open file description that
 * the daemon and its writer share, so it is free only when both are gone. The file says who they
 * are: a daemon that lives is a reason to give up at once, a writer that is only finishing what a
 * dead daemon left is waited for.
 */

#include <sys/types.h>

/* Opens and locks. -EBUSY: *ret_holder is the other daemon, 0 if it isn't known. */
int sg_store_lock(const char *state_dir, int *ret_fd, pid_t *ret_holder);
/* Best effort (the disk may be full): without it the next daemon waits before it gives up. */
void sg_store_lock_sign(int fd, pid_t writer);
