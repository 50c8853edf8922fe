/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One corpus of requests, good and bad, gives equal results through both readers; and what each
 * reader says of its own. */
#include "tests/unit/test.h"

#include "base/file.h"
#include "edge/bus/answer.h"
#include "edge/bus/request.h"
#include "edge/json/request.h"
#include "tests/unit/edge/json/twice_fixture.h"
#include "tests/unit/test_source.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>

#define CORPUS "tests/fuzz/corpus/request"

static sd_bus *bus;

static int setup(void **state)
{
        (void)state;
        bus = twice_bus();
        return bus ? 0 : -1;
}

static int teardown(void **state)
{
        (void)state;
        bus = sd_bus_unref(bus);
        return 0;
}

/* 1: by both; 0: D-Bus can't say it, and JSON refuses it. */
static int read_twice(const char *name, const char *text, size_t size)
{
        _cleanup_free_ char *json = NULL, *message = NULL;
        bool refused, good = strncmp(name, "good-", strlen("good-")) == 0;
        int r;

        json = twice_by_json(text, size, &refused);
        assert_non_null(json);
        if (good && refused)
                fail_msg("%s is refused:\n%s", name, json);
        if (!good && !refused && strncmp(json, "Invalid", strlen("Invalid")) != 0)
                fail_msg("%s isn't refused:\n%s", name, json);
        r = twice_by_bus(bus, text, size, &message);
        if (r < 0 && !refused)
                fail_msg("%s can't be a message, and isn't refused: %s", name, strerror(-r));
        if (r >= 0 && strcmp(json, message) != 0)
                fail_msg("%s, by JSON:\n%s\nby D-Bus:\n%s", name, json, message);
        return r >= 0;
}

static void test_corpus(void **state)
{
        const char *top = getenv("SG_SOURCE");
        _cleanup_closedir_ DIR *dir = NULL;
        unsigned n_good = 0, n_both = 0;
        struct dirent *entry;
        char path[4096];

        (void)state;
        assert_int_equal(sg_path_join(path, sizeof(path), top ? top : ".", CORPUS), 0);
        dir = opendir(path);
        if (!dir)
                fail_msg("%s: %s (run from the top of the source tree)", path, strerror(errno));
        while ((entry = readdir(dir))) {
                _cleanup_free_ char *text = NULL;
                size_t size;

                if (entry->d_name[0] == '.')
                        continue;
                assert_int_equal(sg_read_file(dirfd(dir), entry->d_name, 1 << 20, &text, &size), 0);
                n_both += read_twice(entry->d_name, text, size) > 0;
                n_good += strncmp(entry->d_name, "good-", strlen("good-")) == 0;
        }
        assert_in_range(n_good, 20, 1000);
        assert_in_range(n_both, 55, 1000); /* good ones, and as many bad ones */
}

/* What is read */

static void read_json(struct sg_json_request *ret, const char *text)
{
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};
        int r = sg_json_read_request(ret, text, strlen(text), &a);

        if (r < 0)
                fail_msg("%s: %s", text, a.line ? a.line : strerror(-r));
}

static void test_values(void **state)
{
        _cleanup_(sg_json_request_deinit) struct sg_json_request q;

        (void)state;
        read_json(&q, "{\"verb\":\"Submit\",\"cpus\":2,\"mem\":null,\"priority\":-3,\"hold\":true,"
                      "\"name\":\"é\",\"workdir\":\"/w\",\"argv\":[\"a\",\"\",\"b c\"],"
                      "\"script\":\"#!\",\"environment\":[\"A=1\"]}");
        assert_int_equal(q.request.verb, SG_REQUEST_SUBMIT);
        assert_int_equal(q.request.job.limits.cpus, 2);
        assert_true(q.request.job.limits.memory_max == SG_UNLIMITED);
        assert_int_equal(q.request.job.priority, -3);
        assert_int_equal(q.request.job.hold, 1);
        assert_string_equal(q.request.job.name, "é");
        assert_string_equal(q.request.workdir, "/w");
        assert_int_equal(q.request.asked, SG_ASK_CPUS | SG_ASK(SG_LIMIT_MEMORY_MAX));
        assert_int_equal(q.request.argv.size, 7);
        assert_memory_equal(q.request.argv.data, "a\0\0b c\0", 7);
        assert_int_equal(q.request.script.size, 2);
        assert_memory_equal(q.request.script.data, "#!", 2);
        assert_int_equal(q.request.environment.size, 4);
        assert_memory_equal(q.request.environment.data, "A=1\0", 4);
        assert_null(q.job);
}

static void test_job(void **state)
{
        _cleanup_(sg_json_request_deinit) struct sg_json_request q;

        (void)state;
        read_json(&q, "{\"verb\":\"Signal\",\"job\":\"7@host\",\"signal\":9}");
        assert_string_equal(q.job, "7@host");
        assert_int_equal(q.request.signal, 9);
        assert_null(q.request.id);
}

/* What is refused, in words. */

