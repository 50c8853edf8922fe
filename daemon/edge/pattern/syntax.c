/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads patterns and writes them for libtre. What a part costs is known from those of its parts, as
 * in Glushkov's automaton: its states, those it can begin and end with, and the steps between them.
 * libtre makes the same states and steps, with what is repeated written out.
 */

#include "base/cleanup.h"
#include "edge/pattern/internal.h"
#include <errno.h>
#include <string.h>

#define DEPTH_MAX 32
#define REPEAT_MAX 255 /* libtre's */

static int check_size(struct sg_pattern_parser *p, const struct sg_pattern_span *s)
{
        if (s->states > SG_PATTERN_STATES_MAX || s->steps + s->first > SG_PATTERN_STEPS_MAX)
                return sg_pattern_refuse(p, p->p,
                                         "up to here it is too large with all repetitions written "
                                         "out: repeat less, or by * and +");
        return 0;
}

/* --- what parts cost */

static struct sg_pattern_span span_either(struct sg_pattern_span a, struct sg_pattern_span b)
{
        return (struct sg_pattern_span){
                .states = a.states + b.states,
                .first = a.first + b.first,
                .last = a.last + b.last,
                .steps = a.steps + b.steps,
                .nullable = a.nullable || b.nullable,
        };
}

static struct sg_pattern_span span_loop(struct sg_pattern_span a)
{
        a.steps += a.last * a.first;
        return a;
}

static struct sg_pattern_span span_repeat(struct sg_pattern_span a, unsigned min, unsigned max)
{
        struct sg_pattern_span all = sg_pattern_empty();

        if (max == UINT32_MAX) {
                all = span_loop(a);
                all.nullable = all.nullable || min == 0;
                max = min > 0 ? --min : 0;
        }
        for (unsigned n = max; n > 0 && all.steps <= SG_PATTERN_STEPS_MAX; n--) {
                all = sg_pattern_join(a, all);
                all.nullable = all.nullable || n > min;
        }
        return all;
}

/* --- groups */

static int parse_either(struct sg_pattern_parser *p, struct sg_pattern_span *ret);

static uint32_t field_of(const char *name, size_t n)
{
        static const struct {
                const char *name;
                uint32_t field;
        } fields[] = {
                {"loss", SG_REPORT_EVAL},   {"eval", SG_REPORT_EVAL},
                {"step", SG_REPORT_STEP},   {"total", SG_REPORT_TOTAL},
                {"epoch", SG_REPORT_EPOCH}, {"epochs", SG_REPORT_EPOCHS},
        };

        for (size_t i = 0; i < SG_ELEMENTSOF(fields); i++)
                if (strlen(fields[i].name) == n && memcmp(fields[i].name, name, n) == 0)
                        return fields[i].field;
        return 0;
}

/* Reads what stands behind "(?": a name, or that there is none. */
static int parse_group_kind(struct sg_pattern_parser *p, const char *at, bool *ret_captures,
                            uint32_t *ret)
{
        const char *name = p->p + (*p->p == 'P'), *end;

        if (*p->p == ':') {
                p->p++;
                *ret_captures = false;
                return 0;
        }
        if (*name != '<' || name[1] == '=' || name[1] == '!')
                return sg_pattern_refuse(
                        p, at,
                        "there is (…), (?:…) and (?<name>…) only: no look-around, and (?i) "
                        "in front of all");
        end = strchr(++name, '>');
        *ret = end ? field_of(name, (size_t)(end - name)) : 0;
        if (*ret == 0)
                return sg_pattern_refuse(
                        p, at,
                        "a field is (?<loss>…), (?<eval>…), (?<step>…), (?<total>…), "
                        "(?<epoch>…) or (?<epochs>…)");
        p->p = end + 1;
        p->named = true;
        return 0;
}

