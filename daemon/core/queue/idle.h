/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Whether a running job wants the CPU. One that used less than a twentieth of a CPU over the last
 * minute (a notebook that nobody types into, a program that waits for another) is idle: the queue
 * passes it.
 */

#include <stdbool.h>
#include <stdint.h>

#define SG_IDLE_WINDOW_USEC (60ULL * 1000000)
#define SG_IDLE_MARKS 4U

/* All zero: nothing is known yet. */
struct sg_idle {
        struct sg_idle_mark {
                uint64_t usec, cpu_usec;
        } marks[SG_IDLE_MARKS]; /* the oldest first */
        unsigned n;
};

struct sg_idle_view {
        bool idle;
        bool quiet;         /* it has used next to nothing of late, but not for long enough yet */
        uint64_t from_usec; /* when it is idle at the earliest; SG_UNLIMITED = not known */
};

/* It has used cpu_usec by now, of a clock that nobody sets; SG_UNLIMITED = not known. */
void sg_idle_look(struct sg_idle *i, uint64_t now_usec, uint64_t cpu_usec,
                  struct sg_idle_view *ret);
