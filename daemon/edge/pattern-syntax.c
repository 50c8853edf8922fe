/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads patterns and writes them for libtre. What a part costs is known from those of its parts, as
 * in Glushkov's automaton: its states, those it can begin and end with, and the steps between them.
 * libtre makes the same states and steps, with what is repeated written out.
 */

#include "edge/pattern-syntax.h"
#include "base/cleanup.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define DEPTH_MAX 32
#define REPEAT_MAX 255 /* libtre's */

struct span {
        uint64_t states, first, last, steps;
        bool nullable;
};

struct parser {
        const char *start, *p;
        FILE *out;
        struct sg_pattern_syntax *s;
        unsigned depth;
        bool fold;     /* letters match in both cases */
        bool named;    /* some group is */
        bool branched; /* alternatives at the top: nothing is in every match */
        char run[SG_PATTERN_LITERAL_MAX];
        size_t run_size;
        char *why;
};

/* --- saying no ----------------------------------------------------------------------------------
 */

__attribute__((format(printf, 3, 4))) static int refuse(struct parser *p, const char *at,
                                                        const char *format, ...)
{
        _cleanup_free_ char *what = NULL;
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&what, format, ap);
        va_end(ap);
        if (r < 0) {
                what = NULL;
                return -ENOMEM;
        }
        if (asprintf(&p->why, "pattern, character %zu: %s", (size_t)(at - p->start) + 1, what) <
            0) {
                p->why = NULL;
                return -ENOMEM;
        }
        return -EINVAL;
}

static int check_size(struct parser *p, const struct span *s)
{
        if (s->states > SG_PATTERN_STATES_MAX || s->steps + s->first > SG_PATTERN_STEPS_MAX)
                return refuse(p, p->p,
                              "up to here it is too large with all repetitions written "
                              "out: repeat less, or by * and +");
        return 0;
}

/* --- what parts cost ----------------------------------------------------------------------------
 */

static struct span span_of_parts(unsigned n)
{
        return (struct span){.states = n, .first = n, .last = n};
}

static struct span span_empty(void)
{
        return (struct span){.nullable = true};
}

static struct span span_join(struct span a, struct span b)
{
        return (struct span){
                .states = a.states + b.states,
                .first = a.first + (a.nullable ? b.first : 0),
                .last = b.last + (b.nullable ? a.last : 0),
                .steps = a.steps + b.steps + a.last * b.first,
                .nullable = a.nullable && b.nullable,
        };
}

static struct span span_either(struct span a, struct span b)
{
        return (struct span){
                .states = a.states + b.states,
                .first = a.first + b.first,
                .last = a.last + b.last,
                .steps = a.steps + b.steps,
                .nullable = a.nullable || b.nullable,
        };
}

static struct span span_loop(struct span a)
{
        a.steps += a.last * a.first;
        return a;
}

static struct span span_repeat(struct span a, unsigned min, unsigned max)
{
        struct span all = span_empty();

        if (max == UINT32_MAX) {
                all = span_loop(a);
                all.nullable = all.nullable || min == 0;
                max = min > 0 ? --min : 0;
        }
        for (unsigned n = max; n > 0 && all.steps <= SG_PATTERN_STEPS_MAX; n--) {
                all = span_join(a, all);
                all.nullable = all.nullable || n > min;
        }
        return all;
}

/* --- the literal --------------------------------------------------------------------------------
 */

static void run_end(struct parser *p)
{
        if (p->run_size > p->s->literal_size) {
                memcpy(p->s->literal, p->run, p->run_size);
                p->s->literal_size = p->run_size;
        }
        p->run_size = 0;
}

/* What is repeated may be missing: without the last character, which may have several bytes. */
static void run_end_before_last(struct parser *p)
{
        bool inside = true;

        while (p->run_size > 0 && inside)
                inside = ((unsigned char)p->run[--p->run_size] & 0xc0) == 0x80;
        run_end(p);
}

static void run_add(struct parser *p, unsigned byte)
{
        if (p->depth > 0)
                return;
        if (p->run_size == sizeof(p->run))
                run_end(p);
        p->run[p->run_size++] = (char)byte;
}

/* --- characters ---------------------------------------------------------------------------------
 */

