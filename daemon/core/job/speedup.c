/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/job/speedup.h"
#include <math.h>

struct sg_speedup sg_speedup_of(double exponent)
{
        struct sg_speedup s;

        for (int o = 0; o < SG_SPEEDUP_OCTAVES; o++)
                s.exponent[o] = exponent;
        return s;
}

double sg_speedup_next_exponent(double before)
{
        double factor = exp2(before);

        if (before <= 0)
                return before;
        return log2(1 + 2 * (factor - 1) / factor);
}

void sg_speedup_make_concave(struct sg_speedup *s)
{
        for (int o = 1; o < SG_SPEEDUP_OCTAVES; o++)
                s->exponent[o] = fmin(s->exponent[o], sg_speedup_next_exponent(s->exponent[o - 1]));
}

double sg_speedup_at(const struct sg_speedup *s, double cpus)
{
        double sum = 0, here;
        int octave, o;

        if (cpus <= 1)
                return cpus;
        octave = ilogb(cpus);
        for (o = 0; o < octave && o < SG_SPEEDUP_OCTAVES - 1; o++)
                sum += s->exponent[o];
        if (o < octave)
                return exp2(sum + s->exponent[o] * (log2(cpus) - o));
        here = exp2(sum);
        return here + here * (exp2(s->exponent[o]) - 1) * (cpus / exp2(o) - 1);
}

double sg_speedup_exponent(const struct sg_speedup *s, double cpus)
{
        return cpus <= 1 ? 1 : log2(sg_speedup_at(s, cpus)) / log2(cpus);
}
