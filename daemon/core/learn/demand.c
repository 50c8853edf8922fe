/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/learn/demand.h"
#include <math.h>

/* Seconds of a job's own time, see take(). */
#define RECENT 8.0   /* to fade to 1/e: follows a phase, outlasts a checkpoint */
#define STEADY 30.0  /* least observation for a judgement of what a job is like … */
#define CLEAR 10.0   /* … unless it is clear: a job that is behind others might never get there */
#define OBSERVED 1.0 /* less is counting noise */
#define PILED 8.0    /* data for at most so many seconds pile up for a job that waits */
#define SEVERAL 1.5  /* threads that want a CPU at once; fewer are one thread and counting noise */
#define IDLE_BELOW 0.5
#define IDLE_CLEARLY 0.3
#define IDLE_ABOVE 0.6 /* hysteresis for a job that uses about one half */

void sg_demand_init(struct sg_demand *d)
{
        *d = (struct sg_demand){.now = (double)NAN};
}

double sg_demand_cpus(const struct sg_demand *d)
{
        return d->observed >= OBSERVED && d->recent_seconds > 0 ? d->recent / d->recent_seconds
                                                                : (double)NAN;
}

bool sg_demand_seems_idle(const struct sg_demand *d)
{
        return d->idle || sg_demand_cpus(d) < IDLE_CLEARLY;
}

static void fade(double *sum, double *seconds, double time_constant, double used, double own)
{
        double k = exp(-own / time_constant), part = own > 0 ? (1 - k) * time_constant / own : 0;

        *sum = *sum * k + used * part;
        *seconds = *seconds * k + own * part;
}

static void judge(struct sg_demand *d)
{
        double usual = d->steady / d->steady_seconds;

        if (d->observed < (usual < IDLE_CLEARLY ? CLEAR : STEADY))
                return;
        d->idle = usual < (d->idle ? IDLE_ABOVE : IDLE_BELOW);
}

/* Which part of its own time tells what a job is like. While a job that waits for data is kept from
 * the CPU, its data pile up; afterwards it runs without a pause until it has caught up, which takes
 * it no longer than it waited. That time doesn't tell: a job with turns shorter than this would
 * never look narrow. All of the time tells where several threads run, which don't wait for data,
 * and as long as nothing is known. */
static double telling(struct sg_demand *d, double dt, double used, double own, double threads)
{
        double missed = fmax(0, dt - used / sg_demand_cpus(d)), caught_up;

        d->piled = fmin(d->piled + fmin(missed, dt - own), PILED);
        caught_up = fmin(d->piled, own);
        d->piled -= caught_up;
        if (threads > SEVERAL || d->observed < OBSERVED || own <= 0)
                return 1;
        return 1 - caught_up / own;
}

/* Counts what the job used per second of its own time, which is the time in which it didn't wait
 * for a CPU. A job that is kept waiting always has something to do when its turn comes, however
 * narrow it is: by the clock it would look wider and wider, and even in its own time it sleeps less
 * than it would alone. So an interval counts by the part of it that was the job's own, and what was
 * seen before outlasts a wait. Where more than one CPU was wanted all the time, that many threads
 * share the wait. */
static void take(struct sg_demand *d, double dt, double used, double waited)
{
        double threads, own, tells, counts;

        if (isnan(waited))
                return;
        used = fmax(used, 0);
        waited = fmax(waited, 0);
        threads = fmax((used + waited) / dt, 1);
        own = fmax(dt - waited / threads, 0);
        tells = telling(d, dt, used, own, threads);
        counts = own / dt * tells;
        fade(&d->recent, &d->recent_seconds, RECENT, counts * used, counts * own);
        fade(&d->steady, &d->steady_seconds, STEADY, counts * used, counts * own);
        d->observed += own * tells;
        judge(d);
}

void sg_demand_count(struct sg_demand *d, const struct sg_demand_count *c)
{
        double dt = c->now - d->now;

        if (dt <= 0)
                return;
        if (c->held && !isnan(dt))
                d->stood += dt;
        else if (!isnan(dt))
                take(d, dt, c->cpu - d->cpu, isnan(c->delay) && c->spare ? 0 : c->delay - d->delay);
        d->now = c->now;
        d->cpu = c->cpu;
        d->delay = c->delay;
}
