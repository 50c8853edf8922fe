/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Which control groups hold a TCP socket that waits for connections, in our own network namespace:
 * a job that serves somebody, as a notebook does, isn't put behind others.
 */

#include <stddef.h>
#include <stdint.h>

struct sg_listeners;

int sg_listeners_new(struct sg_listeners **ret); /* negative: the kernel doesn't tell */
struct sg_listeners *sg_listeners_free(struct sg_listeners *l); /* NULL is fine */

/* Looks again: the ids of the groups in the v2 tree (their directories' inode numbers), each once,
 * ascending, borrowed until the next call. How many, or -errno. Never blocks: a dump of netlink is
 * made as it is read. */
int sg_listeners_read(struct sg_listeners *l, const uint64_t **ret);
