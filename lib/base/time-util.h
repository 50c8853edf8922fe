/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The clock: for edges and programs only. Core code is given `now`. */

#include <stdint.h>

#define SG_USEC_PER_SEC 1000000ULL
#define SG_USEC_PER_MSEC 1000ULL

uint64_t sg_now_realtime_usec(void);
uint64_t sg_now_monotonic_usec(void);
uint64_t sg_now_boottime_usec(void); /* goes on while the host sleeps */
