/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers, sizes and shares. Digits are read here rather than by strtoull(), which takes leading
 * blanks and signs, and the locale's digits.
 */
#include "parse-internal.h"
#include "parse.h"

#include <errno.h>
#include <string.h>

int sg_scan_u64(const char **p, uint64_t *ret)
{
        const char *s = *p;
        uint64_t v = 0;

        if (!sg_is_digit(*s))
                return -EINVAL;
        for (; sg_is_digit(*s); s++)
                if (__builtin_mul_overflow(v, 10, &v) ||
                    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
                        return -ERANGE;
        *p = s;
        *ret = v;
        return 0;
}

int sg_scan_digits(const char **p, unsigned digits, unsigned max, unsigned *ret)
{
        unsigned v = 0;

        for (unsigned i = 0; i < digits; i++) {
                if (!sg_is_digit((*p)[i]))
                        return -EINVAL;
                v = v * 10 + (unsigned)((*p)[i] - '0');
        }
        if (v > max)
                return -EINVAL;
        *p += digits;
        *ret = v;
        return 0;
}

int sg_scan_char(const char **p, char c)
{
        if (**p != c)
                return -EINVAL;
        (*p)++;
        return 0;
}

int sg_scan_decimal(const char **p, struct sg_decimal *ret)
{
        struct sg_decimal d = {.scale = 1};
        const char *s = *p;
        int r;

        r = sg_scan_u64(&s, &d.whole);
        if (r < 0)
                return r;
        if (*s == '.') {
                if (!sg_is_digit(*++s))
                        return -EINVAL;
                for (; sg_is_digit(*s); s++) {
                        if (d.scale >= SG_DECIMAL_SCALE_MAX)
                                return -EINVAL;
                        d.fraction = d.fraction * 10 + (uint64_t)(*s - '0');
                        d.scale *= 10;
                }
        }
        *p = s;
        *ret = d;
        return 0;
}

int sg_decimal_multiply(const struct sg_decimal *d, uint64_t unit, uint64_t *ret)
{
        unsigned __int128 v = (unsigned __int128)d->whole * unit;

        v += (unsigned __int128)d->fraction * unit / d->scale;
        if (v >= SG_UNLIMITED)
                return -ERANGE;
        *ret = (uint64_t)v;
        return 0;
}

int sg_parse_u64(const char *s, uint64_t *ret)
{
        uint64_t v;
        int r = sg_scan_u64(&s, &v);

        if (r < 0)
                return r;
        if (*s)
                return -EINVAL;
        *ret = v;
        return 0;
}

int sg_parse_u32(const char *s, uint32_t *ret)
{
        uint64_t v;
        int r = sg_parse_u64(s, &v);

        if (r < 0)
                return r;
        if (v > UINT32_MAX)
                return -ERANGE;
        *ret = (uint32_t)v;
        return 0;
}

int sg_parse_i32(const char *s, int32_t *ret)
{
        bool negative = *s == '-';
        uint64_t v;
        int r = sg_parse_u64(negative ? s + 1 : s, &v);

        if (r < 0)
                return r;
        if (v > (uint64_t)INT32_MAX + negative)
                return -ERANGE;
        *ret = (int32_t)(negative ? -(int64_t)v : (int64_t)v);
        return 0;
}

int sg_parse_bool(const char *s, bool *ret)
{
        static const char *const yes[] = {"yes", "true", "on", "1"};
        static const char *const no[] = {"no", "false", "off", "0"};

        for (size_t i = 0; i < 4; i++) {
                if (strcmp(s, yes[i]) == 0) {
                        *ret = true;
                        return 0;
                }
                if (strcmp(s, no[i]) == 0) {
                        *ret = false;
                        return 0;
                }
        }
        return -EINVAL;
}

/* The factor of "", "B", "K", "KB", "KiB", …; 0 if it is none. */
static uint64_t byte_unit(const char *suffix)
{
        static const char letters[] = "KMGTP";
        const char *at;

        if (!*suffix || strcmp(suffix, "B") == 0)
                return 1;
        at = strchr(letters, *suffix >= 'a' && *suffix <= 'z' ? *suffix - 'a' + 'A' : *suffix);
        suffix++;
        if (!at || (*suffix && strcmp(suffix, "B") != 0 && strcmp(suffix, "iB") != 0))
                return 0;
        return UINT64_C(1) << (10 * (at - letters + 1));
}

int sg_parse_bytes(const char *s, uint64_t *ret)
{
        struct sg_decimal d;
        uint64_t unit;
        int r;

        if (strcmp(s, "infinity") == 0) {
                *ret = SG_UNLIMITED;
                return 0;
        }
        r = sg_scan_decimal(&s, &d);
        if (r < 0)
                return r;
        unit = byte_unit(s);
        if (unit == 0 || (unit == 1 && d.scale > 1))
                return -EINVAL;
        return sg_decimal_multiply(&d, unit, ret);
}

int sg_parse_percent(const char *s, uint64_t *ret_pm)
{
        struct sg_decimal d;
        int r;

        r = sg_scan_decimal(&s, &d);
        if (r < 0)
                return r;
        if (strcmp(s, "%") != 0 || d.scale > 100)
                return -EINVAL;
        return sg_decimal_multiply(&d, 100, ret_pm);
}

int sg_parse_range(const char *s, uint32_t *ret_lo, uint32_t *ret_hi)
{
        uint64_t lo, hi;
        int r;

        r = sg_scan_u64(&s, &lo);
        if (r < 0)
                return r;
        hi = lo;
        if (*s == '-') {
                s++;
                r = sg_scan_u64(&s, &hi);
                if (r < 0)
                        return r;
        }
        if (*s || lo < 1 || hi < lo)
                return -EINVAL;
        if (hi > UINT32_MAX)
                return -ERANGE;
        *ret_lo = (uint32_t)lo;
        *ret_hi = (uint32_t)hi;
        return 0;
}
