/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the metrics-*.c share. */

#include "core/measure/metric-table.h"
#include "edge/kernel/node-sampler.h"
#include "edge/metrics/http.h"
#include "edge/metrics/textfile.h"
#include "gpus/gpus.h"
#include "metrics/metrics.h"
#include "monitor/monitor.h"

#define SG_METRICS_JOBS_MAX 1000U /* jobs that have series of their own */
#define SG_METRICS_LIVE_STATES ((size_t)_SG_JOB_LIVE_MAX)
#define SG_METRICS_ENDS ((size_t)_SG_JOB_STATE_MAX - SG_JOB_FINAL)

struct sg_metrics_class {
        char name[SG_CLASS_NAME_MAX];
        uint64_t started, ended[SG_METRICS_ENDS]; /* since the daemon started */
        /* As of now: */
        uint64_t live[SG_METRICS_LIVE_STATES];
        uint64_t oldest_usec; /* when the first of those queued was submitted; 0 = none is */
};

struct sg_metrics_job {
        const struct sg_live *live;
        char id[SG_JOB_ID_MAX];
        struct sg_progress_view progress;
        struct sg_gpu_use gpus; /* if it has such */
        bool has_gpus;
};

struct sg_metrics {
        struct sg_manager *manager;
        uint64_t started_usec;            /* realtime */
        struct sg_metrics_class *classes; /* in the order of the settings' */
        size_t n_classes;
        struct sg_node_sampler *node; /* our own: the monitor's rests while no job runs */

        /* Of one exposition, kept for the next. */
        struct sg_metrics_job *jobs;
        size_t n_jobs, n_room, n_omitted;

        struct sg_http *http;
        struct sg_address listening; /* where http is */
        struct sg_textfile *textfile;
        char dir[SG_METRICS_DIR_MAX]; /* where textfile is */
        struct sg_openmetrics text;   /* what it was given last */
        sd_event_source *timer;
        uint64_t due_usec, late_usec; /* the timer: when, and how late it was the last time */
        bool hanging;                 /* said that the directory's disk is slow */
};

/* metrics.c: where to count a job; NULL: nowhere, for want of memory */
struct sg_metrics_class *sg_metrics_class(struct sg_metrics *x, const struct sg_live *l);

/* metrics-expose.c: a whole exposition; 0, -ENOMEM, or -EINVAL: one of our own mistakes */
int sg_metrics_expose(struct sg_openmetrics *w, enum sg_openmetrics_format format, void *metrics);

/* gpu.c: its part about the GPUs */
void sg_metrics_put_gpus(struct sg_metrics *x, struct sg_openmetrics *w);

/* metrics-job.c: its part about single jobs */
int sg_metrics_collect_jobs(struct sg_metrics *x);
void sg_metrics_put_jobs(struct sg_metrics *x, struct sg_openmetrics *w);
