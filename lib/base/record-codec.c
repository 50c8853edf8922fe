/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/record-codec.h"
#include <errno.h>
#include <string.h>

#define BYTES 8U

static void write_u64(struct sg_record *out, uint64_t v)
{
        uint8_t bytes[BYTES];

        for (unsigned i = 0; i < BYTES; i++)
                bytes[i] = (uint8_t)(v >> (8 * i));
        sg_record_append(out, bytes, sizeof(bytes));
}

static uint64_t read_u64(const uint8_t *p)
{
        uint64_t v = 0;

        for (unsigned i = 0; i < BYTES; i++)
                v |= (uint64_t)p[i] << (8 * i);
        return v;
}

void sg_record_codec_u64(struct sg_record_codec *c, uint64_t *v)
{
        if (c->out) {
                write_u64(c->out, *v);
                return;
        }
        if (c->error == 0 && c->end - c->p < (ptrdiff_t)BYTES)
                c->error = -EBADMSG;
        if (c->error < 0)
                return;
        *v = read_u64(c->p);
        c->p += BYTES;
}

void sg_record_codec_u32(struct sg_record_codec *c, uint32_t *v, uint32_t max)
{
        uint64_t wide = *v;

        sg_record_codec_u64(c, &wide);
        if (c->out || c->error < 0)
                return;
        if (wide > max)
                c->error = -EBADMSG;
        else
                *v = (uint32_t)wide;
}

void sg_record_codec_bool(struct sg_record_codec *c, bool *v)
{
        uint32_t number = *v;

        sg_record_codec_u32(c, &number, 1);
        *v = number != 0;
}

void sg_record_codec_double(struct sg_record_codec *c, double *v)
{
        uint64_t bits;

        memcpy(&bits, v, sizeof(bits));
        sg_record_codec_u64(c, &bits);
        memcpy(v, &bits, sizeof(bits));
}

void sg_record_codec_doubles(struct sg_record_codec *c, double *v, size_t n)
{
        for (size_t i = 0; i < n; i++)
                sg_record_codec_double(c, &v[i]);
}

int sg_record_codec_end(const struct sg_record_codec *c)
{
        if (c->error < 0)
                return c->error;
        return c->p == c->end ? 0 : -EBADMSG;
}
