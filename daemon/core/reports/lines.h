/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Cuts a stream of bytes, as a program writes it for a terminal, into lines of text.
 *
 * A line ends at '\n', at '\r' (bars are redrawn so) and where the cursor is moved. Colours and all
 * other escape sequences are dropped, and so are control characters but the tab. Bytes from 0x80 up
 * are kept as they are. Empty lines aren't reported. A line longer than SG_LINE_MAX is its first
 * SG_LINE_MAX bytes; the rest of it is dropped, in time proportional to its length and no memory.
 *
 * The lines are the same however the stream is cut into feeds. A line that lies within one feed is
 * handed out in place; memory is held only while a line is incomplete.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_LINE_MAX 4096

struct sg_lines { /* zero-initialise */
        char *partial;
        uint32_t size, allocated;
        uint8_t escape;  /* where in an escape sequence the last feed ended */
        bool incomplete; /* memory was short: the line that is being read is lost */
};

/* The line isn't NUL-terminated, and valid during the call only. */
typedef void sg_lines_fn(const char *line, size_t n, void *userdata);

void sg_lines_feed(struct sg_lines *l, const char *data, size_t n, sg_lines_fn *fn, void *userdata);
/* Reports what the last, unended line is so far, and keeps it; for when nothing more came for a
 * while: a bar is ended by the next one only. */
void sg_lines_peek(const struct sg_lines *l, sg_lines_fn *fn, void *userdata);
void sg_lines_deinit(struct sg_lines *l);
