/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/utf8.h"

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
