/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writer and reader of records. A length is 32 bits, and so is the offset of any nested record: a
 * whole record never exceeds UINT32_MAX bytes. After an error the writer ignores every further call
 * and keeps what it has, so that callers check once.
 */
#include "record.h"

#include <errno.h>
#include <string.h>

#define HEADER_SIZE 6U
#define FIRST_ALLOCATION 256U

static void store_le(uint8_t *p, uint64_t v, size_t size)
{
        for (size_t i = 0; i < size; i++)
                p[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t load_le(const uint8_t *p, size_t size)
{
        uint64_t v = 0;

        for (size_t i = 0; i < size; i++)
                v |= (uint64_t)p[i] << (8 * i);
        return v;
}

void sg_record_deinit(struct sg_record *r)
{
        free(r->data);
        *r = (struct sg_record){0};
}

/* Room for `more` bytes at the end; NULL once the record has an error. */
static uint8_t *record_extend(struct sg_record *r, size_t more)
{
        if (r->error < 0)
                return NULL;
        if (more > UINT32_MAX - r->size) {
                r->error = -E2BIG;
                return NULL;
        }
        if (r->size + more > r->allocated) {
                size_t want = r->allocated ? r->allocated * 2 : FIRST_ALLOCATION;

                if (want < r->size + more)
                        want = r->size + more;
                uint8_t *p = realloc(r->data, want);
                if (!p) {
                        r->error = -ENOMEM;
                        return NULL;
                }
                r->data = p;
                r->allocated = want;
        }

        uint8_t *end = r->data + r->size;
        r->size += more;
        return end;
}

void sg_record_put(struct sg_record *r, uint16_t tag, const void *data, size_t size)
{
        if (size > UINT32_MAX - HEADER_SIZE) {
                r->error = r->error < 0 ? r->error : -E2BIG;
                return;
        }

        uint8_t *p = record_extend(r, HEADER_SIZE + size);
        if (!p)
                return;
        store_le(p, tag, 2);
        store_le(p + 2, size, 4);
        if (size > 0)
                memcpy(p + HEADER_SIZE, data, size);
}

void sg_record_put_u64(struct sg_record *r, uint16_t tag, uint64_t v)
{
        uint8_t buf[8];

        store_le(buf, v, sizeof(buf));
        sg_record_put(r, tag, buf, sizeof(buf));
}

void sg_record_put_i64(struct sg_record *r, uint16_t tag, int64_t v)
{
        sg_record_put_u64(r, tag, (uint64_t)v);
}

void sg_record_put_double(struct sg_record *r, uint16_t tag, double v)
{
        uint64_t bits;

        memcpy(&bits, &v, sizeof(bits));
        sg_record_put_u64(r, tag, bits);
}

void sg_record_put_str(struct sg_record *r, uint16_t tag, const char *s)
{
        if (s)
                sg_record_put(r, tag, s, strlen(s));
}

void sg_record_append(struct sg_record *r, const void *record, size_t size)
{
        uint8_t *p = size > 0 ? record_extend(r, size) : NULL;

        if (p)
                memcpy(p, record, size);
}

size_t sg_record_open(struct sg_record *r, uint16_t tag)
{
        sg_record_put(r, tag, NULL, 0);
        return r->size;
}

void sg_record_close(struct sg_record *r, size_t mark)
{
        if (r->error == 0)
                store_le(r->data + mark - 4, r->size - mark, 4);
}

int sg_reader_next(struct sg_reader *r, struct sg_field *ret)
{
        size_t left = (size_t)(r->end - r->p);

        if (left == 0)
                return 0;
        if (left < HEADER_SIZE)
                return -EBADMSG;

        size_t size = load_le(r->p + 2, 4);
        if (size > left - HEADER_SIZE)
                return -EBADMSG;

        *ret = (struct sg_field){
                .tag = (uint16_t)load_le(r->p, 2),
                .data = r->p + HEADER_SIZE,
                .size = size,
        };
        r->p += HEADER_SIZE + size;
        return 1;
}

int sg_field_u64(const struct sg_field *f, uint64_t *ret)
{
        if (f->size != 8)
                return -EBADMSG;
        *ret = load_le(f->data, 8);
        return 0;
}

int sg_field_i64(const struct sg_field *f, int64_t *ret)
{
        uint64_t v;
        int r = sg_field_u64(f, &v);

        if (r < 0)
                return r;
        *ret = (int64_t)v;
        return 0;
}

int sg_field_double(const struct sg_field *f, double *ret)
{
        uint64_t bits;
        int r = sg_field_u64(f, &bits);

        if (r < 0)
                return r;
        memcpy(ret, &bits, sizeof(*ret));
        return 0;
}

/* The payload as a string; an empty field may have no address at all. */
static void field_copy(const struct sg_field *f, char *buf)
{
        if (f->size > 0)
                memcpy(buf, f->data, f->size);
        buf[f->size] = 0;
}

static bool field_is_text(const struct sg_field *f)
{
        return f->size == 0 || !memchr(f->data, 0, f->size);
}

int sg_field_strdup(const struct sg_field *f, char **ret)
{
        if (!field_is_text(f))
                return -EBADMSG;

        char *s = malloc(f->size + 1);
        if (!s)
                return -ENOMEM;
        field_copy(f, s);
        free(*ret);
        *ret = s;
        return 0;
}

int sg_field_strcpy(const struct sg_field *f, char *buf, size_t size)
{
        if (f->size >= size || !field_is_text(f))
                return -EBADMSG;
        field_copy(f, buf);
        return 0;
}

uint32_t sg_crc32c(const void *data, size_t size)
{
        /* By nibbles: 64 bytes of table are worth more than speed on records of 256 bytes. */
        static const uint32_t table[16] = {
                0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
                0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
                0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
        };
        const uint8_t *p = data;
        uint32_t crc = UINT32_MAX;

        for (size_t i = 0; i < size; i++) {
                crc = (crc >> 4) ^ table[(crc ^ p[i]) & 15];
                crc = (crc >> 4) ^ table[(crc ^ (p[i] >> 4)) & 15];
        }
        return ~crc;
}
