/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "time-util.h"

#include <time.h>

static uint64_t clock_usec(clockid_t clock)
{
        struct timespec ts;

        /* Cannot fail for these clocks and a valid pointer. */
        (void)clock_gettime(clock, &ts);
        return (uint64_t)ts.tv_sec * SG_USEC_PER_SEC + (uint64_t)ts.tv_nsec / 1000;
}

uint64_t sg_now_realtime_usec(void)
{
        return clock_usec(CLOCK_REALTIME);
}

uint64_t sg_now_monotonic_usec(void)
{
        return clock_usec(CLOCK_MONOTONIC);
}

uint64_t sg_now_boottime_usec(void)
{
        return clock_usec(CLOCK_BOOTTIME);
}
