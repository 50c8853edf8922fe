/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Points in time. The forms without a zone consult the local one, which is read from files: core
 * has no use for any of this. */
#include "civil.h"
#include "format.h"
#include "parse-internal.h"
#include "parse.h"
#include "time-util.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* The end of 9999, the last year that RFC 3339 can write. */
#define LAST_USEC 253402300799999999ULL

struct moment {
        struct sg_civil date;
        unsigned hour, minute, second, usec;
};

static int scan_date(const char **p, struct sg_civil *ret)
{
        unsigned year, month, day;

        if (sg_scan_digits(p, 4, 9999, &year) < 0 || sg_scan_char(p, '-') < 0 ||
            sg_scan_digits(p, 2, 12, &month) < 0 || sg_scan_char(p, '-') < 0 ||
            sg_scan_digits(p, 2, 31, &day) < 0)
                return -EINVAL;
        *ret = (struct sg_civil){.year = year, .month = month, .day = day};
        return sg_civil_valid(*ret) ? 0 : -EINVAL;
}

static int scan_hour_minute(const char **p, struct moment *m)
{
        int r = sg_scan_digits(p, 2, 23, &m->hour);

        if (r < 0)
                return r;
        r = sg_scan_char(p, ':');
        return r < 0 ? r : sg_scan_digits(p, 2, 59, &m->minute);
}

/* ".ffffff": one to nine digits, of which six count. */
static int scan_fraction(const char **p, unsigned *ret_usec)
{
        unsigned usec = 0, digits = 0;

        for (; sg_is_digit(**p) && digits < 9; (*p)++, digits++)
                if (digits < 6)
                        usec = usec * 10 + (unsigned)(**p - '0');
        if (digits == 0)
                return -EINVAL;
        for (; digits < 6; digits++)
                usec *= 10;
        *ret_usec = usec;
        return 0;
}

/* "Z" or "±hh:mm", the rest of the string; seconds east of Greenwich. */
static int parse_offset(const char *s, int64_t *ret)
{
        struct moment m = {0};
        int64_t sign = *s == '-' ? -1 : 1;

        if (strcmp(s, "Z") == 0) {
                *ret = 0;
                return 0;
        }
        if (*s != '+' && *s != '-')
                return -EINVAL;
        s++;
        if (scan_hour_minute(&s, &m) < 0 || *s)
                return -EINVAL;
        *ret = sign * (int64_t)(m.hour * SG_SEC_PER_HOUR + m.minute * SG_SEC_PER_MINUTE);
        return 0;
}

/* The rest of RFC 3339 after the date and its T. */
static int parse_universal(const char *s, struct moment *m, uint64_t *ret_usec)
{
        int64_t offset, sec;

        if (scan_hour_minute(&s, m) < 0 || sg_scan_char(&s, ':') < 0 ||
            sg_scan_digits(&s, 2, 59, &m->second) < 0)
                return -EINVAL;
        if (*s == '.') {
                s++;
                if (scan_fraction(&s, &m->usec) < 0)
                        return -EINVAL;
        }
        if (parse_offset(s, &offset) < 0)
                return -EINVAL;

        sec = sg_days_from_civil(m->date) * SG_SEC_PER_DAY + m->hour * SG_SEC_PER_HOUR +
              m->minute * SG_SEC_PER_MINUTE + m->second - offset;
        if (sec < 0)
                return -ERANGE;
        *ret_usec = (uint64_t)sec * SG_USEC_PER_SEC + m->usec;
        return 0;
}

static int local_to_usec(struct tm *tm, uint64_t *ret_usec)
{
        tm->tm_isdst = -1;
        time_t t = mktime(tm);

        if (t < 0)
                return -ERANGE;
        *ret_usec = (uint64_t)t * SG_USEC_PER_SEC;
        return 0;
}

/* The rest of "2026-11-18 12:00[:00]" after the date and its blank. */
static int parse_local(const char *s, struct moment *m, uint64_t *ret_usec)
{
        if (scan_hour_minute(&s, m) < 0)
                return -EINVAL;
        if (*s == ':') {
                s++;
                if (sg_scan_digits(&s, 2, 59, &m->second) < 0)
                        return -EINVAL;
        }
        if (*s)
                return -EINVAL;

        struct tm tm = {
                .tm_year = (int)m->date.year - 1900,
                .tm_mon = (int)m->date.month - 1,
                .tm_mday = (int)m->date.day,
                .tm_hour = (int)m->hour,
                .tm_min = (int)m->minute,
                .tm_sec = (int)m->second,
        };
        return local_to_usec(&tm, ret_usec);
}

