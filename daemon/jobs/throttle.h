/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Arrays of which only so many tasks may run at once (--array 1-100%4). So many of them are in the
 * queue or run; the others are kept out of it, in order of their numbers, and when one leaves the
 * next gets in: thousands that must not start yet are nothing that the queue has to look past. The
 * tasks of an array share what is counted.
 */

#include <stdbool.h>
#include <stdint.h>

struct sg_live;
struct sg_throttle;

int sg_throttle_new(struct sg_throttle **ret, uint64_t max); /* -ENOMEM */
void sg_throttle_unref(struct sg_throttle *t);               /* NULL is fine */

/* The task holds a reference, until it is freed. */
void sg_live_hold_throttle(struct sg_live *l, struct sg_throttle *t);
/* Of a job that was loaded from the store, in order of n: shared with the task before it. Fine if
 * its array has no such bound. -ENOMEM. */
int sg_live_find_throttle(struct sg_live *l);
void sg_live_release_throttle(struct sg_live *l);

/* Whether it may enter the queue; then it is counted there. If not, sg_live_enqueue() is called for
 * it when its turn among the tasks has come. */
bool sg_throttle_lets_in(struct sg_live *l);
/* It is there whatever the bound says, as it runs already. */
void sg_throttle_count(struct sg_live *l);
/* It has left the queue, or waits no more to get in: the next one may. */
void sg_throttle_leave(struct sg_live *l);
bool sg_throttle_keeps_out(const struct sg_live *l);
