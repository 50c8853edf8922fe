/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/learn/pace.h"
#include "base/cleanup.h"
#include <math.h>
#include <string.h>

#define FADE .97  /* with each interval of its level: about the last thirty */
#define NOISE .04 /* least spread of an interval: machines aren't steadier */
/* The spread of speeds is known only after many intervals: until then it is as if this many had
 * shown the usual spread. */
#define USUAL_SPREAD .2
#define USUAL_INTERVALS 3
#define INTERVALS_MIN 2.5 /* least number of intervals for a speed: three, as they fade */
#define LEAST -1 /* half as fast on two CPUs: anything worse has other causes than its threads */
#define CHANGE_MIN .05 /* a smaller change is noise, and plans would change for nothing */

void sg_pace_init(struct sg_pace *p, const struct sg_usual *usual)
{
        *p = (struct sg_pace){.usual = *usual, .curve = usual->speedup};
        memcpy(p->sure, usual->error, sizeof(p->sure));
}

static int level_of(double octaves)
{
        long level = lround(octaves);

        return level < SG_PACE_LEVELS ? (int)level : SG_PACE_LEVELS - 1;
}

static double speed_of(const struct sg_pace_level *l)
{
        return l->work / l->seconds;
}

/* The variance of a level's speed, in octaves. */
static double variance_of(const struct sg_pace_level *l)
{
        double speed = speed_of(l), square = l->square / l->seconds / (speed * speed);
        double around = fmax(square - 1, 0) * M_LOG2E * M_LOG2E;
        double spread = (around * l->n + USUAL_SPREAD * USUAL_SPREAD * USUAL_INTERVALS) /
                        (l->n + USUAL_INTERVALS);

        return (spread + NOISE * NOISE) / l->n;
}

static const struct sg_pace_level *next_level(const struct sg_pace *p, int *level)
{
        for (; *level < SG_PACE_LEVELS; (*level)++)
                if (p->levels[*level].n > 0)
                        return &p->levels[*level];
        return NULL;
}

/* The exponent between two levels. */
static double between(const struct sg_pace_level *a, const struct sg_pace_level *b,
                      double *ret_error)
{
        double octaves = b->cpus / b->n - a->cpus / a->n;

        *ret_error = sqrt(variance_of(a) + variance_of(b)) / octaves;
        return log2(speed_of(b) / speed_of(a)) / octaves;
}

void sg_pace_measured(const struct sg_pace *p, struct sg_usual *ret)
{
        int from = 0, to;
        const struct sg_pace_level *a = next_level(p, &from), *b;

        for (int o = 0; o < SG_SPEEDUP_OCTAVES; o++)
                ret->speedup.exponent[o] = ret->error[o] = (double)NAN;
        for (; a; a = b, from = to) {
                double exponent, error;

                to = from + 1;
                b = next_level(p, &to);
                if (!b)
                        break;
                exponent = between(a, b, &error);
                for (int o = from; o < to; o++) {
                        ret->speedup.exponent[o] = exponent;
                        ret->error[o] = error;
                }
        }
}

/* The curve from measured and usual exponents, weighed by how sure each is. Beyond the measured
 * octaves it is the usual one, but never steeper than before: it is concave. */
static void fit(const struct sg_pace *p, struct sg_speedup *curve, double *sure)
{
        struct sg_usual measured;

        *curve = p->usual.speedup;
        memcpy(sure, p->usual.error, sizeof(p->usual.error));
        sg_pace_measured(p, &measured);
        for (int o = 0; o < SG_SPEEDUP_OCTAVES; o++) {
                double error = measured.error[o], usual = p->usual.error[o];
                double weight = 1 / (error * error), prior = 1 / (usual * usual), exponent;

                if (isnan(error))
                        continue;
                exponent = (measured.speedup.exponent[o] * weight + curve->exponent[o] * prior) /
                           (weight + prior);
                curve->exponent[o] = fmin(fmax(exponent, LEAST), 1);
                sure[o] = sqrt(1 / (weight + prior));
        }
        sg_speedup_make_concave(curve);
}

bool sg_pace_take(struct sg_pace *p, double cpus, double work, double seconds)
{
        double octaves = fmax(log2(cpus), 0), whole = work / fmin(cpus, 1);
        struct sg_pace_level *l = &p->levels[level_of(octaves)];
        struct sg_speedup curve;
        bool changed = false;

        *l = (struct sg_pace_level){.n = l->n * FADE + 1,
                                    .cpus = l->cpus * FADE + octaves,
                                    .work = l->work * FADE + whole,
                                    .seconds = l->seconds * FADE + seconds,
                                    .square = l->square * FADE + whole * whole / seconds};
        fit(p, &curve, p->sure);
        for (int o = 0; o < SG_SPEEDUP_OCTAVES; o++)
                changed |= fabs(curve.exponent[o] - p->curve.exponent[o]) >= CHANGE_MIN;
        if (changed)
                p->curve = curve;
        return changed;
}

uint32_t sg_pace_known(const struct sg_pace *p)
{
        uint32_t known = 0;

        for (int i = 0; i < SG_PACE_LEVELS; i++)
                known |= (uint32_t)(p->levels[i].n > 0) << i;
        return known;
}

double sg_pace_on_one(const struct sg_pace *p)
{
        double sum = 0, n = 0;

        for (int i = 0; i < SG_PACE_LEVELS; i++) {
                const struct sg_pace_level *l = &p->levels[i];

                if (!(l->n > 0))
                        continue;
                sum += l->n * log2(speed_of(l) / sg_speedup_at(&p->curve, exp2(l->cpus / l->n)));
                n += l->n;
        }
        return n >= INTERVALS_MIN ? exp2(sum / n) : (double)NAN;
}
