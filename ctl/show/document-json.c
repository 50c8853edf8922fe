/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Documents as programs read them, in and out. */

#include "base/cleanup.h"
#include "base/utf8.h"
#include "ctl/show/document.h"
#include "ctl/show/visible.h"
#include "proto/names.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

int sg_document_parse(const char *text, json_t **ret, struct sg_error *e)
{
        *ret = json_loads(text, 0, NULL);
        return *ret ? 0 : sg_error_garbled(e, -EBADMSG);
}

json_t *sg_document_text(const char *s)
{
        char buf[4096];

        return json_string(sg_utf8_is_valid(s, strlen(s)) ? s
                                                          : sg_utf8_escape(s, buf, sizeof(buf)));
}

static bool is_named(const json_t *class, char *const *names, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (strcmp(sg_document_word(class, "name"), names[i]) == 0)
                        return true;
        return false;
}

static bool has_class(const json_t *classes, char *const *name)
{
        json_t *class;
        size_t i;

        json_array_foreach (classes, i, class)
                if (is_named(class, name, 1))
                        return true;
        return false;
}

int sg_document_keep_classes(json_t *doc, char *const *names, size_t n, const char *hint,
                             struct sg_error *e)
{
        json_t *classes = json_object_get(doc, "classes");

        for (size_t i = 0; i < n; i++)
                if (!has_class(classes, &names[i]))
                        return sg_error_set(e, SG_EXIT_OWN_FAILURE, names[i], hint,
                                            "there is no such class");
        for (size_t i = n > 0 ? json_array_size(classes) : 0; i-- > 0;)
                if (!is_named(json_array_get(classes, i), names, n))
                        (void)json_array_remove(classes, i);
        return 0;
}

static void put(const char *s, size_t n, void *userdata)
{
        (void)userdata;
        (void)fwrite_unlocked(s, 1, n, stdout);
}

void sg_document_print_text(const char *document)
{
        sg_visible_json(document, put, NULL);
        (void)putchar('\n');
}

int sg_document_print_new(json_t *o)
{
        _cleanup_free_ char *text = NULL;

        if (!o)
                return -ENOMEM;
        text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(15));
        json_decref(o);
        if (!text)
                return -ENOMEM;
        sg_document_print_text(text);
        return 0;
}

/* The envelope is literal because the jobs in it are documents already, ten thousand of them at
 * times: reading them in to write them out again would take longer than all the rest. */
void sg_document_open_jobs(void)
{
        (void)fputs("{\"schema\":\"schedgov.jobs/1\",\"jobs\":[", stdout);
}

void sg_document_add_job(const char *document, bool first)
{
        (void)fputs_unlocked(first ? "\n" : ",\n", stdout);
        sg_visible_json(document, put, NULL);
}

void sg_document_close_jobs(void)
{
        (void)fputs("]}\n", stdout);
}

void sg_document_print_json(char *const *documents, size_t n, bool several)
{
        if (!several) {
                sg_document_print_text(documents[0]);
                return;
        }
        sg_document_open_jobs();
        for (size_t i = 0; i < n; i++)
                sg_document_add_job(documents[i], i == 0);
        sg_document_close_jobs();
}
