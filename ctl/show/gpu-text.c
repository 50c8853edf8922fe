/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See gpu-text.h. */

#include "ctl/show/gpu-text.h"
#include "base/format.h"
#include "proto/gpus.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put_text(char *buf, size_t size, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

static void put_text(char *buf, size_t size, const char *format, ...)
{
        size_t used = strlen(buf);
        va_list ap;

        va_start(ap, format);
        (void)vsnprintf(buf + used, size - used, format, ap);
        va_end(ap);
}

static const char *comma(const char *buf)
{
        return *buf ? ", " : "";
}

static const json_t *gpu_of(const json_t *job)
{
        return json_object_get(job, "gpu");
}

const char *sg_gpu_count_text(const json_t *job, char buf[SG_GPU_COUNT_MAX])
{
        const json_t *gpu = gpu_of(job);
        size_t given = json_array_size(json_object_get(json_object_get(job, "limits"), "gpus"));
        double min = sg_document_number(gpu, "min"), max = sg_document_number(gpu, "max"),
               share = sg_document_number(gpu, "share");
        const char *mig = sg_document_string(gpu, "mig");

        *buf = '\0';
        if (mig)
                (void)snprintf(buf, SG_GPU_COUNT_MAX, "%s", mig);
        else if (share < 1)
                (void)sg_gpus_format(buf, 1, 1, (uint64_t)(share * 100 + 0.5));
        else if (given > 0)
                (void)snprintf(buf, SG_GPU_COUNT_MAX, "%zu", given);
        else if (min > 0 && max > 0)
                (void)sg_gpus_format(buf, (uint64_t)min, (uint64_t)max, 100);
        return buf;
}

static const char *size_of(char buf[SG_FORMAT_MAX], double bytes)
{
        return sg_format_bytes(buf, (uint64_t)bytes);
}

const char *sg_gpu_asked_text(const json_t *job, char *buf, size_t size)
{
        const json_t *gpu = gpu_of(job);
        double memory = sg_document_number(gpu, "memory_bytes"),
               min = sg_document_number(gpu, "min"), max = sg_document_number(gpu, "max"),
               share = sg_document_number(gpu, "share");
        const char *type = sg_document_string(gpu, "type"), *ids = sg_document_string(gpu, "ids"),
                   *mig = sg_document_string(gpu, "mig");
        char count[SG_GPUS_TEXT_MAX], bytes[SG_FORMAT_MAX];

        *buf = '\0';
        if (!json_is_object(gpu) || isnan(min) || isnan(max) || isnan(share))
                return buf;
        if (mig)
                put_text(buf, size, "an instance %s", mig);
        else
                put_text(buf, size, "%s",
                         sg_gpus_format(count, (uint64_t)min, (uint64_t)max,
                                        (uint64_t)(share * 100 + 0.5)));
        if (type)
                put_text(buf, size, " of type %s", type);
        if (ids)
                put_text(buf, size, ": %s", ids);
        if (!isnan(memory))
                put_text(buf, size, max > 1 ? ", %s each" : ", %s of memory",
                         size_of(bytes, memory));
        return buf;
}

const char *sg_gpu_given_text(const json_t *job, char *buf, size_t size)
{
        json_t *uuid;
        size_t i;

        *buf = '\0';
        json_array_foreach (json_object_get(json_object_get(job, "limits"), "gpus"), i, uuid)
                if (json_is_string(uuid))
                        put_text(buf, size, "%s%s", comma(buf), json_string_value(uuid));
        return buf;
}

const char *sg_gpu_used_text(const json_t *job, char *buf, size_t size)
{
        const json_t *gpu = gpu_of(job);
        double now = sg_document_number(gpu, "memory_used_bytes"),
               busy = sg_document_number(gpu, "utilization"),
               peak = sg_document_number(gpu, "memory_peak_bytes"),
               usec = sg_document_number(gpu, "gpu_usec"),
               joules = sg_document_number(gpu, "energy_joules");
        char text[SG_FORMAT_MAX];

        *buf = '\0';
        if (!isnan(now))
                put_text(buf, size, "memory %s", size_of(text, now));
        if (!isnan(busy))
                put_text(buf, size, "%s%.0f%% busy", comma(buf), busy);
        if (!isnan(peak))
                put_text(buf, size, "%speak %s", comma(buf), size_of(text, peak));
        if (!isnan(usec))
                put_text(buf, size, "%sbusy for %s", comma(buf),
                         sg_format_usec(text, (uint64_t)usec));
        if (!isnan(joules))
                put_text(buf, size, joules < 10000 ? "%s%.0f J" : "%s%.0f kJ", comma(buf),
                         joules < 10000 ? joules : joules / 1e3);
        return buf;
}
