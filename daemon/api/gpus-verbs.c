/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gpus and DrainGpu: how the node's GPUs are, and that nobody gets one of them. */
#include "api/gpu-view.h"
#include "api/internal.h"

void sg_gpu_now(const struct sg_live *live, struct sg_gpu_now *ret)
{
        (void)live;
        *ret = (struct sg_gpu_now){SG_UNLIMITED, SG_UNLIMITED};
}

int sg_api_gpus(struct sg_call *call, struct sg_answer *a)
{
        const struct sg_gpu_view view = {
                .managed = call->manager->settings->gpu.manage,
                .driver = SG_GPU_DRIVER_ABSENT,
                .cuda = SG_GPU_UNKNOWN,
                .fragmentation_pm = SG_GPU_UNKNOWN,
        };
        _cleanup_free_ char *doc = NULL;
        int r = sg_json_dump(sg_json_gpus(&view), &doc);

        (void)a;
        return r < 0 ? r : sg_call_send_document(call, doc);
}

int sg_api_drain_gpu(struct sg_call *call, struct sg_answer *a)
{
        _cleanup_(sg_request_deinit) struct sg_request q;
        int r;

        sg_request_init(&q, call->verb);
        r = sg_authorize_node(call, "drain GPUs", a);
        if (r <= 0)
                return r;
        r = sg_call_read(call, &q, a);
        if (r < 0)
                return r;
        return sg_refuse(a, SG_ANSWER_INVALID, "gpu",
                         "there is no GPU '%.100s'\n`schedctl gpus` shows those that there are",
                         q.id ?: "");
}
