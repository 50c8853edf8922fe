/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cutting a terminal's stream into lines. Nearly all of it is text, which is passed over eight
 * bytes at a time; the state machine sees control characters and escape sequences (ECMA-48) only. A
 * sequence that a line's end interrupts is over: else garbage would swallow all that follows.
 */

#include "core/reports/lines.h"

#include <stdlib.h>
#include <string.h>

#define PARTIAL_MIN 256U

enum escape {
        ESCAPE_NONE,
        ESCAPE_BEGUN,       /* ESC */
        ESCAPE_CSI,         /* ESC [ … */
        ESCAPE_STRING,      /* ESC ] and the like, up to BEL or ESC \ */
        ESCAPE_STRING_ENDS, /* … ESC */
        ESCAPE_ONE_MORE,    /* ESC ( X */
};

struct sink {
        sg_lines_fn *fn;
        void *userdata;
};

/* The first byte below 0x20 from s on, tabs apart. */
static const char *find_control(const char *s, const char *end)
{
        const uint64_t ones = 0x0101010101010101, tops = ones << 7;

        for (; end - s >= 8; s += 8) {
                uint64_t v;

                memcpy(&v, s, sizeof(v));
                if ((v - ones * 0x20) & ~v & tops)
                        for (unsigned i = 0; i < 8; i++)
                                if ((unsigned char)s[i] < 0x20 && s[i] != '\t')
                                        return s + i;
        }
        while (s < end && ((unsigned char)*s >= 0x20 || *s == '\t'))
                s++;
        return s;
}

static bool reserve(struct sg_lines *l, size_t size)
{
        size_t want = l->allocated ? l->allocated : PARTIAL_MIN;
        char *p;

        while (want < size)
                want *= 2;
        if (want == l->allocated)
                return true;
        p = realloc(l->partial, want);
        if (!p)
                return false;
        l->partial = p;
        l->allocated = (uint32_t)want;
        return true;
}

static void append(struct sg_lines *l, const char *s, size_t n)
{
        if (n > SG_LINE_MAX - l->size)
                n = SG_LINE_MAX - l->size;
        if (n == 0 || l->incomplete)
                return;
        if (!reserve(l, l->size + n)) {
                l->incomplete = true;
                l->size = 0;
                return;
        }
        memcpy(l->partial + l->size, s, n);
        l->size += (uint32_t)n;
}

static void end_line(struct sg_lines *l, const struct sink *to)
{
        if (l->size > 0)
                to->fn(l->partial, l->size, to->userdata);
        l->size = 0;
        l->incomplete = false;
}

/* Up, down, left, to a column or place, or all erased: what follows isn't part of the line. */
static bool moves_cursor(char final)
{
        return final && strchr("ABDEFGHJdf`", final);
}

static enum escape begin_sequence(char c)
{
        if (c == '[')
                return ESCAPE_CSI;
        if (c && strchr("]PX^_", c))
                return ESCAPE_STRING;
        return c && strchr("()*+#% ", c) ? ESCAPE_ONE_MORE : ESCAPE_NONE;
}

static void in_csi(struct sg_lines *l, char c, const struct sink *to)
{
        if (c >= 0x20 && c < 0x40)
                return;
        l->escape = ESCAPE_NONE;
        if (moves_cursor(c))
                end_line(l, to);
}

/* c belongs to a sequence; whether it is used up. */
static bool in_escape(struct sg_lines *l, char c, const struct sink *to)
{
        if (c == '\n' || c == '\r' || (c == '\033' && l->escape != ESCAPE_STRING)) {
                l->escape = ESCAPE_NONE;
                return false;
        }
        switch (l->escape) {
        case ESCAPE_BEGUN:
                l->escape = (uint8_t)begin_sequence(c);
                break;
        case ESCAPE_CSI:
                in_csi(l, c, to);
                break;
        case ESCAPE_STRING:
                if (c == '\a' || c == '\033')
                        l->escape = c == '\a' ? ESCAPE_NONE : ESCAPE_STRING_ENDS;
                break;
        case ESCAPE_STRING_ENDS:
                l->escape = c == '\\' ? ESCAPE_NONE : (uint8_t)begin_sequence(c);
                break;
        default:
                l->escape = ESCAPE_NONE;
        }
        return true;
}

/* Text from s up to a control character, and that; returns what is behind. */
static const char *take_text(struct sg_lines *l, const char *s, const char *end,
                             const struct sink *to)
{
        const char *stop = find_control(s, end);
        size_t n = (size_t)(stop - s);
        bool ends = stop < end && (*stop == '\n' || *stop == '\r');

        if (ends && l->size == 0 && !l->incomplete) {
                if (n > 0)
                        to->fn(s, n < SG_LINE_MAX ? n : SG_LINE_MAX, to->userdata);
                return stop + 1;
        }
        append(l, s, n);
        if (stop == end)
                return end;
        if (ends)
                end_line(l, to);
        else if (*stop == '\033')
                l->escape = ESCAPE_BEGUN;
        else /* Keras goes back to a line's beginning so, one by one */
                while (stop + 1 < end && stop[1] == '\b')
                        stop++;
        return stop + 1;
}

void sg_lines_feed(struct sg_lines *l, const char *data, size_t n, sg_lines_fn *fn, void *userdata)
{
        const struct sink to = {fn, userdata};
        const char *end = data + n;

        while (data < end)
                if (l->escape == ESCAPE_NONE)
                        data = take_text(l, data, end, &to);
                else if (in_escape(l, *data, &to))
                        data++;
        if (l->size == 0)
                sg_lines_deinit(l);
}

void sg_lines_peek(const struct sg_lines *l, sg_lines_fn *fn, void *userdata)
{
        if (l->size > 0)
                fn(l->partial, l->size, userdata);
}

void sg_lines_deinit(struct sg_lines *l)
{
        free(l->partial);
        l->partial = NULL;
        l->size = l->allocated = 0;
}
