/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * When the governor is to step: at once when a job begins, ends, is suspended or changed, soon
 * after a report, and at the latest when the last step asked for it; but not all the time, whatever
 * comes. Times are seconds of one clock that only goes forward.
 */

#include <stdbool.h>

struct sg_pulse {
        double stepped; /* the last step */
        double welcome; /* from then on the next, with a round; INFINITY = not at all */
        double due;     /* … at the latest */
        bool calm;      /* by the last step everybody can have all that they can use */
};

void sg_pulse_init(struct sg_pulse *p);
void sg_pulse_by(struct sg_pulse *p, double at); /* by then, or before */
/* From then on with the next round, or a second later if there is none. */
void sg_pulse_with_round(struct sg_pulse *p, double at);

/* Something happened. The first of a burst is a step at once, the rest of it one after that. */
void sg_pulse_event(struct sg_pulse *p, double now);
bool sg_pulse_may_step(const struct sg_pulse *p, double now); /* not in a burst */
/* A job has reported, whose class wants a step each `tick` at most. Where there is nothing to
 * decide reports change nothing. */
void sg_pulse_report(struct sg_pulse *p, double now, double tick);
/* A round has looked at all jobs: whether a step goes with it. calm: by what is known now. */
bool sg_pulse_goes_with_round(const struct sg_pulse *p, double now, bool calm);

/* A step was made, which asked for the next one, on a calm node with a round; it may be put off
 * instead. */
void sg_pulse_stepped(struct sg_pulse *p, double now, double next, bool calm);
void sg_pulse_put_off(struct sg_pulse *p, double until);