static bool is_letter(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static int write_set(struct parser *p, struct sg_byte_set *set, struct span *ret)
{
        unsigned n;

        if (p->fold)
                sg_byte_set_fold(set);
        n = sg_byte_set_write(set, p->out);
        if (n == 0)
                return refuse(p, p->p, "nothing can match the brackets that end here");
        *ret = span_of_parts(n);
        return 0;
}

static int write_byte(struct parser *p, unsigned byte, struct span *ret)
{
        if (p->fold && byte < 128 && is_letter((char)byte)) {
                struct sg_byte_set set = {0};

                sg_byte_set_add(&set, byte, byte);
                return write_set(p, &set, ret);
        }
        sg_pattern_write_byte(byte, p->out);
        run_add(p, byte);
        *ret = span_of_parts(1);
        return 0;
}

/* A character of several bytes is repeated as a whole. */
static int write_character(struct parser *p, struct span *ret)
{
        struct span byte;
        int r = 0;

        if ((unsigned char)*p->p < 0xc0)
                return write_byte(p, (unsigned char)*p->p++, ret);
        (void)fputs("(?:", p->out);
        *ret = span_empty();
        do {
                r = write_byte(p, (unsigned char)*p->p++, &byte);
                *ret = span_join(*ret, byte);
        } while (r >= 0 && ((unsigned char)*p->p & 0xc0) == 0x80);
        (void)fputc(')', p->out);
        return r;
}

static int hex_digit(char c)
{
        static const char digits[] = "0123456789abcdef";
        const char *at = c ? strchr(digits, is_letter(c) ? c | 0x20 : c) : NULL;

        return at ? (int)(at - digits) : -1;
}

/* The byte that the escape at p->p (behind the backslash) stands for, past which it moves. */
static int escaped_byte(struct parser *p, const char *at, unsigned *ret)
{
        static const char letters[] = "tnrfaev", values[] = "\t\n\r\f\a\033\v";
        char c = *p->p;
        const char *known = c ? strchr(letters, c) : NULL;

        if (c == 0)
                return refuse(p, at, "nothing follows the backslash");
        if (known) {
                *ret = (unsigned char)values[known - letters];
                p->p++;
                return 0;
        }
        if (c == 'x') {
                int high = hex_digit(p->p[1]), low = high < 0 ? -1 : hex_digit(p->p[2]);

                if (low < 0 || (high == 0 && low == 0))
                        return refuse(p, at, "\\x wants two hexadecimal digits, not 00");
                *ret = (unsigned)(high * 16 + low);
                p->p += 3;
                return 0;
        }
        if (is_digit(c) || c == 'k' || c == 'g')
                return refuse(p, at, "back-references can't be matched in time that is linear");
        if (is_letter(c) || (unsigned char)c >= 128)
                return refuse(p, at, "\\%c isn't known", is_letter(c) ? c : '?');
        *ret = (unsigned char)c;
        p->p++;
        return 0;
}

static int parse_escape(struct parser *p, struct span *ret, bool *ret_assertion)
{
        const char *at = p->p++;
        struct sg_byte_set set = {0};
        unsigned byte = 0;
        int r;

        if (*p->p == 'b' || *p->p == 'B') {
                (void)fprintf(p->out, "\\%c", *p->p++);
                *ret = span_empty();
                *ret_assertion = true;
                run_end(p);
                return 0;
        }
        if (sg_byte_set_add_escape(&set, *p->p)) {
                p->p++;
                run_end(p);
                return write_set(p, &set, ret);
        }
        r = escaped_byte(p, at, &byte);
        return r < 0 ? r : write_byte(p, byte, ret);
}

/* --- brackets -----------------------------------------------------------------------------------
 */

/* [:alpha:] at p->p. */
static int parse_class(struct parser *p, struct sg_byte_set *set)
{
        const char *at = p->p, *name = at + 2, *end = strstr(name, ":]");

        if (!end || !sg_byte_set_add_class(set, name, (size_t)(end - name)))
                return refuse(p, at, "no such class; there are [:alpha:], [:digit:], [:space:] …");
        p->p = end + 2;
        return 0;
}

/* One end of a range, or what stands alone. 1 = it was a class, which is added. */
static int parse_bracket_item(struct parser *p, struct sg_byte_set *set, unsigned *ret)
{
        const char *at = p->p;
        int r;

        if (at[0] == '[' && at[1] == ':') {
                r = parse_class(p, set);
                return r < 0 ? r : 1;
        }
        if (at[0] == '\\') {
                p->p++;
                if (sg_byte_set_add_escape(set, *p->p)) {
                        p->p++;
                        return 1;
                }
                return escaped_byte(p, at, ret);
        }
        if ((unsigned char)*at >= 128)
                return refuse(p, at, "only ASCII characters can stand in brackets");
        *ret = (unsigned char)*p->p++;
        return 0;
}

static int parse_bracket_range(struct parser *p, struct sg_byte_set *set)
{
        const char *at = p->p;
        unsigned from = 0, to;
        int r;

        r = parse_bracket_item(p, set, &from);
        if (r != 0)
                return r < 0 ? r : 0;
        to = from;
        if (p->p[0] == '-' && p->p[1] != ']' && p->p[1] != 0) {
                p->p++;
                r = parse_bracket_item(p, set, &to);
                if (r < 0)
                        return r;
                if (r > 0 || to < from)
                        return refuse(p, at, "this range has no end");
        }
        sg_byte_set_add(set, from, to);
        return 0;
}

static int parse_bracket(struct parser *p, struct span *ret)
{
        const char *at = p->p++, *first;
        struct sg_byte_set set = {0};
        bool inverted = *p->p == '^';
        int r = 0;

        run_end(p);
        p->p += inverted;
        for (first = p->p; r >= 0 && (*p->p != ']' || p->p == first);) {
                if (*p->p == 0)
                        return refuse(p, at, "this bracket isn't closed");
                r = parse_bracket_range(p, &set);
        }
        if (r < 0)
                return r;
        p->p++;
        /* Letters that are not to match must not come in by their other case. */
        if (p->fold)
                sg_byte_set_fold(&set);
        if (inverted)
                sg_byte_set_invert(&set);
        return write_set(p, &set, ret);
}

/* --- groups -------------------------------------------------------------------------------------
 */

static int parse_either(struct parser *p, struct span *ret);

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

/* Behind "(?": a name, or that there is none. */
static int parse_group_kind(struct parser *p, const char *at, bool *ret_captures, uint32_t *ret)
{
        const char *name = p->p + (*p->p == 'P'), *end;

        if (*p->p == ':') {
                p->p++;
                *ret_captures = false;
                return 0;
        }
        if (*name != '<' || name[1] == '=' || name[1] == '!')
                return refuse(p, at,
                              "there is (…), (?:…) and (?<name>…) only: no look-around, and (?i) "
                              "in front of all");
        end = strchr(++name, '>');
        *ret = end ? field_of(name, (size_t)(end - name)) : 0;
        if (*ret == 0)
                return refuse(p, at,
                              "a field is (?<loss>…), (?<eval>…), (?<step>…), (?<total>…), "
                              "(?<epoch>…) or (?<epochs>…)");
        p->p = end + 1;
        p->named = true;
        return 0;
}

static int open_group(struct parser *p, const char *at)
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
                return refuse(p, at, "more than %u groups; (?:…) doesn't count",
                              SG_PATTERN_GROUPS_MAX);
        if (captures)
                p->s->fields[++p->s->n_groups] = field;
        (void)fputs(captures ? "(" : "(?:", p->out);
        return 0;
}

