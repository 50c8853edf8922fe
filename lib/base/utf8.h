/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The length of the UTF-8 sequence at the beginning of s[size]; 0 if there is none. By the table of
 * well-formed sequences of RFC 3629: what the bus and JSON would refuse is none. */
size_t sg_utf8_size(const char *s, size_t size);

bool sg_utf8_is_valid(const char *s, size_t size);

/* How much of s[size] is at most max bytes and ends with a whole character. */
size_t sg_utf8_fit(const char *s, size_t size, size_t max);

/* Puts a ? in the place of each byte of a control character, and of each that isn't UTF-8. */
void sg_utf8_clean(char *s, size_t size);

/* The length of the character at the beginning of s[size] if it may be shown as it is; 0 where that
 * byte is to be escaped: controls, broken UTF-8, and marks that reorder text. */
size_t sg_utf8_harmless(const char *s, size_t size);

/* Writes a byte as \n, \x1b …, and how long that is. */
#define SG_UTF8_ESCAPE_MAX 5U
size_t sg_utf8_escape_byte(unsigned char c, char out[SG_UTF8_ESCAPE_MAX]);

/* s itself where it is harmless; otherwise a copy in buf, with control characters, broken UTF-8 and
 * marks that reorder text as \n, \x1b …; cut off where buf ends. */
const char *sg_utf8_escape(const char *s, char *buf, size_t size);
