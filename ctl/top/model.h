/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What `top` knows: the documents of its last round, what follows from them and those of the round
 * before (rates), and the losses of each job that it has seen. Pure: documents and the time in.
 */

#include "ctl/show/gpu-text.h"
#include "ctl/show/progress.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define SG_TOP_TREND 32 /* losses of a job that are kept */

enum sg_pressure { SG_PRESSURE_CPU, SG_PRESSURE_MEMORY, SG_PRESSURE_IO, _SG_PRESSURE_MAX };

/* What the kernel adds up; rates are NaN before the second round. */
struct sg_top_rates {
        double cpu_usec, psi_usec[_SG_PRESSURE_MAX]; /* as read */
        double cpu;                                  /* CPUs */
        double psi[_SG_PRESSURE_MAX];                /* 0 … 1, of the time */
};

struct sg_top_job {
        json_t *document; /* strings belong to it */
        const char *id, *name, *user, *state, *why, *list;
        double running_sec, share, memory_bytes, gpu_memory_bytes, gpu_utilization;
        char gpu[SG_GPU_COUNT_MAX]; /* how many; "" = none */
        struct sg_top_rates rates;
        struct sg_job_progress progress;
        double trend[SG_TOP_TREND]; /* the oldest first */
        size_t n_trend;
        bool asked; /* for its series */
};

struct sg_top_link {
        char name[32];
        bool up;
        double rx_bytes, tx_bytes, errors; /* as read; errors and drops */
        double rx, tx;                     /* bytes per second */
        double new_errors;                 /* since the round before */
};

enum sg_top_key {
        SG_TOP_ID,
        SG_TOP_TIME,
        SG_TOP_CPU,
        SG_TOP_SHARE,
        SG_TOP_MEMORY,
        SG_TOP_PROGRESS,
        SG_TOP_ETA,
        _SG_TOP_KEY_MAX,
};

struct sg_top {
        json_t *status; /* NULL before the first round */
        uint64_t at_usec;
        struct sg_top_rates node; /* cpu isn't used */
        struct sg_top_link *links;
        size_t n_links;
        struct sg_top_job *jobs; /* as the governor lists them */
        size_t n;
        size_t *order; /* indices of jobs, as they are shown */
        enum sg_top_key key;
        bool reverse;
        char trouble[256]; /* why there is nothing newer; may be empty */
};

extern const char *const sg_top_keys[_SG_TOP_KEY_MAX]; /* as in --sort */

/* Takes both references, also on failure (-ENOMEM, -EBADMSG). jobs: an array of documents. */
int sg_top_update(struct sg_top *t, json_t *status, json_t *jobs, uint64_t now_usec);
/* After a change of key or reverse. */
void sg_top_sort(struct sg_top *t);
/* The losses of a job (schedgov.series/1) from before the first round. */
void sg_top_add_series(struct sg_top *t, const char *id, const json_t *series);
void sg_top_deinit(struct sg_top *t);
