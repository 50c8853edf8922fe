/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was asked for, into a spec and out of it again, as a reply. */
#include "tests/unit/test.h"

#include "core/ask/kept.h"
#include "proto/spec.h"
#include <stdarg.h>
#include <stdio.h>

/* A writer that puts all into one line. */
struct line {
        struct sg_reply reply;
        char text[1024];
};

static int add(struct sg_reply *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int add(struct sg_reply *r, const char *format, ...)
{
        struct line *l = (struct line *)r;
        size_t n = strlen(l->text);
        va_list ap;

        va_start(ap, format);
        (void)vsnprintf(l->text + n, sizeof(l->text) - n, format, ap);
        va_end(ap);
        return 0;
}

static int put(struct sg_reply *r, const char *key, const struct sg_value *v)
{
        switch (v->type) {
        case SG_VALUE_TEXT:
                return add(r, "%s=%s ", key, v->text);
        case SG_VALUE_I32:
                return add(r, "%s=%d ", key, (int)v->integer);
        case SG_VALUE_BLOCK:
        case SG_VALUE_BYTES:
                (void)add(r, "%s=", key);
                for (size_t i = 0; i < v->bytes.size; i++)
                        (void)add(r, "%c", v->bytes.data[i] ? v->bytes.data[i] : '|');
                return add(r, " ");
        default:
                return add(r, "%s=%llu ", key, (unsigned long long)v->number);
        }
}

static int open_options(struct sg_reply *r, const char *key)
{
        return add(r, "%s{ ", key);
}

static int close_options(struct sg_reply *r)
{
        return add(r, "} ");
}

static const struct sg_reply_ops ops = {
        .put = put, .open_options = open_options, .close_options = close_options};

static void give(struct sg_request *q, const char *name, const struct sg_value *v)
{
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};
        const struct sg_param *p = NULL;

        if (sg_request_find(q, name, &p, &a) < 0 || sg_request_put(q, p, v, &a) < 0)
                fail_msg("%s: %s", name, a.line);
}

static void give_text(struct sg_request *q, const char *name, const char *text)
{
        give(q, name, &(struct sg_value){.type = SG_VALUE_TEXT, .text = text});
}

static void give_number(struct sg_request *q, const char *name, uint64_t v)
{
        give(q, name, &(struct sg_value){.type = SG_VALUE_U64, .number = v});
}

static void expect_reply(const struct sg_record *spec, const struct sg_job *job, const char *want)
{
        struct line l = {.reply.ops = &ops};

        assert_int_equal(sg_kept_reply(job, spec->data, spec->size, &l.reply), 0);
        assert_string_equal(l.text, want);
}

static void test_comes_back(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record spec = {0};
        const struct sg_job job = {.array_first = 0};
        struct sg_request q;

        (void)state;
        sg_request_init(&q, SG_REQUEST_SUBMIT);
        give_text(&q, "name", "train");
        give_number(&q, "mem", 4ULL << 30);
        give_number(&q, "cpus", 2);
        give_number(&q, "pin", 1);
        give_number(&q, "time_limit", SG_UNLIMITED);
        give(&q, "priority", &(struct sg_value){.type = SG_VALUE_I32, .integer = -5});
        give_text(&q, "output", "/tmp/%j");
        sg_record_put_str(&spec, SG_SPEC_ARG, "python");
        sg_record_put_str(&spec, SG_SPEC_ARG, "");
        sg_record_put_str(&spec, SG_SPEC_WORKDIR, "/home/alice");
        sg_record_put_str(&spec, SG_SPEC_ON_END, "mail me");
        sg_record_put_str(&spec, SG_SPEC_SCRIPT, "echo hi");
        sg_kept_put(&q, &spec);
        expect_reply(&spec, &job,
                     "options{ workdir=/home/alice on_end=mail me name=train cpus=2 pin=1 "
                     "mem=4294967296 time_limit=18446744073709551615 priority=-5 output=/tmp/%j } "
                     "argv=python|| script=echo hi ");
        sg_request_deinit(&q);
}

/* What was said of that time or that caller, and what wasn't said. */
static void test_left_out(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record spec = {0};
        const struct sg_job job = {.array_first = 0};
        struct sg_request q;

        (void)state;
        sg_request_init(&q, SG_REQUEST_SUBMIT);
        give_text(&q, "after", "5:ok");
        give_number(&q, "begin", 17);
        give_number(&q, "deadline", 18);
        give_number(&q, "hold", 1);
        give_number(&q, "no_wait", 1);
        give_text(&q, "token", "abc");
        give_number(&q, "umask", 077);
        sg_kept_put(&q, &spec);
        assert_int_equal(spec.size, 0);
        give_number(&q, "steps", 9);
        sg_kept_put(&q, &spec);
        expect_reply(&spec, &job, "options{ steps=9 } argv= script= ");
        sg_request_deinit(&q);
}

/* Of an array, the task. */
static void test_task(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record spec = {0};
        const struct sg_job job = {.array_first = 7, .array_index = 3};
        struct sg_request q;

        (void)state;
        sg_request_init(&q, SG_REQUEST_SUBMIT);
        give_number(&q, "array_first", 1);
        give_number(&q, "array_last", 9);
        give_text(&q, "class", "batch");
        sg_kept_put(&q, &spec);
        expect_reply(&spec, &job,
                     "options{ class=batch array_first=3 array_last=3 } argv= script= ");
        sg_request_deinit(&q);
}

/* Records of other versions: an option that isn't known, and fields that make no sense. */
static void test_other_versions(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record spec = {0};
        const struct sg_job job = {.array_first = 0};
        struct line l = {.reply.ops = &ops};
        size_t mark;

        (void)state;
        mark = sg_record_open(&spec, SG_SPEC_OPTION);
        sg_record_put_str(&spec, SG_SPEC_OPTION_NAME, "colour");
        sg_record_put_str(&spec, SG_SPEC_OPTION_TEXT, "red");
        sg_record_close(&spec, mark);
        sg_record_put_u64(&spec, 60, 1);
        expect_reply(&spec, &job, "options{ } argv= script= ");
        sg_record_put_str(&spec, SG_SPEC_OPTION, "xyz");
        assert_int_equal(sg_kept_reply(&job, spec.data, spec.size, &l.reply), -EBADMSG);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_comes_back),
                cmocka_unit_test(test_left_out),
                cmocka_unit_test(test_task),
                cmocka_unit_test(test_other_versions),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
