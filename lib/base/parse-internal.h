/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Scanners that the parsers share: each moves *p behind what it took, or leaves it on failure. */

#include <stdbool.h>
#include <stdint.h>

/* Nine digits behind the point, so that fraction × any unit fits 128 bits with room. */
#define SG_DECIMAL_SCALE_MAX UINT64_C(1000000000)

#define SG_SEC_PER_MINUTE 60U
#define SG_SEC_PER_HOUR 3600U
#define SG_SEC_PER_DAY 86400U

struct sg_decimal { /* whole + fraction / scale */
        uint64_t whole, fraction, scale;
};

static inline bool sg_is_digit(char c)
{
        return c >= '0' && c <= '9';
}

int sg_scan_u64(const char **p, uint64_t *ret);
/* Exactly `digits` digits of at most max. */
int sg_scan_digits(const char **p, unsigned digits, unsigned max, unsigned *ret);
int sg_scan_char(const char **p, char c);
int sg_scan_decimal(const char **p, struct sg_decimal *ret);

/* d × unit, rounded down; -ERANGE from SG_UNLIMITED on. */
int sg_decimal_multiply(const struct sg_decimal *d, uint64_t unit, uint64_t *ret);
