/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Framing is of TensorFlow's record_writer.cc; the messages are of event.proto, summary.proto and
 * tensor.proto, of which only what a scalar needs is decoded, by hand: four message types, two wire
 * formats each.
 */

#include "core/reports/tfevents.h"
#include "base/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_SIZE 12 /* the length and its check */
#define FOOTER_SIZE 4
#define PARTIAL_MIN 512U
#define CRC_MASK_DELTA 0xa282ead8U

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };
enum { EVENT_WALL_TIME = 1, EVENT_STEP = 2, EVENT_SUMMARY = 5 };
enum { SUMMARY_VALUE = 1 };
enum { VALUE_TAG = 1, VALUE_SIMPLE = 2, VALUE_TENSOR = 8 };
enum { TENSOR_DTYPE = 1, TENSOR_CONTENT = 4, TENSOR_FLOATS = 5, TENSOR_DOUBLES = 6 };
enum { DTYPE_FLOAT = 1, DTYPE_DOUBLE = 2 };

struct bytes {
        const uint8_t *p, *end;
};

struct field {
        uint32_t number;
        uint32_t wire;
        uint64_t integer; /* varint, or the bits of a fixed one */
        struct bytes bytes;
};

/* --- protobuf --------------------------------------------------------------------------------- */

static uint64_t read_le(const uint8_t *p, size_t n)
{
        uint64_t v = 0;

        for (size_t i = 0; i < n; i++)
                v |= (uint64_t)p[i] << (8 * i);
        return v;
}

static bool get_varint(struct bytes *b, uint64_t *ret)
{
        uint64_t v = 0;

        for (unsigned shift = 0; shift < 64 && b->p < b->end; shift += 7) {
                uint8_t c = *b->p++;

                v |= (uint64_t)(c & 0x7f) << shift;
                if (!(c & 0x80)) {
                        *ret = v;
                        return true;
                }
        }
        return false;
}

static bool get_fixed(struct bytes *b, size_t n, uint64_t *ret)
{
        if ((size_t)(b->end - b->p) < n)
                return false;
        *ret = read_le(b->p, n);
        b->p += n;
        return true;
}

static bool get_bytes(struct bytes *b, struct bytes *ret)
{
        uint64_t n;

        if (!get_varint(b, &n) || n > (uint64_t)(b->end - b->p))
                return false;
        *ret = (struct bytes){b->p, b->p + n};
        b->p += n;
        return true;
}

/* 1 a field, 0 the end, -EBADMSG. */
static int next_field(struct bytes *b, struct field *f)
{
        uint64_t key;
        bool ok;

        if (b->p == b->end)
                return 0;
        if (!get_varint(b, &key) || key >> 3 == 0 || key >> 3 > UINT32_MAX)
                return -EBADMSG;
        f->number = (uint32_t)(key >> 3);
        f->wire = key & 7;
        switch (f->wire) {
        case WIRE_VARINT:
                ok = get_varint(b, &f->integer);
                break;
        case WIRE_FIXED64:
                ok = get_fixed(b, 8, &f->integer);
                break;
        case WIRE_FIXED32:
                ok = get_fixed(b, 4, &f->integer);
                break;
        case WIRE_BYTES:
                ok = get_bytes(b, &f->bytes);
                break;
        default:
                ok = false;
        }
        return ok ? 1 : -EBADMSG;
}

static bool is_field(const struct field *f, uint32_t number, uint32_t wire)
{
        return f->number == number && f->wire == wire;
}

static double double_of(uint64_t bits)
{
        double v;

        memcpy(&v, &bits, sizeof(v));
        return v;
}

static double float_of(uint64_t bits)
{
        uint32_t small = (uint32_t)bits;
        float v;

        memcpy(&v, &small, sizeof(v));
        return (double)v;
}

/* --- events ----------------------------------------------------------------------------------- */

