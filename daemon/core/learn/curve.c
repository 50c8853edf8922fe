/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shapes are those of loss curves: exponentials from slow to very fast, hyperbolas, and
 * two-phase ones (Weibull) that begin slowly. Curves between them come out as mixtures.
 * Constants and weights were found by a simulation over the curves of ten real training jobs.
 */

#include "core/learn/curve.h"
#include <math.h>
#include <string.h>

#define POINTS_MIN 3U   /* to say anything after a break */
#define BREAK_FROM 8U   /* points before one: fewer fit anything, and foretell nothing */
#define BREAK_POINTS 5U /* in a row below what was expected */
#define BREAK_SIGMAS 3.0
#define BREAK_MIN 0.05  /* of the range seen: less isn't worth to begin again */
#define TAIL_GAIN 0.05  /* of the range seen, after 99 % were thought to be done */
#define WEIGHT_MIN 1e-3 /* of the best shape's: less doesn't show */

enum kind { EXP, HYPERBOLA, WEIBULL };

struct shape {
        enum kind kind;
        double a, b;
};

static const struct shape shapes[] = {
        {EXP, 2, 0},         {EXP, 3.5, 0},      {EXP, 5, 0},         {EXP, 7, 0},
        {EXP, 10, 0},        {EXP, 14, 0},       {EXP, 20, 0},        {EXP, 30, 0},
        {HYPERBOLA, 8, 0},   {HYPERBOLA, 20, 0}, {HYPERBOLA, 40, 0},  {HYPERBOLA, 60, 0},
        {HYPERBOLA, 120, 0}, {WEIBULL, .10, 2},  {WEIBULL, .14, 2.3}, {WEIBULL, .2, 2},
};

#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static const double done_parts[SG_MILESTONE_DONE] = {.90, .95, .99};

/* Half-way from the mean of all shapes to their median: a few slow ones push the mean far back, and
 * what might learn fast is worth a try. In simulation 90 % of the quality come 4 % sooner by it. */
const double sg_curve_unknown[SG_MILESTONE_DONE] = {.2498, .3398, .5493};

static double phi(const struct shape *s, double x)
{
        switch (s->kind) {
        case HYPERBOLA:
                return 1 / (1 + s->a * x);
        case WEIBULL:
                return exp(-pow(x / s->a, s->b));
        case EXP:
        default:
                return exp(-s->a * x);
        }
}

static double inverse(const struct shape *s, double value)
{
        switch (s->kind) {
        case HYPERBOLA:
                return (1 / value - 1) / s->a;
        case WEIBULL:
                return s->a * pow(-log(value), 1 / s->b);
        case EXP:
        default:
                return -log(value) / s->a;
        }
}

static void forget_milestones(struct sg_curve *c)
{
        for (size_t i = 0; i < SG_MILESTONE_DONE; i++)
                c->at[i] = (double)NAN;
}

void sg_curve_init(struct sg_curve *c)
{
        *c = (struct sg_curve){0};
        forget_milestones(c);
}

static void join(struct sg_curve_bin *to, const struct sg_curve_bin *from)
{
        uint32_t n = to->n < UINT32_MAX - from->n ? to->n + from->n : UINT32_MAX;
        float part = (float)from->n / (float)n;

        to->x += (from->x - to->x) * part;
        to->eval += (from->eval - to->eval) * part;
        to->n = n;
}

/* Bins become wide enough for half of them to do. What is on both sides of a break isn't joined. */
static void thin_out(struct sg_curve *c)
{
        uint32_t n = 1;

        c->width = (c->bins[c->n - 1].from - c->bins[0].from) / (SG_CURVE_BINS / 2);
        for (uint32_t i = 1; i < c->n; i++) {
                const struct sg_curve_bin *bin = &c->bins[i];

                if (bin->from < c->bins[n - 1].from + c->width && bin->from != c->begin)
                        join(&c->bins[n - 1], bin);
                else
                        c->bins[n++] = *bin;
        }
        c->n = n;
}

/* The last one that begins before x, the first if none does. */
static uint32_t bin_of(const struct sg_curve *c, float x)
{
        uint32_t i = c->n - 1;

        while (i > 0 && x < c->bins[i].from)
                i--;
        return i;
}

