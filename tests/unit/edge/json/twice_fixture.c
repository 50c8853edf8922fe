/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See twice_fixture.h. */
#include "tests/unit/edge/json/twice_fixture.h"

#include "base/cleanup.h"
#include "edge/bus/request.h"
#include "edge/json/request.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* What came of a request */

static void write_bytes(FILE *f, const char *data, size_t size)
{
        for (size_t i = 0; i < size; i++)
                (void)fprintf(f, "%02x", (unsigned char)data[i]);
}

static void write_value(FILE *f, const struct sg_request *q, const struct sg_param *p)
{
        const void *place = (const char *)q + p->offset;
        const struct sg_bytes *bytes = place;
        const char *text = p->size > 0 ? place : *(char *const *)place;

        (void)fprintf(f, "%s ", p->name);
        switch (p->type) {
        case SG_VALUE_TEXT:
                (void)fprintf(f, "'%s'", text ? text : "");
                break;
        case SG_VALUE_BLOCK:
        case SG_VALUE_BYTES:
                write_bytes(f, bytes->data, bytes->size);
                break;
        case SG_VALUE_WORDS:
                for (char *const *w = *(char *const *const *)place; w && *w; w++)
                        (void)fprintf(f, "'%s',", *w);
                break;
        case SG_VALUE_I32:
                (void)fprintf(f, "%" PRIi64, *(const int64_t *)place);
                break;
        case SG_VALUE_FILE: /* only D-Bus has them */
                break;
        default:
                (void)fprintf(f, "%" PRIu64, *(const uint64_t *)place);
        }
        (void)fputc('\n', f);
}

static void write_request(FILE *f, const struct sg_request *q)
{
        (void)fprintf(f, "%s asked %" PRIx64 " count %" PRIu64 " threads %" PRIu64 "\n",
                      sg_request_verbs[q->verb].name, q->asked, q->count, q->job.limits.threads);
        for (size_t i = 0; i < sg_n_request_options; i++)
                if (q->given[i])
                        write_value(f, q, &sg_request_options[i]);
        for (const struct sg_param *const *p = sg_request_verbs[q->verb].params; *p; p++)
                write_value(f, q, *p);
}

/* Of a type that a protocol has by another name, that name is left out. */
static void write_refusal(FILE *f, const struct sg_answer *a)
{
        char mistyped[256];

        (void)snprintf(mistyped, sizeof(mistyped), "%s: wants a", a->object ? a->object : "");
        if (strncmp(a->line, mistyped, strlen(mistyped)) == 0 && !strchr(a->line, '\''))
                (void)fprintf(f, "%s %s\n", sg_answer_kind_to_string(a->kind), mistyped);
        else
                (void)fprintf(f, "%s (%s) %s\n%s\n", sg_answer_kind_to_string(a->kind),
                              a->object ? a->object : "", a->line, a->hint ? a->hint : "");
}

/* What every verb that takes these does with them next. */
static int check(struct sg_request *q, struct sg_answer *a)
{
        int r;

        switch (q->verb) {
        case SG_REQUEST_SUBMIT:
        case SG_REQUEST_DRY_RUN:
        case SG_REQUEST_RUN:
                r = sg_request_check_options(q, a);
                return r < 0 ? r : sg_request_check_command(q, a);
        case SG_REQUEST_SET:
                r = sg_request_check_cpus(&q->job.limits, a);
                return r < 0 ? r : sg_request_take_threads(q, a);
        default:
                return sg_request_check_filter(q, a);
        }
}

/* "" is a lack of memory, or a message that can't be read. */
static char *tell(struct sg_request *q, struct sg_answer *a, int r)
{
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return NULL;
        if (r >= 0)
                r = check(q, a);
        if (r >= 0)
                write_request(f, q);
        else if (a->kind != SG_ANSWER_NONE)
                write_refusal(f, a);
        (void)fclose(f);
        return text;
}

/* As JSON */

