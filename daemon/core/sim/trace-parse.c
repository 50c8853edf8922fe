/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads traces, strictly: what isn't understood is an error that names line and column. A table
 * says for each column where its value goes and within which bounds it makes sense; they are wide,
 * and keep the arithmetic of a simulation finite.
 */

#include "base/cleanup.h"
#include "base/number.h"
#include "core/sim/trace-internal.h"
#include "core/sim/trace.h"
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define FIELD_MAX 320
#define AT(member) offsetof(struct sg_trace_job, member)

enum type { LABEL, NUMBER, COUNT, CURVE, DEADLINE, EXPONENT, SPEEDUP, THREADS };

static const struct column {
        const char *name;
        enum type type;
        size_t offset;
        double lo, hi;
        const char *what;
} columns[] = {
        {"instance", LABEL, AT(instance), 0, 0, "wants a label of 1 to 31 characters"},
        {"job", LABEL, AT(job), 0, 0, "wants a label of 1 to 31 characters"},
        {"arrival", NUMBER, AT(arrival), 0, 1e9, "wants seconds, 0 or more"},
        {"work", NUMBER, AT(work), 1e-3, 1e9, "wants seconds, at least 0.001"},
        {"width", NUMBER, AT(width), 1e-3, 1, "wants a part of the node, 0.001 to 1"},
        {"curve", CURVE, AT(curve), 0, 0, "wants exp, pow or weibull"},
        {"a", NUMBER, AT(a), 1e-6, 1e6, "wants a number from 0.000001 to 1000000"},
        {"b", NUMBER, AT(b), 0, 100, "wants a number from 0 to 100; above 0 but for exp"},
        {"first", NUMBER, AT(first), -1e30, 1e30, "wants a number"},
        {"last", NUMBER, AT(last), -1e30, 1e30, "wants a number"},
        {"reports", COUNT, AT(reports), 0, 100000, "wants a whole number up to 100000"},
        {"noise", NUMBER, AT(noise), 0, 100, "wants a number from 0 to 100"},
        {"deadline", DEADLINE, AT(deadline), 0, 1e12, "wants seconds, or nothing"},
        {"exponent", EXPONENT, AT(speedup), 0, 1, "wants a number from 0 to 1, or nothing"},
        {"speedup", SPEEDUP, AT(speedup), 1, 1e6,
         "wants points such as \"1:1,2:1.4,4:2.1\", ascending and concave, or nothing"},
        {"threads", THREADS, AT(threads), 1, 1e6, "wants a whole number from 1, or nothing"},
};
#define N_COLUMNS SG_ELEMENTSOF(columns)

struct parser {
        const char *p, *end;
        size_t line;
        size_t order[N_COLUMNS]; /* which column the i-th field of a line is of */
        size_t n;
        struct sg_trace_error *e;
};

static int fail(const struct parser *p, const char *column, const char *what)
{
        *p->e = (struct sg_trace_error){.line = p->line, .column = column, .what = what};
        return -EBADMSG;
}

/* The next line without its end; false: there is none. */
static bool next_line(struct parser *p, const char **ret, const char **ret_end)
{
        const char *end;

        if (p->p == p->end)
                return false;
        end = memchr(p->p, '\n', (size_t)(p->end - p->p));
        *ret = p->p;
        *ret_end = end ? end : p->end;
        p->p = end ? end + 1 : p->end;
        p->line++;
        if (*ret_end > *ret && (*ret_end)[-1] == '\r')
                (*ret_end)--;
        return true;
}

/* Moves *s behind the field and its comma, or to NULL behind the last. */
static bool next_field(const char **s, const char *end, char buf[FIELD_MAX])
{
        bool quoted = *s < end && **s == '"';
        const char *comma, *from = *s;
        size_t size;

        if (quoted)
                from = memchr(*s + 1, '"', (size_t)(end - *s - 1));
        if (!from)
                return false;
        comma = memchr(from, ',', (size_t)(end - from));
        size = (size_t)((comma ? comma : end) - *s);
        if (quoted && *s + size != from + 1)
                return false;
        if (size >= FIELD_MAX || memchr(*s, '\0', size))
                return false;
        memcpy(buf, *s + quoted, size - 2 * quoted);
        buf[size - 2 * quoted] = '\0';
        *s = comma ? comma + 1 : NULL;
        return true;
}

static const struct column *column_of(const char *name)
{
        for (size_t i = 0; i < N_COLUMNS; i++)
                if (strcmp(columns[i].name, name) == 0)
                        return &columns[i];
        return NULL;
}

static int parse_header(struct parser *p)
{
        const char *s, *end;
        bool seen[N_COLUMNS] = {false};
        char field[FIELD_MAX];

        if (!next_line(p, &s, &end))
                return fail(p, NULL, "there is no header");
        while (s) {
                const struct column *c = next_field(&s, end, field) ? column_of(field) : NULL;

                if (!c)
                        return fail(p, NULL, "the header names a column that there isn't");
                if (seen[c - columns])
                        return fail(p, c->name, "is there twice");
                seen[c - columns] = true;
                p->order[p->n++] = (size_t)(c - columns);
        }
        for (size_t i = 0; i < N_COLUMNS; i++)
                if (!seen[i] && columns[i].type < DEADLINE)
                        return fail(p, columns[i].name, "is missing");
        return 0;
}

