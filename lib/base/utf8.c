/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/utf8.h"
#include <stdio.h>
#include <string.h>

size_t sg_utf8_size(const char *text, size_t size)
{
        const unsigned char *s = (const unsigned char *)text;
        unsigned char lo = 0x80, hi = 0xBF;
        size_t n;

        if (size == 0)
                return 0;
        if (s[0] < 0x80)
                return 1;
        if (s[0] < 0xC2 || s[0] > 0xF4)
                return 0;
        n = s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
        if (n > size)
                return 0;
        if (s[0] == 0xE0)
                lo = 0xA0;
        else if (s[0] == 0xED)
                hi = 0x9F;
        else if (s[0] == 0xF0)
                lo = 0x90;
        else if (s[0] == 0xF4)
                hi = 0x8F;
        if (s[1] < lo || s[1] > hi)
                return 0;
        for (size_t i = 2; i < n; i++)
                if (s[i] < 0x80 || s[i] > 0xBF)
                        return 0;
        return n;
}

bool sg_utf8_is_valid(const char *s, size_t size)
{
        while (size > 0) {
                size_t n = sg_utf8_size(s, size);

                if (n == 0)
                        return false;
                s += n;
                size -= n;
        }
        return true;
}

size_t sg_utf8_fit(const char *s, size_t size, size_t max)
{
        size_t n = 0, next;

        for (; n < size; n += next) {
                next = sg_utf8_size(s + n, size - n) ?: 1;
                if (next > max - n)
                        break;
        }
        return n;
}

static bool is_control(const char *s, size_t size)
{
        const unsigned char *p = (const unsigned char *)s;

        return size == 1 ? p[0] < 0x20 || p[0] == 0x7F : size == 2 && p[0] == 0xC2 && p[1] < 0xA0;
}

void sg_utf8_clean(char *s, size_t size)
{
        while (size > 0) {
                size_t n = sg_utf8_size(s, size);
                bool bad = n == 0 || is_control(s, n);

                for (n = n ?: 1; n > 0; n--, size--, s++)
                        if (bad)
                                *s = '?';
        }
}

size_t sg_utf8_harmless(const char *s, size_t size)
{
        const unsigned char *p = (const unsigned char *)s;
        size_t n = sg_utf8_size(s, size);

        if (n == 1)
                return p[0] >= 0x20 && p[0] != 0x7f;
        if (n == 2 && ((p[0] == 0xc2 && p[1] < 0xa0) || (p[0] == 0xd8 && p[1] == 0x9c)))
                return 0; /* C1 controls, and the Arabic letter mark */
        if (n == 3 && p[0] == 0xe2 &&
            ((p[1] == 0x80 && ((p[2] >= 0xa8 && p[2] <= 0xae) || p[2] == 0x8e || p[2] == 0x8f)) ||
             (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9)))
                return 0; /* line separators, and marks that change the direction */
        return n;
}

size_t sg_utf8_escape_byte(unsigned char c, char out[SG_UTF8_ESCAPE_MAX])
{
        static const char plain[] = "abtnvfr";

        if (c >= 7 && c <= 13)
                return (size_t)snprintf(out, SG_UTF8_ESCAPE_MAX, "\\%c", plain[c - 7]);
        return (size_t)snprintf(out, SG_UTF8_ESCAPE_MAX, "\\x%02x", c);
}

const char *sg_utf8_escape(const char *s, char *buf, size_t size)
{
        size_t len = strlen(s), i = 0, o = 0;

        while (i < len && sg_utf8_harmless(s + i, len - i) > 0)
                i += sg_utf8_harmless(s + i, len - i);
        if (i == len)
                return s;

        for (i = 0; i < len;) {
                char escaped[SG_UTF8_ESCAPE_MAX];
                size_t n = sg_utf8_harmless(s + i, len - i);
                const char *from = n > 0 ? s + i : escaped;
                size_t put = n > 0 ? n : sg_utf8_escape_byte((unsigned char)s[i], escaped);

                if (o + put >= size)
                        break;
                memcpy(buf + o, from, put);
                o += put;
                i += n > 0 ? n : 1;
        }
        buf[o] = '\0';
        return buf;
}