char *twice_by_json(const char *text, size_t size, bool *ret_refused)
{
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};
        _cleanup_(sg_json_request_deinit) struct sg_json_request q;
        int r = sg_json_read_request(&q, text, size, &a);
        char *told = tell(&q.request, &a, r);

        *ret_refused = a.kind != SG_ANSWER_NONE;
        return told;
}

/* As D-Bus. What can't be said there: -EOPNOTSUPP. */

static const struct sg_param *option(enum sg_request_verb verb, const char *name)
{
        for (size_t i = 0; i < sg_n_request_options; i++)
                if (sg_request_options[i].verbs & (1ULL << verb) &&
                    strcmp(sg_request_options[i].name, name) == 0)
                        return &sg_request_options[i];
        return NULL;
}

/* With the type that the option has, if that is one for it; else with another. */
static int append_variant(sd_bus_message *m, const struct sg_param *p, const json_t *o)
{
        enum sg_value_type type = p ? p->type : SG_VALUE_WORDS;
        json_int_t v = json_integer_value(o);

        if (json_is_string(o))
                return sd_bus_message_append(m, "v", "s", json_string_value(o));
        if (json_is_boolean(o))
                return sd_bus_message_append(m, "v", "b", (int)json_is_true(o));
        if (json_is_null(o) && type == SG_VALUE_U64)
                return sd_bus_message_append(m, "v", "t", UINT64_MAX);
        if (!json_is_integer(o))
                return sd_bus_message_append(m, "v", "d", 0.5);
        if (type == SG_VALUE_U64 && v >= 0)
                return sd_bus_message_append(m, "v", "t", (uint64_t)v);
        if (type == SG_VALUE_U32 && v >= 0 && v <= UINT32_MAX)
                return sd_bus_message_append(m, "v", "u", (uint32_t)v);
        if (type == SG_VALUE_I32 && v >= INT32_MIN && v <= INT32_MAX)
                return sd_bus_message_append(m, "v", "i", (int32_t)v);
        return sd_bus_message_append(m, "v", "x", (int64_t)v);
}

static bool is_param(enum sg_request_verb verb, const char *name)
{
        for (const struct sg_param *const *p = sg_request_verbs[verb].params; *p; p++)
                if (strcmp((*p)->name, name) == 0)
                        return true;
        return strcmp(name, "verb") == 0 ||
               (sg_request_is_of_job(verb) && strcmp(name, "job") == 0);
}

static int append_options(sd_bus_message *m, enum sg_request_verb verb, json_t *root)
{
        bool takes = sg_request_verbs[verb].options;
        const char *name;
        json_t *o;
        int r = takes ? sd_bus_message_open_container(m, 'a', "{sv}") : 0;

        json_object_foreach (root, name, o) {
                if (is_param(verb, name))
                        continue;
                if (!takes)
                        return -EOPNOTSUPP;
                if (r >= 0)
                        r = sd_bus_message_open_container(m, 'e', "sv");
                if (r >= 0)
                        r = sd_bus_message_append(m, "s", name);
                if (r >= 0)
                        r = append_variant(m, option(verb, name), o);
                if (r >= 0)
                        r = sd_bus_message_close_container(m);
        }
        return r >= 0 && takes ? sd_bus_message_close_container(m) : r;
}

/* A list of strings: as one, or each with its NUL behind the other. */
static int append_list(sd_bus_message *m, bool block, const json_t *o)
{
        _cleanup_free_ char *text = NULL;
        _cleanup_fclose_ FILE *f = NULL; /* which is closed first: it may move the text */
        size_t i, size = 0;
        json_t *item;
        int r;

        if (o && !json_is_array(o))
                return -EOPNOTSUPP;
        f = open_memstream(&text, &size);
        r = !f ? -ENOMEM : block ? 0 : sd_bus_message_open_container(m, 'a', "s");
        json_array_foreach (o, i, item) {
                if (!json_is_string(item))
                        return -EOPNOTSUPP;
                if (r >= 0 && block)
                        (void)fwrite(json_string_value(item), 1, json_string_length(item) + 1, f);
                else if (r >= 0)
                        r = sd_bus_message_append(m, "s", json_string_value(item));
        }
        if (r < 0 || !block)
                return r < 0 ? r : sd_bus_message_close_container(m);
        (void)fflush(f);
        return sd_bus_message_append_array(m, 'y', text, size);
}

