/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Records: the one encoding for what our processes hand each other (daemon ↔ store, daemon → shim)
 * and for what is kept as a blob. A record is a sequence of fields: u16 tag, u32 length, payload,
 * little-endian, no padding; so two records concatenated are a record. Readers skip tags that they
 * don't know and distrust every length.
 */

#include "cleanup.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_record { /* a growing buffer; zero-initialise */
        uint8_t *data;
        size_t size, allocated;
        int error; /* sticky -ENOMEM / -E2BIG: check once, at the end */
};

void sg_record_deinit(struct sg_record *r);
void sg_record_put(struct sg_record *r, uint16_t tag, const void *data, size_t size);
void sg_record_put_u64(struct sg_record *r, uint16_t tag, uint64_t v);
void sg_record_put_i64(struct sg_record *r, uint16_t tag, int64_t v);
void sg_record_put_double(struct sg_record *r, uint16_t tag, double v); /* exactly, NaN too */
void sg_record_put_str(struct sg_record *r, uint16_t tag,
                       const char *s); /* without the NUL; NULL puts nothing */
void sg_record_append(struct sg_record *r, const void *record, size_t size);
/* A nested record: put the header, write fields, close it. */
size_t sg_record_open(struct sg_record *r, uint16_t tag);
void sg_record_close(struct sg_record *r, size_t mark);

struct sg_field {
        uint16_t tag;
        const uint8_t *data;
        size_t size;
};

struct sg_reader {
        const uint8_t *p, *end;
};

/* data: NULL if size is 0. */
static inline struct sg_reader sg_reader_init(const void *data, size_t size)
{
        return (struct sg_reader){data, data ? (const uint8_t *)data + size : NULL};
}

int sg_reader_next(struct sg_reader *r, struct sg_field *ret); /* 1 a field, 0 the end, -EBADMSG */
int sg_field_u64(const struct sg_field *f, uint64_t *ret);     /* -EBADMSG unless 8 bytes */
int sg_field_i64(const struct sg_field *f, int64_t *ret);
int sg_field_double(const struct sg_field *f, double *ret);
int sg_field_strdup(const struct sg_field *f,
                    char **ret); /* -EBADMSG on an embedded NUL; frees the old *ret */
int sg_field_strcpy(const struct sg_field *f, char *buf,
                    size_t size); /* -EBADMSG if it doesn't fit or has a NUL */

/* CRC-32C (Castagnoli), for records that must be recognised as whole. */
uint32_t sg_crc32c(const void *data, size_t size);

static inline void sg_record_deinitp(struct sg_record *r)
{
        sg_record_deinit(r);
}
