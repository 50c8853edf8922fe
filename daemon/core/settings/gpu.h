/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What settings say of GPUs: [Gpu] of the node, and what a class gives and allows. */

#include "core/job/gpu-request.h"
#include <stdbool.h>
#include <stdint.h>

/* Whether a class is for jobs that ask for GPUs. */
enum sg_gpu_match { SG_GPU_MATCH_ANY, SG_GPU_MATCH_YES, SG_GPU_MATCH_NO };

struct sg_class_gpus {
        struct sg_gpu_request given; /* what a job gets that doesn't ask; min 0: none. No strings */
        uint64_t max;                /* that a job may ask for, 0 = none, SG_UNLIMITED */
        uint64_t max_per_user;       /* that its jobs of one user hold at once; parts count */
        uint64_t idle_usec;          /* a GPU that is held may do nothing for so long … */
        bool idle_ends;              /* … and then its job is ended; else it is only told */
        enum sg_gpu_match match;
};

#define SG_GPU_FILE_MAX 256
#define SG_GPU_EXCLUDED_MAX 4096
#define SG_GPU_IGNORED_MAX 1024

/* [Gpu] */
struct sg_gpu_settings {
        bool manage;                       /* "auto": where there is a driver */
        char exclude[SG_GPU_EXCLUDED_MAX]; /* indexes, UUIDs and bus ids, a blank between them */
        char ignore[SG_GPU_IGNORED_MAX];   /* names of processes that don't count */
        uint64_t timeout_usec;             /* 5 s: for an answer of the driver */
        char library[SG_GPU_FILE_MAX];     /* "": where the loader finds it */
        char driver_root[SG_GPU_FILE_MAX]; /* "/" */
        char job_mapping[SG_GPU_FILE_MAX]; /* directory for DCGM's; "": none */
};

/* Whether a DeviceAllow= is about a GPU's node, as drivers of all vendors call them. */
bool sg_settings_device_is_gpu(const char *value);
/* Whether one of exclude or ignore is this word. */
bool sg_settings_words_have(const char *words, const char *word);
