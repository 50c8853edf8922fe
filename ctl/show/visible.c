/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/show/visible.h"
#include "base/utf8.h"
#include <stdio.h>
#include <string.h>

/* The longest in use set both colours in full: 38;2;R;G;B;48;2;R;G;B and a few attributes. */
#define COLOUR_MAX 64U

/* Digits, and what stands between them. */
static bool is_parameter(char c)
{
        return c >= '0' && c <= ';';
}

static size_t parameters(const char *s, size_t n)
{
        size_t i = 0;

        while (i < n && is_parameter(s[i]))
                i++;
        return i;
}

/* The length of a sequence that sets colours and no more (SGR), 0: it isn't one. */
static size_t colour_size(const char *s, size_t n)
{
        size_t end;

        if (n < 3 || s[0] != '\x1b' || s[1] != '[')
                return 0;
        end = 2 + parameters(s + 2, n - 2);
        return end < n && end < COLOUR_MAX && s[end] == 'm' ? end + 1 : 0;
}

/* Whether more bytes may make a colour or a character of it. */
static bool is_begun(const char *s, size_t n)
{
        unsigned char c = (unsigned char)s[0];
        size_t size = c < 0xc2 || c > 0xf4 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

        if (c == '\x1b')
                return n < COLOUR_MAX &&
                       (n == 1 || (s[1] == '[' && 2 + parameters(s + 2, n - 2) == n));
        for (size_t i = 1; i < n; i++)
                if (((unsigned char)s[i] & 0xc0) != 0x80)
                        return false;
        return n < size;
}

/* The length of what comes through at the beginning of s[n]. */
static size_t passes(struct sg_visible *v, const char *s, size_t n)
{
        size_t colour = colour_size(s, n);

        v->coloured |= colour > 0;
        return colour > 0 ? colour : *s == '\t' ? 1 : sg_utf8_harmless(s, n);
}

static void put(const struct sg_visible *v, const char *s, size_t n)
{
        if (n > 0)
                v->put(s, n, v->userdata);
}

static void put_line(struct sg_visible *v, bool more)
{
        size_t i = 0, from = 0, n;
        char escaped[SG_UTF8_ESCAPE_MAX];

        while (i < v->size) {
                n = passes(v, v->line + i, v->size - i);
                if (n == 0 && more && is_begun(v->line + i, v->size - i))
                        break;
                if (n == 0) {
                        put(v, v->line + from, i - from);
                        put(v, escaped, sg_utf8_escape_byte((unsigned char)v->line[i], escaped));
                        from = i + 1;
                }
                i += n ?: 1;
        }
        put(v, v->line + from, i - from);
        v->shown |= i > 0;
        v->size -= i;
        memmove(v->line, v->line + i, v->size);
}

/* What was put can be written over on a terminal, while somebody looks, and nowhere else. */
static void start_over(struct sg_visible *v)
{
        v->size = 0;
        if (v->shown)
                put(v, v->live ? "\r" : "\n", 1);
        v->shown = false;
}

static void take(struct sg_visible *v, char c)
{
        if (v->returned && c != '\n' && c != '\r')
                start_over(v);
        v->returned = c == '\r';
        if (c == '\n') {
                put_line(v, false);
                put(v, "\n", 1);
                v->shown = false;
        } else if (c != '\r') {
                v->line[v->size++] = c;
        }
        if (v->size == sizeof(v->line))
                put_line(v, true);
}

void sg_visible_write(struct sg_visible *v, const char *s, size_t n)
{
        for (size_t i = 0; i < n; i++)
                take(v, s[i]);
}

void sg_visible_show(struct sg_visible *v)
{
        put_line(v, true);
}

void sg_visible_end(struct sg_visible *v)
{
        put_line(v, false);
        if (v->coloured)
                put(v, "\x1b[0m", 4);
        v->coloured = false;
}

/* What begins a character that isn't harmless; below a space JSON has none. */
static const char suspects[] = "\x7f\xc2\xd8\xe2";

/* How much of it may stay as it is. */
static size_t plain_size(const char *json)
{
        size_t n = 0, left, size;

        for (;;) {
                n += strcspn(json + n, suspects);
                left = strnlen(json + n, 4);
                size = sg_utf8_size(json + n, left);
                if (left == 0 || (size > 0 && sg_utf8_harmless(json + n, left) == 0))
                        return n;
                n += size ?: 1;
        }
}

/* Of one to three bytes: none that has four is to be escaped. */
static unsigned code_point(const char *s, size_t n)
{
        const unsigned char *p = (const unsigned char *)s;

        return n == 1   ? p[0]
               : n == 2 ? (p[0] & 0x1fU) << 6 | (p[1] & 0x3fU)
                        : (p[0] & 0x0fU) << 12 | (p[1] & 0x3fU) << 6 | (p[2] & 0x3fU);
}

void sg_visible_json(const char *json, sg_visible_put put_text, void *userdata)
{
        char escaped[16];
        size_t n;

        while (*json) {
                n = plain_size(json);
                if (n > 0)
                        put_text(json, n, userdata);
                json += n;
                if (!*json)
                        break;
                n = sg_utf8_size(json, strnlen(json, 4));
                (void)snprintf(escaped, sizeof(escaped), "\\u%04x", code_point(json, n));
                put_text(escaped, strlen(escaped), userdata);
                json += n;
        }
}
