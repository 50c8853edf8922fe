/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Where a shim of the foreground comes back whose gate was closed, as the daemon went away: a
 * SOCK_SEQPACKET socket, over which it goes on as over its gate (proto/attempt.h). Anybody may
 * connect; who isn't waited for is hung up on at once, so that nobody can hold anything open here.
 */

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

struct sg_gate_socket;

/* Who has connected, by the kernel's word. true: the descriptor is the callee's now. */
typedef bool (*sg_gate_socket_cb)(int fd, pid_t pid, uid_t uid, void *userdata);

/* The socket DIR/gate, in place of one that an earlier daemon has left. */
int sg_gate_socket_new(struct sg_gate_socket **ret, sd_event *event, const char *dir,
                       sg_gate_socket_cb cb, void *userdata);
struct sg_gate_socket *sg_gate_socket_free(struct sg_gate_socket *s); /* NULL is fine */
const char *sg_gate_socket_path(const struct sg_gate_socket *s);      /* absolute */
