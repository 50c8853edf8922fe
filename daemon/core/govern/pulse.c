/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/govern/pulse.h"
#include <math.h>

/* Jobs that are started or ended together, and reports that come in one round: one step for all. */
#define GATHER_SEC .005
/* Between two steps whatever a policy asks for: what it expects of a job doesn't come, and is
 * always near, while that sleeps. */
#define PAUSE_SEC .1
/* What is due so soon comes with the round: one wake-up less. */
#define SOON_SEC .1

void sg_pulse_init(struct sg_pulse *p)
{
        *p = (struct sg_pulse){.stepped = -INFINITY, .due = INFINITY};
}

void sg_pulse_by(struct sg_pulse *p, double at)
{
        p->due = fmin(p->due, at);
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

/* Where there was nothing to decide, it is jobs that want more than before that end this. */
bool sg_pulse_goes_with_round(const struct sg_pulse *p, double now, bool calm)
{
        return p->due < now + SOON_SEC || (p->calm && !calm);
}

void sg_pulse_stepped(struct sg_pulse *p, double now, double next, bool calm)
{
        p->stepped = now;
        p->calm = calm;
        p->due = fmax(next, now + PAUSE_SEC);
}

void sg_pulse_put_off(struct sg_pulse *p, double until)
{
        p->due = until;
}
