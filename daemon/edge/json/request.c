/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/json/request.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *wanted(enum sg_value_type type)
{
        static const char *const words[] = {
                [SG_VALUE_TEXT] = "a string of characters that text may have",
                [SG_VALUE_U64] = "a whole number from 0 on, or null",
                [SG_VALUE_U32] = "a whole number from 0 to 4294967295",
                [SG_VALUE_I32] = "a whole number of 32 bits",
                [SG_VALUE_FLAG] = "a flag, true or false",
                [SG_VALUE_FILE] = "a descriptor, which JSON can't send",
                [SG_VALUE_BLOCK] = "a list of strings",
                [SG_VALUE_BYTES] = "a string",
                [SG_VALUE_WORDS] = "a list of such strings",
        };

        return words[type];
}

/* U+FDD0 to U+FDEF, and the last two of each plane: no characters, and D-Bus carries no text with
 * one. */
static bool is_noncharacter(const unsigned char *s, size_t size)
{
        if (size >= 3 && s[0] == 0xEF && s[1] == 0xB7)
                return s[2] >= 0x90 && s[2] <= 0xAF;
        if (size >= 3 && s[0] == 0xEF)
                return s[1] == 0xBF && s[2] >= 0xBE;
        return size >= 4 && s[0] >= 0xF0 && (s[1] & 0xF) == 0xF && s[2] == 0xBF && s[3] >= 0xBE;
}

/* What is answered with it, and what lists show of it, has to go over D-Bus, too. */
static bool is_text(const json_t *o)
{
        const unsigned char *s = (const unsigned char *)json_string_value(o);
        size_t size = json_string_length(o);

        for (size_t i = 0; i < size; i++)
                if (is_noncharacter(s + i, size - i))
                        return false;
        return json_is_string(o);
}

/* Each of these: 1, or 0 if the value is of another type; or -ENOMEM. */

static int read_unsigned(const json_t *o, json_int_t max, struct sg_value *ret)
{
        json_int_t v = json_integer_value(o);

        ret->number = (uint64_t)v;
        return json_is_integer(o) && v >= 0 && v <= max;
}

static int read_signed(const json_t *o, struct sg_value *ret)
{
        json_int_t v = json_integer_value(o);

        ret->integer = v;
        return json_is_integer(o) && v >= INT32_MIN && v <= INT32_MAX;
}

/* Numbers without limit are null. */
static int read_u64(const json_t *o, struct sg_value *ret)
{
        if (!json_is_null(o))
                return read_unsigned(o, INT64_MAX, ret);
        ret->number = SG_UNLIMITED;
        return 1;
}

static bool is_list_of_strings(const json_t *o, bool text)
{
        size_t i;
        json_t *item;

        if (!json_is_array(o))
                return false;
        json_array_foreach (o, i, item)
                if (!json_is_string(item) || (text && !is_text(item)))
                        return false;
        return true;
}

static int read_block(const json_t *o, struct sg_value *ret)
{
        size_t i, size = 0;
        json_t *item;
        char *block;

        if (!is_list_of_strings(o, false))
                return 0;
        json_array_foreach (o, i, item)
                size += json_string_length(item) + 1;
        block = malloc(size > 0 ? size : 1);
        if (!block)
                return -ENOMEM;
        ret->bytes = (struct sg_bytes){.data = block, .size = size, .owned = block};
        json_array_foreach (o, i, item)
                block = stpcpy(block, json_string_value(item)) + 1;
        return 1;
}

/* The strings are the document's, the list of them is the caller's to free. */
static int read_words(const json_t *o, struct sg_value *ret)
{
        size_t i;
        json_t *item;
        char **words;

        if (!is_list_of_strings(o, true))
                return 0;
        words = calloc(json_array_size(o) + 1, sizeof(*words));
        if (!words)
                return -ENOMEM;
        json_array_foreach (o, i, item)
                words[i] = (char *)json_string_value(item);
        ret->words = words;
        return 1;
}

