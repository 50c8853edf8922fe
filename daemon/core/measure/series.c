/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See series.h. A kill may strike anywhere, and then the next daemon finds what is in the block:
 * hence a point is written before it is counted, and thinning out goes forward in place, so that
 * what it leaves half done is the thinned points followed by old ones, some of which go back in
 * time. Repairing drops just those.
 */

#include "core/measure/series.h"
#include "base/parse.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Rounds come a little early or late: one that is this much of the spacing behind the last still
 * belongs to it. */
#define SLACK(spacing) ((spacing) + (spacing) / 4)

/* The compiler must not count a point before it is there. */
#define in_order() __asm__ volatile("" ::: "memory")

/* Over a's time and b's; what isn't known counts for nothing. */
static float average(float a, uint64_t a_usec, float b, uint64_t b_usec)
{
        double wa = isnan(a) ? 0 : (double)a_usec, wb = isnan(b) ? 0 : (double)b_usec;

        if (wa + wb <= 0)
                return isnan(b) ? a : b;
        if (wa <= 0 || wb <= 0)
                return wa > 0 ? a : b;
        return (float)((a * wa + b * wb) / (wa + wb));
}

static uint64_t known(uint64_t newer, uint64_t older)
{
        return newer != SG_UNLIMITED ? newer : older;
}

static uint64_t most(uint64_t a, uint64_t b)
{
        if (a == SG_UNLIMITED || b == SG_UNLIMITED)
                return known(a, b);
        return a > b ? a : b;
}

/* One point for the time from begin_usec over a to b. */
static struct sg_point merge(uint64_t begin_usec, const struct sg_point *a,
                             const struct sg_point *b)
{
        uint64_t a_usec = a->time_usec - begin_usec, b_usec = b->time_usec - a->time_usec;

        return (struct sg_point){
                .time_usec = b->time_usec,
                .eval = isnan(b->eval) ? a->eval : b->eval,
                .step = known(b->step, a->step),
                .memory_bytes = most(a->memory_bytes, b->memory_bytes),
                .cpu = average(a->cpu, a_usec, b->cpu, b_usec),
                .share = average(a->share, a_usec, b->share, b_usec),
        };
}

/* The first and the last stay: the pairs between them become one each. */
static void thin_out(struct sg_series *s)
{
        uint64_t n = 1, mean;

        for (uint64_t i = 1; i + 1 < s->n; i += 2, n++)
                s->points[n] = merge(s->points[n - 1].time_usec, &s->points[i], &s->points[i + 1]);
        if (s->n % 2 == 0)
                s->points[n++] = s->points[s->n - 1];
        in_order();
        s->n = n;
        mean = (s->points[n - 1].time_usec - s->points[0].time_usec) / (n - 1);
        s->spacing_usec = mean > 2 * s->spacing_usec ? mean : 2 * s->spacing_usec;
}

static bool belongs_to_last(const struct sg_series *s, uint64_t time_usec)
{
        if (time_usec <= s->points[s->n - 1].time_usec)
                return true;
        return s->n > 1 && time_usec - s->points[s->n - 2].time_usec <= SLACK(s->spacing_usec);
}

void sg_series_add(struct sg_series *s, const struct sg_point *p)
{
        struct sg_point *last = s->n > 0 ? &s->points[s->n - 1] : NULL;
        struct sg_point now = *p;

        if (last && belongs_to_last(s, p->time_usec)) {
                if (now.time_usec < last->time_usec)
                        now.time_usec = last->time_usec;
                *last = merge(s->n > 1 ? last[-1].time_usec : last->time_usec, last, &now);
                return;
        }
        if (s->n == SG_SERIES_MAX) {
                thin_out(s);
                sg_series_add(s, p);
                return;
        }
        s->points[s->n] = now;
        in_order();
        s->n++;
}

static float plausible(float v)
{
        return v >= 0 && !isinf(v) ? v : NAN;
}

/* Stores only what differs: a store makes the kernel write a page that was fine. */
static void put(struct sg_point *at, struct sg_point p)
{
        p.cpu = plausible(p.cpu);
        p.share = plausible(p.share);
        if (memcmp(at, &p, sizeof(p)) != 0)
                *at = p;
}

uint64_t sg_series_repair(struct sg_series *s)
{
        uint64_t had = s->n < SG_SERIES_MAX ? s->n : SG_SERIES_MAX, n = 0, last_usec = 0, span;

        for (uint64_t i = 0; i < had; i++)
                if (s->points[i].time_usec > last_usec) {
                        last_usec = s->points[i].time_usec;
                        put(&s->points[n++], s->points[i]);
                }
        if (n != s->n)
                s->n = n;
        span = n > 1 ? last_usec - s->points[0].time_usec : 0;
        if (s->spacing_usec > span)
                s->spacing_usec = n > 1 ? span / (n - 1) : 0;
        return had - n;
}
