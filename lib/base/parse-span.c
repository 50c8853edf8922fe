/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Spans of time. */
#include "cleanup.h"
#include "parse-internal.h"
#include "parse.h"
#include "time-util.h"

#include <errno.h>
#include <string.h>

static const struct unit {
        const char *name;
        uint64_t usec;
} units[] = {
        {"us", 1},
        {"usec", 1},
        {"ms", SG_USEC_PER_MSEC},
        {"msec", SG_USEC_PER_MSEC},
        {"s", SG_USEC_PER_SEC},
        {"sec", SG_USEC_PER_SEC},
        {"second", SG_USEC_PER_SEC},
        {"seconds", SG_USEC_PER_SEC},
        {"m", SG_SEC_PER_MINUTE *SG_USEC_PER_SEC},
        {"min", SG_SEC_PER_MINUTE *SG_USEC_PER_SEC},
        {"minute", SG_SEC_PER_MINUTE *SG_USEC_PER_SEC},
        {"minutes", SG_SEC_PER_MINUTE *SG_USEC_PER_SEC},
        {"h", SG_SEC_PER_HOUR *SG_USEC_PER_SEC},
        {"hr", SG_SEC_PER_HOUR *SG_USEC_PER_SEC},
        {"hour", SG_SEC_PER_HOUR *SG_USEC_PER_SEC},
        {"hours", SG_SEC_PER_HOUR *SG_USEC_PER_SEC},
        {"d", SG_SEC_PER_DAY *SG_USEC_PER_SEC},
        {"day", SG_SEC_PER_DAY *SG_USEC_PER_SEC},
        {"days", SG_SEC_PER_DAY *SG_USEC_PER_SEC},
        {"w", 7 * SG_SEC_PER_DAY *SG_USEC_PER_SEC},
        {"week", 7 * SG_SEC_PER_DAY *SG_USEC_PER_SEC},
        {"weeks", 7 * SG_SEC_PER_DAY *SG_USEC_PER_SEC},
};

static void skip_blanks(const char **p)
{
        while (**p == ' ')
                (*p)++;
}

static int scan_unit(const char **p, uint64_t *ret_usec)
{
        size_t length = 0;

        while ((*p)[length] >= 'a' && (*p)[length] <= 'z')
                length++;
        for (size_t i = 0; i < SG_ELEMENTSOF(units); i++)
                if (strlen(units[i].name) == length && memcmp(units[i].name, *p, length) == 0) {
                        *p += length;
                        *ret_usec = units[i].usec;
                        return 0;
                }
        return -EINVAL;
}

/* What follows the hours of "1:30:00". */
static int parse_clock_span(const char *s, uint64_t hours, uint64_t *ret)
{
        struct sg_decimal d = {.whole = hours, .scale = 1};
        unsigned minutes, seconds;
        uint64_t v;
        int r;

        if (sg_scan_char(&s, ':') < 0 || sg_scan_digits(&s, 2, 59, &minutes) < 0 ||
            sg_scan_char(&s, ':') < 0 || sg_scan_digits(&s, 2, 59, &seconds) < 0 || *s)
                return -EINVAL;
        r = sg_decimal_multiply(&d, SG_SEC_PER_HOUR * SG_USEC_PER_SEC, &v);
        if (r < 0)
                return r;
        if (__builtin_add_overflow(v, (minutes * SG_SEC_PER_MINUTE + seconds) * SG_USEC_PER_SEC,
                                   &v) ||
            v == SG_UNLIMITED)
                return -ERANGE;
        *ret = v;
        return 0;
}

int sg_parse_usec(const char *s, uint64_t *ret)
{
        uint64_t sum = 0, unit, part;
        struct sg_decimal d;
        bool first = true;
        int r;

        if (strcmp(s, "infinity") == 0) {
                *ret = SG_UNLIMITED;
                return 0;
        }
        do {
                r = sg_scan_decimal(&s, &d);
                if (r < 0)
                        return r;
                if (first && *s == ':' && d.scale == 1)
                        return parse_clock_span(s, d.whole, ret);
                if (first && !*s)
                        unit = SG_USEC_PER_SEC;
                else {
                        skip_blanks(&s);
                        r = scan_unit(&s, &unit);
                        if (r < 0)
                                return r;
                }
                r = sg_decimal_multiply(&d, unit, &part);
                if (r < 0)
                        return r;
                if (__builtin_add_overflow(sum, part, &sum) || sum == SG_UNLIMITED)
                        return -ERANGE;
                if (*s == ' ' && s[1])
                        skip_blanks(&s);
                first = false;
        } while (*s);

        *ret = sum;
        return 0;
}