/* One number, as raw bytes or in a (packed) list; 0: something else. */
static int tensor_scalar(struct bytes t, double *ret)
{
        struct bytes content = {0};
        uint64_t dtype = 0;
        struct field f;
        unsigned n = 0;
        int r;

        while ((r = next_field(&t, &f)) > 0) {
                if (is_field(&f, TENSOR_DTYPE, WIRE_VARINT)) {
                        dtype = f.integer;
                } else if (f.wire == WIRE_BYTES &&
                           (f.number == TENSOR_CONTENT || f.number == TENSOR_FLOATS ||
                            f.number == TENSOR_DOUBLES)) {
                        content = f.bytes;
                        n++;
                } else if (is_field(&f, TENSOR_FLOATS, WIRE_FIXED32) ||
                           is_field(&f, TENSOR_DOUBLES, WIRE_FIXED64)) {
                        *ret = f.wire == WIRE_FIXED32 ? float_of(f.integer) : double_of(f.integer);
                        n += 2; /* one such number is 2 without content, all else isn't */
                }
        }
        if (r < 0)
                return r;
        if (n == 2)
                return content.p == NULL;
        if (n != 1)
                return 0;
        if (dtype == DTYPE_FLOAT && content.end - content.p == 4)
                *ret = float_of(read_le(content.p, 4));
        else if (dtype == DTYPE_DOUBLE && content.end - content.p == 8)
                *ret = double_of(read_le(content.p, 8));
        else
                return 0;
        return 1;
}

/* 1: a scalar, with its tag. */
static int value_scalar(struct bytes v, struct sg_tfevents_scalar *ret)
{
        struct field f;
        int r, found = 0;

        ret->tag = "";
        ret->tag_size = 0;
        while ((r = next_field(&v, &f)) > 0) {
                if (is_field(&f, VALUE_TAG, WIRE_BYTES)) {
                        ret->tag = (const char *)f.bytes.p;
                        ret->tag_size = (size_t)(f.bytes.end - f.bytes.p);
                } else if (is_field(&f, VALUE_SIMPLE, WIRE_FIXED32)) {
                        ret->value = float_of(f.integer);
                        found = 1;
                } else if (is_field(&f, VALUE_TENSOR, WIRE_BYTES)) {
                        found = tensor_scalar(f.bytes, &ret->value);
                        if (found < 0)
                                return found;
                }
        }
        return r < 0 ? r : found;
}

/* Without fn only looks whether all of it is valid, so that a broken event says nothing at all. */
static int read_summary(struct bytes s, struct sg_tfevents_scalar *scalar, sg_tfevents_fn *fn,
                        void *userdata)
{
        struct field f;
        int r;

        while ((r = next_field(&s, &f)) > 0) {
                if (!is_field(&f, SUMMARY_VALUE, WIRE_BYTES))
                        continue;
                r = value_scalar(f.bytes, scalar);
                if (r < 0)
                        return r;
                if (r > 0 && fn)
                        fn(scalar, userdata);
        }
        return r;
}

static int read_event(struct bytes e, sg_tfevents_fn *fn, void *userdata)
{
        struct sg_tfevents_scalar scalar = {0};
        struct bytes summary = {0};
        struct field f;
        int r;

        while ((r = next_field(&e, &f)) > 0) {
                if (is_field(&f, EVENT_WALL_TIME, WIRE_FIXED64))
                        scalar.wall_time = double_of(f.integer);
                else if (is_field(&f, EVENT_STEP, WIRE_VARINT))
                        scalar.step = (int64_t)f.integer;
                else if (is_field(&f, EVENT_SUMMARY, WIRE_BYTES))
                        summary = f.bytes;
        }
        if (r < 0)
                return r;
        r = read_summary(summary, &scalar, NULL, NULL);
        return r < 0 ? r : read_summary(summary, &scalar, fn, userdata);
}

/* --- records ---------------------------------------------------------------------------------- */

static bool crc_fits(const uint8_t *data, size_t n, const uint8_t *crc)
{
        uint32_t v = sg_crc32c(data, n);

        return read_le(crc, 4) == (uint32_t)((v >> 15 | v << 17) + CRC_MASK_DELTA);
}

