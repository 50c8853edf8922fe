/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The writer of metrics, byte by byte; our own table; and the document that shows it. */

#include "base/parse.h"
#include "core/measure/metric-table.h"
#include "tests/unit/test.h"
#include "tests/unit/test_source.h"
#include <float.h>
#include <math.h>

static const struct sg_family table[] = {
        {"t_build", SG_FAMILY_INFO, "", "version", "About us."},
        {"t_cpu_seconds", SG_FAMILY_COUNTER, "seconds", "id class", "Used."},
        {"t_loss", SG_FAMILY_GAUGE, "", "id", "Reported."},
};
enum { BUILD, CPU, LOSS };

#define LABELS(...)                                                                                \
        (const struct sg_label[])                                                                  \
        {                                                                                          \
                __VA_ARGS__,                                                                       \
                {                                                                                  \
                        0                                                                          \
                }                                                                                  \
        }

static int setup(void **state)
{
        *state = calloc(1, sizeof(struct sg_openmetrics));
        return *state ? 0 : -1;
}

static int teardown(void **state)
{
        sg_openmetrics_deinit(*state);
        free(*state);
        return 0;
}

static void expect(struct sg_openmetrics *w, const char *text)
{
        assert_int_equal(sg_openmetrics_end(w), 0);
        if (w->size != strlen(text) || (w->size > 0 && memcmp(w->data, text, w->size) != 0))
                fail_msg("got:\n%.*s\nexpected:\n%s", (int)w->size, w->data, text);
}

static void write_some(struct sg_openmetrics *w, enum sg_openmetrics_format format)
{
        sg_openmetrics_begin(w, format);
        sg_openmetrics_family(w, &table[BUILD]);
        sg_openmetrics_info(w, LABELS({"version", "1.2"}));
        sg_openmetrics_family(w, &table[CPU]);
        sg_openmetrics_usec(w, LABELS({"id", "7"}, {"class", "train"}), 1500000);
        sg_openmetrics_usec(w, LABELS({"id", "8"}), 0);
        sg_openmetrics_family(w, &table[LOSS]);
        sg_openmetrics_double(w, NULL, 0.25);
}

static void test_openmetrics(void **state)
{
        write_some(*state, SG_METRICS_OPENMETRICS);
        expect(*state, "# HELP t_build About us.\n"
                       "# TYPE t_build info\n"
                       "t_build_info{version=\"1.2\"} 1\n"
                       "# HELP t_cpu_seconds Used.\n"
                       "# TYPE t_cpu_seconds counter\n"
                       "# UNIT t_cpu_seconds seconds\n"
                       "t_cpu_seconds_total{id=\"7\",class=\"train\"} 1.500000\n"
                       "t_cpu_seconds_total{id=\"8\"} 0.000000\n"
                       "# HELP t_loss Reported.\n"
                       "# TYPE t_loss gauge\n"
                       "t_loss 0.25\n"
                       "# EOF\n");
}

static void test_text(void **state)
{
        write_some(*state, SG_METRICS_TEXT);
        expect(*state, "# HELP t_build_info About us.\n"
                       "# TYPE t_build_info gauge\n"
                       "t_build_info{version=\"1.2\"} 1\n"
                       "# HELP t_cpu_seconds_total Used.\n"
                       "# TYPE t_cpu_seconds_total counter\n"
                       "t_cpu_seconds_total{id=\"7\",class=\"train\"} 1.500000\n"
                       "t_cpu_seconds_total{id=\"8\"} 0.000000\n"
                       "# HELP t_loss Reported.\n"
                       "# TYPE t_loss gauge\n"
                       "t_loss 0.25\n");
}

static void test_nothing_is_known(void **state)
{
        struct sg_openmetrics *w = *state;

        sg_openmetrics_begin(w, SG_METRICS_OPENMETRICS);
        sg_openmetrics_family(w, &table[CPU]);
        sg_openmetrics_usec(w, NULL, SG_UNLIMITED);
        sg_openmetrics_family(w, &table[LOSS]);
        sg_openmetrics_u64(w, NULL, SG_UNLIMITED);
        expect(w, "# EOF\n");
}

/* One gauge's value, as written. */
static void expect_number(struct sg_openmetrics *w, const char *text)
{
        char expected[256];

        snprintf(expected, sizeof(expected),
                 "# HELP t_loss Reported.\n# TYPE t_loss gauge\nt_loss %s\n", text);
        expect(w, expected);
}

static struct sg_openmetrics *gauge(void **state)
{
        sg_openmetrics_begin(*state, SG_METRICS_TEXT);
        sg_openmetrics_family(*state, &table[LOSS]);
        return *state;
}

