/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Failures and warnings on stderr: one line each, without anything that a terminal would obey. */

#include "ctl/line/error.h"
#include "base/utf8.h"

#include "proto/names.h"
#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void copy(char *buf, size_t size, const char *s)
{
        (void)snprintf(buf, size, "%s", s ? s : "");
}

int sg_error_set(struct sg_error *e, int status, const char *object, const char *hint,
                 const char *format, ...)
{
        va_list ap;

        if (e->status != 0)
                return -ECANCELED;
        e->status = status;
        copy(e->object, sizeof(e->object), object);
        copy(e->hint, sizeof(e->hint), hint);
        va_start(ap, format);
        (void)vsnprintf(e->what, sizeof(e->what), format, ap);
        va_end(ap);
        return -ECANCELED;
}

int sg_error_errno(struct sg_error *e, int r, const char *what)
{
        (void)sg_error_set(e, SG_EXIT_OWN_FAILURE, NULL, NULL, "%s: %s", what, strerror(-r));
        return r;
}

int sg_error_garbled(struct sg_error *e, int r)
{
        if (r == -ENOMEM)
                return r;
        return sg_error_set(e, SG_EXIT_OWN_FAILURE, NULL,
                            "are schedctl and schedgovd of the same version?",
                            "schedgovd's answer cannot be read: %s", strerror(-r));
}

void sg_error_clear(struct sg_error *e)
{
        *e = (struct sg_error){0};
}

/* The daemon's text and a user's words may hold anything; a document must be UTF-8. */
static json_t *json_text(const char *s)
{
        char buf[1024];

        return json_string(sg_utf8_escape(s, buf, sizeof(buf)));
}

static void print_json(const struct sg_error *e)
{
        json_t *o = json_object();

        (void)json_object_set_new(o, "schema", json_string("schedgov.error/1"));
        (void)json_object_set_new(o, "error", json_text(e->what));
        (void)json_object_set_new(o, "object", e->object[0] ? json_text(e->object) : json_null());
        (void)json_object_set_new(o, "hint", e->hint[0] ? json_text(e->hint) : json_null());
        (void)json_dumpf(o, stderr, JSON_COMPACT);
        (void)fputc('\n', stderr);
        json_decref(o);
}

int sg_error_print(const struct sg_error *e, int r, bool json)
{
        struct sg_error other = {0};
        char what[1024], hint[1024];

        if (e->status == 0) {
                (void)sg_error_set(&other, SG_EXIT_OWN_FAILURE, NULL, NULL, "%s", strerror(-r));
                e = &other;
        }
        if (json)
                print_json(e);
        else
                (void)fprintf(stderr, "schedctl: %s%s%s\n",
                              sg_utf8_escape(e->what, what, sizeof(what)), e->hint[0] ? "; " : "",
                              sg_utf8_escape(e->hint, hint, sizeof(hint)));
        return e->status;
}

void sg_warn(const char *format, ...)
{
        char line[1024], buf[2048];
        va_list ap;

        va_start(ap, format);
        (void)vsnprintf(line, sizeof(line), format, ap);
        va_end(ap);
        (void)fprintf(stderr, "schedctl: %s\n", sg_utf8_escape(line, buf, sizeof(buf)));
}
