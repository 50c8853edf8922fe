/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All work is done when a job ends: a policy asks at each of its steps, for each job.
 */

#include "core/job/history.h"
#include "core/job/median.h"
#include <errno.h>
#include <math.h>
#include <string.h>

/* Beyond that it isn't how such jobs end early any more, but one user's that say anything. */
#define CORRECTION_LEAST .25
#define CORRECTION_MOST 4.0
#define CORRECTION_MIN 5 /* ratios: of fewer, one early end would make up the median */

static size_t kept(unsigned n)
{
        return n < SG_HISTORY_JOBS ? n : SG_HISTORY_JOBS;
}

/* Where the first larger one is. */
static size_t above(const struct sg_class_history *h, size_t n, double v)
{
        size_t lo = 0, hi = n;

        while (lo < hi) {
                size_t mid = (lo + hi) / 2;

                if ((double)h->order[mid] > v)
                        hi = mid;
                else
                        lo = mid + 1;
        }
        return lo;
}

static void put_in_order(struct sg_class_history *h, float cpu)
{
        size_t n = kept(h->n_cpu), at;

        if (n == SG_HISTORY_JOBS) {
                at = above(h, n, (double)h->cpu[h->n_cpu % SG_HISTORY_JOBS]) - 1;
                n--;
                memmove(&h->order[at], &h->order[at + 1], (n - at) * sizeof(float));
        }
        at = above(h, n, (double)cpu);
        memmove(&h->order[at + 1], &h->order[at], (n - at) * sizeof(float));
        h->order[at] = cpu;
}

static void correct(struct sg_class_history *h)
{
        double ratios[SG_HISTORY_JOBS];
        size_t n = kept(h->n_ratio);

        for (size_t i = 0; i < n; i++)
                ratios[i] = (double)h->ratio[i];
        h->correction = n < CORRECTION_MIN ? 0 : (float)sg_median(ratios, n);
}

void sg_history_add(struct sg_class_history *h, double cpu, double claimed)
{
        float size = (float)cpu, ratio = (float)(cpu / claimed);

        if (!isfinite(size) || !(size > 0))
                return;
        put_in_order(h, size);
        h->cpu[h->n_cpu++ % SG_HISTORY_JOBS] = size;
        if (!isfinite(ratio) || !(ratio > 0))
                return;
        h->ratio[h->n_ratio++ % SG_HISTORY_JOBS] = ratio;
        correct(h);
}

static bool are_sizes(const float *v, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!isfinite(v[i]) || !(v[i] > 0))
                        return false;
        return true;
}

int sg_history_load(struct sg_class_history *ret, const void *data, size_t size)
{
        struct sg_class_history h;
        unsigned n_cpu;

        if (size != sizeof(h))
                return -EBADMSG;
        memcpy(&h, data, sizeof(h));
        n_cpu = h.n_cpu;
        if (!are_sizes(h.cpu, kept(n_cpu)) || !are_sizes(h.ratio, kept(h.n_ratio)))
                return -EBADMSG;
        for (h.n_cpu = 0; h.n_cpu < kept(n_cpu); h.n_cpu++)
                put_in_order(&h, h.cpu[h.n_cpu]);
        h.n_cpu = n_cpu;
        correct(&h);
        *ret = h;
        return 0;
}

double sg_history_size(const struct sg_class_history *h, double used)
{
        size_t n = kept(h->n_cpu), first = above(h, n, used);
        size_t low = first + (n - first - 1) / 2, high = first + (n - first) / 2;

        if (first == n)
                return (double)NAN;
        return ((double)h->order[low] + (double)h->order[high]) / 2;
}

double sg_history_correction(const struct sg_class_history *h)
{
        return h->correction > 0
                       ? fmin(fmax((double)h->correction, CORRECTION_LEAST), CORRECTION_MOST)
                       : 1;
}