static void assert_refused(const char *text, const char *object, const char *line)
{
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};
        _cleanup_(sg_json_request_deinit) struct sg_json_request q;

        assert_true(sg_json_read_request(&q, text, strlen(text), &a) < 0);
        assert_string_equal(sg_answer_kind_to_string(a.kind), "Invalid");
        if (object)
                assert_string_equal(a.object, object);
        else
                assert_null(a.object);
        assert_string_equal(a.line, line);
        assert_null(a.hint);
}

static void test_refusals(void **state)
{
        (void)state;
        assert_refused("[]", NULL, "a request is a JSON object");
        assert_refused("{\"verb\":\"Explode\"}", "verb", "there is no verb 'Explode'");
        assert_refused("{\"verb\":\"Submit\",\"cpus\":true}", "cpus",
                       "cpus: wants a whole number from 0 to 4294967295");
        assert_refused("{\"verb\":\"Submit\",\"cpus\":0}", "cpus", "cpus: at least 1, not 0");
        assert_refused("{\"verb\":\"Set\",\"mem\":1}", "mem", "mem: at least 1M, not 1B");
        assert_refused("{\"verb\":\"Set\",\"class\":\"x\"}", "class",
                       "class can't be changed once a job is submitted");
        assert_refused("{\"verb\":\"Set\",\"colour\":1}", "colour", "unknown option 'colour'");
        assert_refused("{\"verb\":\"ListJobs\",\"colour\":1}", "colour", "unknown filter 'colour'");
        assert_refused("{\"verb\":\"Hold\",\"colour\":1}", "colour", "unknown parameter 'colour'");
        assert_refused("{\"verb\":\"Cancel\",\"job\":7}", "job", "job: wants a string");
}

/* The bus's own words, which schedctl has shown since there was an option. */
static void test_bus_refusals(void **state)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};
        _cleanup_(sg_request_deinit) struct sg_request q;

        (void)state;
        sg_request_init(&q, SG_REQUEST_SET);
        assert_true(sd_bus_message_new_method_call(bus, &m, NULL, "/x", "x.y", "Set") >= 0);
        assert_true(sd_bus_message_append(m, "a{sv}", 1, "cpus", "t", (uint64_t)1) >= 0);
        assert_true(sd_bus_message_seal(m, 1, 0) >= 0);
        assert_true(sd_bus_message_rewind(m, true) >= 0);
        assert_true(sg_bus_read_request(m, &q, &a) < 0);
        assert_true(sg_bus_refuse(&error, &a, -EINVAL) < 0);
        assert_string_equal(error.name, "org.schedgov1.Error.Invalid");
        assert_string_equal(error.message, "cpus: wants a value of D-Bus type u");
        assert_string_equal(a.object, "cpus");
}

/* A dictionary that says a key twice; D-Bus leaves it to us. */
static void test_twice_in_a_message(void **state)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};
        _cleanup_(sg_request_deinit) struct sg_request q;

        (void)state;
        sg_request_init(&q, SG_REQUEST_SET);
        assert_true(sd_bus_message_new_method_call(bus, &m, NULL, "/x", "x.y", "Set") >= 0);
        assert_true(sd_bus_message_append(m, "a{sv}", 2, "cpus", "u", 1U, "cpus", "u", 2U) >= 0);
        assert_true(sd_bus_message_seal(m, 1, 0) >= 0);
        assert_true(sd_bus_message_rewind(m, true) >= 0);
        assert_true(sg_bus_read_request(m, &q, &a) < 0);
        assert_string_equal(a.line, "cpus is given twice");
}

/* Methods take what their verbs do. */

static unsigned compare_methods(const char *source)
{
        _cleanup_free_ char *text = source_read(source);
        unsigned n = 0;

        for (const char *p = text; (p = strstr(p, "METHOD(\"")); p++, n++) {
                char name[64], types[64] = "", signature[SG_BUS_SIGNATURE_MAX];
                int verb;

                assert_true(sscanf(p, "METHOD(\"%63[^\"]\", \"%63[^\"]", name, types) >= 1);
                verb = sg_request_verb_from_string(name);
                if (verb < 0)
                        fail_msg("%s: %s is no verb", source, name);
                (void)sg_bus_signature((enum sg_request_verb)verb, signature);
                if (strcmp(types, signature) != 0)
                        fail_msg("%s: %s takes %s, its verb %s", source, name, types, signature);
        }
        return n;
}

static void test_methods(void **state)
{
        (void)state;
        assert_int_equal(compare_methods("daemon/api/dbus.c") +
                                 compare_methods("daemon/api/dbus-job.c"),
                         _SG_REQUEST_VERB_MAX);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_corpus, setup, teardown),
                cmocka_unit_test(test_values),
                cmocka_unit_test(test_methods),
                cmocka_unit_test(test_job),
                cmocka_unit_test(test_refusals),
                cmocka_unit_test_setup_teardown(test_bus_refusals, setup, teardown),
                cmocka_unit_test_setup_teardown(test_twice_in_a_message, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
