/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/demand.h"
#include <math.h>

#define RECENT 8.0   /* seconds to fade to 1/e: follows a phase, outlasts a checkpoint */
#define STEADY 30.0  /* what a job is like isn't judged by less */
#define OBSERVED 1.0 /* less is counting noise */
#define IDLE_BELOW 0.5
#define IDLE_ABOVE 0.6 /* a job about one half doesn't go back and forth */

void sg_demand_init(struct sg_demand *d)
{
        *d = (struct sg_demand){.now = (double)NAN};
}

static void fade(double *sum, double *seconds, double time_constant, double wanted, double dt)
{
        double k = exp(-dt / time_constant), part = dt > 0 ? (1 - k) * time_constant / dt : 0;

        *sum = *sum * k + wanted * part;
        *seconds = *seconds * k + dt * part;
}

static void judge(struct sg_demand *d)
{
        double usual = d->steady / d->steady_seconds;

        if (d->observed < STEADY)
                return;
        d->idle = usual < (d->idle ? IDLE_ABOVE : IDLE_BELOW);
}

static void take(struct sg_demand *d, double dt, double used, double waited)
{
        double wanted = fmax(used, 0) + fmax(waited, 0);

        if (isnan(waited))
                return;
        fade(&d->recent, &d->recent_seconds, RECENT, wanted, dt);
        fade(&d->steady, &d->steady_seconds, STEADY, wanted, dt);
        d->observed += dt;
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
                take(d, dt, c->cpu - d->cpu, c->delay - d->delay);
        d->now = c->now;
        d->cpu = c->cpu;
        d->delay = c->delay;
}

double sg_demand_cpus(const struct sg_demand *d)
{
        return d->recent_seconds >= OBSERVED ? d->recent / d->recent_seconds : (double)NAN;
}
