/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a job asks for of GPUs: its own words, its class's, and what the class allows. */
#include "gpus/gpus.h"
#include "api/internal.h"
#include <inttypes.h>
#include <string.h>

static int refuse_many(const struct sg_gpu_request *want, uint64_t max, const char *whose,
                       const char *class, struct sg_answer *a)
{
        char asked[SG_GPUS_TEXT_MAX];

        return sg_refuse(a, SG_ANSWER_INVALID, "gpus",
                         "gpus: %s is more than the %" PRIu64 " that %sclass '%s' allows",
                         sg_gpus_format(asked, want->min, want->max, want->share), max, whose,
                         class);
}

static int check_class(const struct sg_gpu_request *want, const struct sg_class *class,
                       struct sg_answer *a)
{
        const struct sg_class_gpus *g = &class->gpus;

        if (g->max != SG_UNLIMITED && want->max > g->max)
                return refuse_many(want, g->max, "", class->name, a);
        if (g->max_per_user != SG_UNLIMITED && want->min > g->max_per_user)
                return refuse_many(want, g->max_per_user, "a user in ", class->name, a);
        return 0;
}

int sg_gpus_take(const struct sg_request *q, const struct sg_gpu_request *from,
                 const struct sg_class *class, const struct sg_settings *settings,
                 struct sg_gpu_request **ret, struct sg_answer *a)
{
        struct sg_gpu_request *want;
        int r;

        if (!settings->gpu.manage) {
                if (sg_request_wants_gpus(q))
                        return sg_refuse(a, SG_ANSWER_INVALID, "gpus",
                                         "gpus: GPUs aren't managed here ([Gpu] Manage=no)");
                *ret = NULL;
                return 0;
        }
        r = sg_request_take_gpus(q, from, &want, a);
        if (r < 0)
                return r;
        r = want && q->asked & SG_ASK_GPU ? check_class(want, class, a) : 0;
        if (r < 0)
                sg_gpu_request_free(want);
        else
                *ret = want;
        return r;
}

int sg_gpus_check_fit(struct sg_manager *m, const struct sg_gpu_request *want, struct sg_answer *a)
{
        const struct sg_gpu_pool *pool = sg_gpus_pool(m);
        char text[SG_GPU_LACK_TEXT_MAX];
        struct sg_gpu_lack lack;

        if (!want)
                return 0;
        sg_gpus_wake(m);
        if (!pool || sg_gpu_could_fit(pool, want, &lack))
                return 0;
        return sg_refuse(a, SG_ANSWER_INVALID, "gpus",
                         "gpus: %s\n`schedctl gpus` shows what there is",
                         sg_gpu_lack_format(text, want, &lack));
}
