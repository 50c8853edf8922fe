/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/job/gpu-request.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>

void sg_gpu_used_init(struct sg_gpu_used *u)
{
        *u = (struct sg_gpu_used){
                .memory_peak_bytes = SG_UNLIMITED,
                .usec = SG_UNLIMITED,
                .energy_mj = SG_UNLIMITED,
        };
}

void sg_gpu_request_init(struct sg_gpu_request *q)
{
        *q = (struct sg_gpu_request){
                .min = 1,
                .max = 1,
                .share = SG_GPU_WHOLE,
                .memory_bytes = SG_UNLIMITED,
        };
        sg_gpu_used_init(&q->used);
}

struct sg_gpu_request *sg_gpu_request_new(void)
{
        struct sg_gpu_request *q = malloc(sizeof(*q));

        if (q)
                sg_gpu_request_init(q);
        return q;
}

struct sg_gpu_request *sg_gpu_request_free(struct sg_gpu_request *q)
{
        if (!q)
                return NULL;
        free(q->type);
        free(q->mig);
        free(q->ids);
        free(q);
        return NULL;
}

int sg_gpu_request_dup(const struct sg_gpu_request *q, struct sg_gpu_request **ret)
{
        struct sg_gpu_request *copy = NULL;

        if (q) {
                copy = malloc(sizeof(*copy));
                if (!copy)
                        return -ENOMEM;
                *copy = *q;
                copy->type = q->type ? strdup(q->type) : NULL;
                copy->mig = q->mig ? strdup(q->mig) : NULL;
                copy->ids = q->ids ? strdup(q->ids) : NULL;
                if (!copy->type != !q->type || !copy->mig != !q->mig || !copy->ids != !q->ids) {
                        sg_gpu_request_free(copy);
                        return -ENOMEM;
                }
        }
        *ret = copy;
        return 0;
}
