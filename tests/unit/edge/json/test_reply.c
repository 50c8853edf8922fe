/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One reply through both writers: values, lists and rows, and refusals. */
#include "tests/unit/test.h"

#include "edge/bus/answer.h"
#include "edge/bus/reply.h"
#include "edge/json/reply.h"
#include "tests/unit/edge/json/twice_fixture.h"

static void write_reply(struct sg_reply *r)
{
        static const enum sg_value_type row[] = {SG_VALUE_TEXT, SG_VALUE_U64, SG_VALUE_I32};
        static const enum sg_value_type word = SG_VALUE_TEXT;

        sg_reply_open_list(r, "jobs", row, SG_ELEMENTSOF(row));
        for (unsigned i = 1; i <= 2; i++) {
                sg_reply_open_row(r);
                sg_reply_text(r, "id", i == 1 ? "1" : "2");
                sg_reply_u64(r, "memory", i == 1 ? 4096 : SG_UNLIMITED);
                sg_reply_i32(r, "status", i == 1 ? 0 : -1);
                sg_reply_close_row(r);
        }
        sg_reply_close_list(r);
        sg_reply_open_list(r, "errors", &word, 1);
        sg_reply_text(r, NULL, "one");
        sg_reply_text(r, NULL, "two");
        sg_reply_close_list(r);
        sg_reply_text(r, "next", "L2");
        sg_reply_flag(r, "more", true);
}

static void test_json(void **state)
{
        struct sg_json_reply r;
        _cleanup_free_ char *text = NULL;

        (void)state;
        assert_int_equal(sg_json_reply_init(&r), 0);
        write_reply(&r.reply);
        assert_int_equal(sg_json_reply_dump(&r, &text), 0);
        assert_string_equal(text, "{\"jobs\":[{\"id\":\"1\",\"memory\":4096,\"status\":0},"
                                  "{\"id\":\"2\",\"memory\":null,\"status\":-1}],"
                                  "\"errors\":[\"one\",\"two\"],\"next\":\"L2\",\"more\":true}");
        sg_json_reply_deinit(&r);
}

/* Options, and strings and bytes as requests have them. */
static void write_command(struct sg_reply *r)
{
        static const char argv[] = "a\0b c";

        sg_reply_open_options(r, "options");
        sg_reply_text(r, "name", "train");
        sg_reply_u64(r, "mem", 4096);
        sg_reply_value(r, "retry", &(struct sg_value){.type = SG_VALUE_U32, .number = 3});
        sg_reply_i32(r, "priority", -1);
        sg_reply_flag(r, "pin", true);
        sg_reply_close_options(r);
        sg_reply_value(
                r, "argv",
                &(struct sg_value){.type = SG_VALUE_BLOCK, .bytes = {argv, sizeof(argv), NULL}});
        sg_reply_value(r, "script", &(struct sg_value){.type = SG_VALUE_BYTES});
}

static void test_command_in_json(void **state)
{
        struct sg_json_reply r;
        _cleanup_free_ char *text = NULL;

        (void)state;
        assert_int_equal(sg_json_reply_init(&r), 0);
        write_command(&r.reply);
        assert_int_equal(sg_json_reply_dump(&r, &text), 0);
        assert_string_equal(text, "{\"options\":{\"name\":\"train\",\"mem\":4096,\"retry\":3,"
                                  "\"priority\":-1,\"pin\":true},\"argv\":[\"a\",\"b c\"],"
                                  "\"script\":\"\"}");
        sg_json_reply_deinit(&r);
}

static sd_bus_message *new_call(sd_bus *bus)
{
        sd_bus_message *call = NULL;

        assert_true(sd_bus_message_new_method_call(bus, &call, NULL, "/x", "x.y", "z") >= 0);
        assert_true(sd_bus_message_seal(call, 1, 0) >= 0);
        return call;
}

static void test_bus(void **state)
{
        sd_bus *bus = twice_bus();
        sd_bus_message *call = new_call(bus);
        struct sg_bus_reply r;
        const char *first, *second, *next;
        uint64_t memory;
        int more, status;

        (void)state;
        assert_true(sg_bus_reply_init(&r, call) >= 0);
        write_reply(&r.reply);
        assert_int_equal(r.reply.error < 0 ? r.reply.error : 0, 0);
        assert_true(sd_bus_message_seal(r.message, 2, 0) >= 0);
        assert_string_equal(sd_bus_message_get_signature(r.message, true), "a(sti)assb");
        assert_true(sd_bus_message_rewind(r.message, true) >= 0);
        assert_true(sd_bus_message_skip(r.message, "a(sti)") > 0);
        assert_true(sd_bus_message_read(r.message, "as", 2, &first, &second) > 0);
        assert_string_equal(first, "one");
        assert_string_equal(second, "two");
        assert_true(sd_bus_message_read(r.message, "sb", &next, &more) > 0);
        assert_string_equal(next, "L2");
        assert_true(more);
        assert_true(sd_bus_message_rewind(r.message, true) >= 0);
        assert_true(sd_bus_message_enter_container(r.message, 'a', "(sti)") > 0);
        assert_true(sd_bus_message_read(r.message, "(sti)", &first, &memory, &status) > 0);
        assert_string_equal(first, "1");
        assert_int_equal(memory, 4096);
        assert_true(sd_bus_message_read(r.message, "(sti)", &first, &memory, &status) > 0);
        assert_true(memory == SG_UNLIMITED);
        assert_int_equal(status, -1);
        sg_bus_reply_deinit(&r);
        sd_bus_message_unref(call);
        sd_bus_unref(bus);
}

