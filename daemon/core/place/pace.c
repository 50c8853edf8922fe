/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/place/pace.h"
#include "base/parse.h"

/* Starts come one at a time, and after a slow answer follows a pause of the same length. One more
 * may be in flight for each QUICK_ANSWERS quick answers in a row. */
#define IN_FLIGHT_MAX 4
#define QUICK_USEC (10ULL * 1000)
#define QUICK_ANSWERS 8
#define PAUSE_MAX_USEC (200ULL * 1000)

/* A slice that is just going is gone within a few retries; a scope that systemd stops right after
 * its start (systemd 36781) isn't stopped a second time. */
#define CONFLICTS_MAX 50
#define MISPLACED_MAX 1

uint64_t sg_pace_wait(const struct sg_pace *p, uint64_t now_usec)
{
        if (p->n_in_flight >= IN_FLIGHT_MAX || p->n_in_flight > p->quick_answers / QUICK_ANSWERS)
                return SG_UNLIMITED;
        return now_usec < p->not_before_usec ? p->not_before_usec - now_usec : 0;
}

void sg_pace_started(struct sg_pace *p)
{
        p->n_in_flight++;
}

void sg_pace_over(struct sg_pace *p)
{
        p->n_in_flight--;
}

static void pause_for(struct sg_pace *p, uint64_t usec, uint64_t now_usec)
{
        if (now_usec + usec > p->not_before_usec)
                p->not_before_usec = now_usec + usec;
}

void sg_pace_answered(struct sg_pace *p, uint64_t asked_usec, uint64_t now_usec)
{
        uint64_t took = now_usec - asked_usec;

        if (took < QUICK_USEC) {
                p->quick_answers++;
                return;
        }
        p->quick_answers = 0;
        pause_for(p, took < PAUSE_MAX_USEC ? took : PAUSE_MAX_USEC, now_usec);
}

void sg_pace_refused(struct sg_pace *p, uint64_t now_usec)
{
        pause_for(p, SG_PACE_RETRY_USEC, now_usec);
}

bool sg_pace_again(struct sg_pace_setbacks *s, enum sg_pace_setback what)
{
        switch (what) {
        case SG_PACE_AWAY:
                return true;
        case SG_PACE_CONFLICT:
                return s->conflicts++ < CONFLICTS_MAX;
        case SG_PACE_MISPLACED:
                return s->misplaced++ < MISPLACED_MAX;
        case SG_PACE_NO:
                break;
        }
        return false;
}