static bool parse_label(const char *field, char *to)
{
        size_t size = strlen(field);

        if (size == 0 || size >= SG_TRACE_LABEL_MAX)
                return false;
        for (size_t i = 0; i < size; i++)
                if (field[i] <= ' ' || field[i] > '~' || field[i] == '"')
                        return false;
        memcpy(to, field, size + 1);
        return true;
}

static bool parse_number(const struct column *c, const char *field, double *ret)
{
        const char *end = field + strlen(field), *behind;
        double v;

        behind = sg_number_scan(field, end, &v);
        if (behind != end || !(v >= c->lo && v <= c->hi))
                return false;
        *ret = v;
        return true;
}

/* One point; *s behind it, and what is between it and the next. */
static bool parse_point(const char **s, double *ret_cpus, double *ret_speed)
{
        const char *end = *s + strlen(*s), *p = sg_number_scan(*s, end, ret_cpus);

        if (!p || *p != ':')
                return false;
        p = sg_number_scan(p + 1, end, ret_speed);
        if (!p || (*p && *p != ',' && *p != ';'))
                return false;
        *s = *p ? p + 1 : p;
        return *p == '\0' || **s;
}

/* Straight between points; beyond the last one as it went up to that, by doublings. */
static bool parse_speedup(const struct column *c, const char *s, struct sg_speedup *ret)
{
        double from, at, speed, faster, slope = 1, before = 1;
        int octave = 0;

        if (!parse_point(&s, &from, &speed) || from != 1 || speed != 1 || !*s)
                return false;
        for (; *s; from = at, speed = faster) {
                double next;

                if (!parse_point(&s, &at, &faster) || !(at > from && at <= c->hi))
                        return false;
                next = (faster - speed) / (at - from);
                if (!(next >= 0 && next <= slope * (1 + 1e-9)))
                        return false;
                slope = next;
                for (; octave < SG_SPEEDUP_OCTAVES && exp2(octave + 1) <= at; octave++) {
                        double here = speed + slope * (exp2(octave + 1) - from);

                        ret->exponent[octave] = log2(here / before);
                        before = here;
                }
        }
        for (double left = log2(faster / before) / (log2(at) - octave); octave < SG_SPEEDUP_OCTAVES;
             octave++)
                ret->exponent[octave] = at > exp2(octave) ? left
                                        : octave > 0      ? ret->exponent[octave - 1]
                                                          : 0;
        return true;
}

static bool parse_count(const struct column *c, const char *field, uint32_t *ret)
{
        double v;

        if (!parse_number(c, field, &v) || v != (uint32_t)v)
                return false;
        *ret = (uint32_t)v;
        return true;
}

static bool parse_field(const struct column *c, const char *field, struct sg_trace_job *job)
{
        void *at = (char *)job + c->offset;
        double v;
        int r;

        switch (c->type) {
        case LABEL:
                return parse_label(field, at);
        case NUMBER:
                return parse_number(c, field, at);
        case DEADLINE:
                return !*field || parse_number(c, field, at);
        case COUNT:
                return parse_count(c, field, at);
        case THREADS:
                return !*field || parse_count(c, field, at);
        case EXPONENT:
                if (!*field)
                        return true;
                if (!parse_number(c, field, &v))
                        return false;
                *(struct sg_speedup *)at = sg_speedup_of(v);
                return true;
        case SPEEDUP:
                return !*field || parse_speedup(c, field, at);
        case CURVE:
                r = sg_trace_curve_from_string(field);
                if (r >= 0)
                        *(enum sg_trace_curve *)at = (enum sg_trace_curve)r;
                return r >= 0;
        }
        return false;
}

static int parse_job(struct parser *p, const char *s, const char *end, struct sg_trace_job *job)
{
        char field[FIELD_MAX];
        size_t n = 0;

        *job = (struct sg_trace_job){.deadline = (double)INFINITY, .speedup = sg_speedup_of(1)};
        for (; s; n++) {
                const struct column *c = n < p->n ? &columns[p->order[n]] : NULL;

                if (!c)
                        return fail(p, NULL, "has more fields than the header");
                if (!next_field(&s, end, field) || !parse_field(c, field, job))
                        return fail(p, c->name, c->what);
        }
        if (n < p->n)
                return fail(p, columns[p->order[n]].name, "is missing");
        if (job->curve != SG_CURVE_EXP && !(job->b >= 1e-3))
                return fail(p, "b", "wants at least 0.001 but for exp");
        return 0;
}

int sg_trace_parse(struct sg_trace *t, const char *text, size_t size, struct sg_trace_error *e)
{
        struct parser p = {.p = text, .end = text + size, .e = e};
        size_t before = t->n;
        const char *s, *end;
        int r = parse_header(&p);

        while (r == 0 && next_line(&p, &s, &end)) {
                struct sg_trace_job job;

                if (s == end)
                        continue;
                r = parse_job(&p, s, end, &job);
                if (r == 0)
                        r = sg_trace_add(t, &job);
        }
        if (r == 0 && t->n == before)
                r = fail(&p, NULL, "there are no jobs");
        if (r < 0) {
                t->n = before;
                return r;
        }
        return sg_trace_sort(t);
}
