/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a request says of GPUs, on top of what holds without it. */
#include "proto/gpus.h"
#include "core/ask/request.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Words that take back what was said before. */
#define ANY "any"
#define NONE "none"

static int refuse_ids(const char *ids, int error, struct sg_answer *a)
{
        if (error == -ERANGE)
                return sg_refuse(a, SG_ANSWER_INVALID, "gpu_ids", "gpu-ids: at most %u GPUs",
                                 SG_GPUS_ASKED_MAX);
        return sg_refuse(a, SG_ANSWER_INVALID, "gpu_ids",
                         "gpu-ids: wants indexes or UUIDs with commas, each once, such as 2,0; "
                         "not '%.60s'\n`schedctl gpus` shows the GPUs, --json their UUIDs",
                         ids);
}

static int put_count(const struct sg_request *q, struct sg_gpu_request *to, struct sg_answer *a)
{
        if (!(q->asked & SG_ASK_GPUS))
                return 0;
        if (sg_gpus_parse(q->gpu.gpus, &to->min, &to->max, &to->share) < 0)
                return sg_refuse(a, SG_ANSWER_INVALID, "gpus",
                                 "gpus: wants " SG_GPUS_WANTS ", not '%s'", q->gpu.gpus);
        return 0;
}

/* How many they are is how many are asked for, unless that is said as well. */
static int put_ids(const struct sg_request *q, struct sg_gpu_request *to, struct sg_answer *a)
{
        size_t n;
        int r;

        if (!(q->asked & SG_ASK_GPU_IDS))
                return 0;
        if (strcmp(q->gpu.ids, ANY) == 0) {
                to->ids = NULL;
                return 0;
        }
        r = sg_gpu_ids_count(q->gpu.ids, &n);
        if (r < 0)
                return refuse_ids(q->gpu.ids, r, a);
        to->ids = q->gpu.ids;
        if (!(q->asked & SG_ASK_GPUS) && !(n == 1 && to->share < SG_GPU_WHOLE)) {
                to->min = to->max = n;
                to->share = SG_GPU_WHOLE;
        }
        return 0;
}

static int put_mig(const struct sg_request *q, struct sg_gpu_request *to, struct sg_answer *a)
{
        if (!(q->asked & SG_ASK_GPU_MIG))
                return 0;
        if (strcmp(q->gpu.mig, NONE) == 0) {
                to->mig = NULL;
                return 0;
        }
        if (sg_gpu_mig_check(q->gpu.mig) < 0)
                return sg_refuse(a, SG_ANSWER_INVALID, "mig",
                                 "mig: wants a profile such as 1g.10gb, not '%s'", q->gpu.mig);
        to->mig = (char *)q->gpu.mig;
        return 0;
}

/* The strings are lent. */
static int put(const struct sg_request *q, struct sg_gpu_request *to, struct sg_answer *a)
{
        int r = put_count(q, to, a);

        if (r >= 0)
                r = put_ids(q, to, a);
        if (r >= 0)
                r = put_mig(q, to, a);
        if (r < 0)
                return r;
        if (q->asked & SG_ASK_GPU_MEM)
                to->memory_bytes = q->gpu.memory_bytes;
        if (q->asked & SG_ASK_GPU_TYPE)
                to->type = strcmp(q->gpu.type, ANY) == 0 ? NULL : (char *)q->gpu.type;
        if (to->min == 0 && !(q->asked & SG_ASK_GPUS)) /* of what is said otherwise, one */
                to->min = to->max = 1;
        return 0;
}

static int check_ids(const struct sg_gpu_request *d, struct sg_answer *a)
{
        char asked[SG_GPUS_TEXT_MAX];
        size_t n = 0;

        if (!d->ids)
                return 0;
        if (d->type)
                return sg_refuse(a, SG_ANSWER_INVALID, "gpu_type",
                                 "gpu-type: not together with gpu-ids, which say which GPUs");
        (void)sg_gpu_ids_count(d->ids, &n);
        if (d->min != n || d->max != n)
                return sg_refuse(a, SG_ANSWER_INVALID, "gpu_ids",
                                 "gpu-ids: names %zu GPU%s, and gpus asks for %s\n"
                                 "leave --gpus away: as many as are named",
                                 n, n == 1 ? "" : "s",
                                 sg_gpus_format(asked, d->min, d->max, d->share));
        return 0;
}

static int check_mig(const struct sg_gpu_request *d, struct sg_answer *a)
{
        if (!d->mig)
                return 0;
        if (d->ids)
                return sg_refuse(a, SG_ANSWER_INVALID, "mig",
                                 "mig: not together with gpu-ids: it is any free instance");
        if (d->share != SG_GPU_WHOLE)
                return sg_refuse(a, SG_ANSWER_INVALID, "mig",
                                 "mig: an instance is a part of a GPU already, and not shared");
        if (d->max != 1)
                return sg_refuse(a, SG_ANSWER_INVALID, "mig",
                                 "mig: one instance a job, as a CUDA process can't use two\n"
                                 "submit --array makes more jobs, each with an instance");
        return 0;
}

/* Of what is asked for; of none nothing may be said. */
static int check(const struct sg_request *q, const struct sg_gpu_request *d, struct sg_answer *a)
{
        int r;

        if (d->min == 0 && q->asked & SG_ASK_GPU & ~SG_ASK_GPUS)
                return sg_refuse(a, SG_ANSWER_INVALID, "gpus",
                                 "gpus: 0 asks for none, and the other options ask for some");
        if (d->min == 0)
                return 0;
        r = check_mig(d, a);
        return r < 0 ? r : check_ids(d, a);
}

bool sg_request_wants_gpus(const struct sg_request *q)
{
        return q->asked & SG_ASK_GPU && !(q->asked & SG_ASK_GPUS && strcmp(q->gpu.gpus, "0") == 0);
}

/* By itself, whatever the class adds. */
int sg_request_check_gpus(const struct sg_request *q, struct sg_answer *a)
{
        struct sg_gpu_request d;
        int r;

        if (!(q->asked & SG_ASK_GPU))
                return 0;
        sg_gpu_request_init(&d);
        r = put(q, &d, a);
        return r < 0 ? r : check(q, &d, a);
}

int sg_request_take_gpus(const struct sg_request *q, const struct sg_gpu_request *from,
                         struct sg_gpu_request **ret, struct sg_answer *a)
{
        struct sg_gpu_request d;
        int r;

        sg_gpu_request_init(&d);
        d.min = d.max = 0;
        if (from)
                d = *from;
        if (q->asked & SG_ASK_GPU) {
                r = put(q, &d, a);
                if (r >= 0)
                        r = check(q, &d, a);
                if (r < 0)
                        return r;
        }
        if (d.min > 0 && d.share < SG_GPU_WHOLE && d.memory_bytes == SG_UNLIMITED)
                return sg_refuse(a, SG_ANSWER_INVALID, "gpus",
                                 "gpus: a part of a GPU has others beside it, so its memory must "
                                 "be said\ngive --gpu-mem as well");
        return sg_gpu_request_dup(d.min > 0 ? &d : NULL, ret);
}
