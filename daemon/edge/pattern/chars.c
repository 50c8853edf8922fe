/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Characters, escapes and brackets of patterns, and the runs of bytes that every match contains. */

#include "base/cleanup.h"
#include "edge/pattern/internal.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>

/* --- saying no */

__attribute__((format(printf, 3, 4))) int sg_pattern_refuse(struct sg_pattern_parser *p,
                                                            const char *at, const char *format, ...)
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

/* --- the literal */

void sg_pattern_run_end(struct sg_pattern_parser *p)
{
        if (p->run_size > p->s->literal_size) {
                memcpy(p->s->literal, p->run, p->run_size);
                p->s->literal_size = p->run_size;
        }
        p->run_size = 0;
}

/* The run ends before its last character, which may have several bytes: what is repeated may be
 * missing. */
void sg_pattern_run_end_before_last(struct sg_pattern_parser *p)
{
        bool inside = true;

        while (p->run_size > 0 && inside)
                inside = ((unsigned char)p->run[--p->run_size] & 0xc0) == 0x80;
        sg_pattern_run_end(p);
}

static void run_add(struct sg_pattern_parser *p, unsigned byte)
{
        if (p->depth > 0)
                return;
        if (p->run_size == sizeof(p->run))
                sg_pattern_run_end(p);
        p->run[p->run_size++] = (char)byte;
}

struct sg_pattern_span sg_pattern_join(struct sg_pattern_span a, struct sg_pattern_span b)
{
        return (struct sg_pattern_span){
                .states = a.states + b.states,
                .first = a.first + (a.nullable ? b.first : 0),
                .last = b.last + (b.nullable ? a.last : 0),
                .steps = a.steps + b.steps + a.last * b.first,
                .nullable = a.nullable && b.nullable,
        };
}

/* --- characters */

static bool is_letter(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int write_set(struct sg_pattern_parser *p, struct sg_byte_set *set,
                     struct sg_pattern_span *ret)
{
        unsigned n;

        if (p->fold)
                sg_byte_set_fold(set);
        n = sg_byte_set_write(set, p->out);
        if (n == 0)
                return sg_pattern_refuse(p, p->p, "nothing can match the brackets that end here");
        *ret = sg_pattern_parts(n);
        return 0;
}

static int write_byte(struct sg_pattern_parser *p, unsigned byte, struct sg_pattern_span *ret)
{
        if (p->fold && byte < 128 && is_letter((char)byte)) {
                struct sg_byte_set set = {0};

                sg_byte_set_add(&set, byte, byte);
                return write_set(p, &set, ret);
        }
        sg_pattern_write_byte(byte, p->out);
        run_add(p, byte);
        *ret = sg_pattern_parts(1);
        return 0;
}

/* A character of several bytes is repeated as a whole. */
int sg_pattern_parse_character(struct sg_pattern_parser *p, struct sg_pattern_span *ret)
{
        struct sg_pattern_span byte;
        int r = 0;

        if ((unsigned char)*p->p < 0xc0)
                return write_byte(p, (unsigned char)*p->p++, ret);
        (void)fputs("(?:", p->out);
        *ret = sg_pattern_empty();
        do {
                r = write_byte(p, (unsigned char)*p->p++, &byte);
                *ret = sg_pattern_join(*ret, byte);
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
static int escaped_byte(struct sg_pattern_parser *p, const char *at, unsigned *ret)
{
        static const char letters[] = "tnrfaev", values[] = "\t\n\r\f\a\033\v";
        char c = *p->p;
        const char *known = c ? strchr(letters, c) : NULL;

        if (c == 0)
                return sg_pattern_refuse(p, at, "nothing follows the backslash");
        if (known) {
                *ret = (unsigned char)values[known - letters];
                p->p++;
                return 0;
        }
        if (c == 'x') {
                int high = hex_digit(p->p[1]), low = high < 0 ? -1 : hex_digit(p->p[2]);

                if (low < 0 || (high == 0 && low == 0))
                        return sg_pattern_refuse(p, at, "\\x wants two hexadecimal digits, not 00");
                *ret = (unsigned)(high * 16 + low);
                p->p += 3;
                return 0;
        }
        if (sg_pattern_is_digit(c) || c == 'k' || c == 'g')
                return sg_pattern_refuse(p, at,
                                         "back-references can't be matched in time that is linear");
        if (is_letter(c) || (unsigned char)c >= 128)
                return sg_pattern_refuse(p, at, "\\%c isn't known", is_letter(c) ? c : '?');
        *ret = (unsigned char)c;
        p->p++;
        return 0;
}

int sg_pattern_parse_escape(struct sg_pattern_parser *p, struct sg_pattern_span *ret,
                            bool *ret_assertion)
{
        const char *at = p->p++;
        struct sg_byte_set set = {0};
        unsigned byte = 0;
        int r;

        if (*p->p == 'b' || *p->p == 'B') {
                (void)fprintf(p->out, "\\%c", *p->p++);
                *ret = sg_pattern_empty();
                *ret_assertion = true;
                sg_pattern_run_end(p);
                return 0;
        }
        if (sg_byte_set_add_escape(&set, *p->p)) {
                p->p++;
                sg_pattern_run_end(p);
                return write_set(p, &set, ret);
        }
        r = escaped_byte(p, at, &byte);
        return r < 0 ? r : write_byte(p, byte, ret);
}

/* --- brackets */

/* [:alpha:] at p->p. */
static int parse_class(struct sg_pattern_parser *p, struct sg_byte_set *set)
{
        const char *at = p->p, *name = at + 2, *end = strstr(name, ":]");

        if (!end || !sg_byte_set_add_class(set, name, (size_t)(end - name)))
                return sg_pattern_refuse(
                        p, at, "no such class; there are [:alpha:], [:digit:], [:space:] …");
        p->p = end + 2;
        return 0;
}

/* One end of a range, or what stands alone. 1 = it was a class, which is added. */
static int parse_bracket_item(struct sg_pattern_parser *p, struct sg_byte_set *set, unsigned *ret)
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
                return sg_pattern_refuse(p, at, "only ASCII characters can stand in brackets");
        *ret = (unsigned char)*p->p++;
        return 0;
}

static int parse_bracket_range(struct sg_pattern_parser *p, struct sg_byte_set *set)
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
                        return sg_pattern_refuse(p, at, "this range has no end");
        }
        sg_byte_set_add(set, from, to);
        return 0;
}

int sg_pattern_parse_bracket(struct sg_pattern_parser *p, struct sg_pattern_span *ret)
{
        const char *at = p->p++, *first;
        struct sg_byte_set set = {0};
        bool inverted = *p->p == '^';
        int r = 0;

        sg_pattern_run_end(p);
        p->p += inverted;
        for (first = p->p; r >= 0 && (*p->p != ']' || p->p == first);) {
                if (*p->p == 0)
                        return sg_pattern_refuse(p, at, "this bracket isn't closed");
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
