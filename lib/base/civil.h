/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The proleptic Gregorian calendar in UTC, without libc: gmtime_r() reads the zone file on its
 * first call. After Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in
 * March, so that the leap day is the last one.
 */

#include <stdbool.h>
#include <stdint.h>

struct sg_civil {
        int64_t year;
        unsigned month, day; /* from 1 */
};

/* Days since 1970-01-01. */
static inline int64_t sg_days_from_civil(struct sg_civil c)
{
        int64_t y = c.year - (c.month <= 2);
        int64_t era = (y >= 0 ? y : y - 399) / 400;
        int64_t yoe = y - era * 400;
        int64_t doy = (153 * ((int64_t)c.month + (c.month > 2 ? -3 : 9)) + 2) / 5 + c.day - 1;

        return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static inline struct sg_civil sg_civil_from_days(int64_t days)
{
        int64_t z = days + 719468;
        int64_t era = (z >= 0 ? z : z - 146096) / 146097;
        int64_t doe = z - era * 146097;
        int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
        int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        int64_t mp = (5 * doy + 2) / 153;
        unsigned month = (unsigned)(mp < 10 ? mp + 3 : mp - 9);

        return (struct sg_civil){
                .year = yoe + era * 400 + (month <= 2),
                .month = month,
                .day = (unsigned)(doy - (153 * mp + 2) / 5 + 1),
        };
}

static inline bool sg_civil_valid(struct sg_civil c)
{
        static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
        bool leap = (c.year % 4 == 0 && c.year % 100 != 0) || c.year % 400 == 0;

        if (c.month < 1 || c.month > 12 || c.day < 1)
                return false;
        return c.day <= days[c.month - 1] + (c.month == 2 && leap ? 1U : 0U);
}
