/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

/* The length of the UTF-8 sequence at the beginning of s[size], size ≥ 1; 0 if it is none. By the
 * table of well-formed sequences of RFC 3629: what the bus and JSON would refuse is none. */
size_t sg_utf8_size(const char *s, size_t size);
