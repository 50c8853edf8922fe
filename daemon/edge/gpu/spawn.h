/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* How a worker comes to be. Each gives a stream socket, CLOEXEC, whose other end is the worker's
 * descriptor SG_GPU_FD. */

#include <sys/types.h>

#define SG_GPU_FD 3 /* where systemd puts a connection that it has accepted, too */

/* Has systemd start one, by a connection. Only root can have made that socket. -EPERM: somebody
 * else has. */
int sg_gpu_connect(const char *path, int *ret_fd);
/* A child in a session of its own, with our environment and our stderr. */
int sg_gpu_spawn(const char *program, int *ret_fd, pid_t *ret_pid, int *ret_pidfd);
