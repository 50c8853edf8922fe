/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/learn/demand.h"
#include <math.h>

/* Seconds of a job's own time, see take(). */
#define RECENT 8.0   /* to fade to 1/e: follows a phase, outlasts a checkpoint */
#define STEADY 30.0  /* least observation for a judgement of what a job is like … */
#define CLEAR 10.0   /* … unless it is clear: a job that is behind others might never get there */
#define OBSERVED 1.0 /* less is counting noise */
#define PILED 8.0    /* data for at most so many seconds pile up for a job that waits */
#define WAIT_MAX 5.0 /* a silence that is longer is no wait, unless the pressure says so */
#define SEVERAL 1.5  /* threads that want a CPU at once; fewer are one thread and counting noise */
#define IDLE_BELOW 0.5
#define IDLE_CLEARLY 0.3
#define IDLE_ABOVE 0.6 /* hysteresis for a job that uses about one half */

void sg_demand_init(struct sg_demand *d)
{
        *d = (struct sg_demand){.now = (double)NAN, .delay = (double)NAN, .pressure = (double)NAN};
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

bool sg_demand_waits_known(const struct sg_demand *d)
{
        return !isnan(d->delay) || !isnan(d->pressure);
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
        double threads = fmax((used + waited) / dt, 1), own = fmax(dt - waited / threads, 0);
        double tells = telling(d, dt, used, own, threads), counts = own / dt * tells;

        fade(&d->recent, &d->recent_seconds, RECENT, counts * used, counts * own);
        fade(&d->steady, &d->steady_seconds, STEADY, counts * used, counts * own);
        d->observed += own * tells;
        judge(d);
}

/* How long it waited since the last time; NaN = not known. The kernel adds a wait to a thread's
 * delay when the thread gets a CPU, or goes to another one's queue. The pressure grows meanwhile,
 * but it is a mean over the CPUs: half of the wait of a thread that two of them push to and fro. So
 * the longer of both is taken, and what the pressure told first isn't taken again. */
static double waited_since(struct sg_demand *d, const struct sg_demand_count *c)
{
        double each = c->delay - d->delay, any = c->pressure - d->pressure, waited;

        if (isnan(each)) {
                d->ahead = 0;
                return isnan(any) && c->spare ? 0 : any;
        }
        waited = fmax(fmax(each, 0) - d->ahead, fmax(any, 0));
        d->ahead += waited - fmax(each, 0);
        return waited;
}

/* How long a thread may have waited that hasn't got a CPU yet: since the last time, if anything ran
 * after that, and no longer than the pressure leaves room for. */
static double may_wait(const struct sg_demand *d, const struct sg_demand_count *c, double used)
{
        double any = c->pressure - d->pressure, dt = c->now - d->now;

        if (isnan(c->delay - d->delay) || (isnan(any) && c->spare))
                return 0;
        if (!isnan(any))
                dt = fmin(dt, fmax(any, 0) * c->cpus);
        if (used > 0)
                return dt;
        return isnan(any) ? fmin(d->silent + dt, fmax(WAIT_MAX, dt)) : d->silent + dt;
}

/* A wait that is under way looks like sleep: time in which it may have waited isn't taken for its
 * own before the delays say that it didn't. */
static void look_back(struct sg_demand *d, const struct sg_demand_count *c)
{
        double used = fmax(c->cpu - d->cpu, 0), waited = waited_since(d, c);
        double wait = may_wait(d, c, used), seconds = d->silent + c->now - d->now;

        if (isnan(waited)) {
                d->silent = 0;
                return;
        }
        waited = fmax(waited, 0);
        if (used > 0)
                d->ahead = fmin(d->ahead, wait);
        d->silent = fmin(fmax(seconds - used - waited, 0), wait);
        seconds -= d->silent;
        if (seconds > 0)
                take(d, seconds, used, waited);
}

void sg_demand_count(struct sg_demand *d, const struct sg_demand_count *c)
{
        double dt = c->now - d->now;

        if (dt <= 0)
                return;
        if (c->held && !isnan(dt)) {
                d->stood += dt;
                d->ahead = d->silent = 0;
        } else if (!isnan(dt)) {
                look_back(d, c);
        }
        d->now = c->now;
        d->cpu = c->cpu;
        d->delay = c->delay;
        d->pressure = c->pressure;
}