static int open_group(struct sg_pattern_parser *p, const char *at)
{
        bool captures = true;
        uint32_t field = 0;
        int r = 0;

        p->p++;
        if (*p->p == '?') {
                p->p++;
                r = parse_group_kind(p, at, &captures, &field);
        }
        if (r < 0)
                return r;
        if (captures && p->s->n_groups == SG_PATTERN_GROUPS_MAX)
                return sg_pattern_refuse(p, at, "more than %u groups; (?:…) doesn't count",
                                         SG_PATTERN_GROUPS_MAX);
        if (captures)
                p->s->fields[++p->s->n_groups] = field;
        (void)fputs(captures ? "(" : "(?:", p->out);
        return 0;
}

static int parse_group(struct sg_pattern_parser *p, struct sg_pattern_span *ret)
{
        const char *at = p->p;
        int r;

        sg_pattern_run_end(p);
        if (p->depth == DEPTH_MAX)
                return sg_pattern_refuse(p, at, "groups lie more than %d deep in each other",
                                         DEPTH_MAX);
        r = open_group(p, at);
        if (r < 0)
                return r;
        p->depth++;
        r = parse_either(p, ret);
        p->depth--;
        if (r < 0)
                return r;
        if (*p->p != ')')
                return sg_pattern_refuse(p, at, "this parenthesis isn't closed");
        p->p++;
        (void)fputc(')', p->out);
        return 0;
}

/* --- repetitions */

/* "{2}", "{2,}", "{2,5}" at s: its length, or 0 for any other brace, which is a character. */
static size_t read_braces(const char *s, unsigned *ret_min, unsigned *ret_max)
{
        unsigned long min, max;
        char *end;

        if (s[0] != '{' || !sg_pattern_is_digit(s[1]))
                return 0;
        min = max = strtoul(s + 1, &end, 10);
        if (*end == ',') {
                max = UINT32_MAX;
                if (sg_pattern_is_digit(*++end)) {
                        max = strtoul(end, &end, 10);
                        max = max < UINT32_MAX ? max : UINT32_MAX - 1;
                }
        }
        if (*end != '}')
                return 0;
        *ret_min = min < UINT32_MAX ? (unsigned)min : UINT32_MAX - 1;
        *ret_max = (unsigned)max;
        return (size_t)(end - s) + 1;
}

static size_t read_repeat(const char *s, unsigned *ret_min, unsigned *ret_max)
{
        *ret_min = *s == '+';
        *ret_max = *s == '?' ? 1 : UINT32_MAX;
        if (*s == '*' || *s == '+' || *s == '?')
                return 1;
        return read_braces(s, ret_min, ret_max);
}

/* libtre takes a repetition of a repetition for something of its own. */
static int refuse_second(struct sg_pattern_parser *p)
{
        unsigned min, max;

        if (read_repeat(p->p, &min, &max) > 0)
                return sg_pattern_refuse(p, p->p, "this repetition follows another one");
        return 0;
}

static int parse_repeat(struct sg_pattern_parser *p, bool assertion, struct sg_pattern_span *s)
{
        unsigned min, max;
        size_t n = read_repeat(p->p, &min, &max);

        if (n == 0)
                return 0;
        if (assertion)
                return sg_pattern_refuse(p, p->p, "there is nothing to repeat before this");
        if (max == 0 || max < min || min > REPEAT_MAX || (max > REPEAT_MAX && max != UINT32_MAX))
                return sg_pattern_refuse(p, p->p, "repetitions go from 0 to %d, at least once",
                                         REPEAT_MAX);
        sg_pattern_run_end_before_last(p);
        *s = span_repeat(*s, min, max);
        (void)fwrite(p->p, 1, n, p->out);
        p->p += n;
        if (*p->p == '?')
                (void)fputc(*p->p++, p->out);
        return refuse_second(p);
}

/* --- the whole */

