/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See command.h. All follows from the table of options; those that it doesn't know are left out. */

#include "ctl/show/command.h"
#include "base/format.h"
#include "ctl/line/options.h"
#include <stdio.h>
#include <string.h>

struct text {
        char *buf;
        size_t size, used;
};

static void add(struct text *t, const char *s, size_t n)
{
        if (n >= t->size - t->used)
                n = t->size - t->used - 1;
        memcpy(t->buf + t->used, s, n);
        t->used += n;
        t->buf[t->used] = '\0';
}

static void add_name(struct text *t, const char *name)
{
        if (t->used > 0)
                add(t, " ", 1);
        add(t, "--", 2);
        add(t, name, strlen(name));
}

static bool is_plain(const char *s)
{
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "_./:=,%@+-";

        return *s && s[strspn(s, plain)] == '\0';
}

/* As a shell takes it for one word. */
static void add_word(struct text *t, const char *s)
{
        if (is_plain(s)) {
                add(t, s, strlen(s));
                return;
        }
        add(t, "'", 1);
        for (size_t n; *s; s += n) {
                n = strcspn(s, "'");
                add(t, s, n);
                if (s[n] == '\'') {
                        add(t, "'\\''", 4);
                        n++;
                }
        }
        add(t, "'", 1);
}

/* null is a number without limit */
static const char *number(char buf[SG_FORMAT_MAX], enum sg_option_type type, const json_t *v)
{
        uint64_t n = (uint64_t)json_integer_value(v);

        if (json_is_null(v))
                return "infinity";
        switch (type) {
        case SG_OPTION_BYTES:
                return sg_format_bytes(buf, n);
        case SG_OPTION_USEC:
                return sg_format_usec(buf, n);
        case SG_OPTION_PERCENT:
                return sg_format_percent(buf, n);
        default:
                (void)snprintf(buf, SG_FORMAT_MAX, "%lld", (long long)json_integer_value(v));
                return buf;
        }
}

/* "2", or "2-8": of two keys. */
static void add_range(struct text *t, const json_t *options, const char *low, const char *high)
{
        const json_t *from = json_object_get(options, low), *to = json_object_get(options, high);
        char buf[64];

        if (json_is_integer(to) && json_integer_value(to) != json_integer_value(from))
                (void)snprintf(buf, sizeof(buf), "%lld-%lld", (long long)json_integer_value(from),
                               (long long)json_integer_value(to));
        else
                (void)snprintf(buf, sizeof(buf), "%lld", (long long)json_integer_value(from));
        add(t, " ", 1);
        add_word(t, buf);
}

static const char *key_of(const struct sg_option *o)
{
        if (o->type == SG_OPTION_ARRAY)
                return "array_first";
        return o->key ?: o->name;
}

static void add_option(struct text *t, const struct sg_option *o, const json_t *options)
{
        const json_t *v = json_object_get(options, key_of(o));
        char buf[SG_FORMAT_MAX];

        if (!v || json_is_false(v))
                return;
        add_name(t, o->name);
        if (o->type == SG_OPTION_CPUS) {
                add_range(t, options, "cpus", "cpus_max");
        } else if (o->type == SG_OPTION_ARRAY) {
                add_range(t, options, "array_first", "array_last");
        } else if (o->type != SG_OPTION_FLAG) {
                add(t, " ", 1);
                add_word(t, json_is_string(v) ? json_string_value(v) : number(buf, o->type, v));
        }
}

const char *sg_options_text(const json_t *options, char *buf, size_t size)
{
        struct text t = {.buf = buf, .size = size};

        *buf = '\0';
        for (size_t i = 0; i < sg_n_options; i++)
                if (sg_option_applies(&sg_options[i], SG_VERB_SUBMIT) &&
                    strcmp(sg_options[i].name, "workdir") != 0)
                        add_option(&t, &sg_options[i], options);
        return buf;
}
