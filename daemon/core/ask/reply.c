/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/ask/reply.h"

void sg_reply_value(struct sg_reply *r, const char *key, const struct sg_value *v)
{
        if (r->error >= 0)
                r->error = r->ops->put(r, key, v);
}

void sg_reply_text(struct sg_reply *r, const char *key, const char *text)
{
        sg_reply_value(r, key, &(struct sg_value){.type = SG_VALUE_TEXT, .text = text});
}

void sg_reply_u64(struct sg_reply *r, const char *key, uint64_t v)
{
        sg_reply_value(r, key, &(struct sg_value){.type = SG_VALUE_U64, .number = v});
}

void sg_reply_i32(struct sg_reply *r, const char *key, int32_t v)
{
        sg_reply_value(r, key, &(struct sg_value){.type = SG_VALUE_I32, .integer = v});
}

void sg_reply_flag(struct sg_reply *r, const char *key, bool v)
{
        sg_reply_value(r, key, &(struct sg_value){.type = SG_VALUE_FLAG, .number = v});
}

void sg_reply_file(struct sg_reply *r, const char *key, int fd)
{
        sg_reply_value(r, key, &(struct sg_value){.type = SG_VALUE_FILE, .integer = fd});
}

void sg_reply_open_list(struct sg_reply *r, const char *key, const enum sg_value_type *of, size_t n)
{
        if (r->error >= 0)
                r->error = r->ops->open_list(r, key, of, n);
}

void sg_reply_close_list(struct sg_reply *r)
{
        if (r->error >= 0)
                r->error = r->ops->close_list(r);
}

void sg_reply_open_row(struct sg_reply *r)
{
        if (r->error >= 0)
                r->error = r->ops->open_row(r);
}

void sg_reply_close_row(struct sg_reply *r)
{
        if (r->error >= 0)
                r->error = r->ops->close_row(r);
}

void sg_reply_open_options(struct sg_reply *r, const char *key)
{
        if (r->error >= 0)
                r->error = r->ops->open_options(r, key);
}

void sg_reply_close_options(struct sg_reply *r)
{
        if (r->error >= 0)
                r->error = r->ops->close_options(r);
}