static int parse_atom(struct sg_pattern_parser *p, struct sg_pattern_span *ret, bool *ret_assertion)
{
        unsigned min, max;

        switch (*p->p) {
        case '(':
                return parse_group(p, ret);
        case '[':
                return sg_pattern_parse_bracket(p, ret);
        case '\\':
                return sg_pattern_parse_escape(p, ret, ret_assertion);
        case '^':
        case '$':
                *ret = sg_pattern_empty();
                *ret_assertion = true;
                sg_pattern_run_end(p);
                (void)fputc(*p->p++, p->out);
                return 0;
        case '.':
                sg_pattern_run_end(p);
                (void)fputc(*p->p++, p->out);
                *ret = sg_pattern_parts(1);
                return 0;
        default:
                if (read_repeat(p->p, &min, &max) > 0)
                        return sg_pattern_refuse(p, p->p, "there is nothing to repeat before this");
                return sg_pattern_parse_character(p, ret);
        }
}

static int parse_sequence(struct sg_pattern_parser *p, struct sg_pattern_span *ret)
{
        struct sg_pattern_span all = sg_pattern_empty();
        int r = 0;

        while (r >= 0 && *p->p && *p->p != '|' && *p->p != ')') {
                struct sg_pattern_span s = sg_pattern_empty();
                bool assertion = false;

                r = parse_atom(p, &s, &assertion);
                if (r >= 0)
                        r = parse_repeat(p, assertion, &s);
                if (r < 0)
                        break;
                all = sg_pattern_join(all, s);
                r = check_size(p, &all);
        }
        sg_pattern_run_end(p);
        *ret = all;
        return r;
}

static int parse_either(struct sg_pattern_parser *p, struct sg_pattern_span *ret)
{
        struct sg_pattern_span all, s;
        int r;

        r = parse_sequence(p, &all);
        while (r >= 0 && *p->p == '|') {
                p->branched = p->branched || p->depth == 0;
                (void)fputc(*p->p++, p->out);
                r = parse_sequence(p, &s);
                if (r < 0)
                        break;
                all = span_either(all, s);
                r = check_size(p, &all);
        }
        *ret = all;
        return r;
}

static int find_fields(struct sg_pattern_parser *p)
{
        if (p->named)
                return 0;
        if (p->s->n_groups == 1) {
                p->s->fields[1] = SG_REPORT_EVAL;
                return 0;
        }
        return sg_pattern_refuse(
                p, p->start,
                p->s->n_groups == 0
                        ? "no field is named: put (?<loss>…) around what matches the number"
                        : "of several groups none is named: (?<loss>…), (?<step>…)");
}

static int parse_all(struct sg_pattern_parser *p)
{
        struct sg_pattern_span all;
        int r;

        if (strlen(p->start) > SG_PATTERN_LENGTH_MAX)
                return sg_pattern_refuse(p, p->start + SG_PATTERN_LENGTH_MAX,
                                         "it is longer than %u bytes", SG_PATTERN_LENGTH_MAX);
        if (strncmp(p->p, "(?i)", 4) == 0) {
                p->fold = true;
                p->p += 4;
        }
        r = parse_either(p, &all);
        if (r >= 0 && *p->p == ')')
                r = sg_pattern_refuse(p, p->p, "this parenthesis was never opened");
        if (r >= 0)
                r = find_fields(p);
        if (p->branched)
                p->s->literal_size = 0;
        return r;
}

int sg_pattern_syntax_parse(struct sg_pattern_syntax *ret, const char *pattern, char **ret_why)
{
        struct sg_pattern_syntax s = {.text = NULL};
        struct sg_pattern_parser p = {.start = pattern, .p = pattern, .s = &s};
        int r;

        p.out = open_memstream(&s.text, &s.size);
        if (!p.out)
                return -ENOMEM;
        r = parse_all(&p);
        if (fclose(p.out) != 0 && r >= 0)
                r = -ENOMEM;
        if (r < 0) {
                sg_pattern_syntax_deinit(&s);
                if (r == -EINVAL && ret_why)
                        *ret_why = TAKE_PTR(p.why);
                free(p.why);
                return r;
        }
        *ret = s;
        return 0;
}

void sg_pattern_syntax_deinit(struct sg_pattern_syntax *s)
{
        free(TAKE_PTR(s->text));
}