static void test_numbers(void **state)
{
        static const struct {
                double value;
                const char *text;
        } doubles[] = {{0, "0"},
                       {-0.0, "-0"},
                       {1, "1"},
                       {0.1, "0.1"},
                       {-2.5e-9, "-2.5e-09"},
                       {1e300, "1e+300"},
                       {DBL_MAX, "1.7976931348623157e+308"},
                       {INFINITY, "+Inf"},
                       {-INFINITY, "-Inf"},
                       {NAN, "NaN"},
                       {-NAN, "NaN"}};
        static const struct {
                uint64_t value;
                const char *text, *seconds;
        } integers[] = {{0, "0", "0.000000"},
                        {7, "7", "0.000007"},
                        {1234567, "1234567", "1.234567"},
                        {UINT64_MAX - 1, "18446744073709551614", "18446744073709.551614"}};

        for (size_t i = 0; i < SG_ELEMENTSOF(doubles); i++) {
                sg_openmetrics_double(gauge(state), NULL, doubles[i].value);
                expect_number(*state, doubles[i].text);
        }
        for (size_t i = 0; i < SG_ELEMENTSOF(integers); i++) {
                sg_openmetrics_u64(gauge(state), NULL, integers[i].value);
                expect_number(*state, integers[i].text);
                sg_openmetrics_usec(gauge(state), NULL, integers[i].value);
                expect_number(*state, integers[i].seconds);
        }
}

static void test_counters_only_count(void **state)
{
        static const double none[] = {NAN, INFINITY, -INFINITY, -1};
        struct sg_openmetrics *w = *state;

        sg_openmetrics_begin(w, SG_METRICS_TEXT);
        sg_openmetrics_family(w, &table[CPU]);
        for (size_t i = 0; i < SG_ELEMENTSOF(none); i++)
                sg_openmetrics_double(w, NULL, none[i]);
        expect(w, "");
}

