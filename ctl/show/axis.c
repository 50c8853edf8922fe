/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See axis.h. */

#include "ctl/show/axis.h"
#include "base/cleanup.h"
#include "base/format.h"
#include <math.h>
#include <stdio.h>

/* 1, 2 or 5 times a power of ten, not below v. */
static double round_up(double v)
{
        double power = pow(10, floor(log10(v)));

        for (unsigned i = 0; i < 3; i++) {
                static const double nice[] = {1, 2, 5};

                if (nice[i] * power >= v * (1 - 1e-9))
                        return nice[i] * power;
        }
        return 10 * power;
}

/* Units that people count time in. */
static double round_up_seconds(double v)
{
        static const double nice[] = {0.1,  0.2,  0.5,  1,     2,     5,     10,
                                      15,   30,   60,   120,   300,   600,   900,
                                      1800, 3600, 7200, 10800, 21600, 43200, 86400};
        const size_t n = SG_ELEMENTSOF(nice);

        for (size_t i = 0; i < n; i++)
                if (nice[i] >= v)
                        return nice[i];
        return nice[n - 1] * round_up(v / nice[n - 1]);
}

static double round_step(enum sg_scale scale, double v)
{
        switch (scale) {
        case SG_SCALE_SECONDS:
                return round_up_seconds(v);
        case SG_SCALE_BYTES:
                return exp2(ceil(log2(v)));
        case SG_SCALE_LOG:
                return ceil(v);
        default:
                return round_up(v);
        }
}

static void widen(struct sg_axis *a, double lo, double hi)
{
        a->lo = floor(lo / a->step + 1e-9) * a->step;
        a->hi = ceil(hi / a->step - 1e-9) * a->step;
}

void sg_axis_fit(struct sg_axis *a, enum sg_scale scale, double lo, double hi, unsigned max_ticks)
{
        double raw;

        a->scale = scale;
        if (scale == SG_SCALE_LOG) {
                lo = log10(lo);
                hi = log10(hi);
        }
        if (hi - lo <= fabs(hi) * 1e-9) { /* a level line lies between zero and twice that */
                lo = lo < 0 ? 2 * lo : 0;
                hi = hi > 0 ? 2 * hi : hi < 0 ? 0 : 1;
        }
        raw = (hi - lo) / (max_ticks - 1);
        for (unsigned i = 0; i < 4; i++) { /* widening may have made one tick too many */
                a->step = round_step(scale, raw);
                widen(a, lo, hi);
                if ((a->hi - a->lo) / a->step + 1 <= max_ticks + 0.5)
                        break;
                raw = a->step * 1.01;
        }
        if (scale == SG_SCALE_SECONDS) {
                a->lo = lo;
                a->hi = hi;
        }
}

bool sg_axis_tick(const struct sg_axis *a, unsigned i, double *ret)
{
        double v = ceil(a->lo / a->step - 1e-9) * a->step + i * a->step;

        if (v > a->hi + a->step * 1e-6)
                return false;
        if (fabs(v) < a->step * 1e-6) /* not "-0" */
                v = 0;
        *ret = a->scale == SG_SCALE_LOG ? pow(10, v) : v;
        return true;
}

double sg_axis_place(const struct sg_axis *a, double v)
{
        if (a->scale == SG_SCALE_LOG)
                v = log10(v);
        v = (v - a->lo) / (a->hi - a->lo);
        return v < 0 ? 0 : v > 1 ? 1 : v;
}

static const char *number_label(double v, double step, const char *unit, char *buf, size_t size)
{
        double digits = -floor(log10(step) + 1e-9);

        if (digits > 5 || fabs(v) >= 1e6)
                (void)snprintf(buf, size, "%.3g%s", v, unit);
        else
                (void)snprintf(buf, size, "%.*f%s", digits > 0 ? (int)digits : 0, v, unit);
        return buf;
}

const char *sg_axis_label(const struct sg_axis *a, double v, char *buf, size_t size)
{
        char text[SG_FORMAT_MAX];

        switch (a->scale) {
        case SG_SCALE_PERCENT:
                return number_label(v * 100, a->step * 100, "%", buf, size);
        case SG_SCALE_BYTES:
                (void)snprintf(buf, size, "%s", sg_format_bytes(text, (uint64_t)v));
                return buf;
        case SG_SCALE_SECONDS:
                (void)snprintf(buf, size, "%s", sg_format_usec(text, (uint64_t)(v * 1e6 + 0.5)));
                return buf;
        case SG_SCALE_LOG:
                (void)snprintf(buf, size, "%g", v);
                return buf;
        case SG_SCALE_NUMBER:
                break;
        }
        return number_label(v, a->step, "", buf, size);
}
