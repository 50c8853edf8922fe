/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Requests as JSON has them, one object for each:
 *
 *     {"verb": "Submit", "cpus": 2, "mem": 1073741824, "argv": ["train", "--fast"]}
 *
 * Parameters and options are its members, by the names that they have in core/ask. Numbers are as
 * org.schedgov1(5) has them; null is a number without limit. argv and environment are lists of
 * strings, a script is a string; descriptors can't be sent. A live job, if the verb is about one,
 * is said by "job".
 */

#include "core/ask/request.h"
#include <jansson.h>

struct sg_json_request {
        struct sg_request request;
        char *job; /* its id, if the verb is of a live job; NULL: it wasn't said */
        json_t *root;
};

/* Always to be deinitialised, after a failure, too. Negative: with a refusal, or -ENOMEM. */
int sg_json_read_request(struct sg_json_request *ret, const char *text, size_t size,
                         struct sg_answer *a);
void sg_json_request_deinit(struct sg_json_request *r);
