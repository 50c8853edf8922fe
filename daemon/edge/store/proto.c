/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/store/proto.h"
#include <errno.h>
#include <string.h>

int sg_store_message_parse(struct sg_store_message *ret, const void *frame, size_t size)
{
        struct sg_reader reader = sg_reader_init(frame, size);
        struct sg_field f;
        int r;

        *ret = (struct sg_store_message){0};
        while ((r = sg_reader_next(&reader, &f)) > 0)
                if (f.tag < _SG_STORE_TAG_MAX)
                        ret->fields[f.tag] = f;
        if (r < 0)
                return r;
        return sg_field_u64(&ret->fields[SG_STORE_TAG_KIND], &ret->kind);
}

uint64_t sg_store_message_u64(const struct sg_store_message *m, enum sg_store_tag tag)
{
        uint64_t v = 0;

        (void)sg_field_u64(&m->fields[tag], &v);
        return v;
}

int64_t sg_store_message_i64(const struct sg_store_message *m, enum sg_store_tag tag)
{
        return (int64_t)sg_store_message_u64(m, tag);
}

int sg_store_message_str(const struct sg_store_message *m, enum sg_store_tag tag, char **ret)
{
        char *s = NULL;
        int r;

        if (m->fields[tag].data) {
                r = sg_field_strdup(&m->fields[tag], &s);
                if (r < 0)
                        return r;
        }
        *ret = s;
        return 0;
}
