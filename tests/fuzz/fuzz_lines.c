/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The first byte is the size of the pieces, the rest a stream: its lines are clean, and the same as
 * those of the whole. */

#include "core/reports/lines.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sum {
        uint64_t hash, lines;
};

static void on_line(const char *line, size_t n, void *userdata)
{
        struct sum *s = userdata;

        if (n == 0 || n > SG_LINE_MAX)
                abort();
        for (size_t i = 0; i < n; i++) {
                if ((unsigned char)line[i] < 0x20 && line[i] != '\t')
                        abort();
                s->hash = (s->hash ^ (unsigned char)line[i]) * 0x100000001b3;
        }
        s->hash = (s->hash ^ 0x100) * 0x100000001b3;
        s->lines++;
}

static struct sum cut(const char *data, size_t n, size_t piece)
{
        struct sg_lines l = {0};
        struct sum s = {0};

        for (size_t at = 0; at < n; at += piece)
                sg_lines_feed(&l, data + at, piece < n - at ? piece : n - at, on_line, &s);
        sg_lines_peek(&l, on_line, &s);
        if (l.allocated > SG_LINE_MAX)
                abort();
        sg_lines_deinit(&l);
        return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct sum whole, pieces;

        if (size < 2)
                return 0;
        whole = cut((const char *)data + 1, size - 1, size);
        pieces = cut((const char *)data + 1, size - 1, data[0] % 64U + 1);
        if (whole.hash != pieces.hash || whole.lines != pieces.lines)
                abort();
        return 0;
}
