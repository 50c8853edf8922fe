/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See openmetrics.h. References: the OpenMetrics specification 1.0.0, and Prometheus's "exposition
 * formats" for 0.0.4. */

#include "core/measure/openmetrics.h"
#include "base/parse.h"
#include "base/utf8.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABELS_MAX 8
#define NAME_MAX_BYTES 200
#define FIRST_BYTES 4096U
#define LARGE_BYTES (256U * 1024) /* a buffer of that size is worth being given back */
#define USEC_DIGITS 6

/* The buffer */

void sg_openmetrics_deinit(struct sg_openmetrics *w)
{
        free(w->data);
        *w = (struct sg_openmetrics){0};
}

static void fail(struct sg_openmetrics *w, int error)
{
        if (w->error >= 0)
                w->error = error;
}

static bool resize(struct sg_openmetrics *w, size_t allocated)
{
        char *data = realloc(w->data, allocated);

        if (!data)
                return false;
        w->data = data;
        w->allocated = allocated;
        return true;
}

static bool grow(struct sg_openmetrics *w, size_t size)
{
        size_t wanted = w->allocated ?: FIRST_BYTES;

        while (wanted - w->size < size)
                wanted *= 2;
        if (wanted > w->allocated && !resize(w, wanted)) {
                fail(w, -ENOMEM);
                return false;
        }
        return true;
}

static inline void put(struct sg_openmetrics *w, const char *s, size_t size)
{
        if (w->error < 0 || (w->allocated - w->size < size && !grow(w, size)))
                return;
        memcpy(w->data + w->size, s, size);
        w->size += size;
}

static void put_str(struct sg_openmetrics *w, const char *s)
{
        put(w, s, strlen(s));
}

/* Names */

