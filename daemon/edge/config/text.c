/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One configuration text. inih splits sections, keys and values; the reader in front of it counts
 * lines and lets through only those that inih takes as an admin means them. inih 55 on its own cuts
 * a line at its buffer, a section at 50 bytes and a value at " ;", takes an indented line for a
 * continuation and "a: b" for an assignment, and ignores what follows a "]".
 */

#include "base/utf8.h"
#include "edge/config/internal.h"
#include <errno.h>
#include <ini.h>
#include <string.h>

/* Debian builds inih with its compile-time options as variables; elsewhere they don't exist, the
 * buffer is of 200 bytes, and the reader refuses lines that don't fit. */
extern int ini_max_line __attribute__((weak));

struct reader {
        const struct sg_config_text *text;
        const char *file; /* "conf" or "policy", as in the table */
        const char *next, *end;
        unsigned line, name_line;
        bool in_section, skip; /* skip: below a section that is wrong already */
        int error;
        char buf[SG_CONFIG_LINE_MAX + 1];
};

static void complain(struct reader *r, const char *what)
{
        int e = sg_config_error(r->text->errors, r->text->path, r->line, "%s", what);

        if (e < 0 && r->error == 0)
                r->error = e;
}

static const char *check_bytes(const char *line)
{
        const char *end = line + strlen(line);
        size_t n;

        for (const char *s = line; s < end; s += n) {
                if (((unsigned char)*s < 0x20 && *s != '\t') || *s == 0x7F)
                        return "a control character is in this line";
                n = sg_utf8_size(s, (size_t)(end - s));
                if (n == 0)
                        return "this line isn't UTF-8";
        }
        return NULL;
}

static bool is_blank(char c)
{
        return c == ' ' || c == '\t';
}

static bool has_inline_comment(const char *line)
{
        for (const char *p = line + 1; *p; p++)
                if ((*p == ';' || *p == '#') && is_blank(p[-1]))
                        return true;
        return false;
}

static const char *check_section(const char *line)
{
        static const char what[] = "a section is written as [Name], alone on its line";
        size_t n = strcspn(line + 1, "[]");

        if (n == 0 || n > 40 || line[n + 1] != ']' || line[n + 2] != '\0')
                return what;
        return NULL;
}

static const char *check_key(const char *line)
{
        size_t n = 0;

        while ((line[n] >= 'A' && line[n] <= 'Z') || (line[n] >= 'a' && line[n] <= 'z') ||
               (line[n] >= '0' && line[n] <= '9'))
                n++;
        if (n == 0 || n > 40 || line[n + strspn(line + n, " \t")] != '=')
                return "this line is neither Key=value nor [Section] nor a # comment";
        return NULL;
}

/* What is wrong with a line that is neither blank nor a comment; NULL if inih may have it. */
static const char *check_line(const char *line)
{
        const char *what = check_bytes(line);

        if (what)
                return what;
        if (is_blank(line[0]))
                return "this line begins with a blank: lines can't be continued, and none is "
                       "indented";
        if (line[strlen(line) - 1] == '\\')
                return "this line ends with a backslash: lines can't be continued";
        if (has_inline_comment(line))
                return "a comment must have a line of its own";
        return line[0] == '[' ? check_section(line) : check_key(line);
}

/* Takes the next line into buf, without its end and without blanks behind; false at the end. */
static bool take_line(struct reader *r, bool *ret_whole)
{
        const char *nl;
        size_t n;

        if (r->next == r->end)
                return false;
        nl = memchr(r->next, '\n', (size_t)(r->end - r->next));
        n = (size_t)((nl ? nl : r->end) - r->next);
        *ret_whole = n <= SG_CONFIG_LINE_MAX;
        if (*ret_whole) {
                memcpy(r->buf, r->next, n);
                if (nl && n > 0 && r->buf[n - 1] == '\r')
                        n--;
                while (n > 0 && is_blank(r->buf[n - 1]))
                        n--;
                r->buf[n] = '\0';
        }
        r->next = nl ? nl + 1 : r->end;
        r->line++;
        return true;
}

