/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What a job asks for of GPUs. Most jobs ask for none, and have none of this. */

#include <stdint.h>

#define SG_GPU_WHOLE 100U /* hundredths of a GPU */
#define SG_GPU_SHARE_MIN 5U
#define SG_GPU_SHARE_MAX 95U

/* What an attempt took of its GPUs, as measured; SG_UNLIMITED = not known. */
struct sg_gpu_used {
        uint64_t memory_peak_bytes; /* of the GPU on which it was most */
        uint64_t usec;              /* that its GPUs were busy, together */
        uint64_t energy_mj;
};

struct sg_gpu_request {
        uint64_t min, max;     /* how many; as many as there are of that when it starts */
        uint64_t share;        /* hundredths of one; WHOLE, or MIN to MAX: a part, beside others */
        uint64_t memory_bytes; /* of each; SG_UNLIMITED = not said (never so of a part) */
        char *type;            /* a pattern of their names, or NULL: any, but all of one type */
        char *mig;             /* profile of the one instance, or NULL */
        char *ids;             /* indexes or UUIDs, with commas: exactly these, in this order */
        struct sg_gpu_used used;
};

/* One whole GPU, any; strings NULL. */
void sg_gpu_request_init(struct sg_gpu_request *q);
void sg_gpu_used_init(struct sg_gpu_used *u); /* nothing is known */
struct sg_gpu_request *sg_gpu_request_new(void);
/* NULL gives NULL. */
int sg_gpu_request_dup(const struct sg_gpu_request *q, struct sg_gpu_request **ret);
struct sg_gpu_request *sg_gpu_request_free(struct sg_gpu_request *q);
