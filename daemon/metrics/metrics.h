/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Metrics for others to collect, as [Metrics] says: a textfile at an interval, pages by HTTP on
 * demand, or neither, and then this costs two counters per job. All of it is read from the manager
 * at the moment it is written; nothing is kept but counts of what started and ended.
 */

#include "manager.h"

struct sg_metrics;

/* To be made after the settings and the monitor. What can't be set up is logged and left out.
 * -ENOMEM */
int sg_metrics_new(struct sg_metrics **ret, struct sg_manager *m);
/* Removes the textfile: only when the daemon stops for good. */
struct sg_metrics *sg_metrics_free(struct sg_metrics *x);
/* Other settings are in force, and each job has its class of these. */
void sg_metrics_reload(struct sg_manager *m);

/* An attempt was let go ahead; a job's end is durable. x may be NULL. */
void sg_metrics_started(struct sg_metrics *x, const struct sg_live *l);
void sg_metrics_ended(struct sg_metrics *x, const struct sg_live *l);