static void test_command_on_bus(void **state)
{
        sd_bus *bus = twice_bus();
        sd_bus_message *call = new_call(bus);
        struct sg_bus_reply r;
        const char *keys[5], *name;
        const void *argv;
        uint64_t mem;
        uint32_t retry;
        int32_t priority;
        int pin;
        size_t size;

        (void)state;
        assert_true(sg_bus_reply_init(&r, call) >= 0);
        write_command(&r.reply);
        assert_int_equal(r.reply.error < 0 ? r.reply.error : 0, 0);
        assert_true(sd_bus_message_seal(r.message, 2, 0) >= 0);
        assert_string_equal(sd_bus_message_get_signature(r.message, true), "a{sv}ayay");
        assert_true(sd_bus_message_rewind(r.message, true) >= 0);
        assert_true(sd_bus_message_read(r.message, "a{sv}", 5, &keys[0], "s", &name, &keys[1], "t",
                                        &mem, &keys[2], "u", &retry, &keys[3], "i", &priority,
                                        &keys[4], "b", &pin) > 0);
        assert_string_equal(keys[0], "name");
        assert_string_equal(keys[4], "pin");
        assert_string_equal(name, "train");
        assert_int_equal(mem, 4096);
        assert_int_equal(retry, 3);
        assert_int_equal(priority, -1);
        assert_true(pin);
        assert_true(sd_bus_message_read_array(r.message, 'y', &argv, &size) > 0);
        assert_int_equal(size, 6);
        assert_memory_equal(argv, "a\0b c", 6);
        assert_true(sd_bus_message_read_array(r.message, 'y', &argv, &size) > 0);
        assert_int_equal(size, 0);
        sg_bus_reply_deinit(&r);
        sd_bus_message_unref(call);
        sd_bus_unref(bus);
}

/* The first failure counts, and the rest is left out. */

static unsigned n_put;

static int put_two(struct sg_reply *r, const char *key, const struct sg_value *v)
{
        (void)r;
        (void)key;
        (void)v;
        return ++n_put > 2 ? -ENOBUFS : 0;
}

static void test_failure(void **state)
{
        static const struct sg_reply_ops ops = {.put = put_two};
        struct sg_reply r = {.ops = &ops};

        (void)state;
        n_put = 0;
        sg_reply_u64(&r, "one", 1);
        sg_reply_u64(&r, "two", 2);
        assert_int_equal(r.error, 0);
        sg_reply_u64(&r, "three", 3);
        assert_int_equal(r.error, -ENOBUFS);
        sg_reply_u64(&r, "four", 4);
        sg_reply_open_row(&r);
        assert_int_equal(r.error, -ENOBUFS);
        assert_int_equal(n_put, 3);
}

/* What D-Bus doesn't carry. */
static void test_broken_text(void **state)
{
        sd_bus *bus = twice_bus();
        sd_bus_message *call = new_call(bus);
        struct sg_bus_reply r;

        (void)state;
        assert_true(sg_bus_reply_init(&r, call) >= 0);
        sg_reply_text(&r.reply, "broken", "\xff");
        assert_true(r.reply.error < 0);
        sg_bus_reply_deinit(&r);
        sd_bus_message_unref(call);
        sd_bus_unref(bus);
}

/* Refusals */

static void test_refusal(void **state)
{
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_free_ char *text = NULL;

        (void)state;
        assert_true(sg_refuse_job(&a, SG_ANSWER_WRONG_STATE, 7, "job %d has ended\nsee %s", 7,
                                  "list") < 0);
        assert_int_equal(sg_json_refusal(&a, 0, &text), 0);
        assert_string_equal(text, "{\"error\":\"WrongState\",\"object\":\"job 7\","
                                  "\"line\":\"job 7 has ended\",\"hint\":\"see list\"}");
        assert_true(sg_bus_refuse(&error, &a, 0) < 0);
        assert_string_equal(error.name, "org.schedgov1.Error.WrongState");
        assert_string_equal(error.message, "job 7 has ended\nsee list");
}

/* Nobody knows more than an errno. */
static void test_bare_error(void **state)
{
        const struct sg_answer a = {.kind = SG_ANSWER_NONE};
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_free_ char *text = NULL;

        (void)state;
        assert_int_equal(sg_json_refusal(&a, -ENOMEM, &text), 0);
        assert_string_equal(text, "{\"error\":\"Failed\",\"object\":null,"
                                  "\"line\":\"Cannot allocate memory\",\"hint\":null}");
        assert_int_equal(sg_bus_refuse(&error, &a, -ENOMEM), -ENOMEM);
        assert_false(sd_bus_error_is_set(&error));
}

/* Each kind has its error on the bus; their names are the same but for polkit's. */
static void test_kinds(void **state)
{
        (void)state;
        for (int kind = SG_ANSWER_NONE + 1; kind < _SG_ANSWER_MAX; kind++) {
                const struct sg_answer a = {.kind = (enum sg_answer_kind)kind, .line = (char *)"x"};
                _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;

                assert_true(sg_bus_refuse(&error, &a, 0) < 0);
                assert_string_equal(error.message, "x");
                if (kind == SG_ANSWER_AUTHENTICATE)
                        assert_string_equal(error.name,
                                            SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED);
                else
                        assert_string_equal(strrchr(error.name, '.') + 1,
                                            sg_answer_kind_to_string(a.kind));
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_json),           cmocka_unit_test(test_bus),
                cmocka_unit_test(test_failure),        cmocka_unit_test(test_refusal),
                cmocka_unit_test(test_bare_error),     cmocka_unit_test(test_kinds),
                cmocka_unit_test(test_broken_text),    cmocka_unit_test(test_command_in_json),
                cmocka_unit_test(test_command_on_bus),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
