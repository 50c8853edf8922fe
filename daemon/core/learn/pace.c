/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/learn/pace.h"
#include "base/cleanup.h"
#include <math.h>

#define FADE .97       /* with each interval of its level: about the last thirty */
#define USUAL_ERROR .3 /* of what is usual: programs differ */
#define NOISE .04      /* of one interval, at least: machines aren't steadier */
#define INTERVALS_MIN 2.
#define LEAST -1       /* half as fast on two CPUs: worse isn't its threads */
#define CHANGE_MIN .05 /* less is noise, and would only have plans changed */

void sg_pace_init(struct sg_pace *p, const struct sg_speedup *usual)
{
        *p = (struct sg_pace){.usual = *usual, .curve = *usual};
        for (int o = 0; o < SG_SPEEDUP_OCTAVES; o++)
                p->sure[o] = USUAL_ERROR;
}

static int level_of(double octaves)
{
        long level = lround(octaves);

        return level < SG_PACE_LEVELS ? (int)level : SG_PACE_LEVELS - 1;
}

/* Of a mean of its speeds. */
static double variance_of(const struct sg_pace_level *l)
{
        double mean = l->speed / l->n, spread = l->square / l->n - mean * mean;

        return (fmax(spread, 0) + NOISE * NOISE) / l->n;
}

/* The exponent between two levels: the measured and the usual one, weighed. */
static double between(const struct sg_pace_level *a, const struct sg_pace_level *b, double usual,
                      double *ret_error)
{
        double octaves = b->cpus / b->n - a->cpus / a->n;
        double measured = (b->speed / b->n - a->speed / a->n) / octaves;
        double error = (variance_of(a) + variance_of(b)) / (octaves * octaves);
        double weight = 1 / error, prior = 1 / (USUAL_ERROR * USUAL_ERROR);

        *ret_error = sqrt(1 / (weight + prior));
        return fmin(fmax((measured * weight + usual * prior) / (weight + prior), LEAST), 1);
}

static const struct sg_pace_level *next_level(const struct sg_pace *p, int *level)
{
        for (; *level < SG_PACE_LEVELS; (*level)++)
                if (p->levels[*level].n >= INTERVALS_MIN)
                        return &p->levels[*level];
        return NULL;
}

/* Beyond what was measured as usual, but no better than before: it is concave. */
static void fit(const struct sg_pace *p, struct sg_speedup *curve, double *sure)
{
        int from = 0, to;
        const struct sg_pace_level *a = next_level(p, &from), *b;

        *curve = p->usual;
        for (int o = 0; o < SG_SPEEDUP_OCTAVES; o++)
                sure[o] = USUAL_ERROR;
        for (; a; a = b, from = to) {
                double exponent, error;

                to = from + 1;
                b = next_level(p, &to);
                if (!b)
                        break;
                exponent = between(a, b, p->usual.exponent[from], &error);
                for (int o = from; o < to; o++) {
                        curve->exponent[o] = exponent;
                        sure[o] = error;
                }
        }
        for (int o = 1; o < SG_SPEEDUP_OCTAVES; o++)
                curve->exponent[o] =
                        fmin(curve->exponent[o], sg_speedup_next_exponent(curve->exponent[o - 1]));
}

bool sg_pace_take(struct sg_pace *p, double cpus, double speed)
{
        double octaves = fmax(log2(cpus), 0), log_speed = log2(speed) - fmin(log2(cpus), 0);
        struct sg_pace_level *l = &p->levels[level_of(octaves)];
        struct sg_speedup curve;
        bool changed = false;

        *l = (struct sg_pace_level){.n = l->n * FADE + 1,
                                    .cpus = l->cpus * FADE + octaves,
                                    .speed = l->speed * FADE + log_speed,
                                    .square = l->square * FADE + log_speed * log_speed};
        fit(p, &curve, p->sure);
        for (int o = 0; o < SG_SPEEDUP_OCTAVES; o++)
                changed |= fabs(curve.exponent[o] - p->curve.exponent[o]) >= CHANGE_MIN;
        if (changed)
                p->curve = curve;
        return changed;
}

double sg_pace_on_one(const struct sg_pace *p)
{
        double sum = 0, n = 0;

        for (int i = 0; i < SG_PACE_LEVELS; i++) {
                const struct sg_pace_level *l = &p->levels[i];

                if (!(l->n > 0))
                        continue;
                sum += l->speed - l->n * log2(sg_speedup_at(&p->curve, exp2(l->cpus / l->n)));
                n += l->n;
        }
        return n >= INTERVALS_MIN ? exp2(sum / n) : (double)NAN;
}
