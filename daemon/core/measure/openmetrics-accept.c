/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Media ranges with their parameters, as in RFC 9110, 12.5.1; but for quoted strings, which none of
 * these parameters has. */

#include "core/measure/openmetrics-accept.h"
#include <string.h>

#define Q_MAX 1000U

static const char blank[] = " \t";

struct range {
        const char *type, *version; /* text of those sizes, not ended; version NULL: not said */
        size_t type_size, version_size;
        unsigned q; /* in 1/1000 */
};

static char lower(char c)
{
        return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is(const char *s, size_t size, const char *word)
{
        size_t i = 0;

        while (i < size && word[i] && lower(s[i]) == word[i])
                i++;
        return i == size && !word[i];
}

/* "0.75", "1", "0.": false, and q is left, if it is anything else. */
static bool take_q(const char *s, size_t size, unsigned *q)
{
        unsigned v, digit = 100;

        if (size == 0 || size > 5 || (s[0] != '0' && s[0] != '1') || (size > 1 && s[1] != '.'))
                return false;
        v = s[0] == '1' ? Q_MAX : 0;
        for (size_t i = 2; i < size; i++, digit /= 10) {
                if (s[i] < '0' || s[i] > '9')
                        return false;
                v += (unsigned)(s[i] - '0') * digit;
        }
        if (v > Q_MAX)
                return false;
        *q = v;
        return true;
}

/* One ";name=value" behind the semicolon. */
static void take_parameter(struct range *r, const char *s, size_t size)
{
        const char *equals = memchr(s, '=', size);
        size_t n = equals ? (size_t)(equals - s) : 0;

        if (!equals)
                return;
        if (is(s, n, "q")) {
                if (!take_q(equals + 1, size - n - 1, &r->q))
                        r->q = 0;
        } else if (is(s, n, "version")) {
                r->version = equals + 1;
                r->version_size = size - n - 1;
        }
}

/* The text up to one of the bytes in `ends`, without blanks around it; *p moves to that byte. */
static const char *take(const char **p, const char *ends, size_t *ret_size)
{
        const char *s = *p + strspn(*p, blank);
        size_t n = strcspn(s, ends);

        *p = s + n;
        while (n > 0 && strchr(blank, s[n - 1]))
                n--;
        *ret_size = n;
        return s;
}

static void take_range(const char **p, struct range *ret)
{
        struct range r = {.q = Q_MAX};

        r.type = take(p, ",;", &r.type_size);
        while (**p == ';') {
                const char *parameter;
                size_t size;

                ++*p;
                parameter = take(p, ",;", &size);
                take_parameter(&r, parameter, size);
        }
        *ret = r;
}

static bool has_version(const struct range *r, const char *version)
{
        return !r->version || is(r->version, r->version_size, version);
}

static bool is_text(const struct range *r)
{
        if (is(r->type, r->type_size, "text/plain"))
                return has_version(r, "0.0.4");
        return is(r->type, r->type_size, "text/*") || is(r->type, r->type_size, "*/*");
}

static bool is_openmetrics(const struct range *r)
{
        return is(r->type, r->type_size, "application/openmetrics-text") && has_version(r, "1.0.0");
}

enum sg_openmetrics_format sg_openmetrics_choose(const char *accept)
{
        unsigned text = 0, open = 0;

        for (const char *p = accept; p && *p; p += *p == ',') {
                struct range r;

                take_range(&p, &r);
                if (is_text(&r) && r.q > text)
                        text = r.q;
                else if (is_openmetrics(&r) && r.q > open)
                        open = r.q;
        }
        return open > 0 && open >= text ? SG_METRICS_OPENMETRICS : SG_METRICS_TEXT;
}