/* Which way from now a span goes, and the times of a day are looked for. */
enum direction { AHEAD = 1, BACK = -1 };

/* "12:30": today if that is still to come, else tomorrow. Looking back, today or yesterday. */
static int parse_time_of_day(const char *s, uint64_t now_usec, enum direction to,
                             uint64_t *ret_usec)
{
        time_t now = (time_t)(now_usec / SG_USEC_PER_SEC);
        struct moment m = {0};
        struct tm today;
        uint64_t v = 0;

        if (scan_hour_minute(&s, &m) < 0 || *s)
                return -EINVAL;
        tzset(); /* localtime_r() alone may not */
        if (!localtime_r(&now, &today))
                return -ERANGE;

        for (int days = 0; days <= 1; days++) {
                struct tm tm = {
                        .tm_year = today.tm_year,
                        .tm_mon = today.tm_mon,
                        .tm_mday = today.tm_mday + days * (int)to,
                        .tm_hour = (int)m.hour,
                        .tm_min = (int)m.minute,
                };
                int r = local_to_usec(&tm, &v);

                if (r < 0)
                        return r;
                if (to == AHEAD ? v > now_usec : v <= now_usec)
                        break;
        }
        *ret_usec = v;
        return 0;
}

static int parse_relative(const char *s, uint64_t now_usec, enum direction to, uint64_t *ret_usec)
{
        uint64_t span;
        int r = sg_parse_usec(s, &span);

        if (r < 0)
                return r;
        if (span == SG_UNLIMITED)
                return -EINVAL;
        if (to == BACK)
                span = span < now_usec ? now_usec - span : 0;
        else if (__builtin_add_overflow(now_usec, span, &span))
                return -ERANGE;
        *ret_usec = span;
        return 0;
}

/* "10min", but not "10", which might be an hour, or a day. */
static bool is_span(const char *s)
{
        return *s >= '0' && *s <= '9' && strpbrk(s, "hdwmsu");
}

static int parse_point(const char *s, uint64_t now_usec, enum direction to, uint64_t *ret_usec)
{
        struct moment m = {0};
        const char *rest = s;

        if (*s == (to == AHEAD ? '+' : '-'))
                return parse_relative(s + 1, now_usec, to, ret_usec);
        if (is_span(s))
                return parse_relative(s, now_usec, to, ret_usec);
        if (scan_date(&rest, &m.date) < 0)
                return parse_time_of_day(s, now_usec, to, ret_usec);
        if (*rest == 'T')
                return parse_universal(rest + 1, &m, ret_usec);
        if (*rest == ' ')
                return parse_local(rest + 1, &m, ret_usec);
        return -EINVAL;
}

static int parse_moment(const char *s, uint64_t now_usec, enum direction to, uint64_t *ret_usec)
{
        uint64_t v;
        int r;

        if (strcmp(s, "now") == 0) {
                *ret_usec = now_usec;
                return 0;
        }
        r = parse_point(s, now_usec, to, &v);
        if (r < 0)
                return r;
        if (v > LAST_USEC)
                return -ERANGE;
        *ret_usec = v;
        return 0;
}

int sg_parse_timestamp(const char *s, uint64_t now_usec, uint64_t *ret_usec)
{
        return parse_moment(s, now_usec, AHEAD, ret_usec);
}

int sg_parse_past(const char *s, uint64_t now_usec, uint64_t *ret_usec)
{
        return parse_moment(s, now_usec, BACK, ret_usec);
}

char *sg_format_local(char buf[SG_FORMAT_MAX], uint64_t usec)
{
        time_t t = (time_t)(usec / SG_USEC_PER_SEC);
        struct tm tm;

        tzset(); /* localtime_r() alone may not */
        if (!localtime_r(&t, &tm) || strftime(buf, SG_FORMAT_MAX, "%Y-%m-%d %H:%M:%S", &tm) == 0)
                return sg_format_rfc3339(buf, usec);
        return buf;
}
