/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * How fast systemd is asked for scopes, and how often for the same one. PID 1 does one thing after
 * the other and has others to serve; how long it lets us wait for an answer tells how busy it is.
 * Times are microseconds of one clock that only goes forward.
 */

#include <stdbool.h>
#include <stdint.h>

/* What was refused, or not answered, is asked again after so long. */
#define SG_PACE_RETRY_USEC (100ULL * 1000)

/* All zero to begin with. */
struct sg_pace {
        unsigned n_in_flight;     /* scopes that systemd is busy with */
        unsigned quick_answers;   /* in a row */
        uint64_t not_before_usec; /* the next start */
};

/* How long another start has to wait: 0 = not at all; SG_UNLIMITED = until one in flight is over,
 * or there was an answer. */
uint64_t sg_pace_wait(const struct sg_pace *p, uint64_t now_usec);
void sg_pace_started(struct sg_pace *p);
void sg_pace_over(struct sg_pace *p); /* well or not */
/* It has said where a scope is, which it was asked at that time. */
void sg_pace_answered(struct sg_pace *p, uint64_t asked_usec, uint64_t now_usec);
/* It said no, or wasn't there. */
void sg_pace_refused(struct sg_pace *p, uint64_t now_usec);

/* Of one scope; all zero to begin with. */
struct sg_pace_setbacks {
        unsigned conflicts, misplaced;
};

enum sg_pace_setback {
        SG_PACE_AWAY,      /* systemd isn't there at the moment, or couldn't say */
        SG_PACE_CONFLICT,  /* the slice that it is to be in is just going */
        SG_PACE_MISPLACED, /* it was made, and doesn't hold its process */
        SG_PACE_NO,        /* systemd doesn't want to, or there is no process any more */
};

/* Whether it is asked for again. */
bool sg_pace_again(struct sg_pace_setbacks *s, enum sg_pace_setback what);
