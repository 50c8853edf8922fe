/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/json/reply.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct sg_json_reply *of(struct sg_reply *r)
{
        return (struct sg_json_reply *)r;
}

/* What isn't UTF-8 has no JSON: null. */
static json_t *bytes(const char *data, size_t size)
{
        return json_stringn(data ?: "", size) ?: json_null();
}

static json_t *block(const struct sg_bytes *b)
{
        json_t *list = json_array();

        for (const char *p = b->data; list && p < b->data + b->size; p += strlen(p) + 1)
                (void)json_array_append_new(list, bytes(p, strlen(p)));
        return list;
}

static json_t *value(const struct sg_value *v)
{
        switch (v->type) {
        case SG_VALUE_TEXT:
                return json_string(v->text);
        case SG_VALUE_U64:
        case SG_VALUE_U32:
                return v->number == SG_UNLIMITED ? json_null()
                                                 : json_integer((json_int_t)v->number);
        case SG_VALUE_I32:
                return json_integer((json_int_t)v->integer);
        case SG_VALUE_FLAG:
                return json_boolean(v->number != 0);
        case SG_VALUE_BLOCK:
                return block(&v->bytes);
        case SG_VALUE_BYTES:
                return bytes(v->bytes.data, v->bytes.size);
        default: /* a descriptor can't be sent; nothing is answered with words */
                return json_null();
        }
}

/* Where the next value goes; frees it if it can't. */
static int add(struct sg_json_reply *r, const char *key, json_t *o)
{
        int failed;

        if (r->row)
                failed = json_object_set_new(r->row, key, o);
        else if (r->list)
                failed = json_array_append_new(r->list, o);
        else
                failed = json_object_set_new(r->root, key, o);
        return failed ? -ENOMEM : 0;
}

static int put(struct sg_reply *r, const char *key, const struct sg_value *v)
{
        return add(of(r), key, value(v));
}

static int open_list(struct sg_reply *r, const char *key, const enum sg_value_type *types, size_t n)
{
        json_t *list = json_array();
        int error;

        (void)types;
        (void)n;
        error = add(of(r), key, list);
        if (error < 0)
                return error;
        of(r)->list = list;
        return 0;
}

static int close_list(struct sg_reply *r)
{
        of(r)->list = NULL;
        return 0;
}

static int open_row(struct sg_reply *r)
{
        json_t *row = json_object();
        int error = add(of(r), NULL, row);

        if (error < 0)
                return error;
        of(r)->row = row;
        return 0;
}

static int close_row(struct sg_reply *r)
{
        of(r)->row = NULL;
        return 0;
}

/* As a row that is in no list. */
static int open_options(struct sg_reply *r, const char *key)
{
        json_t *options = json_object();
        int error = add(of(r), key, options);

        if (error < 0)
                return error;
        of(r)->row = options;
        return 0;
}

int sg_json_reply_init(struct sg_json_reply *r)
{
        static const struct sg_reply_ops ops = {
                .put = put,
                .open_list = open_list,
                .open_row = open_row,
                .close_row = close_row,
                .close_list = close_list,
                .open_options = open_options,
                .close_options = close_row,
        };

        *r = (struct sg_json_reply){.reply.ops = &ops, .root = json_object()};
        return r->root ? 0 : -ENOMEM;
}

void sg_json_reply_deinit(struct sg_json_reply *r)
{
        json_decref(r->root);
        *r = (struct sg_json_reply){.root = NULL};
}

static int dump(const json_t *o, char **ret)
{
        char *text = json_dumps(o, JSON_COMPACT);

        if (!text)
                return -ENOMEM;
        *ret = text;
        return 0;
}

int sg_json_reply_dump(const struct sg_json_reply *r, char **ret)
{
        return r->reply.error < 0 ? r->reply.error : dump(r->root, ret);
}

static int add_text(json_t *o, const char *key, const char *text)
{
        return json_object_set_new(o, key, text ? json_string(text) : json_null()) ? -ENOMEM : 0;
}

int sg_json_refusal(const struct sg_answer *a, int error, char **ret)
{
        const char *kind = sg_answer_kind_to_string(a->kind);
        json_t *o = json_object();
        int r = o ? 0 : -ENOMEM;

        if (r >= 0)
                r = add_text(o, "error", kind ?: "Failed");
        if (r >= 0)
                r = add_text(o, "object", a->object);
        if (r >= 0)
                r = add_text(o, "line", kind ? a->line : strerror(-error));
        if (r >= 0)
                r = add_text(o, "hint", a->hint);
        if (r >= 0)
                r = dump(o, ret);
        json_decref(o);
        return r;
}
