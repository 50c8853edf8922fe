/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any text as labels and any bits as numbers: what is written is one exposition by the letter, and
 * says what it was given. The same text as an Accept: header. */
#include "base/cleanup.h"
#include "base/parse.h"
#include "base/utf8.h"
#include "core/measure/openmetrics-accept.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct sg_family families[] = {
        {"t_some", SG_FAMILY_INFO, "", "a b", "An info."},
        {"t_cpu_seconds", SG_FAMILY_COUNTER, "seconds", "a b", "A counter."},
        {"t_loss", SG_FAMILY_GAUGE, "", "a b", "A gauge."},
};

static void check(bool holds)
{
        if (!holds)
                abort();
}

/* Steps over text that has to be there. */
static void expect(const char **p, const char *text)
{
        size_t n = strlen(text);

        check(strncmp(*p, text, n) == 0);
        *p += n;
}

/* What a value's character must have become: itself, or, of what is no text, U+FFFD. */
static size_t expected_character(const char *value, const char **ret, size_t *ret_size)
{
        size_t n = sg_utf8_size(value, strnlen(value, 4));
        bool control = ((unsigned char)*value < 0x20 && *value != '\n') || *value == 0x7f;

        *ret = n == 0 || control ? "\xEF\xBF\xBD" : value;
        *ret_size = n == 0 || control ? 3 : n;
        return n == 0 ? 1 : n;
}

/* A quoted value, unescaped as any reader would, is the one that was given. */
static void expect_value(const char **p, const char *value)
{
        expect(p, "\"");
        while (**p != '"') {
                char c = **p;
                const char *wanted;
                size_t n;

                check(c != '\0' && c != '\n' && *value);
                if (c == '\\') {
                        c = *++*p;
                        check(c == '\\' || c == '"' || c == 'n');
                        check(*value++ == (c == 'n' ? '\n' : c));
                        ++*p;
                        continue;
                }
                value += expected_character(value, &wanted, &n);
                check(strncmp(*p, wanted, n) == 0);
                *p += n;
        }
        ++*p;
        check(!*value);
}

static void expect_labels(const char **p, const char *const values[2])
{
        expect(p, "{a=");
        expect_value(p, values[0]);
        expect(p, ",b=");
        expect_value(p, values[1]);
        expect(p, "} ");
}

/* Reads as the number, to 15 digits. */
static void expect_double(const char **p, double value)
{
        char *end;
        double got = strtod(*p, &end);

        check(end > *p && *end == '\n');
        *p = end + 1;
        if (isnan(value))
                check(isnan(got));
        else if (isinf(value))
                check(got == value);
        else
                check(fabs(got - value) <= fabs(value) * 1e-14);
}

static void expect_heading(const char **p, const struct sg_family *m, bool open)
{
        static const char *const types[2][3] = {{"gauge", "counter", "gauge"},
                                                {"gauge", "counter", "info"}};
        static const char *const suffixes[] = {"", "_total", "_info"};
        char name[64], text[256];

        snprintf(name, sizeof(name), "%s%s", m->name, suffixes[m->type]);
        snprintf(text, sizeof(text), "# HELP %s %s\n# TYPE %s %s\n", open ? m->name : name, m->help,
                 open ? m->name : name, types[open][m->type]);
        expect(p, text);
        if (open && m->unit[0]) {
                snprintf(text, sizeof(text), "# UNIT %s %s\n", m->name, m->unit);
                expect(p, text);
        }
        expect(p, name);
}

static void expect_all(const char *text, bool open, const char *const values[2], uint64_t number,
                       double value)
{
        const char *p = text;

        expect_heading(&p, &families[0], open);
        expect_labels(&p, values);
        expect(&p, "1\n");
        if (number != SG_UNLIMITED) {
                char seconds[64];

                expect_heading(&p, &families[1], open);
                expect_labels(&p, values);
                snprintf(seconds, sizeof(seconds), "%llu.%06llu\n",
                         (unsigned long long)number / 1000000,
                         (unsigned long long)number % 1000000);
                expect(&p, seconds);
        }
        expect_heading(&p, &families[2], open);
        expect_labels(&p, values);
        expect_double(&p, value);
        if (open)
                expect(&p, "# EOF\n");
        check(!*p);
}

static void write_all(struct sg_openmetrics *w, bool open, const char *const values[2],
                      uint64_t number, double value)
{
        const struct sg_label labels[] = {{"a", values[0]}, {"b", values[1]}, {0}};

        sg_openmetrics_begin(w, open ? SG_METRICS_OPENMETRICS : SG_METRICS_TEXT);
        sg_openmetrics_family(w, &families[0]);
        sg_openmetrics_info(w, labels);
        sg_openmetrics_family(w, &families[1]);
        sg_openmetrics_usec(w, labels, number);
        sg_openmetrics_double(w, labels, -1);
        sg_openmetrics_family(w, &families[2]);
        sg_openmetrics_double(w, labels, value);
        check(sg_openmetrics_end(w) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *first = NULL, *second = NULL, *text = NULL;
        static struct sg_openmetrics w; /* as the daemon's, it is kept */
        uint64_t number;
        double value;

        if (size < 1 + sizeof(number) + sizeof(value))
                return 0;
        memcpy(&number, data + 1, sizeof(number));
        memcpy(&value, data + 1 + sizeof(number), sizeof(value));
        first = strndup((const char *)data + 17, size - 17);
        check(first != NULL);
        second = strlen(first) < size - 17 ? strndup((const char *)data + 18 + strlen(first),
                                                     size - 18 - strlen(first))
                                           : strdup("");
        check(second != NULL);

        const char *const values[] = {first, second};
        write_all(&w, data[0] & 1, values, number, value);
        text = strndup(w.data, w.size);
        check(text && strlen(text) == w.size);
        expect_all(text, data[0] & 1, values, number, value);
        (void)sg_openmetrics_choose(first);
        return 0;
}
