/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/place/allocation.h"
#include "base/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ONE_CPU_PM 10000U

static uint64_t least(uint64_t a, uint64_t b)
{
        return a < b ? a : b;
}

/* Where neither the node's CPUs nor anything else is known, one is sure to be there. */
static uint64_t usable_cpus(const struct sg_allocation_input *in)
{
        const struct sg_cpuset *set = in->pinned ? in->pinned : in->node;
        uint64_t n = set ? sg_cpuset_count(set) : 0;

        if (in->cpus > 0)
                n = n > 0 ? least(n, in->cpus) : in->cpus;
        return n > 0 ? least(n, SG_CPUS_MAX) : 1;
}

/* Whole names only: half a name would be another GPU, or none. */
static void copy_gpus(struct sg_allocation *a, const char *gpus)
{
        size_t n = strnlen(gpus, sizeof(a->gpus));

        if (n == sizeof(a->gpus))
                do
                        n--;
                while (n > 0 && gpus[n] != ',');
        memcpy(a->gpus, gpus, n);
        a->gpus[n] = '\0';
}

void sg_allocation_decide(struct sg_allocation *a, const struct sg_allocation_input *in)
{
        const struct sg_cpuset *set = in->pinned ? in->pinned : in->node;
        uint64_t n = usable_cpus(in);

        a->cpus_pm = least(n * ONE_CPU_PM, in->quota_pm);
        a->threads = (a->cpus_pm + ONE_CPU_PM - 1) / ONE_CPU_PM;
        if (a->threads == 0) /* a quota of nothing: it still has its one thread */
                a->threads = 1;
        a->cpus = set ? *set : (struct sg_cpuset){0};
        a->gpus_known = in->gpus != NULL;
        copy_gpus(a, in->gpus ? in->gpus : "");
        a->deadline_usec = in->deadline_usec;
}

struct text {
        char *buf;
        size_t size, used;
        bool full;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
        va_list ap;
        int n;

        if (t->full)
                return;
        va_start(ap, format);
        n = vsnprintf(t->buf + t->used, t->size - t->used, format, ap);
        va_end(ap);
        if (n < 0 || (size_t)n >= t->size - t->used)
                t->full = true;
        else
                t->used += (size_t)n;
}

int sg_allocation_format(const struct sg_allocation *a, char *buf, size_t size)
{
        struct text t = {.buf = buf, .size = size};
        char cpus[SG_CPUS_MAX * 5];
        int r = sg_format_cpuset(cpus, sizeof(cpus), &a->cpus);

        if (r < 0)
                return r;
        add(&t, "VERSION=1\nSEQ=%" PRIu64 "\n", a->seq);
        add(&t, "CPUS=%" PRIu64 ".%04" PRIu64 "\n", a->cpus_pm / ONE_CPU_PM,
            a->cpus_pm % ONE_CPU_PM);
        add(&t, "THREADS=%" PRIu64 "\n", a->threads);
        if (*cpus)
                add(&t, "CPU_LIST=%s\n", cpus);
        if (a->gpus_known)
                add(&t, "GPUS=%s\n", a->gpus);
        if (a->deadline_usec > 0)
                add(&t, "DEADLINE_USEC=%" PRIu64 "\n", a->deadline_usec);
        return t.full ? -ENOSPC : (int)t.used;
}

uint64_t sg_allocation_text_seq(const char *text)
{
        static const char key[] = "\nSEQ=";
        const char *p = strstr(text, key);
        char number[24];
        uint64_t seq;
        size_t n;

        if (!p)
                return 0;
        p += sizeof(key) - 1;
        n = strcspn(p, "\n");
        if (n >= sizeof(number))
                return 0;
        memcpy(number, p, n);
        number[n] = '\0';
        return sg_parse_u64(number, &seq) == 0 ? seq : 0;
}
