/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The node's GPUs as one caller may see them, and the document of that (schedgov.gpus/1). A view is
 * plain data, made for one answer; what it points to is somebody else's. What isn't known is
 * SG_GPU_UNKNOWN in numbers, 0 in times and NULL in text, and null in the document.
 */

#include "core/gpu/gpus.h"
#include "core/job/gpu-request.h"
#include "proto/job-key.h"
#include <jansson.h>

#define SG_GPU_NO_INSTANCE SIZE_MAX

struct sg_gpu_view_job {
        char id[SG_JOB_ID_MAX]; /* "": the caller doesn't see that job */
        const char *user;
        uint64_t share;        /* hundredths; 0: it uses the GPU, and nobody gave it to it */
        uint64_t memory_limit; /* that it declared */
        uint64_t memory;
        uint64_t idle_usec; /* 0 = it isn't idle */
        size_t instance;    /* of MIG, which it holds; or NO_INSTANCE */
};

struct sg_gpu_view_process {
        const struct sg_gpu_process *process;
        const char *user;
        const char *command; /* NULL, too, if the caller may not know it */
        const char *job;     /* id; NULL: it is no job's */
};

struct sg_gpu_view_gpu {
        const struct sg_gpu *gpu;
        bool fresh; /* its figures are of now */
        const char *state, *reason, *mode;
        uint64_t since_usec; /* the state; realtime */
        uint64_t promised, free, foreign, unattributed;
        const char *const *nodes;
        size_t n_nodes;
        const struct sg_gpu_view_job *jobs;
        size_t n_jobs;
        const struct sg_gpu_view_process *processes; /* as many as the GPU has, in its order */
        size_t n_processes;
};

struct sg_gpu_view {
        bool managed; /* else the settings say Manage=no, and nothing else is looked at */
        enum sg_gpu_driver_state driver;
        const char *version, *message;
        uint64_t cuda, since_usec;
        uint64_t fragmentation_pm;
        const struct sg_gpu_view_gpu *gpus; /* as they are shown */
        size_t n;
        const struct sg_gpu_inventory *inventory; /* in whose order gpus are near each other */
};

const char *sg_gpu_driver_state_to_string(enum sg_gpu_driver_state state); /* "absent" … */

/* gpus-json.c. Who runs out of memory gets NULL, as of all of jansson. */
json_t *sg_json_gpus(const struct sg_gpu_view *v);
