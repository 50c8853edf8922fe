/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/utf8.h"

size_t sg_utf8_size(const char *text, size_t size)
{
        const unsigned char *s = (const unsigned char *)text;
        unsigned char lo = 0x80, hi = 0xBF;
        size_t n;

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