static void take_record(struct sg_tfevents *t, const uint8_t *data, size_t n, sg_tfevents_fn *fn,
                        void *userdata)
{
        t->n_records++;
        if (!crc_fits(data, n, data + n) ||
            read_event((struct bytes){data, data + n}, fn, userdata) < 0)
                t->n_bad++;
}

/* The size of the record whose header is at p; 0: it can't be one. One that is too large is to be
 * skipped. */
static size_t record_size(struct sg_tfevents *t, const uint8_t *p)
{
        uint64_t length = read_le(p, 8);

        if (!crc_fits(p, 8, p + 8) || length > UINT64_MAX - HEADER_SIZE - FOOTER_SIZE)
                return 0;
        if (length > SG_TFEVENTS_RECORD_MAX) {
                t->skip = HEADER_SIZE + length + FOOTER_SIZE;
                t->n_skipped++;
                return HEADER_SIZE;
        }
        return HEADER_SIZE + (size_t)length + FOOTER_SIZE;
}

static int reserve(struct sg_tfevents *t, size_t size)
{
        size_t want = t->allocated ? t->allocated : PARTIAL_MIN;
        uint8_t *p;

        while (want < size)
                want *= 2;
        if (want == t->allocated)
                return 0;
        p = realloc(t->partial, want);
        if (!p)
                return -ENOMEM;
        t->partial = p;
        t->allocated = want;
        return 0;
}

/* Adds to the incomplete record what it lacks, but no more than there is; returns how much. */
static int fill(struct sg_tfevents *t, size_t size, struct bytes *in)
{
        size_t n = size - t->size, have = (size_t)(in->end - in->p);
        int r;

        if (n > have)
                n = have;
        r = reserve(t, t->size + n);
        if (r < 0)
                return r;
        memcpy(t->partial + t->size, in->p, n);
        t->size += n;
        in->p += n;
        return 0;
}

static void skip(struct sg_tfevents *t, struct bytes *in)
{
        uint64_t n = (uint64_t)(in->end - in->p);

        if (n > t->skip)
                n = t->skip;
        t->skip -= n;
        in->p += n;
}

/* What is behind a whole header: the record, in place or put together, or a piece of it. */
static int advance_record(struct sg_tfevents *t, struct bytes *in, sg_tfevents_fn *fn,
                          void *userdata)
{
        const uint8_t *p = t->size > 0 ? t->partial : in->p;
        size_t have = (size_t)(in->end - in->p), size = record_size(t, p);
        int r;

        if (size == 0)
                return 1;
        if (t->skip > 0) {
                t->skip -= t->size;
                t->size = 0;
                return 0;
        }
        if (t->size > 0 || have < size) {
                r = fill(t, size, in);
                if (r < 0 || t->size < size)
                        return r;
                p = t->partial;
        } else {
                in->p += size;
        }
        take_record(t, p + HEADER_SIZE, size - HEADER_SIZE - FOOTER_SIZE, fn, userdata);
        t->size = 0;
        return 0;
}

static int advance(struct sg_tfevents *t, struct bytes *in, sg_tfevents_fn *fn, void *userdata)
{
        bool whole = t->size == 0 && in->end - in->p >= HEADER_SIZE;
        int r;

        if (!whole && t->size < HEADER_SIZE) {
                r = fill(t, HEADER_SIZE, in);
                if (r < 0 || t->size < HEADER_SIZE)
                        return r;
        }
        return advance_record(t, in, fn, userdata);
}

int sg_tfevents_feed(struct sg_tfevents *t, const void *data, size_t n, sg_tfevents_fn *fn,
                     void *userdata)
{
        struct bytes in = {data, (const uint8_t *)data + n};
        int r = t->lost ? 1 : 0;

        while (r == 0 && in.p < in.end)
                if (t->skip > 0)
                        skip(t, &in);
                else
                        r = advance(t, &in, fn, userdata);
        t->lost = r != 0;
        if (t->lost || t->size == 0)
                sg_tfevents_deinit(t);
        return r;
}

void sg_tfevents_deinit(struct sg_tfevents *t)
{
        free(t->partial);
        t->partial = NULL;
        t->size = t->allocated = 0;
}
