/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Reads TensorBoard's event files as they grow: TFRecord framing around protobuf messages.
 *
 *   u64 length | u32 masked CRC-32C of the length | data | u32 masked CRC-32C of the data
 *
 * Scalars only: `simple_value`, and tensors of one float or double, as TensorFlow 2 writes them. A
 * record whose data fail their check, or aren't an event, is skipped and counted. A length that
 * fails its check leaves no way to find the next record: the file is lost from there on. Records
 * above SG_TFEVENTS_RECORD_MAX are skipped without being kept. A record that lies within one feed
 * is read in place; memory is held only while one is incomplete.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_TFEVENTS_RECORD_MAX (1U << 20)

struct sg_tfevents {                          /* zero-initialise, for each file */
        uint64_t n_records, n_bad, n_skipped; /* whole ones; of those, not valid; too large */
        /* its own: */
        uint8_t *partial;
        size_t size, allocated;
        uint64_t skip; /* bytes of a record that is too large, still to come */
        bool lost;
};

struct sg_tfevents_scalar {
        double wall_time; /* seconds since the epoch, by the job */
        int64_t step;
        const char *tag; /* not NUL-terminated, valid during the call only */
        size_t tag_size;
        double value;
};

typedef void sg_tfevents_fn(const struct sg_tfevents_scalar *s, void *userdata);

/* Data that follow those of the last call. 0; 1: the file is lost, now or since earlier, and what
 * comes is ignored; -ENOMEM: nothing of this feed after the last whole record was taken, and the
 * file is lost. */
int sg_tfevents_feed(struct sg_tfevents *t, const void *data, size_t n, sg_tfevents_fn *fn,
                     void *userdata);
void sg_tfevents_deinit(struct sg_tfevents *t);
