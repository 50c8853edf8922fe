/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/ask/kept.h"
#include "proto/spec.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of the moment when the job was submitted, or of whoever did it; and what the spec has anyway. */
static const char *const not_kept[] = {"after", "begin", "deadline", "hold",  "no_wait",
                                       "token", "umask", "workdir",  "on_end"};

static bool is_kept(const char *name)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(not_kept); i++)
                if (strcmp(name, not_kept[i]) == 0)
                        return false;
        return true;
}

static void put_option(const struct sg_request *q, const struct sg_param *p, struct sg_record *spec)
{
        const void *place = (const char *)q + p->offset;
        size_t mark = sg_record_open(spec, SG_SPEC_OPTION);

        sg_record_put_str(spec, SG_SPEC_OPTION_NAME, p->name);
        if (p->type == SG_VALUE_TEXT)
                sg_record_put_str(spec, SG_SPEC_OPTION_TEXT,
                                  p->size > 0 ? place : *(const char *const *)place);
        else
                sg_record_put_u64(spec, SG_SPEC_OPTION_NUMBER, *(const uint64_t *)place);
        sg_record_close(spec, mark);
}

void sg_kept_put(const struct sg_request *q, struct sg_record *spec)
{
        for (size_t i = 0; i < sg_n_request_options; i++)
                if (q->given[i] && is_kept(sg_request_options[i].name))
                        put_option(q, &sg_request_options[i], spec);
}

/* --- the reply */

struct option {
        char name[32], *text;
        uint64_t number;
};

static void option_deinit(struct option *o)
{
        free(o->text);
}

static int read_option(const struct sg_field *field, struct option *ret)
{
        struct sg_reader reader = sg_reader_init(field->data, field->size);
        struct sg_field f;
        int r;

        while ((r = sg_reader_next(&reader, &f)) > 0) {
                if (f.tag == SG_SPEC_OPTION_NAME)
                        r = sg_field_strcpy(&f, ret->name, sizeof(ret->name));
                else if (f.tag == SG_SPEC_OPTION_TEXT)
                        r = sg_field_strdup(&f, &ret->text);
                else if (f.tag == SG_SPEC_OPTION_NUMBER)
                        r = sg_field_u64(&f, &ret->number);
                if (r < 0)
                        return r;
        }
        return r;
}

static void reply_value(struct sg_reply *r, const struct sg_param *p, const struct option *o)
{
        struct sg_value v = {.type = p->type};

        if (p->type == SG_VALUE_TEXT)
                v.text = o->text ?: "";
        else if (p->type == SG_VALUE_I32)
                v.integer = (int64_t)o->number;
        else
                v.number = o->number;
        sg_reply_value(r, p->name, &v);
}

static bool is_of_array(const char *name)
{
        return strncmp(name, "array", strlen("array")) == 0;
}

/* One that Submit doesn't take any more is left out. */
static int reply_option(struct sg_reply *r, const struct sg_field *f)
{
        _cleanup_(option_deinit) struct option o = {.text = NULL};
        int e = read_option(f, &o);

        if (e < 0 || is_of_array(o.name))
                return e;
        for (size_t i = 0; i < sg_n_request_options; i++) {
                const struct sg_param *p = &sg_request_options[i];

                if (strcmp(p->name, o.name) == 0 && p->verbs & (1ULL << SG_REQUEST_SUBMIT))
                        reply_value(r, p, &o);
        }
        return 0;
}

static int reply_string(struct sg_reply *r, const char *name, const struct sg_field *f)
{
        _cleanup_free_ char *text = NULL;
        int e = sg_field_strdup(f, &text);

        if (e >= 0)
                sg_reply_text(r, name, text);
        return e;
}

static void reply_task(struct sg_reply *r, const struct sg_job *job)
{
        const struct sg_value index = {.type = SG_VALUE_U32, .number = (uint64_t)job->array_index};

        if (job->array_first == 0)
                return;
        sg_reply_value(r, "array_first", &index);
        sg_reply_value(r, "array_last", &index);
}

static int reply_options(const struct sg_job *job, struct sg_reader reader, struct sg_reply *r)
{
        struct sg_field f;
        int e;

        sg_reply_open_options(r, "options");
        while ((e = sg_reader_next(&reader, &f)) > 0) {
                if (f.tag == SG_SPEC_OPTION)
                        e = reply_option(r, &f);
                else if (f.tag == SG_SPEC_WORKDIR)
                        e = reply_string(r, "workdir", &f);
                else if (f.tag == SG_SPEC_ON_END)
                        e = reply_string(r, "on_end", &f);
                if (e < 0)
                        return e;
        }
        reply_task(r, job);
        sg_reply_close_options(r);
        return e;
}

/* The words, each with its NUL, and the script. */
static int take_command(struct sg_reader reader, char *argv, size_t *ret_size,
                        struct sg_bytes *ret_script)
{
        size_t size = 0;
        struct sg_field f;
        int e;

        while ((e = sg_reader_next(&reader, &f)) > 0) {
                if (f.tag == SG_SPEC_SCRIPT)
                        *ret_script = (struct sg_bytes){(const char *)f.data, f.size, NULL};
                if (f.tag != SG_SPEC_ARG)
                        continue;
                memcpy(argv + size, f.data, f.size);
                size += f.size;
                argv[size++] = 0;
        }
        *ret_size = size;
        return e;
}

int sg_kept_reply(const struct sg_job *job, const void *spec, size_t size, struct sg_reply *r)
{
        _cleanup_free_ char *argv = malloc(size + 1); /* a field's head is longer than a NUL */
        struct sg_reader reader = sg_reader_init(spec, size);
        struct sg_bytes script = {0};
        size_t argv_size;
        int e;

        if (!argv)
                return -ENOMEM;
        e = reply_options(job, reader, r);
        if (e >= 0)
                e = take_command(reader, argv, &argv_size, &script);
        if (e < 0)
                return e;
        sg_reply_value(
                r, "argv",
                &(struct sg_value){.type = SG_VALUE_BLOCK, .bytes = {argv, argv_size, NULL}});
        sg_reply_value(r, "script", &(struct sg_value){.type = SG_VALUE_BYTES, .bytes = script});
        return r->error;
}
