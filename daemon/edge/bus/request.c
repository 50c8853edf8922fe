/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/bus/request.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *sg_bus_type(enum sg_value_type type)
{
        static const char *const types[] = {
                [SG_VALUE_TEXT] = "s",   [SG_VALUE_U64] = "t",    [SG_VALUE_U32] = "u",
                [SG_VALUE_I32] = "i",    [SG_VALUE_FLAG] = "b",   [SG_VALUE_FILE] = "h",
                [SG_VALUE_BLOCK] = "ay", [SG_VALUE_BYTES] = "ay", [SG_VALUE_WORDS] = "as",
        };

        return types[type];
}

const char *sg_bus_signature(enum sg_request_verb verb, char buf[SG_BUS_SIGNATURE_MAX])
{
        const struct sg_request_verb_info *info = &sg_request_verbs[verb];
        int n = snprintf(buf, SG_BUS_SIGNATURE_MAX, "%s", info->options ? "a{sv}" : "");

        for (const struct sg_param *const *p = info->params; *p; p++)
                n += snprintf(buf + n, SG_BUS_SIGNATURE_MAX - (size_t)n, "%s",
                              sg_bus_type((*p)->type));
        return buf;
}

/* One value, which is basic; in a variant or not. */
static int read_basic(sd_bus_message *m, bool variant, struct sg_value *ret)
{
        union {
                const char *s;
                uint64_t t;
                uint32_t u;
                int32_t i;
                int b;
        } v = {0};
        const char *type = sg_bus_type(ret->type);
        int r = variant ? sd_bus_message_read(m, "v", type, &v)
                        : sd_bus_message_read_basic(m, *type, &v);

        if (r < 0)
                return r;
        switch (*type) {
        case 's':
                ret->text = v.s;
                return 0;
        case 't':
                ret->number = v.t;
                return 0;
        case 'u':
                ret->number = v.u;
                return 0;
        case 'b':
                ret->number = v.b != 0;
                return 0;
        default:
                ret->integer = v.i;
                return 0;
        }
}

/* Options */

static int read_option(sd_bus_message *m, struct sg_request *q, struct sg_answer *a)
{
        const struct sg_param *p;
        struct sg_value v;
        const char *name;
        char wanted[64];
        int r;

        r = sd_bus_message_read(m, "s", &name);
        if (r >= 0)
                r = sg_request_find(q, name, &p, a);
        if (r < 0)
                return r;
        v.type = p->type;
        if (read_basic(m, true, &v) < 0) {
                (void)snprintf(wanted, sizeof(wanted), "a value of D-Bus type %s",
                               sg_bus_type(p->type));
                return sg_request_mistyped(p, wanted, a);
        }
        return sg_request_put(q, p, &v, a);
}

static int read_options(sd_bus_message *m, struct sg_request *q, struct sg_answer *a)
{
        int r = sd_bus_message_enter_container(m, 'a', "{sv}");

        if (r < 0)
                return r;
        while ((r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
                r = read_option(m, q, a);
                if (r >= 0)
                        r = sd_bus_message_exit_container(m);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* What has its place */

static int read_param(sd_bus_message *m, const struct sg_param *p, struct sg_request *q,
                      struct sg_answer *a)
{
        struct sg_value v = {.type = p->type};
        _cleanup_strv_ char **words = NULL;
        int r;

        switch (p->type) {
        case SG_VALUE_BLOCK:
        case SG_VALUE_BYTES:
                v.bytes.owned = NULL;
                r = sd_bus_message_read_array(m, 'y', (const void **)&v.bytes.data, &v.bytes.size);
                break;
        case SG_VALUE_WORDS:
                r = sd_bus_message_read_strv(m, &words);
                v.words = words;
                break;
        default:
                r = read_basic(m, false, &v);
        }
        return r < 0 ? r : sg_request_put(q, p, &v, a);
}

int sg_bus_read_request(sd_bus_message *call, struct sg_request *q, struct sg_answer *a)
{
        const struct sg_request_verb_info *info = &sg_request_verbs[q->verb];
        int r = info->options ? read_options(call, q, a) : 0;

        for (const struct sg_param *const *p = info->params; r >= 0 && *p; p++)
                r = read_param(call, *p, q, a);
        return r < 0 ? r : 0;
}
