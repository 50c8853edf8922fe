/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * How much CPU a job would use if it were alone: by the CPU time that it used and the time that
 * its threads waited for a CPU, as the kernel counted both.
 */

#include <stdbool.h>

struct sg_demand {
        double now, cpu;               /* as last counted; now NaN = never */
        double delay, pressure;        /* the same; NaN = not known */
        double ahead;                  /* seconds of waits that delays have yet to bring */
        double silent;                 /* the last ones, in which it may have waited or not */
        double stood;                  /* seconds for which it was held, in all */
        double recent, recent_seconds; /* CPU-seconds, in how many of its own; older ones fade */
        double steady, steady_seconds; /* the same, fading more slowly */
        double observed;               /* seconds of its own time that told what it is like */
        double piled; /* seconds for which it waited and that it hasn't made up for */
        bool idle;
};

struct sg_demand_count {
        double now, cpu;
        double delay;    /* of each of its threads, when the wait is over; NaN = not known */
        double pressure; /* while any of them waits, see waited_since(); NaN = not known */
        double cpus;     /* that the node has */
        bool held;       /* since the last time */
        bool spare;      /* CPUs stood idle: then it hardly waited for one */
};

void sg_demand_init(struct sg_demand *d);
void sg_demand_count(struct sg_demand *d, const struct sg_demand_count *c);
double sg_demand_cpus(const struct sg_demand *d);     /* NaN = not known */
bool sg_demand_seems_idle(const struct sg_demand *d); /* it is, or so far looks as if it were */
bool sg_demand_waits_known(const struct sg_demand *d);
