/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/govern/pulse.h"
#include <math.h>

/* Jobs that start or end together, and reports that come in one round, share one step. */
#define GATHER_SEC .005
/* Least time between two steps that a policy asks for: while a job sleeps, what the policy expects
 * of it stays near and doesn't come. */
#define PAUSE_SEC .1
/* A step that is due so soon is made with the round: one wake-up less. */
#define SOON_SEC .1
/* One that can wait does so for the next round, where rounds are a second apart or less. */
#define WAIT_SEC 1.1

void sg_pulse_init(struct sg_pulse *p)
{
        *p = (struct sg_pulse){.stepped = -INFINITY, .welcome = INFINITY, .due = INFINITY};
}

void sg_pulse_by(struct sg_pulse *p, double at)
{
        p->welcome = fmin(p->welcome, at);
        p->due = fmin(p->due, at);
}

void sg_pulse_with_round(struct sg_pulse *p, double at)
{
        p->welcome = fmin(p->welcome, at);
        p->due = fmin(p->due, at + WAIT_SEC);
}

void sg_pulse_event(struct sg_pulse *p, double now)
{
        sg_pulse_by(p, fmax(now, p->stepped + GATHER_SEC));
}

bool sg_pulse_may_step(const struct sg_pulse *p, double now)
{
        return now >= p->stepped + GATHER_SEC;
}

void sg_pulse_report(struct sg_pulse *p, double now, double tick)
{
        if (!p->calm)
                sg_pulse_by(p, fmax(now + GATHER_SEC, p->stepped + tick));
}

/* A node on which nothing was to be decided is calm until jobs want more than before: that is seen
 * by rounds. */
bool sg_pulse_goes_with_round(const struct sg_pulse *p, double now, bool calm)
{
        return p->welcome < now + SOON_SEC || (p->calm && !calm);
}

void sg_pulse_stepped(struct sg_pulse *p, double now, double next, bool calm)
{
        p->stepped = now;
        p->calm = calm;
        p->welcome = p->due = INFINITY;
        next = fmax(next, now + PAUSE_SEC);
        if (calm)
                sg_pulse_with_round(p, next);
        else
                sg_pulse_by(p, next);
}

void sg_pulse_put_off(struct sg_pulse *p, double until)
{
        p->welcome = p->due = until;
}
