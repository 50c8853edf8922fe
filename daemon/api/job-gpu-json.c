/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a job's document says of GPUs. */
#include "api/internal.h"
#include <inttypes.h>
#include <string.h>

static json_t *text_or_null(const char *s)
{
        return s ? json_string(s) : json_null();
}

json_t *sg_json_given_gpus(const struct sg_job *j)
{
        json_t *a;

        if (!j->gpus)
                return json_null();
        a = json_array();
        for (const char *p = j->gpus; *p; p += strcspn(p, ","), p += *p == ',')
                (void)json_array_append_new(a, json_stringn(p, strcspn(p, ",")));
        return a;
}

json_t *sg_json_job_gpu(const struct sg_job *j, const struct sg_gpu_now *now)
{
        const struct sg_gpu_request *q = j->gpu;
        json_t *o = json_object();

        if (!q) {
                json_decref(o);
                return json_null();
        }
        (void)json_object_set_new(o, "min", sg_json_number(q->min));
        (void)json_object_set_new(o, "max", sg_json_number(q->max));
        (void)json_object_set_new(o, "share", json_real((double)q->share / SG_GPU_WHOLE));
        (void)json_object_set_new(o, "memory_bytes", sg_json_number(q->memory_bytes));
        (void)json_object_set_new(o, "type", text_or_null(q->type));
        (void)json_object_set_new(o, "ids", text_or_null(q->ids));
        (void)json_object_set_new(o, "mig", text_or_null(q->mig));
        (void)json_object_set_new(o, "memory_used_bytes", sg_json_number(now->memory_bytes));
        (void)json_object_set_new(o, "utilization", sg_json_number(now->utilization));
        (void)json_object_set_new(o, "memory_peak_bytes",
                                  sg_json_number(q->used.memory_peak_bytes));
        (void)json_object_set_new(o, "gpu_usec", sg_json_number(q->used.usec));
        (void)json_object_set_new(o, "energy_joules",
                                  q->used.energy_mj == SG_UNLIMITED
                                          ? json_null()
                                          : json_real((double)q->used.energy_mj / 1e3));
        return o;
}
