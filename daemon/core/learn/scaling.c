/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/learn/scaling.h"
#include <math.h>

#define STEADY 1.25 /* highest ÷ lowest share in an interval that tells something */
#define EVERY_RATE .3
#define SECONDS_MIN 1.0 /* of an interval: less is counting noise */
#define SHARE_MIN 0.02  /* … as is less of the node */
#define FADE 0.98       /* per interval: about the last fifty */
#define INTERVALS_MIN 6.0
#define SPREAD_MIN 0.05 /* variance of log share: as of halves at 1 and .64 */
#define SURELY 0.9      /* slope + 2 errors at most: above, it may be claims that drift */
#define CHANGE_MIN 0.05
#define EXPONENT_MIN 0.1

void sg_scaling_give(struct sg_scaling *s, double exponent)
{
        s->given = exponent > 0;
        s->exponent = s->given ? exponent : 1;
}

void sg_scaling_init(struct sg_scaling *s, double exponent)
{
        *s = (struct sg_scaling){.now = (double)NAN, .begun = (double)NAN};
        sg_scaling_give(s, exponent);
}

void sg_scaling_use_whole(struct sg_scaling *s, const struct sg_usual *usual)
{
        struct sg_usual from = *usual;

        if (s->given)
                from.speedup = sg_speedup_of(s->exponent);
        s->whole = true;
        sg_pace_init(&s->pace, &from);
}

static double share_since(const struct sg_scaling *s, const struct sg_scaling_count *c)
{
        return fmin(fmax(c->cpu - s->cpu, 0) / ((c->now - s->now) * c->cpus), 1);
}

/* CPUs of its own count in full: threads that wait for each other use less than these. */
static double cpus_of(const struct sg_scaling_count *c, double share)
{
        return c->own > 0 ? c->own : share * c->cpus;
}

double sg_scaling_done(const struct sg_scaling *s, const struct sg_scaling_count *c)
{
        double width = c->width > 0 ? fmin(c->width, 1) : 1, dt = c->now - s->now;

        if (!(dt > 0))
                return s->done;
        if (s->whole)
                return s->done + dt * sg_speedup_at(&s->pace.curve, cpus_of(c, share_since(s, c)));
        return s->done +
               dt * c->cpus * width * pow(fmin(share_since(s, c) / width, 1), s->exponent);
}

void sg_scaling_advance(struct sg_scaling *s, const struct sg_scaling_count *c)
{
        double share;

        if (c->now <= s->now)
                return;
        if (!isnan(s->now)) {
                share = share_since(s, c);
                s->lowest = fmin(s->lowest, share);
                s->highest = fmax(s->highest, share);
                s->done = sg_scaling_done(s, c);
                if (s->own != c->own)
                        s->own = (double)NAN;
        }
        s->now = c->now;
        s->cpu = c->cpu;
}

static void take(struct sg_scaling *s, double share, double speed)
{
        double *const sums[] = {
                &s->n, &s->share, &s->speed, &s->share_square, &s->speed_square, &s->product};
        const double more[] = {1, share, speed, share * share, speed * speed, share * speed};

        for (unsigned i = 0; i < sizeof(more) / sizeof(more[0]); i++)
                *sums[i] = *sums[i] * FADE + more[i];
}

/* Of the line through all intervals, and how sure it is. */
static double slope(const struct sg_scaling *s)
{
        double spread = s->share_square / s->n - s->share / s->n * (s->share / s->n);
        double common = s->product / s->n - s->share / s->n * (s->speed / s->n);
        double all = s->speed_square / s->n - s->speed / s->n * (s->speed / s->n), q, rest;

        if (s->n < INTERVALS_MIN || spread < SPREAD_MIN)
                return 1;
        q = common / spread;
        rest = fmax(all - q * common, 0);
        if (q + 2 * sqrt(rest / spread / (s->n - 2)) > SURELY)
                return 1;
        return fmax(q, EXPONENT_MIN);
}

static void begin(struct sg_scaling *s, double x, double own)
{
        s->own = own;
        s->begun = s->now;
        s->begun_cpu = s->cpu;
        s->x = x;
        s->lowest = (double)INFINITY;
        s->highest = 0;
}

bool sg_scaling_report(struct sg_scaling *s, double x, const struct sg_scaling_count *c)
{
        double dt = s->now - s->begun, share = (s->cpu - s->begun_cpu) / (dt * c->cpus), q;
        bool tells, changed = false;

        if (dt < SECONDS_MIN || (x == s->x && !isnan(s->begun)))
                return false;
        if (s->whole)
                s->every = s->every > 0 ? s->every + EVERY_RATE * (dt - s->every) : dt;
        tells = share >= SHARE_MIN && x > s->x &&
                (s->own > 0 || s->highest <= STEADY * s->lowest) && !isnan(s->own);
        if (tells && s->whole)
                changed = !s->given && sg_pace_take(&s->pace, cpus_of(c, share), x - s->x, dt);
        else if (tells)
                take(s, log(share), log((x - s->x) / dt));
        begin(s, x, c->own);
        if (s->whole)
                return changed;
        q = slope(s);
        if (s->given || fabs(q - s->exponent) < CHANGE_MIN)
                return false;
        s->exponent = q;
        return true;
}
