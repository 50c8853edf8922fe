/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What the service manager is told. Where there is none (NOTIFY_SOCKET isn't set) nobody is told
 * anything, at no cost.
 */

#include <systemd/sd-event.h>

struct sg_manager;
struct sg_notifier;

/* READY=1, and from then on STATUS= when the numbers of jobs have changed; and the watchdog. *ret
 * stays NULL where nobody listens. */
int sg_notifier_new(struct sg_notifier **ret, struct sg_manager *m);
struct sg_notifier *sg_notifier_free(struct sg_notifier *n);

/* Around a reload, as Type=notify-reload wants it. */
void sg_notify_reloading(void);
void sg_notify_ready(void);
