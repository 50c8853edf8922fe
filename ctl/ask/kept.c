/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/ask/kept.h"
#include "ctl/show/document.h"
#include <errno.h>
#include <string.h>

/* A block of strings, each with its NUL. */
static int split(struct sg_kept *k, const char *block, size_t size)
{
        size_t n = 0;

        if (size > 0 && block[size - 1] != '\0')
                return -EBADMSG;
        for (size_t i = 0; i < size; i++)
                n += block[i] == '\0';
        k->argv = calloc(n + 1, sizeof(*k->argv));
        if (!k->argv)
                return -ENOMEM;
        n = 0;
        for (const char *p = block; p < block + size; p += strlen(p) + 1)
                k->argv[n++] = (char *)p;
        return 0;
}

int sg_kept_enter_options(const struct sg_kept *k)
{
        int r = sd_bus_message_rewind(k->reply, true);

        return r < 0 ? r : sd_bus_message_enter_container(k->reply, 'a', "{sv}");
}

static int find_workdir(struct sg_kept *k)
{
        const char *key;
        int r = sg_kept_enter_options(k);

        while (r >= 0 && (r = sd_bus_message_enter_container(k->reply, 'e', "sv")) > 0) {
                r = sd_bus_message_read_basic(k->reply, 's', &key);
                if (r < 0)
                        return r;
                r = strcmp(key, "workdir") == 0
                            ? sd_bus_message_read(k->reply, "v", "s", &k->workdir)
                            : sd_bus_message_skip(k->reply, "v");
                if (r >= 0)
                        r = sd_bus_message_exit_container(k->reply);
        }
        return r < 0 ? r : sd_bus_message_exit_container(k->reply);
}

static int read_reply(struct sg_kept *k)
{
        const void *argv, *script;
        size_t size;
        int r;

        r = find_workdir(k);
        if (r >= 0)
                r = sd_bus_message_read_array(k->reply, 'y', &argv, &size);
        if (r >= 0)
                r = split(k, argv, size);
        if (r >= 0)
                r = sd_bus_message_read_array(k->reply, 'y', &script, &k->script_size);
        if (r >= 0)
                k->script = script;
        return r;
}

int sg_kept_get(struct sg_kept *ret, struct sg_client *c, const char *id, struct sg_error *e)
{
        _cleanup_(sg_kept_deinit) struct sg_kept k = {0};
        _cleanup_message_ sd_bus_message *m = NULL;
        int r;

        r = sg_client_manager(c, "DescribeCommand", &m, e);
        if (r < 0)
                return r;
        r = sd_bus_message_append(m, "s", id);
        if (r < 0)
                return sg_error_errno(e, r, "cannot make the request");
        r = sg_client_call(c, m, id, &k.reply, e);
        if (r < 0)
                return r;
        r = read_reply(&k);
        if (r < 0)
                return sg_error_garbled(e, r);
        *ret = k;
        k = (struct sg_kept){0};
        return 0;
}

void sg_kept_deinit(struct sg_kept *k)
{
        free(k->argv);
        sd_bus_message_unref(k->reply);
        *k = (struct sg_kept){0};
}

/* --- as a document */

static json_t *read_value(sd_bus_message *m)
{
        const char *type;
        union {
                const char *s;
                uint64_t t;
                uint32_t u;
                int32_t i;
                int b;
        } v = {0};

        if (sd_bus_message_peek_type(m, NULL, &type) < 0 || strlen(type) != 1 ||
            sd_bus_message_read(m, "v", type, &v) < 0)
                return NULL;
        switch (*type) {
        case 's':
                return json_string(v.s);
        case 't':
                return v.t == UINT64_MAX ? json_null() : json_integer((json_int_t)v.t);
        case 'u':
                return json_integer(v.u);
        case 'i':
                return json_integer(v.i);
        default:
                return json_boolean(v.b);
        }
}

static json_t *options_document(const struct sg_kept *k)
{
        json_t *options = json_object();
        const char *key;
        int r = sg_kept_enter_options(k);

        while (r >= 0 && (r = sd_bus_message_enter_container(k->reply, 'e', "sv")) > 0) {
                r = sd_bus_message_read_basic(k->reply, 's', &key);
                if (r >= 0 && json_object_set_new(options, key, read_value(k->reply)) < 0)
                        r = -EBADMSG;
                if (r >= 0)
                        r = sd_bus_message_exit_container(k->reply);
        }
        return options;
}

static json_t *argv_document(const struct sg_kept *k)
{
        json_t *argv = json_array();

        for (char **word = k->argv; *word; word++)
                (void)json_array_append_new(argv, sg_document_text(*word));
        return argv;
}

json_t *sg_kept_document(const struct sg_kept *k, const char *id)
{
        json_t *script = k->script_size > 0 ? json_stringn(k->script, k->script_size) : NULL;

        return json_pack("{s:s,s:s,s:o,s:o,s:o}", "schema", "schedgov.command/1", "job", id, "argv",
                         argv_document(k), "script", script ?: json_null(), "options",
                         options_document(k));
}