static int parse_group(struct parser *p, struct span *ret)
{
        const char *at = p->p;
        int r;

        run_end(p);
        if (p->depth == DEPTH_MAX)
                return refuse(p, at, "groups lie more than %d deep in each other", DEPTH_MAX);
        r = open_group(p, at);
        if (r < 0)
                return r;
        p->depth++;
        r = parse_either(p, ret);
        p->depth--;
        if (r < 0)
                return r;
        if (*p->p != ')')
                return refuse(p, at, "this parenthesis isn't closed");
        p->p++;
        (void)fputc(')', p->out);
        return 0;
}

/* --- repetitions --------------------------------------------------------------------------------
 */

/* "{2}", "{2,}", "{2,5}" at s: its length, or 0 for any other brace, which is a character. */
static size_t read_braces(const char *s, unsigned *ret_min, unsigned *ret_max)
{
        unsigned long min, max;
        char *end;

        if (s[0] != '{' || !is_digit(s[1]))
                return 0;
        min = max = strtoul(s + 1, &end, 10);
        if (*end == ',') {
                max = UINT32_MAX;
                if (is_digit(*++end)) {
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
static int refuse_second(struct parser *p)
{
        unsigned min, max;

        if (read_repeat(p->p, &min, &max) > 0)
                return refuse(p, p->p, "this repetition follows another one");
        return 0;
}

static int parse_repeat(struct parser *p, bool assertion, struct span *s)
{
        unsigned min, max;
        size_t n = read_repeat(p->p, &min, &max);

        if (n == 0)
                return 0;
        if (assertion)
                return refuse(p, p->p, "there is nothing to repeat before this");
        if (max == 0 || max < min || min > REPEAT_MAX || (max > REPEAT_MAX && max != UINT32_MAX))
                return refuse(p, p->p, "repetitions go from 0 to %d, at least once", REPEAT_MAX);
        run_end_before_last(p);
        *s = span_repeat(*s, min, max);
        (void)fwrite(p->p, 1, n, p->out);
        p->p += n;
        if (*p->p == '?')
                (void)fputc(*p->p++, p->out);
        return refuse_second(p);
}

/* --- the whole ----------------------------------------------------------------------------------
 */

static int parse_atom(struct parser *p, struct span *ret, bool *ret_assertion)
{
        unsigned min, max;

        switch (*p->p) {
        case '(':
                return parse_group(p, ret);
        case '[':
                return parse_bracket(p, ret);
        case '\\':
                return parse_escape(p, ret, ret_assertion);
        case '^':
        case '$':
                *ret = span_empty();
                *ret_assertion = true;
                run_end(p);
                (void)fputc(*p->p++, p->out);
                return 0;
        case '.':
                run_end(p);
                (void)fputc(*p->p++, p->out);
                *ret = span_of_parts(1);
                return 0;
        default:
                if (read_repeat(p->p, &min, &max) > 0)
                        return refuse(p, p->p, "there is nothing to repeat before this");
                return write_character(p, ret);
        }
}

static int parse_sequence(struct parser *p, struct span *ret)
{
        struct span all = span_empty();
        int r = 0;

        while (r >= 0 && *p->p && *p->p != '|' && *p->p != ')') {
                struct span s = span_empty();
                bool assertion = false;

                r = parse_atom(p, &s, &assertion);
                if (r >= 0)
                        r = parse_repeat(p, assertion, &s);
                if (r < 0)
                        break;
                all = span_join(all, s);
                r = check_size(p, &all);
        }
        run_end(p);
        *ret = all;
        return r;
}

static int parse_either(struct parser *p, struct span *ret)
{
        struct span all, s;
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

static int find_fields(struct parser *p)
{
        if (p->named)
                return 0;
        if (p->s->n_groups == 1) {
                p->s->fields[1] = SG_REPORT_EVAL;
                return 0;
        }
        return refuse(p, p->start,
                      p->s->n_groups == 0
                              ? "no field is named: put (?<loss>…) around what matches the number"
                              : "of several groups none is named: (?<loss>…), (?<step>…)");
}

static int parse_all(struct parser *p)
{
        struct span all;
        int r;

        if (strlen(p->start) > SG_PATTERN_LENGTH_MAX)
                return refuse(p, p->start + SG_PATTERN_LENGTH_MAX, "it is longer than %u bytes",
                              SG_PATTERN_LENGTH_MAX);
        if (strncmp(p->p, "(?i)", 4) == 0) {
                p->fold = true;
                p->p += 4;
        }
        r = parse_either(p, &all);
        if (r >= 0 && *p->p == ')')
                r = refuse(p, p->p, "this parenthesis was never opened");
        if (r >= 0)
                r = find_fields(p);
        if (p->branched)
                p->s->literal_size = 0;
        return r;
}

int sg_pattern_syntax_parse(struct sg_pattern_syntax *ret, const char *pattern, char **ret_why)
{
        struct sg_pattern_syntax s = {.text = NULL};
        struct parser p = {.start = pattern, .p = pattern, .s = &s};
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
