/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sets of bytes in patterns. */

#include "base/cleanup.h"
#include "edge/pattern/syntax.h"
#include <stdio.h>
#include <string.h>

static const struct {
        const char *name, *ranges; /* pairs: from, to */
} classes[] = {
        {"alnum", "09AZaz"},  {"alpha", "AZaz"},     {"blank", "\t\t  "}, {"digit", "09"},
        {"lower", "az"},      {"punct", "!/:@[`{~"}, {"space", "\t\r  "}, {"upper", "AZ"},
        {"xdigit", "09AFaf"}, {"word", "09AZ__az"},
};

void sg_byte_set_add(struct sg_byte_set *set, unsigned from, unsigned to)
{
        for (unsigned b = from; b <= to && b < 256; b++)
                set->bits[b / 64] |= UINT64_C(1) << (b % 64);
}

static bool has(const struct sg_byte_set *set, unsigned byte)
{
        return byte < 256 && (set->bits[byte / 64] >> (byte % 64) & 1) != 0;
}

/* No line has a NUL that anybody looks for: it stays out. */
void sg_byte_set_invert(struct sg_byte_set *set)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(set->bits); i++)
                set->bits[i] = ~set->bits[i];
        set->bits[0] &= ~UINT64_C(1);
}

void sg_byte_set_fold(struct sg_byte_set *set)
{
        for (unsigned b = 'a'; b <= 'z'; b++) {
                unsigned upper = b - 'a' + 'A';

                if (has(set, b) || has(set, upper)) {
                        sg_byte_set_add(set, b, b);
                        sg_byte_set_add(set, upper, upper);
                }
        }
}

bool sg_byte_set_add_class(struct sg_byte_set *set, const char *name, size_t n)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(classes); i++) {
                if (strlen(classes[i].name) != n || memcmp(classes[i].name, name, n) != 0)
                        continue;
                for (const char *r = classes[i].ranges; *r; r += 2)
                        sg_byte_set_add(set, (unsigned char)r[0], (unsigned char)r[1]);
                return true;
        }
        return false;
}

bool sg_byte_set_add_escape(struct sg_byte_set *set, char letter)
{
        static const char letters[] = "dsw", *const names[] = {"digit", "space", "word"};
        const char *at = letter ? strchr(letters, letter | 0x20) : NULL;
        struct sg_byte_set s = {0};

        if (!at)
                return false;
        (void)sg_byte_set_add_class(&s, names[at - letters], strlen(names[at - letters]));
        if (letter < 'a')
                sg_byte_set_invert(&s);
        for (size_t i = 0; i < SG_ELEMENTSOF(s.bits); i++)
                set->bits[i] |= s.bits[i];
        return true;
}

/* These mean something in brackets, by where they stand. */
static bool is_special(unsigned b)
{
        return b == ']' || b == '[' || b == '^' || b == '-';
}

static unsigned write_range(unsigned from, unsigned to, FILE *out)
{
        (void)fputc((int)from, out);
        if (to > from) {
                if (to > from + 1)
                        (void)fputc('-', out);
                (void)fputc((int)to, out);
        }
        return to == from + 1 ? 2 : 1;
}

/* A run of the set without the special characters at its ends, which are left for the caller to
 * write where they mean themselves; within a range they mean nothing. */
static unsigned write_run(unsigned from, unsigned to, bool alone[256], FILE *out)
{
        while (from <= to && is_special(from))
                alone[from++] = true;
        while (to > from && is_special(to))
                alone[to--] = true;
        return from <= to ? write_range(from, to, out) : 0;
}

static unsigned write_runs(const struct sg_byte_set *set, bool alone[256], FILE *out)
{
        unsigned n = 0;

        for (unsigned b = 1; b < 256; b++) {
                unsigned to = b;

                if (!has(set, b))
                        continue;
                while (has(set, to + 1))
                        to++;
                n += write_run(b, to, alone, out);
                b = to;
        }
        return n;
}

static unsigned write_alone(char c, bool alone[256], FILE *out)
{
        if (!alone[(unsigned char)c])
                return 0;
        alone[(unsigned char)c] = false;
        (void)fputc(c, out);
        return 1;
}

/* "]" can only come first, "-" first or last, "^" anywhere but first. */
static unsigned write_bracket(const struct sg_byte_set *set, FILE *out)
{
        _cleanup_free_ char *runs = NULL;
        bool alone[256] = {false};
        size_t size = 0;
        FILE *f = open_memstream(&runs, &size);
        unsigned n;

        if (!f)
                return 0;
        n = write_runs(set, alone, f);
        if (fclose(f) != 0)
                return 0;
        (void)fputc('[', out);
        n += write_alone(']', alone, out);
        (void)fwrite(runs, 1, size, out);
        n += write_alone('[', alone, out);
        if (n == 0)
                n += write_alone('-', alone, out);
        n += write_alone('^', alone, out);
        n += write_alone('-', alone, out);
        (void)fputc(']', out);
        return n;
}

unsigned sg_byte_set_write(const struct sg_byte_set *set, FILE *out)
{
        unsigned count = 0, last = 0;

        for (unsigned b = 1; b < 256; b++)
                if (has(set, b)) {
                        last = b;
                        count++;
                }
        if (count > 1)
                return write_bracket(set, out);
        if (count == 1)
                sg_pattern_write_byte(last, out);
        return count;
}

void sg_pattern_write_byte(unsigned byte, FILE *out)
{
        if (byte < 128 && strchr(".[]{}()*+?|^$\\", (int)byte))
                (void)fputc('\\', out);
        (void)fputc((int)byte, out);
}