static bool is_lower(char c)
{
        return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static bool is_name(const char *s, size_t size)
{
        if (size == 0 || size >= NAME_MAX_BYTES || !is_lower(s[0]))
                return false;
        for (size_t i = 0; i < size; i++)
                if (!is_lower(s[i]) && !is_digit(s[i]) && s[i] != '_')
                        return false;
        return true;
}

/* Whether name ends in _END. */
static bool ends_in(const char *name, const char *end)
{
        size_t n = strlen(name), k = strlen(end);

        return n > k + 1 && name[n - k - 1] == '_' && memcmp(name + n - k, end, k) == 0;
}

/* These mean something to either format behind any name. */
static bool has_reserved_end(const char *name)
{
        static const char *const ends[] = {"total", "info",   "created", "count",
                                           "sum",   "bucket", "gcount",  "gsum"};

        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
                if (ends_in(name, ends[i]))
                        return true;
        return false;
}

/* The next of the words in *p, NULL behind the last. */
static const char *next_word(const char **p, size_t *ret_size)
{
        const char *word = *p + strspn(*p, " ");

        *ret_size = strcspn(word, " ");
        *p = word + *ret_size;
        return *ret_size > 0 ? word : NULL;
}

static bool labels_valid(const char *labels)
{
        const char *p = labels, *word;
        size_t size, n = 0;

        while ((word = next_word(&p, &size)))
                if (!is_name(word, size) || ++n > LABELS_MAX)
                        return false;
        return true;
}

bool sg_family_valid(const struct sg_family *m)
{
        if (!is_name(m->name, strlen(m->name)) || has_reserved_end(m->name))
                return false;
        if (m->unit[0] && (m->type == SG_FAMILY_INFO || !ends_in(m->name, m->unit)))
                return false;
        return labels_valid(m->labels) && m->help[0] && !m->help[strcspn(m->help, "\\\"\n")];
}

static const char *suffix(const struct sg_family *m)
{
        static const char *const suffixes[] = {
                [SG_FAMILY_GAUGE] = "", [SG_FAMILY_COUNTER] = "_total", [SG_FAMILY_INFO] = "_info"};

        return suffixes[m->type];
}

/* Families */

void sg_openmetrics_begin(struct sg_openmetrics *w, enum sg_openmetrics_format format)
{
        /* What a burst of jobs needed once isn't held for good. */
        if (w->allocated >= LARGE_BYTES && w->size < w->allocated / 4)
                (void)resize(w, w->allocated / 2);
        w->size = 0;
        w->format = format;
        w->family = NULL;
        w->headed = false;
        w->error = 0;
}

int sg_openmetrics_end(struct sg_openmetrics *w)
{
        if (w->format == SG_METRICS_OPENMETRICS)
                put_str(w, "# EOF\n");
        return w->error;
}

void sg_openmetrics_family(struct sg_openmetrics *w, const struct sg_family *family)
{
        if (!sg_family_valid(family) || (w->family && family <= w->family))
                fail(w, -EINVAL);
        w->family = family;
        w->headed = false;
}

static void put_line(struct sg_openmetrics *w, const char *what, const char *text)
{
        put_str(w, what);
        put_str(w, w->family->name);
        if (w->format == SG_METRICS_TEXT)
                put_str(w, suffix(w->family));
        put(w, " ", 1);
        put_str(w, text);
        put(w, "\n", 1);
}

static void put_heading(struct sg_openmetrics *w)
{
        static const char *const open[] = {"gauge", "counter", "info"};
        static const char *const plain[] = {"gauge", "counter", "gauge"};
        const struct sg_family *m = w->family;

        put_line(w, "# HELP ", m->help);
        put_line(w, "# TYPE ", (w->format == SG_METRICS_TEXT ? plain : open)[m->type]);
        if (m->unit[0] && w->format == SG_METRICS_OPENMETRICS)
                put_line(w, "# UNIT ", m->unit);
        w->headed = true;
}

/* Labels */

static bool is_plain(char c)
{
        return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

/* What has to be written instead of the character at s; NULL: nothing. */
static const char *escape(const char *s, size_t *ret_size)
{
        *ret_size = sg_utf8_size(s, strnlen(s, 4));
        switch (*s) {
        case '"':
                return "\\\"";
        case '\\':
                return "\\\\";
        case '\n':
                return "\\n";
        default:
                break;
        }
        if (*ret_size > 1 || (*ret_size == 1 && *s >= ' ' && *s != 0x7f))
                return NULL;
        *ret_size = 1;
        return "\xEF\xBF\xBD"; /* U+FFFD */
}

static void put_value(struct sg_openmetrics *w, const char *value)
{
        while (*value) {
                const char *instead;
                size_t n = 0;

                while (is_plain(value[n]))
                        n++;
                put(w, value, n);
                value += n;
                if (!*value)
                        return;
                instead = escape(value, &n);
                if (instead)
                        put_str(w, instead);
                else
                        put(w, value, n);
                value += n;
        }
}

/* Each has to be the next or a later one of the family's. */
static void put_labels(struct sg_openmetrics *w, const struct sg_label *labels)
{
        const char *p = w->family->labels, *word;
        char before = '{';
        size_t size;

        for (; labels && labels->name; labels++) {
                do
                        word = next_word(&p, &size);
                while (word && (strlen(labels->name) != size || memcmp(word, labels->name, size)));
                if (!word) {
                        fail(w, -EINVAL);
                        return;
                }
                put(w, &before, 1);
                put(w, word, size);
                put(w, "=\"", 2);
                put_value(w, labels->value);
                put(w, "\"", 1);
                before = ',';
        }
        if (before == ',')
                put(w, "}", 1);
}

/* Samples */

static void put_sample(struct sg_openmetrics *w, const struct sg_label *labels, const char *number,
                       size_t size)
{
        if (w->error < 0)
                return;
        if (!w->family) {
                fail(w, -EINVAL);
                return;
        }
        if (!w->headed)
                put_heading(w);
        put_str(w, w->family->name);
        put_str(w, suffix(w->family));
        put_labels(w, labels);
        put(w, " ", 1);
        put(w, number, size);
        put(w, "\n", 1);
}

static char *digits(char *end, uint64_t value, unsigned at_least)
{
        char *p = end;

        while (value > 0 || at_least > 0) {
                *--p = (char)('0' + value % 10);
                value /= 10;
                at_least -= at_least > 0;
        }
        return p;
}

void sg_openmetrics_u64(struct sg_openmetrics *w, const struct sg_label *labels, uint64_t value)
{
        char buf[32], *end = buf + sizeof(buf), *p;

        if (value == SG_UNLIMITED)
                return;
        p = digits(end, value, 1);
        put_sample(w, labels, p, (size_t)(end - p));
}

/* By hand and not as a double: exact, and several times as fast. */
void sg_openmetrics_usec(struct sg_openmetrics *w, const struct sg_label *labels, uint64_t usec)
{
        char buf[32], *end = buf + sizeof(buf), *p;

        if (usec == SG_UNLIMITED)
                return;
        p = digits(end, usec % 1000000, USEC_DIGITS);
        *--p = '.';
        p = digits(p, usec / 1000000, 1);
        put_sample(w, labels, p, (size_t)(end - p));
}

void sg_openmetrics_double(struct sg_openmetrics *w, const struct sg_label *labels, double value)
{
        char buf[32];
        int n;

        if (w->family && w->family->type == SG_FAMILY_COUNTER && (!isfinite(value) || value < 0))
                return;
        if (isnan(value))
                n = snprintf(buf, sizeof(buf), "NaN");
        else if (isinf(value))
                n = snprintf(buf, sizeof(buf), value > 0 ? "+Inf" : "-Inf");
        else
                /* (15 digits show 0.1 as that; rounded up to them,
                 * the largest would be infinite) */
                n = snprintf(buf, sizeof(buf), "%.*g", fabs(value) > 1e308 ? 17 : 15, value);
        put_sample(w, labels, buf, (size_t)n);
}

void sg_openmetrics_info(struct sg_openmetrics *w, const struct sg_label *labels)
{
        if (w->family && w->family->type != SG_FAMILY_INFO)
                fail(w, -EINVAL);
        sg_openmetrics_u64(w, labels, 1);
}
