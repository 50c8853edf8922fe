/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Traces in memory and as lines of text: see trace.h. */

#include "core/sim/trace.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "core/sim/trace-internal.h"
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_MAX 32

static const char *const curves[] = {
        [SG_CURVE_EXP] = "exp",
        [SG_CURVE_POW] = "pow",
        [SG_CURVE_WEIBULL] = "weibull",
};

int sg_trace_curve_from_string(const char *s)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(curves); i++)
                if (strcmp(curves[i], s) == 0)
                        return (int)i;
        return -EINVAL;
}

void sg_trace_deinit(struct sg_trace *t)
{
        free(t->jobs);
        *t = (struct sg_trace){0};
}

int sg_trace_add(struct sg_trace *t, const struct sg_trace_job *job)
{
        if (t->n == t->allocated) {
                size_t room = t->allocated ? 2 * t->allocated : 16;
                struct sg_trace_job *grown = reallocarray(t->jobs, room, sizeof(*grown));

                if (!grown)
                        return -ENOMEM;
                t->jobs = grown;
                t->allocated = room;
        }
        t->jobs[t->n++] = *job;
        return 0;
}

/* "9" is before "10". */
static int by_label(const char *a, const char *b)
{
        size_t n_a = strlen(a), n_b = strlen(b);

        return n_a != n_b ? (n_a < n_b ? -1 : 1) : strcmp(a, b);
}

static int by_place(const void *a, const void *b)
{
        const struct sg_trace_job *const *p = a, *const *q = b;
        int r = by_label((*p)->instance, (*q)->instance);

        if (r != 0)
                return r;
        if ((*p)->arrival != (*q)->arrival)
                return (*p)->arrival < (*q)->arrival ? -1 : 1;
        return *p < *q ? -1 : *p > *q;
}

int sg_trace_sort(struct sg_trace *t)
{
        _cleanup_free_ const struct sg_trace_job **order = NULL;
        struct sg_trace_job *sorted;

        if (t->n == 0)
                return 0;
        order = calloc(t->n, sizeof(struct sg_trace_job *));
        sorted = calloc(t->n, sizeof(*sorted));
        if (!order || !sorted) {
                free(sorted);
                return -ENOMEM;
        }
        for (size_t i = 0; i < t->n; i++)
                order[i] = &t->jobs[i];
        qsort(order, t->n, sizeof(struct sg_trace_job *), by_place);
        for (size_t i = 0; i < t->n; i++)
                sorted[i] = *order[i];
        free(t->jobs);
        t->jobs = sorted;
        t->allocated = t->n;
        return 0;
}

size_t sg_trace_instance_end(const struct sg_trace *t, size_t begin)
{
        size_t end = begin;

        while (end < t->n && strcmp(t->jobs[end].instance, t->jobs[begin].instance) == 0)
                end++;
        return end;
}

/* As short as it reads the same again. */
static const char *number(double v, char buf[NUMBER_MAX])
{
        double again;

        (void)snprintf(buf, NUMBER_MAX, "%.15g", v);
        if (!sg_number_scan(buf, buf + strlen(buf), &again) || again != v)
                (void)snprintf(buf, NUMBER_MAX, "%.17g", v);
        return buf;
}

static bool is_power(const struct sg_speedup *s)
{
        for (int o = 1; o < SG_SPEEDUP_OCTAVES; o++)
                if (s->exponent[o] != s->exponent[0])
                        return false;
        return true;
}

/* "exponent,speedup", one of which is empty, or both. */
static void format_speedup(const struct sg_speedup *s, char *buf, size_t size)
{
        char n[NUMBER_MAX];
        size_t used;

        if (is_power(s)) {
                bool linear = s->exponent[0] >= 1;

                (void)snprintf(buf, size, "%s,", linear ? "" : number(s->exponent[0], n));
                return;
        }
        used = (size_t)snprintf(buf, size, ",\"1:1");
        for (int o = 1; o <= SG_SPEEDUP_OCTAVES; o++)
                used += (size_t)snprintf(buf + used, size - used, ",%d:%s", 1 << o,
                                         number(sg_speedup_at(s, 1 << o), n));
        (void)snprintf(buf + used, size - used, "\"");
}

const char *sg_trace_format(const struct sg_trace_job *j, char *buf, size_t size)
{
        const double numbers[] = {j->arrival, j->work, j->width, j->a,       j->b,
                                  j->first,   j->last, j->noise, j->deadline};
        char n[SG_ELEMENTSOF(numbers)][NUMBER_MAX], speedup[512], threads[16] = "";

        for (size_t i = 0; i < SG_ELEMENTSOF(numbers); i++)
                (void)number(numbers[i], n[i]);
        format_speedup(&j->speedup, speedup, sizeof(speedup));
        if (j->threads > 0)
                (void)snprintf(threads, sizeof(threads), "%u", j->threads);
        (void)snprintf(buf, size, "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%u,%s,%s,%s,%s", j->instance,
                       j->job, n[0], n[1], n[2], curves[j->curve], n[3], n[4], n[5], n[6],
                       j->reports, n[7], isfinite(j->deadline) ? n[8] : "", speedup, threads);
        return buf;
}
