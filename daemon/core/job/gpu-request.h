/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What a job asks for of GPUs. Most jobs ask for none, and have none of this. */

#include <stdint.h>

#define SG_GPU_WHOLE 100U /* hundredths of a GPU */
#define SG_GPU_SHARE_MIN 5U
#define SG_GPU_SHARE_MAX 95U

struct sg_gpu_request {
        uint64_t min, max;     /* how many; as many as there are of that when it starts */
        uint64_t share;        /* hundredths of one; WHOLE, or MIN to MAX: a part, beside others */
        uint64_t memory_bytes; /* of each; SG_UNLIMITED = not said (never so of a part) */
        char *type;            /* a pattern of their names, or NULL: any, but all of one type */
        char *mig;             /* profile of the one instance, or NULL */
        char *ids;             /* indexes or UUIDs, with commas: exactly these, in this order */
};
