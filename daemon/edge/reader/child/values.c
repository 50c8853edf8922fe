/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/reader/child/values.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "core/reports/metric.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#define DEPTH_MAX 3
#define NAME_MAX_SIZE 64
#define RANK_EXPLICIT UINT8_MAX /* it is called "eval" */

struct taking {
        enum sg_goal goal;
        uint8_t rank;
        bool whole_run; /* the step is called global_step */
        struct sg_report report;
};

/* --- names */

static uint32_t count_of(const char *name)
{
        static const struct {
                const char *name;
                uint32_t field;
        } names[] = {
                {"step", SG_REPORT_STEP},           {"global_step", SG_REPORT_STEP},
                {"iteration", SG_REPORT_STEP},      {"iter", SG_REPORT_STEP},
                {"batch", SG_REPORT_STEP},          {"total", SG_REPORT_TOTAL},
                {"total_steps", SG_REPORT_TOTAL},   {"max_steps", SG_REPORT_TOTAL},
                {"num_steps", SG_REPORT_TOTAL},     {"max_iters", SG_REPORT_TOTAL},
                {"steps", SG_REPORT_TOTAL},         {"batches", SG_REPORT_TOTAL},
                {"epoch", SG_REPORT_EPOCH},         {"epochs", SG_REPORT_EPOCHS},
                {"num_epochs", SG_REPORT_EPOCHS},   {"max_epochs", SG_REPORT_EPOCHS},
                {"total_epochs", SG_REPORT_EPOCHS}, {"num_train_epochs", SG_REPORT_EPOCHS},
        };

        for (size_t i = 0; i < SG_ELEMENTSOF(names); i++)
                if (strcasecmp(names[i].name, name) == 0)
                        return names[i].field;
        return 0;
}

/* Some programs say "epoch": 0.5 in the middle of the first epoch. */
static uint64_t whole(uint32_t field, double value)
{
        uint64_t n = (uint64_t)value;

        return field == SG_REPORT_EPOCH && (double)n < value ? n + 1 : n;
}

static void take_count(struct taking *t, uint32_t field, double value)
{
        uint64_t count;

        if (!(value >= 0) || value >= 0x1p63)
                return;
        count = whole(field, value);
        if (field == SG_REPORT_STEP)
                t->report.step = count;
        else if (field == SG_REPORT_TOTAL)
                t->report.total = count;
        else if (field == SG_REPORT_EPOCH)
                t->report.epoch = count;
        else
                t->report.epochs = count;
        t->report.has |= field;
}

static void take_metric(struct taking *t, const char *name, double value)
{
        struct sg_metric m = sg_metric_of(name, strlen(name));
        uint8_t rank = sg_metric_rank(&m, t->goal);

        if (strcasecmp(name, "eval") == 0)
                rank = RANK_EXPLICIT;
        if (rank == 0 || rank < t->rank || (rank == t->rank && t->report.has & SG_REPORT_EVAL))
                return;
        t->rank = rank;
        t->report.eval = value;
        t->report.has |= SG_REPORT_EVAL;
}

static void take(struct taking *t, const char *name, double value)
{
        uint32_t field = count_of(name);

        t->whole_run = t->whole_run || strcasecmp(name, "global_step") == 0;
        if (field)
                take_count(t, field, value);
        else
                take_metric(t, name, value);
}

/* "  0.5 " and nothing else. */
static bool read_number(const char *s, size_t n, double *ret)
{
        const char *end = s + n;

        while (s < end && (*s == ' ' || *s == '\t'))
                s++;
        while (end > s && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
                end--;
        return s < end && sg_number_scan(s, end, ret) == end;
}

/* Steps that go on through an epoch's end are counted from the beginning of the run. */
static void see_epochs(struct sg_values *v, const struct sg_report *r)
{
        if ((r->has & SG_REPORT_EPOCH) == 0 || (r->has & SG_REPORT_STEP) == 0)
                return;
        if (v->step > 0 && r->epoch > v->epoch && r->step > v->step)
                v->whole_run = true;
        v->step = r->step;
        v->epoch = r->epoch;
}

static int finish(struct sg_values *v, const struct taking *t, struct sg_report *ret)
{
        struct sg_report r = t->report;

        if (r.has == 0)
                return 0;
        v->rank = t->rank;
        see_epochs(v, &r);
        /* Steps of the whole run aren't told beside an epoch, of which they would seem to be. */
        v->whole_run = v->whole_run || t->whole_run;
        if ((r.has & SG_REPORT_STEP) && v->whole_run)
                r.has &= ~(uint32_t)(SG_REPORT_EPOCH | SG_REPORT_EPOCHS);
        if ((r.has & SG_REPORT_EPOCH) && r.epoch == 0)
                v->epoch_zero = true;
        r.epoch += v->epoch_zero;
        *ret = r;
        return 1;
}

/* --- JSON */

static bool value_of(json_t *value, double *ret)
{
        if (json_is_number(value)) {
                *ret = json_number_value(value);
                return true;
        }
        return json_is_string(value) &&
               read_number(json_string_value(value), json_string_length(value), ret);
}

static void take_object(struct taking *t, const char *prefix, json_t *object, unsigned depth)
{
        const char *key;
        json_t *value;

        json_object_foreach (object, key, value) {
                char name[NAME_MAX_SIZE];
                double number;
                int n = snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix ? "/" : "", key);

                if (n < 0 || (size_t)n >= sizeof(name))
                        continue;
                if (json_is_object(value) && depth < DEPTH_MAX)
                        take_object(t, name, value, depth + 1);
                else if (value_of(value, &number))
                        take(t, name, number);
        }
}

