/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The first byte is the size of the pieces. Its highest bit says what the rest is: an event, which
 * gets a frame with right checks here (no fuzzer finds those), or a file as it is.
 */

#include "base/record.h"
#include "core/reports/tfevents.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sum {
        uint64_t hash, scalars, records, bad;
        int64_t result; /* no padding: compared as a whole */
};

static void add(struct sum *s, const void *data, size_t n)
{
        for (size_t i = 0; i < n; i++)
                s->hash = (s->hash ^ ((const uint8_t *)data)[i]) * 0x100000001b3;
}

static void on_scalar(const struct sg_tfevents_scalar *scalar, void *userdata)
{
        struct sum *s = userdata;

        s->scalars++;
        add(s, &scalar->step, sizeof(scalar->step));
        add(s, &scalar->value, sizeof(scalar->value));
        add(s, scalar->tag, scalar->tag_size);
}

static struct sum read_file(const uint8_t *data, size_t n, size_t piece)
{
        struct sg_tfevents t = {0};
        struct sum s = {0};

        for (size_t at = 0; at < n; at += piece)
                s.result = sg_tfevents_feed(&t, data + at, piece < n - at ? piece : n - at,
                                            on_scalar, &s);
        s.records = t.n_records;
        s.bad = t.n_bad;
        if (s.result < 0 || t.n_bad > t.n_records || t.size > n)
                abort();
        sg_tfevents_deinit(&t);
        return s;
}

static void put_le(uint8_t *p, uint64_t v, size_t n)
{
        for (size_t i = 0; i < n; i++)
                p[i] = (uint8_t)(v >> (8 * i));
}

static void put_crc(uint8_t *p, const void *data, size_t n)
{
        uint32_t crc = sg_crc32c(data, n);

        put_le(p, (uint32_t)((crc >> 15 | crc << 17) + 0xa282ead8), 4);
}

static uint8_t *frame(const uint8_t *event, size_t n)
{
        uint8_t *p = malloc(n + 16);

        if (!p)
                return NULL;
        put_le(p, n, 8);
        put_crc(p + 8, p, 8);
        memcpy(p + 12, event, n);
        put_crc(p + 12 + n, event, n);
        return p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct sum whole, pieces;
        uint8_t *framed = NULL;
        size_t piece;

        if (size < 2)
                return 0;
        piece = data[0] % 128U + 1;
        if (data[0] & 0x80)
                framed = frame(data + 1, size - 1);
        whole = read_file(framed ? framed : data + 1, framed ? size + 15 : size - 1, size + 16);
        pieces = read_file(framed ? framed : data + 1, framed ? size + 15 : size - 1, piece);
        if (memcmp(&whole, &pieces, sizeof(whole)) != 0 || (framed && whole.records != 1))
                abort();
        free(framed);
        return 0;
}
