/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * A codec writes and reads numbers one after the other, to the last bit, by the same code: a
 * function that names its fields in order to a codec writes them if there is an `out`, else fills
 * them. What is read is distrusted: the error is sticky, and nothing is filled after it.
 */

#include "base/record.h"

struct sg_record_codec {
        struct sg_record *out; /* NULL: reading from p */
        const uint8_t *p, *end;
        int error; /* -EBADMSG; of writing, the record has it */
};

void sg_record_codec_u64(struct sg_record_codec *c, uint64_t *v);
void sg_record_codec_u32(struct sg_record_codec *c, uint32_t *v,
                         uint32_t max); /* reading more is an error */
void sg_record_codec_bool(struct sg_record_codec *c, bool *v);
void sg_record_codec_double(struct sg_record_codec *c, double *v); /* NaN and infinities too */
/* n of them. */
void sg_record_codec_doubles(struct sg_record_codec *c, double *v, size_t n);
/* For reading: whether all was as it should be, and read to the end. 0, -EBADMSG */
int sg_record_codec_end(const struct sg_record_codec *c);