void sg_curve_add(struct sg_curve *c, double x, double eval)
{
        struct sg_curve_bin point = {(float)x, (float)x, 0, 1};
        uint32_t i;

        if (c->n == 0)
                c->first = eval;
        point.eval = (float)(eval - c->first);
        c->fresh = false;
        i = c->n > 0 ? bin_of(c, point.x) : 0;
        if (i + 1 < c->n || (c->n > 0 && point.x <= c->bins[i].from + c->width)) {
                join(&c->bins[i], &point);
                return;
        }
        c->bins[c->n++] = point;
        if (c->n == SG_CURVE_BINS)
                thin_out(c);
}

/* --- fits ------------------------------------------------------------------------------------- */

struct points {
        double begin;                                 /* x of the last break */
        double x[SG_CURVE_BINS], eval[SG_CURVE_BINS]; /* x: 0 … 1 from there to the end */
        size_t n;
        double least;                    /* that E will be believed to end at */
        const struct sg_curve_bin *bins; /* of the points */
};

struct fit {
        double a, b, weight;
};

/* An E that has always been positive is a loss, and doesn't end below zero. This tells much, early:
 * a job that has lost half of it in no time can't go on like that for long. */
static double least_end(const struct sg_curve *c)
{
        for (uint32_t i = 0; i < c->n; i++)
                if (!((double)c->bins[i].eval + c->first > 0))
                        return -(double)INFINITY;
        return -c->first;
}

static void collect(const struct sg_curve *c, struct points *ret)
{
        uint32_t first = 0;

        while (first < c->n && c->bins[first].from < c->begin)
                first++;
        *ret = (struct points){.n = c->n - first, .bins = &c->bins[first], .least = least_end(c)};
        if (c->begin > 0 && ret->n > 0)
                ret->begin = (double)ret->bins[0].x;
        for (size_t i = 0; i < ret->n; i++) {
                ret->x[i] = ((double)ret->bins[i].x - ret->begin) / (1 - ret->begin);
                ret->eval[i] = (double)ret->bins[i].eval;
        }
}

static void fit_freely(const double *values, const struct points *p, size_t n, struct fit *ret)
{
        double mean_phi = 0, mean_eval = 0, square = 0, product = 0;

        for (size_t i = 0; i < n; i++) {
                mean_phi += values[i] / (double)n;
                mean_eval += p->eval[i] / (double)n;
        }
        for (size_t i = 0; i < n; i++) {
                square += (values[i] - mean_phi) * (values[i] - mean_phi);
                product += (values[i] - mean_phi) * (p->eval[i] - mean_eval);
        }
        ret->b = square > 0 ? product / square : 0;
        ret->a = mean_eval - ret->b * mean_phi;
}

/* To end at the least E that there can be. */
static void fit_to_end(const double *values, const struct points *p, size_t n, double end,
                       struct fit *ret)
{
        double square = 0, product = 0;

        for (size_t i = 0; i < n; i++) {
                square += (values[i] - end) * (values[i] - end);
                product += (values[i] - end) * (p->eval[i] - p->least);
        }
        ret->b = square > 0 ? product / square : 0;
        ret->a = p->least - ret->b * end;
}

/* Least squares; *ret_error: their sum. False: E doesn't fall along this shape. */
static bool fit_shape(const struct shape *s, const struct points *p, size_t n, struct fit *ret,
                      double *ret_error)
{
        double values[SG_CURVE_BINS], end = phi(s, 1), sum = 0;

        for (size_t i = 0; i < n; i++)
                values[i] = phi(s, p->x[i]);
        fit_freely(values, p, n, ret);
        if (ret->a + ret->b * end < p->least)
                fit_to_end(values, p, n, end, ret);
        for (size_t i = 0; i < n; i++) {
                double off = p->eval[i] - ret->a - ret->b * values[i];

                sum += off * off;
        }
        *ret_error = sum;
        return ret->b > 0;
}

/* Of the first n points. Returns the variance of the best shape's residuals; < 0: none fits. */
static double fit_all(const struct points *p, size_t n, struct fit *fits)
{
        double errors[N_SHAPES], least = (double)INFINITY, variance;

        for (size_t k = 0; k < N_SHAPES; k++) {
                bool falls = fit_shape(&shapes[k], p, n, &fits[k], &errors[k]);

                fits[k].weight = falls ? 1 : 0;
                if (falls)
                        least = fmin(least, errors[k]);
        }
        if (isinf(least))
                return -1;
        variance = least / (double)(n > POINTS_MIN ? n - POINTS_MIN : 1);
        for (size_t k = 0; k < N_SHAPES; k++)
                if (fits[k].weight > 0)
                        fits[k].weight =
                                errors[k] > least ? exp((least - errors[k]) / (2 * variance)) : 1;
        return variance;
}

