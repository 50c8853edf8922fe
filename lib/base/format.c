/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes and shares are rounded to what is shown; times are cut, so that a limit never looks reached
 * before it is. */
#include "format.h"
#include "civil.h"
#include "parse-internal.h"
#include "time-util.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static char *format_infinity(char *buf)
{
        return strcpy(buf, "infinity");
}

/* tenths with one digit behind the point, unless that is 0. */
static char *format_tenths(char *buf, uint64_t tenths, const char *unit)
{
        if (tenths % 10 == 0)
                (void)snprintf(buf, SG_FORMAT_MAX, "%" PRIu64 "%s", tenths / 10, unit);
        else
                (void)snprintf(buf, SG_FORMAT_MAX, "%" PRIu64 ".%" PRIu64 "%s", tenths / 10,
                               tenths % 10, unit);
        return buf;
}

char *sg_format_bytes(char buf[SG_FORMAT_MAX], uint64_t bytes)
{
        static const char *const names[] = {"B", "K", "M", "G", "T", "P"};
        unsigned unit = 0;
        uint64_t tenths;

        if (bytes == SG_UNLIMITED)
                return format_infinity(buf);
        while (unit < 5 && bytes >> (10 * unit) >= 1024)
                unit++;
        tenths = (uint64_t)(((unsigned __int128)bytes * 10 + ((1ULL << (10 * unit)) >> 1)) >>
                            (10 * unit));
        if (tenths >= 10240 && unit < 5) { /* 1023.96K: rounding made it a whole M */
                tenths = 10;
                unit++;
        }
        return format_tenths(buf, tenths, names[unit]);
}

/* "1h 30min": the two largest units, the second one only where it is not 0. */
static char *format_pair(char *buf, uint64_t big, const char *big_name, uint64_t small,
                         const char *small_name)
{
        if (small == 0)
                (void)snprintf(buf, SG_FORMAT_MAX, "%" PRIu64 "%s", big, big_name);
        else
                (void)snprintf(buf, SG_FORMAT_MAX, "%" PRIu64 "%s %" PRIu64 "%s", big, big_name,
                               small, small_name);
        return buf;
}

char *sg_format_usec(char buf[SG_FORMAT_MAX], uint64_t usec)
{
        uint64_t sec = usec / SG_USEC_PER_SEC;

        if (usec == SG_UNLIMITED)
                return format_infinity(buf);
        if (sec >= SG_SEC_PER_DAY)
                return format_pair(buf, sec / SG_SEC_PER_DAY, "d", sec % SG_SEC_PER_DAY / 3600,
                                   "h");
        if (sec >= 3600)
                return format_pair(buf, sec / 3600, "h", sec % 3600 / 60, "min");
        if (sec >= 60)
                return format_pair(buf, sec / 60, "min", sec % 60, "s");
        if (sec > 0 || usec == 0)
                return format_tenths(buf, usec / (SG_USEC_PER_SEC / 10), "s");
        if (usec >= SG_USEC_PER_MSEC)
                return format_tenths(buf, usec / (SG_USEC_PER_MSEC / 10), "ms");
        return format_tenths(buf, usec * 10, "us");
}

char *sg_format_percent(char buf[SG_FORMAT_MAX], uint64_t pm)
{
        if (pm == SG_UNLIMITED)
                return format_infinity(buf);
        if (pm % 10 == 0)
                return format_tenths(buf, pm / 10, "%");
        (void)snprintf(buf, SG_FORMAT_MAX, "%" PRIu64 ".%02" PRIu64 "%%", pm / 100, pm % 100);
        return buf;
}

char *sg_format_rfc3339(char buf[SG_FORMAT_MAX], uint64_t usec)
{
        uint64_t sec = usec / SG_USEC_PER_SEC;
        unsigned clock = (unsigned)(sec % SG_SEC_PER_DAY);
        struct sg_civil date = sg_civil_from_days((int64_t)(sec / SG_SEC_PER_DAY));

        (void)snprintf(buf, SG_FORMAT_MAX, "%04" PRIi64 "-%02u-%02uT%02u:%02u:%02u.%06uZ",
                       date.year, date.month, date.day, clock / 3600, clock / 60 % 60, clock % 60,
                       (unsigned)(usec % SG_USEC_PER_SEC));
        return buf;
}

int sg_format_cpuset(char *buf, size_t size, const struct sg_cpuset *set)
{
        size_t used = 0;

        if (size == 0)
                return -ENOSPC;
        buf[0] = 0;
        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++) {
                char span[32];
                unsigned last = cpu;

                if (!sg_cpuset_has(set, cpu))
                        continue;
                while (sg_cpuset_has(set, last + 1))
                        last++;
                int n = last > cpu ? snprintf(span, sizeof(span), "%s%u-%u", used ? "," : "", cpu,
                                              last)
                                   : snprintf(span, sizeof(span), "%s%u", used ? "," : "", cpu);
                if ((size_t)n >= size - used)
                        return -ENOSPC;
                memcpy(buf + used, span, (size_t)n + 1);
                used += (size_t)n;
                cpu = last;
        }
        return 0;
}
