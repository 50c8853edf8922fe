/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The governor's JSON documents (org.schedgov1(5)), read for people. */

#include "ctl/line/error.h"
#include "ctl/show/fields.h"

int sg_document_parse(const char *text, json_t **ret, struct sg_error *e);

void sg_document_print_job(const json_t *job);
void sg_document_print_node(const json_t *status);

/* Prints a document as the governor gave it, in a line. Here as in all that follows, characters
 * that a terminal obeys are \u escapes. */
void sg_document_print_text(const char *document);
/* One job asked for is its own document, several are a schedgov.jobs/1. */
void sg_document_print_json(char *const *documents, size_t n, bool several);
/* The same piecewise. */
void sg_document_open_jobs(void);
void sg_document_add_job(const char *document, bool first);
void sg_document_close_jobs(void);

/* Prints o in one line and drops it; NULL is -ENOMEM. */
int sg_document_print_new(json_t *o);
/* Of a document with classes, leaves these n in, or all if n is 0. One that isn't there is an error
 * with this hint. */
int sg_document_keep_classes(json_t *doc, char *const *names, size_t n, const char *hint,
                             struct sg_error *e);
/* A string that may not be UTF-8. */
json_t *sg_document_text(const char *s);