static double expected(const struct fit *fits, double x)
{
        double sum = 0, weights = 0;

        for (size_t k = 0; k < N_SHAPES; k++) {
                if (fits[k].weight < WEIGHT_MIN)
                        continue;
                sum += fits[k].weight * (fits[k].a + fits[k].b * phi(&shapes[k], x));
                weights += fits[k].weight;
        }
        return sum / weights;
}

/* --- milestones ------------------------------------------------------------------------------- */

/* Where one shape has the part q of the way from the first E to its own last one behind it. The way
 * begins at φ = 1, or, after a break, above. */
static double reaches(const struct shape *s, const struct fit *f, bool broken, double q)
{
        double end = phi(s, 1), begin = broken ? fmax((0 - f->a) / f->b, 1) : 1;
        double value = end + (1 - q) * (begin - end);

        return value >= 1 ? 0 : inverse(s, value);
}

static void predict(struct sg_curve *c, const struct points *p, const struct fit *fits)
{
        double sum[SG_MILESTONE_DONE] = {0}, weights = 0;

        for (size_t k = 0; k < N_SHAPES; k++) {
                if (fits[k].weight < WEIGHT_MIN)
                        continue;
                weights += fits[k].weight;
                for (size_t i = 0; i < SG_MILESTONE_DONE; i++)
                        sum[i] += fits[k].weight *
                                  reaches(&shapes[k], &fits[k], c->begin > 0, done_parts[i]);
        }
        for (size_t i = 0; i < SG_MILESTONE_DONE; i++)
                c->at[i] = p->begin + sum[i] / weights * (1 - p->begin);
}

/* --- breaks ----------------------------------------------------------------------------------- */

static double range_of(const struct points *p)
{
        double least = (double)INFINITY, most = -(double)INFINITY;

        for (size_t i = 0; i < p->n; i++) {
                least = fmin(least, p->eval[i]);
                most = fmax(most, p->eval[i]);
        }
        return most - least;
}

/* The newest bin is still being filled. Returns the first point of the new way; 0 = no break. */
static size_t find_drop(const struct points *p)
{
        struct fit fits[N_SHAPES];
        size_t first;
        double variance, least;

        if (p->n < BREAK_FROM + BREAK_POINTS + 1)
                return 0;
        first = p->n - 1 - BREAK_POINTS;
        variance = fit_all(p, first, fits);
        if (variance < 0)
                return 0;
        least = fmax(BREAK_SIGMAS * sqrt(variance), BREAK_MIN * range_of(p));
        for (size_t i = first; i < p->n - 1; i++)
                if (!(p->eval[i] < expected(fits, p->x[i]) - least))
                        return 0;
        return first;
}

/* Whether E goes on to get better though the job was thought to have 99 % behind it. */
static bool tail_falls(struct sg_curve *c, const struct points *p)
{
        const struct sg_curve_bin *bin = &p->bins[p->n - 2];

        if (!((double)bin->x >= c->at[SG_MILESTONE_99])) {
                c->tail = 0;
                return false;
        }
        if (!(c->tail > 0)) {
                c->tail = bin->from;
                c->tail_eval = bin->eval;
        }
        return (double)bin->eval < (double)c->tail_eval - TAIL_GAIN * range_of(p);
}

/* Looks for a break, once for each bin that was filled. */
static bool look_for_break(struct sg_curve *c, const struct points *p)
{
        size_t drop;

        if (p->n < 2 || p->bins[p->n - 1].from <= c->checked)
                return false;
        c->checked = p->bins[p->n - 1].from;
        drop = find_drop(p);
        if (drop > 0)
                c->begin = p->bins[drop].from;
        else if (tail_falls(c, p))
                c->begin = c->bins[bin_of(c, c->tail)].from;
        else
                return false;
        c->tail = 0;
        return true;
}

const double *sg_curve_milestones(struct sg_curve *c)
{
        struct fit fits[N_SHAPES];
        struct points p;

        if (c->fresh)
                return c->at;
        c->fresh = true;
        collect(c, &p);
        if (look_for_break(c, &p))
                collect(c, &p);
        if (p.n < POINTS_MIN && c->begin == 0 && p.n > 0)
                memcpy(c->at, sg_curve_unknown, sizeof(c->at));
        else if (p.n >= POINTS_MIN && fit_all(&p, p.n, fits) >= 0)
                predict(c, &p, fits);
        else
                forget_milestones(c);
        return c->at;
}
