/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Many descriptors of one kind behind one event source: a source of sd-event's own takes 300 bytes,
 * which each job would need twice.
 */

#include <systemd/sd-event.h>

struct sg_poller;

/* Its descriptor can be read from, has been hung up, or its file has changed. May add and remove
 * any. */
typedef void (*sg_poller_cb)(void *userdata);

int sg_poller_new(struct sg_poller **ret, sd_event *event, sg_poller_cb ready);
struct sg_poller *sg_poller_free(struct sg_poller *p); /* NULL is fine */

/* They are told of at most so often in so long. */
int sg_poller_restrain(struct sg_poller *p, uint64_t usec, unsigned times);

int sg_poller_add(struct sg_poller *p, int fd, void *userdata);
/* A kernel's file that poll(2) tells changes of (kernfs). It need not be read: each change is told
 * of once, and so is that it was added. */
int sg_poller_add_notified(struct sg_poller *p, int fd, void *userdata);
/* To be called before the descriptor is closed, as others may have the file open too. One that
 * isn't there is fine, as is −1. */
void sg_poller_remove(struct sg_poller *p, int fd);
