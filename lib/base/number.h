/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Numbers inside of text. strtod() knows locales, hexadecimal and leading blanks, wants a NUL and
 * takes ten times as long.
 */

#include <stdint.h>

/* "12", "-0.5", "1e-3", ".5", "1.", "nan", "inf", "-Infinity": what is behind it, or NULL. Exact
 * for up to 15 digits with a decimal exponent within ±22, which is what programs print; else within
 * one unit of the last place. Too large is infinite, too small 0. */
const char *sg_number_scan(const char *s, const char *end, double *ret);
/* Digits only; NULL: none, or above UINT64_MAX. */
const char *sg_count_scan(const char *s, const char *end, uint64_t *ret);
