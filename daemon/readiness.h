/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What the service manager is told. Where there is none (NOTIFY_SOCKET isn't set) nobody is told
 * anything, at no cost.
 */

#include <systemd/sd-event.h>

struct sg_manager;
struct sg_readiness;

/* READY=1, and from then on STATUS= when the numbers of jobs have changed; and the watchdog. *ret
 * stays NULL where nobody listens. */
int sg_readiness_new(struct sg_readiness **ret, struct sg_manager *m);
struct sg_readiness *sg_readiness_free(struct sg_readiness *n);

/* Around a reload, as Type=notify-reload wants it. */
void sg_readiness_reloading(void);
void sg_readiness_ready(void);
