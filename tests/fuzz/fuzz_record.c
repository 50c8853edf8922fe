/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any bytes as a record: the reader stays inside, and what it understands survives being written
 * again. */
#include "base/record.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_field(const struct sg_field *f, unsigned depth);

static int walk(const uint8_t *data, size_t size, struct sg_record *copy, unsigned depth)
{
        struct sg_reader reader = sg_reader_init(data, size);
        struct sg_field f;
        int r;

        while ((r = sg_reader_next(&reader, &f)) > 0) {
                take_field(&f, depth);
                if (copy)
                        sg_record_put(copy, f.tag, f.data, f.size);
        }
        return r;
}

static void take_field(const struct sg_field *f, unsigned depth)
{
        _cleanup_free_ char *s = NULL;
        char buf[16];
        uint64_t u;
        int64_t i;

        if ((sg_field_u64(f, &u) == 0) != (f->size == 8) ||
            (sg_field_i64(f, &i) == 0) != (f->size == 8))
                abort();
        if (f->size == 8 && (uint64_t)i != u)
                abort();
        if (sg_field_strdup(f, &s) == 0 && strlen(s) != f->size)
                abort();
        if (sg_field_strcpy(f, buf, sizeof(buf)) == 0 && (!s || strcmp(buf, s) != 0))
                abort();
        if (depth < 8) /* any payload may be a nested record */
                (void)walk(f->data, f->size, NULL, depth + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(sg_record_deinitp) struct sg_record copy = {0};

        if (walk(data, size, &copy, 0) < 0)
                return 0;
        if (copy.error < 0 || copy.size != size || (size > 0 && memcmp(copy.data, data, size) != 0))
                abort();
        (void)sg_crc32c(data, size);
        return 0;
}
