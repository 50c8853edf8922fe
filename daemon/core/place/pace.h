/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * How fast systemd is asked for scopes, and how often for the same one. PID 1 does one thing after
 * the other and has others to serve; how long it lets us wait for an answer tells how busy it is.
 * Times are microseconds of one clock that only goes forward.
 */

#include <stdbool.h>
#include <stdint.h>

/* After how long a request is made again that was refused or not answered. */
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
/* systemd has answered what it was asked about a scope at `asked_usec`. */
void sg_pace_answered(struct sg_pace *p, uint64_t asked_usec, uint64_t now_usec);
/* systemd has refused, or wasn't there. */
void sg_pace_refused(struct sg_pace *p, uint64_t now_usec);

/* Setbacks of one scope; all zero to begin with. */
struct sg_pace_setbacks {
        unsigned conflicts, misplaced;
};

enum sg_pace_setback {
        SG_PACE_AWAY,      /* systemd isn't there at the moment, or couldn't say */
        SG_PACE_CONFLICT,  /* the slice that it is to be in is just going */
        SG_PACE_MISPLACED, /* it was made, and doesn't hold its process */
        SG_PACE_NO,        /* systemd doesn't want to, or there is no process any more */
};

/* Whether systemd is to be asked again for the scope. */
bool sg_pace_again(struct sg_pace_setbacks *s, enum sg_pace_setback what);