/* A header that is wrong is complained of once, and what is below it isn't looked at. */
static bool enter_section(struct reader *r)
{
        _cleanup_free_ char *name = strndup(r->buf + 1, strlen(r->buf) - 2);
        _cleanup_free_ char *what = NULL;

        if (!name) {
                r->error = -ENOMEM;
                return false;
        }
        if (sg_settings_has_section(r->file, name))
                return true;
        what = sg_settings_unknown(r->file, name, NULL);
        if (what)
                complain(r, what);
        else
                r->error = -ENOMEM;
        return false;
}

/* Whether inih gets the line in buf, which is neither blank nor a comment. */
static bool accept_line(struct reader *r)
{
        const char *what = check_line(r->buf);

        if (r->buf[0] == '[') {
                r->in_section = true;
                r->skip = true;
                if (what)
                        complain(r, what);
                else
                        r->skip = !enter_section(r);
                return !r->skip;
        }
        if (r->skip)
                return false;
        if (!what && !r->in_section)
                what = "this assignment stands before the first [Section]";
        if (what)
                complain(r, what);
        return !what;
}

static bool is_comment(const char *line)
{
        line += strspn(line, " \t");
        return *line == '\0' || *line == '#' || *line == ';';
}

/* inih's fgets: the next good line, whole. */
static char *read_line(char *str, int num, void *stream)
{
        struct reader *r = stream;
        bool whole;
        size_t n;

        while (r->error == 0 && take_line(r, &whole)) {
                if (!whole) {
                        complain(r, "this line is longer than 4096 bytes");
                        continue;
                }
                if (is_comment(r->buf) || !accept_line(r))
                        continue;
                n = strlen(r->buf);
                if (n + 2 > (size_t)num) {
                        complain(r, "this line is longer than the INI library takes");
                        continue;
                }
                memcpy(str, r->buf, n);
                memcpy(str + n, "\n", 2);
                return str;
        }
        return NULL;
}

static int assign(struct reader *r, const char *section, const char *key, const char *value)
{
        const struct sg_config_text *t = r->text;
        const struct sg_settings_key *k;
        _cleanup_free_ char *why = NULL;
        int e;

        e = t->class ? sg_settings_class_assign(t->class, section, key, value, &why)
                     : sg_settings_assign(t->settings, section, key, value, &why);
        if (e >= 0 && t->check)
                e = t->check(section, key, value, &why);
        if (e == -EINVAL && why) {
                complain(r, why);
                return 0;
        }
        if (e < 0)
                return e;
        k = sg_settings_key_find(r->file, section, key);
        if (strcmp(section, "Class") == 0 && strcmp(key, "Name") == 0)
                r->name_line = r->line;
        return k ? sg_config_origins_set(t->origins, k, value, t->path, r->line) : -EINVAL;
}

static int on_value(void *user, const char *section, const char *key, const char *value)
{
        struct reader *r = user;
        int e = assign(r, section, key, value);

        if (e < 0 && r->error == 0)
                r->error = e;
        return 1;
}

/* What makes the text as a whole unfit; complaints about each line of it would help nobody. */
static const char *check_text(const struct sg_config_text *t, unsigned *ret_line)
{
        const char *nul = t->size > 0 ? memchr(t->data, '\0', t->size) : NULL;

        *ret_line = 1;
        if (t->size >= 3 && memcmp(t->data, "\xEF\xBB\xBF", 3) == 0)
                return "the file begins with a byte order mark: save it as UTF-8 without one";
        if (!nul)
                return NULL;
        for (const char *p = t->data; p < nul; p++)
                *ret_line += *p == '\n';
        return "a NUL byte is in this line: this is no text file";
}

int sg_config_text(const struct sg_config_text *text, unsigned *ret_name_line)
{
        struct reader r = {
                .text = text,
                .file = text->class ? "policy" : "conf",
                .next = text->data,
                .end = text->data + text->size,
        };
        const char *what = check_text(text, &r.line);
        int e;

        *ret_name_line = 1;
        if (what) {
                complain(&r, what);
                return r.error;
        }
        r.line = 0;
        if (&ini_max_line)
                ini_max_line = SG_CONFIG_LINE_MAX + 2;
        e = ini_parse_stream(read_line, &r, on_value, &r);
        if (r.error < 0)
                return r.error;
        if (e == -2)
                return -ENOMEM;
        if (e != 0) /* inih's number counts its own lines, not ours */
                complain(&r, "the INI library refuses a line of this file");
        if (r.name_line > 0)
                *ret_name_line = r.name_line;
        return r.error;
}
