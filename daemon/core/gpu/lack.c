/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why there is no GPU for a request, in words: what it wants, and what is the matter with that. */
#include "base/format.h"
#include "core/gpu/place.h"
#include "core/job/limits.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct text {
        char *buf;
        size_t n;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(t->buf + t->n, SG_GPU_LACK_TEXT_MAX - t->n, format, args);
        va_end(args);
        if (n > 0)
                t->n += (size_t)n;
        if (t->n >= SG_GPU_LACK_TEXT_MAX)
                t->n = SG_GPU_LACK_TEXT_MAX - 1;
}

/* "2 GPUs of type A100* with 40G each" */
static void add_wanted(struct text *t, const struct sg_gpu_request *r, bool mixed)
{
        char memory[SG_FORMAT_MAX];

        if (r->mig)
                add(t, "a MIG instance of %s", r->mig);
        else if (r->share < SG_GPU_WHOLE)
                add(t, r->share % 10 ? "0.%02" PRIu64 " of %s%s" : "0.%" PRIu64 " of %s%s",
                    r->share % 10 ? r->share : r->share / 10, r->ids ? "GPU " : "a GPU",
                    r->ids ? r->ids : "");
        else if (r->ids)
                add(t, "GPUs %s", r->ids);
        else
                add(t, "%" PRIu64 " GPU%s", r->min, r->min == 1 ? "" : "s");
        if (r->type)
                add(t, " of type %s", r->type);
        else if (mixed)
                add(t, " of one type");
        if (r->memory_bytes != SG_UNLIMITED)
                add(t, " with %s%s", sg_format_bytes(memory, r->memory_bytes),
                    r->min > 1 && !r->mig ? " each" : "");
}

static void add_never(struct text *t, const struct sg_gpu_request *r,
                      const struct sg_gpu_lack *lack)
{
        if (r->mig && lack->profiles[0])
                add(t, ", this node has only %s", lack->profiles);
        else if (lack->have > 0)
                add(t, ", this node has %" PRIu64, lack->have);
        else
                add(t, ", this node has none%s",
                    r->memory_bytes != SG_UNLIMITED || r->type ? " such" : "");
}

char *sg_gpu_lack_format(char buf[SG_GPU_LACK_TEXT_MAX], const struct sg_gpu_request *r,
                         const struct sg_gpu_lack *lack)
{
        struct text t = {.buf = buf};

        buf[0] = '\0';
        if (lack->kind == SG_GPU_LACK_NONE)
                return buf;
        add_wanted(&t, r, lack->mixed);
        switch (lack->kind) {
        case SG_GPU_LACK_NONE:
                break;
        case SG_GPU_LACK_UNKNOWN:
                add(&t, ", and nobody knows what is free");
                break;
        case SG_GPU_LACK_DRIVER:
                add(&t, ", and no driver is loaded");
                break;
        case SG_GPU_LACK_FREE:
                add(&t, ", %" PRIu64 " free", lack->free);
                break;
        case SG_GPU_LACK_NAMED:
                add(&t, ", %s isn't free", lack->id);
                break;
        case SG_GPU_LACK_PART:
                add(&t, ", none has that much left");
                break;
        case SG_GPU_LACK_INSTANCE:
                add(&t, ", of %" PRIu64 " none is free", lack->have);
                break;
        case SG_GPU_LACK_NEVER:
                add_never(&t, r, lack);
                break;
        case SG_GPU_LACK_NO_ID:
                add(&t, ", %s can't be had like that on this node", lack->id);
                break;
        }
        return buf;
}
