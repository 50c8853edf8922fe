/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/bus/reply.h"
#include "edge/bus/request.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct sg_bus_reply *of(struct sg_reply *r)
{
        return (struct sg_bus_reply *)r;
}

static int put_value(sd_bus_message *m, const struct sg_value *v)
{
        const int flag = v->type == SG_VALUE_FLAG && v->number != 0;
        const uint32_t u32 = (uint32_t)v->number;
        const int32_t i32 = (int32_t)v->integer;

        switch (v->type) {
        case SG_VALUE_TEXT:
                return sd_bus_message_append_basic(m, 's', v->text);
        case SG_VALUE_U64:
                return sd_bus_message_append_basic(m, 't', &v->number);
        case SG_VALUE_U32:
                return sd_bus_message_append_basic(m, 'u', &u32);
        case SG_VALUE_FLAG:
                return sd_bus_message_append_basic(m, 'b', &flag);
        case SG_VALUE_I32:
                return sd_bus_message_append_basic(m, 'i', &i32);
        case SG_VALUE_FILE:
                return sd_bus_message_append_basic(m, 'h', &i32);
        case SG_VALUE_BLOCK:
        case SG_VALUE_BYTES:
                return sd_bus_message_append_array(m, 'y', v->bytes.data, v->bytes.size);
        default: /* nothing is answered with words */
                return -EOPNOTSUPP;
        }
}

static int put_option(sd_bus_message *m, const char *key, const struct sg_value *v)
{
        int r = sd_bus_message_open_container(m, 'e', "sv");

        if (r >= 0)
                r = sd_bus_message_append_basic(m, 's', key);
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'v', sg_bus_type(v->type));
        if (r >= 0)
                r = put_value(m, v);
        if (r >= 0)
                r = sd_bus_message_close_container(m);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static int put(struct sg_reply *r, const char *key, const struct sg_value *v)
{
        return of(r)->options ? put_option(of(r)->message, key, v) : put_value(of(r)->message, v);
}

static int open_options(struct sg_reply *r, const char *key)
{
        (void)key;
        of(r)->options = true;
        return sd_bus_message_open_container(of(r)->message, 'a', "{sv}");
}

static int close_options(struct sg_reply *r)
{
        of(r)->options = false;
        return sd_bus_message_close_container(of(r)->message);
}

static int open_list(struct sg_reply *r, const char *key, const enum sg_value_type *types, size_t n)
{
        char list[SG_BUS_ROW_MAX + 2], *row = of(r)->row;

        (void)key;
        if (n >= SG_BUS_ROW_MAX)
                return -E2BIG;
        for (size_t i = 0; i < n; i++)
                row[i] = *sg_bus_type(types[i]);
        row[n] = '\0';
        (void)snprintf(list, sizeof(list), n > 1 ? "(%s)" : "%s", row);
        return sd_bus_message_open_container(of(r)->message, 'a', list);
}

static int open_row(struct sg_reply *r)
{
        return sd_bus_message_open_container(of(r)->message, 'r', of(r)->row);
}

static int close_container(struct sg_reply *r)
{
        return sd_bus_message_close_container(of(r)->message);
}

int sg_bus_reply_init(struct sg_bus_reply *r, sd_bus_message *call)
{
        static const struct sg_reply_ops ops = {
                .put = put,
                .open_list = open_list,
                .open_row = open_row,
                .close_row = close_container,
                .close_list = close_container,
                .open_options = open_options,
                .close_options = close_options,
        };

        *r = (struct sg_bus_reply){.reply.ops = &ops};
        return sd_bus_message_new_method_return(call, &r->message);
}

void sg_bus_reply_deinit(struct sg_bus_reply *r)
{
        r->message = sd_bus_message_unref(r->message);
}