static void test_escaping(void **state)
{
        static const struct {
                const char *value, *text;
        } cases[] = {
                {"", ""},
                {"a b{c}=,#", "a b{c}=,#"},
                {"\"", "\\\""},
                {"\\", "\\\\"},
                {"\\n", "\\\\n"},
                {"two\nlines", "two\\nlines"},
                {"\t\r\x7f", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
                {"gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x90\xA7",
                 "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x90\xA7"},
                {"\xC3", "\xEF\xBF\xBD"},                                 /* cut off */
                {"\xC0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD"},                 /* overlong */
                {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"}, /* a surrogate */
                {"\xE2\x82\"", "\xEF\xBF\xBD\xEF\xBF\xBD\\\""},
        };
        char expected[256];

        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                sg_openmetrics_u64(gauge(state), LABELS({"id", cases[i].value}), 1);
                snprintf(expected, sizeof(expected),
                         "# HELP t_loss Reported.\n# TYPE t_loss gauge\nt_loss{id=\"%s\"} 1\n",
                         cases[i].text);
                expect(*state, expected);
        }
}

static void expect_mistake(struct sg_openmetrics *w)
{
        assert_int_equal(sg_openmetrics_end(w), -EINVAL);
        write_some(w, SG_METRICS_TEXT); /* the next one is none the worse */
        assert_int_equal(sg_openmetrics_end(w), 0);
}

static void test_own_mistakes(void **state)
{
        struct sg_openmetrics *w = *state;

        sg_openmetrics_begin(w, SG_METRICS_TEXT);
        sg_openmetrics_u64(w, NULL, 1); /* of no family */
        expect_mistake(w);
        write_some(w, SG_METRICS_TEXT);
        sg_openmetrics_family(w, &table[CPU]); /* again */
        expect_mistake(w);
        sg_openmetrics_u64(gauge(state), LABELS({"no", "x"}), 1);
        expect_mistake(w);
        sg_openmetrics_u64(gauge(state), LABELS({"id", "x"}, {"id", "y"}), 1);
        expect_mistake(w);
        sg_openmetrics_info(gauge(state), NULL);
        expect_mistake(w);
        sg_openmetrics_begin(w, SG_METRICS_TEXT);
        sg_openmetrics_family(w, &table[CPU]);
        sg_openmetrics_u64(w, LABELS({"class", "x"}, {"id", "y"}), 1); /* in another order */
        expect_mistake(w);
}

static void test_names(void **state)
{
        static const struct sg_family wrong[] = {
                {"", SG_FAMILY_GAUGE, "", "", "x"},
                {"a-b", SG_FAMILY_GAUGE, "", "", "x"},
                {"a:b", SG_FAMILY_GAUGE, "", "", "x"},
                {"aB", SG_FAMILY_GAUGE, "", "", "x"},
                {"1a", SG_FAMILY_GAUGE, "", "", "x"},
                {"a_total", SG_FAMILY_COUNTER, "", "", "x"},
                {"a_info", SG_FAMILY_INFO, "", "", "x"},
                {"a_count", SG_FAMILY_GAUGE, "", "", "x"},
                {"a", SG_FAMILY_GAUGE, "seconds", "", "x"},
                {"seconds", SG_FAMILY_GAUGE, "seconds", "", "x"},
                {"a_seconds", SG_FAMILY_INFO, "seconds", "", "x"},
                {"a", SG_FAMILY_GAUGE, "", "__x", "x"},
                {"a", SG_FAMILY_GAUGE, "", "x-y", "x"},
                {"a", SG_FAMILY_GAUGE, "", "a b c d e f g h i", "x"},
                {"a", SG_FAMILY_GAUGE, "", "", ""},
                {"a", SG_FAMILY_GAUGE, "", "", "x\ny"},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(wrong); i++)
                if (sg_family_valid(&wrong[i]))
                        fail_msg("row %zu is accepted: '%s'", i, wrong[i].name);
        for (size_t i = 0; i < SG_ELEMENTSOF(table); i++)
                assert_true(sg_family_valid(&table[i]));
}

static void test_own_table(void **state)
{
        (void)state;
        for (size_t i = 0; i < _SG_METRIC_MAX; i++) {
                if (!sg_metrics[i].name || !sg_family_valid(&sg_metrics[i]))
                        fail_msg("row %zu isn't valid: '%s'", i, sg_metrics[i].name ?: "");
                assert_memory_equal(sg_metrics[i].name, "schedgov_", 9);
                for (size_t k = 0; k < i; k++)
                        assert_string_not_equal(sg_metrics[i].name, sg_metrics[k].name);
        }
}

/* Grows as needed, and isn't kept for good. */
static void test_buffer(void **state)
{
        struct sg_openmetrics *w = *state;
        char *before;
        size_t large;

        gauge(state);
        for (unsigned i = 0; i < 100000; i++)
                sg_openmetrics_u64(w, LABELS({"id", "a name of some length"}), i);
        assert_int_equal(sg_openmetrics_end(w), 0);
        large = w->allocated;
        assert_in_range(w->size, 1000001, large);
        write_some(w, SG_METRICS_TEXT);
        for (unsigned i = 0; i < 32; i++)
                write_some(w, SG_METRICS_TEXT);
        assert_true(w->allocated < large / 4);
        before = w->data;
        write_some(w, SG_METRICS_TEXT);
        assert_ptr_equal(w->data, before);
}

static void labels_as_list(const char *labels, char *buf, size_t size)
{
        size_t n = 0;

        for (; *labels && n + 3 < size; labels++) {
                if (*labels == ' ')
                        buf[n++] = ',';
                buf[n++] = *labels;
        }
        buf[n] = '\0';
}

/* The rows of docs/metrics.md are those of the table, in its order. */
static void test_document(void **state)
{
        static const char *const types[] = {"gauge", "counter", "info"};
        static const char *const suffixes[] = {"", "_total", "_info"};
        _cleanup_free_ char *text = source_read("docs/metrics.md");
        char *save = NULL, labels[128], expected[1024];
        size_t i = 0;

        (void)state;
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                const struct sg_family *m = &sg_metrics[i];

                if (strncmp(line, "| `schedgov_", 12) != 0)
                        continue;
                if (i++ >= _SG_METRIC_MAX)
                        fail_msg("docs/metrics.md has a row too many: %s", line);
                labels_as_list(m->labels, labels, sizeof(labels));
                snprintf(expected, sizeof(expected), "| `%s%s` | %s | %s | %s |", m->name,
                         suffixes[m->type], types[m->type], labels, m->help);
                assert_string_equal(line, expected);
        }
        if (i < _SG_METRIC_MAX)
                fail_msg("docs/metrics.md lacks %s", sg_metrics[i].name);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        const struct CMUnitTest tests[] = {
                TEST(test_openmetrics),          TEST(test_text),
                TEST(test_nothing_is_known),     TEST(test_numbers),
                TEST(test_counters_only_count),  TEST(test_escaping),
                TEST(test_own_mistakes),         TEST(test_buffer),
                cmocka_unit_test(test_names),    cmocka_unit_test(test_own_table),
                cmocka_unit_test(test_document),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