static int append_number(sd_bus_message *m, const struct sg_param *p, const json_t *o)
{
        json_int_t v = json_integer_value(o);

        if (p->type == SG_VALUE_U64 && json_is_null(o))
                return sd_bus_message_append(m, "t", UINT64_MAX);
        if (o && !json_is_integer(o))
                return -EOPNOTSUPP;
        if (p->type == SG_VALUE_U64 && v >= 0)
                return sd_bus_message_append(m, "t", (uint64_t)v);
        if (p->type == SG_VALUE_I32 && v >= INT32_MIN && v <= INT32_MAX)
                return sd_bus_message_append(m, "i", (int32_t)v);
        return -EOPNOTSUPP;
}

static int append_param(sd_bus_message *m, const struct sg_param *p, const json_t *o)
{
        switch (p->type) {
        case SG_VALUE_TEXT:
                return o && !json_is_string(o)
                               ? -EOPNOTSUPP
                               : sd_bus_message_append(m, "s", o ? json_string_value(o) : "");
        case SG_VALUE_FLAG:
                return o && !json_is_boolean(o) ? -EOPNOTSUPP
                                                : sd_bus_message_append(m, "b", json_is_true(o));
        case SG_VALUE_BYTES:
                return o && !json_is_string(o)
                               ? -EOPNOTSUPP
                               : sd_bus_message_append_array(m, 'y', json_string_value(o),
                                                             json_string_length(o));
        case SG_VALUE_BLOCK:
        case SG_VALUE_WORDS:
                return append_list(m, p->type == SG_VALUE_BLOCK, o);
        case SG_VALUE_FILE:
                return o ? -EOPNOTSUPP : sd_bus_message_append(m, "h", STDERR_FILENO);
        default:
                return append_number(m, p, o);
        }
}

static int write_message(sd_bus *bus, enum sg_request_verb verb, json_t *root, sd_bus_message **ret)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        int r = sd_bus_message_new_method_call(bus, &m, NULL, "/x", "x.y",
                                               sg_request_verbs[verb].name);

        if (r >= 0)
                r = append_options(m, verb, root);
        for (const struct sg_param *const *p = sg_request_verbs[verb].params; r >= 0 && *p; p++)
                r = append_param(m, *p, json_object_get(root, (*p)->name));
        if (r >= 0)
                r = sd_bus_message_seal(m, 1, 0);
        if (r >= 0)
                r = sd_bus_message_rewind(m, true);
        if (r >= 0)
                *ret = TAKE_PTR(m);
        return r;
}

/* A bus that nobody is at the other end of, to make messages with. */
sd_bus *twice_bus(void)
{
        sd_bus *bus = NULL;
        int fds[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
                return NULL;
        if (sd_bus_new(&bus) >= 0 && sd_bus_set_fd(bus, fds[0], fds[0]) >= 0 &&
            sd_bus_start(bus) >= 0)
                return bus; /* the other end stays open, as long as this lives */
        sd_bus_unref(bus);
        return NULL;
}

int twice_by_bus(sd_bus *bus, const char *text, size_t size, char **ret)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};
        _cleanup_(sg_request_deinit) struct sg_request q;
        json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
        const char *name = json_string_value(json_object_get(root, "verb"));
        const json_t *job = json_object_get(root, "job");
        int r, verb = name ? sg_request_verb_from_string(name) : -EOPNOTSUPP;

        sg_request_init(&q, SG_REQUEST_DESCRIBE);
        if (verb < 0 ||
            (sg_request_is_of_job((enum sg_request_verb)verb) && job && !json_is_string(job))) {
                json_decref(root);
                return -EOPNOTSUPP;
        }
        q.verb = (enum sg_request_verb)verb;
        r = write_message(bus, q.verb, root, &m);
        json_decref(root);
        if (r < 0)
                return r;
        r = sg_bus_read_request(m, &q, &a);
        *ret = tell(&q, &a, r);
        return *ret ? 0 : -ENOMEM;
}
