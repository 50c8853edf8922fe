/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A decimal number is a whole mantissa and a power of ten. If both are exact as doubles, so is one
 * multiplication or division of them, correctly rounded (Clinger 1990); the rest goes through long
 * double, whose eleven further bits on x86 keep the error below the last place.
 */

#include "base/number.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define MANTISSA_EXACT (1ULL << 53)
#define DIGITS_MAX 19     /* that a u64 surely holds */
#define EXPONENT_MAX 9999 /* beyond any double, whatever the mantissa */

static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define EXACT_POWERS ((int)(sizeof(exact_powers) / sizeof(exact_powers[0])))

struct decimal {
        uint64_t mantissa;
        int exponent; /* of ten */
        int digits;   /* of the mantissa, without leading zeros */
        bool any;
};

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

const char *sg_count_scan(const char *s, const char *end, uint64_t *ret)
{
        const char *begin = s;
        uint64_t v = 0;

        for (; s < end && is_digit(*s); s++)
                if (__builtin_mul_overflow(v, 10, &v) ||
                    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
                        return NULL;
        if (s == begin)
                return NULL;
        *ret = v;
        return s;
}

/* Digits that the mantissa can't hold only count. */
static const char *scan_digits(const char *s, const char *end, struct decimal *d, bool fraction)
{
        for (; s < end && is_digit(*s); s++) {
                d->any = true;
                if (d->digits >= DIGITS_MAX) {
                        if (!fraction && d->exponent < EXPONENT_MAX)
                                d->exponent++;
                        continue;
                }
                d->mantissa = d->mantissa * 10 + (uint64_t)(*s - '0');
                d->digits += d->mantissa > 0;
                if (fraction && d->exponent > -EXPONENT_MAX)
                        d->exponent--;
        }
        return s;
}

/* An 'e' without digits isn't part of the number. */
static const char *scan_exponent(const char *s, const char *end, struct decimal *d)
{
        const char *p = s + 1;
        bool negative;
        int e = 0;

        if (s >= end || (*s != 'e' && *s != 'E'))
                return s;
        negative = p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+'))
                p++;
        if (p >= end || !is_digit(*p))
                return s;
        for (; p < end && is_digit(*p); p++)
                if (e < EXPONENT_MAX)
                        e = e * 10 + (*p - '0');
        d->exponent += negative ? -e : e;
        return p;
}

static double to_double(const struct decimal *d)
{
        static const long double powers[] = {1e1L,  1e2L,  1e4L,   1e8L,  1e16L,
                                             1e32L, 1e64L, 1e128L, 1e256L};
        long double v = (long double)d->mantissa;
        int e = d->exponent < 0 ? -d->exponent : d->exponent;

        if (d->mantissa <= MANTISSA_EXACT && e < EXACT_POWERS)
                return d->exponent < 0 ? (double)d->mantissa / exact_powers[e]
                                       : (double)d->mantissa * exact_powers[e];
        if (d->mantissa == 0)
                return 0;
        if (d->exponent + d->digits > 310)
                return (double)INFINITY;
        if (d->exponent + d->digits < -330)
                return 0;
        for (size_t i = 0; e > 0 && i < sizeof(powers) / sizeof(powers[0]); i++, e >>= 1)
                if (e & 1)
                        v = d->exponent < 0 ? v / powers[i] : v * powers[i];
        return (double)v;
}

/* word is in small letters. */
static bool has_word(const char *s, const char *end, const char *word)
{
        for (; *word; s++, word++)
                if (s >= end || (*s | 0x20) != *word)
                        return false;
        return true;
}

static const char *scan_name(const char *s, const char *end, double *ret)
{
        if (has_word(s, end, "nan")) {
                *ret = (double)NAN;
                return s + 3;
        }
        if (!has_word(s, end, "inf"))
                return NULL;
        *ret = (double)INFINITY;
        return has_word(s, end, "infinity") ? s + 8 : s + 3;
}

const char *sg_number_scan(const char *s, const char *end, double *ret)
{
        struct decimal d = {0};
        bool negative = s < end && *s == '-';
        double v;

        if (s < end && (*s == '-' || *s == '+'))
                s++;
        if (s < end && !is_digit(*s) && *s != '.') {
                s = scan_name(s, end, &v);
                if (s)
                        *ret = negative ? -v : v;
                return s;
        }
        s = scan_digits(s, end, &d, false);
        if (s < end && *s == '.')
                s = scan_digits(s + 1, end, &d, true);
        if (!d.any)
                return NULL;
        s = scan_exponent(s, end, &d);
        v = to_double(&d);
        *ret = negative ? -v : v;
        return s;
}
