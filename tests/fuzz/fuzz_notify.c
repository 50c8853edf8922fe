/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A datagram of NOTIFY_SOCKET. Whatever it is, what is taken from it can be shown. */

#include "core/reports/notify-text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool b)
{
        if (!b)
                abort();
}

/* By the lengths of its characters alone: another reading of RFC 3629 than the parser's. */
static void check_utf8(const char *text)
{
        for (const unsigned char *s = (const unsigned char *)text; *s;) {
                size_t n = *s < 0x80 ? 1 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
                uint32_t c = n == 1 ? *s : *s & (0x3fU >> (n - 1));

                for (size_t i = 1; i < n; i++) {
                        must((s[i] & 0xc0) == 0x80);
                        c = c << 6 | (s[i] & 0x3f);
                }
                must(c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0));
                must(n < 3 || c >= (n == 3 ? 0x800 : 0x10000));
                must(c <= 0x10ffff && !(c >= 0xd800 && c < 0xe000));
                s += n;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct sg_notify n;

        sg_notify_parse((const char *)data, size, &n);
        must(n.report.has <= 31);
        must(memchr(n.status, '\0', sizeof(n.status)));
        must(n.has_status || !n.status[0]);
        must(n.allocation_signal >= -1 && n.allocation_signal <= 64);
        must(n.n_bad <= size);
        check_utf8(n.status);
        return 0;
}
