/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Replies as JSON has them: an object, in which what is put in has its key. A refusal is an object
 * {"error": kind, "object": …, "line": …, "hint": …}. */

#include "core/ask/reply.h"
#include <jansson.h>

struct sg_json_reply {
        struct sg_reply reply; /* first, so that either is found from the other */
        json_t *root, *list, *row;
};

int sg_json_reply_init(struct sg_json_reply *r);
void sg_json_reply_deinit(struct sg_json_reply *r);
/* All that was put in, as text for free(), or why it couldn't be. */
int sg_json_reply_dump(const struct sg_json_reply *r, char **ret);

/* `error`: negative errno, for an answer that refuses nothing. -ENOMEM. */
int sg_json_refusal(const struct sg_answer *a, int error, char **ret);