static int read_value(const json_t *o, struct sg_value *ret)
{
        switch (ret->type) {
        case SG_VALUE_TEXT:
                ret->text = json_string_value(o);
                return is_text(o);
        case SG_VALUE_U64:
                return read_u64(o, ret);
        case SG_VALUE_U32:
                return read_unsigned(o, UINT32_MAX, ret);
        case SG_VALUE_I32:
                return read_signed(o, ret);
        case SG_VALUE_FLAG:
                ret->number = json_is_true(o);
                return json_is_boolean(o);
        case SG_VALUE_BYTES:
                ret->bytes = (struct sg_bytes){json_string_value(o), json_string_length(o), NULL};
                return json_is_string(o);
        case SG_VALUE_BLOCK:
                return read_block(o, ret);
        case SG_VALUE_WORDS:
                return read_words(o, ret);
        default:
                return 0;
        }
}

static const struct sg_param *find_param(enum sg_request_verb verb, const char *name)
{
        for (const struct sg_param *const *p = sg_request_verbs[verb].params; *p; p++)
                if (strcmp((*p)->name, name) == 0)
                        return *p;
        return NULL;
}

static int read_member(struct sg_request *q, const char *name, const json_t *o, struct sg_answer *a)
{
        const struct sg_param *p = find_param(q->verb, name);
        struct sg_value v = {.words = NULL};
        int r = p ? 0 : sg_request_find(q, name, &p, a);

        if (r < 0)
                return r;
        v.type = p->type;
        r = read_value(o, &v);
        if (r == 0)
                return sg_request_mistyped(p, wanted(p->type), a);
        if (r > 0)
                r = sg_request_put(q, p, &v, a);
        if (p->type == SG_VALUE_WORDS)
                free((void *)v.words);
        return r;
}

static int read_verb(struct sg_json_request *ret, struct sg_answer *a)
{
        const json_t *verb = json_object_get(ret->root, "verb");
        int r;

        if (!json_is_string(verb))
                return sg_refuse(a, SG_ANSWER_INVALID, "verb", "verb: wants a string");
        r = sg_request_verb_from_string(json_string_value(verb));
        if (r < 0)
                return sg_refuse(a, SG_ANSWER_INVALID, "verb", "there is no verb '%s'",
                                 json_string_value(verb));
        sg_request_init(&ret->request, (enum sg_request_verb)r);
        return 0;
}

/* Which live job it is about. */
static int read_job(struct sg_json_request *ret, const json_t *o, struct sg_answer *a)
{
        if (!json_is_string(o))
                return sg_refuse(a, SG_ANSWER_INVALID, "job", "job: wants a string");
        ret->job = strdup(json_string_value(o));
        return ret->job ? 0 : -ENOMEM;
}

static int read_members(struct sg_json_request *ret, struct sg_answer *a)
{
        const char *name;
        json_t *o;
        int r = 0;

        json_object_foreach (ret->root, name, o) {
                if (strcmp(name, "verb") == 0)
                        continue;
                r = sg_request_is_of_job(ret->request.verb) && strcmp(name, "job") == 0
                            ? read_job(ret, o, a)
                            : read_member(&ret->request, name, o, a);
                if (r < 0)
                        return r;
        }
        return 0;
}

int sg_json_read_request(struct sg_json_request *ret, const char *text, size_t size,
                         struct sg_answer *a)
{
        json_error_t error;
        int r;

        *ret = (struct sg_json_request){.root = NULL};
        sg_request_init(&ret->request, SG_REQUEST_DESCRIBE);
        ret->root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
        if (!ret->root)
                return json_error_code(&error) == json_error_out_of_memory
                               ? -ENOMEM
                               : sg_refuse(a, SG_ANSWER_INVALID, NULL, "no JSON: line %d: %s",
                                           error.line, error.text);
        if (!json_is_object(ret->root))
                return sg_refuse(a, SG_ANSWER_INVALID, NULL, "a request is a JSON object");
        r = read_verb(ret, a);
        return r < 0 ? r : read_members(ret, a);
}

void sg_json_request_deinit(struct sg_json_request *r)
{
        sg_request_deinit(&r->request);
        json_decref(r->root);
        free(r->job);
        *r = (struct sg_json_request){.root = NULL};
}