static size_t word_at(const char *s, const char *end)
{
        static const char *const words[] = {"NaN", "Infinity", "-Infinity"};

        for (size_t i = 0; i < SG_ELEMENTSOF(words); i++) {
                size_t n = strlen(words[i]);

                if ((size_t)(end - s) >= n && memcmp(s, words[i], n) == 0)
                        return n;
        }
        return 0;
}

/* Puts Python's words for what is no number in quotes: twice the size is enough. */
static size_t quote_words(const char *s, const char *end, char *out)
{
        bool quoted = false;
        char *o = out;

        while (s < end) {
                size_t n = quoted ? 0 : word_at(s, end);

                if (n > 0) {
                        *o++ = '"';
                        memcpy(o, s, n);
                        o += n;
                        *o++ = '"';
                        s += n;
                        continue;
                }
                if (*s == '\\' && s + 1 < end)
                        *o++ = *s++;
                else if (*s == '"')
                        quoted = !quoted;
                *o++ = *s++;
        }
        return (size_t)(o - out);
}

static int load(const char *text, size_t n, json_t **ret)
{
        _cleanup_free_ char *copy = NULL;
        json_error_t error;

        if (memmem(text, n, "NaN", 3) || memmem(text, n, "Infinity", 8)) {
                copy = malloc(2 * n);
                if (!copy)
                        return -ENOMEM;
                n = quote_words(text, text + n, copy);
                text = copy;
        }
        *ret = json_loadb(text, n, 0, &error);
        if (*ret)
                return 1;
        return json_error_code(&error) == json_error_out_of_memory ? -ENOMEM : 0;
}

int sg_values_json(struct sg_values *v, enum sg_goal goal, const char *text, size_t n,
                   struct sg_report *ret)
{
        _cleanup_(json_decrefp) json_t *root = NULL;
        struct taking t = {.goal = goal, .rank = v->rank};
        int r;

        while (n > 0 && strchr(" \t\r\n", *text)) {
                text++;
                n--;
        }
        if (n == 0 || *text != '{')
                return 0;
        r = load(text, n, &root);
        if (r <= 0)
                return r;
        take_object(&t, "", root, 0);
        return finish(v, &t, ret);
}

int sg_values_json_line(const char *line, size_t n, enum sg_goal goal, void *state,
                        struct sg_report *ret)
{
        int r = sg_values_json(state, goal, line, n, ret);

        return r > 0; /* short of memory a line is lost, the next one may do */
}

/* --- lines */

static void take_line(struct taking *t, const char *s, const char *end)
{
        char name[NAME_MAX_SIZE];
        const char *at = s;
        double value;
        size_t n;

        while (s < end && (*s == ' ' || *s == '\t'))
                s++;
        for (at = s; at < end && *at != '=' && *at != ':';)
                at++;
        if (at == end || !read_number(at + 1, (size_t)(end - at - 1), &value))
                return;
        for (n = (size_t)(at - s); n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t');)
                n--;
        if (n == 0 || n >= sizeof(name))
                return;
        memcpy(name, s, n);
        name[n] = 0;
        take(t, name, value);
}

int sg_values_lines(struct sg_values *v, enum sg_goal goal, const char *text, size_t n,
                    struct sg_report *ret)
{
        struct taking t = {.goal = goal, .rank = v->rank};
        const char *end = text + n;

        while (n > 0 && text < end) {
                const char *newline = memchr(text, '\n', (size_t)(end - text));

                take_line(&t, text, newline ? newline : end);
                text = newline ? newline + 1 : end;
        }
        return finish(v, &t, ret);
}
